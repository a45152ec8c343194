"""The hash chain by itself, over hand-made entries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_records import SPACE

from admission.errors import LedgerError
from admission.ledger import Entry, LedgerHead
from admission.ledger.chain import EMPTY, GENESIS, Chain, canonical_bytes


def chain_of(length: int, key: bytes | None = None) -> list[Entry]:
    chain, head, entries = Chain(key), EMPTY, []
    for n in range(length):
        entry = chain.following(head, kind="report", namespace=SPACE, key=f"k{n}", body={"id": f"r{n}"})
        entries.append(entry)
        head = LedgerHead(seq=entry.seq, hash=entry.hash)
    return entries


def changed(entry: Entry, **fields: Any) -> Entry:
    return entry.model_copy(update=fields)


def head_of(entries: list[Entry]) -> LedgerHead:
    return LedgerHead(seq=entries[-1].seq, hash=entries[-1].hash)


def code(found: Any) -> tuple[int | None, str]:
    assert not found.ok
    return found.first_bad, found.problem.split(":")[0]


def test_a_sound_chain_verifies_and_gives_its_head() -> None:
    entries = chain_of(4)
    found = Chain().verify(entries, recorded=head_of(entries), kept=head_of(entries[:2]))
    assert (found.ok, found.entries, found.head) == (True, 4, head_of(entries))
    assert entries[0].previous == GENESIS
    assert Chain().verify([]).head == EMPTY


def test_canonical_bytes_are_one_for_one_content() -> None:
    (entry,) = chain_of(1)
    assert canonical_bytes(changed(entry, body={"b": 1, "a": [2]})) == canonical_bytes(
        changed(entry, body={"a": [2], "b": 1})
    )
    assert canonical_bytes(entry) == canonical_bytes(changed(entry, seq=9, previous="other", hash="other"))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "stored"},
        {"time": "2000-01-01T00:00:00.000000+00:00"},
        {"fingerprint": "f" * 64},
        {"namespace": ("acme", "user-8")},
        {"key": "k9"},
        {"value_digest": "0" * 64},
        {"body": {"id": "r1", "more": None}},
        {"hash": "0" * 64},
        {"previous": "0" * 64},
    ],
)
def test_a_change_of_anything_is_named_where_it_is(change: dict[str, Any]) -> None:
    entries = chain_of(4)
    entries[1] = changed(entries[1], **change)
    found = Chain().verify(entries)
    assert code(found) == (2, "content_changed")
    assert (found.entries, found.head) == (1, head_of(entries[:1]))


def test_a_changed_entry_that_was_hashed_anew_is_named_by_the_next() -> None:
    entries = chain_of(4)
    forged = changed(entries[1], body={"id": "planted"})
    entries[1] = changed(forged, hash=Chain().hash_of(forged))
    assert code(Chain().verify(entries)) == (2, "content_changed")


def test_an_entry_that_is_gone() -> None:
    entries = chain_of(5)
    assert code(Chain().verify(entries[:1] + entries[3:])) == (2, "entry_missing")
    assert "entries 2 to 3" in Chain().verify(entries[:1] + entries[3:]).problem
    assert code(Chain().verify(entries[1:])) == (1, "entry_missing")


def test_an_entry_that_is_gone_and_the_others_moved_up() -> None:
    entries = chain_of(5)
    moved = [entries[0], *(changed(e, seq=e.seq - 1) for e in entries[2:])]
    assert code(Chain().verify(moved)) == (2, "entry_missing")


def test_all_but_the_last_gone_and_that_moved_up() -> None:
    entries = chain_of(9)
    moved = [entries[0], changed(entries[8], seq=2)]
    assert code(Chain().verify(moved, recorded=head_of(entries))) == (2, "entry_missing")


def test_entries_in_another_order() -> None:
    entries = chain_of(5)
    swapped = [entries[0], changed(entries[2], seq=2), changed(entries[1], seq=3), *entries[3:]]
    assert code(Chain().verify(swapped)) == (2, "order_changed")
    last_first = [changed(entries[4], seq=1), *(changed(e, seq=e.seq + 1) for e in entries[:4])]
    assert code(Chain().verify(last_first)) == (1, "order_changed")
    assert code(Chain().verify([entries[0], entries[2], entries[1]])) == (2, "entry_missing")
    assert code(Chain().verify([entries[0], entries[1], entries[1]])) == (3, "order_changed")


def test_an_old_entry_written_again() -> None:
    entries = chain_of(4)
    assert code(Chain().verify([*entries, changed(entries[1], seq=5)])) == (5, "replayed")


def test_a_cut_tail_shows_beside_a_head() -> None:
    entries = chain_of(4)
    assert Chain().verify(entries[:2]).ok
    assert code(Chain().verify(entries[:2], kept=head_of(entries))) == (3, "tail_cut")
    assert code(Chain().verify(entries[:2], recorded=head_of(entries))) == (3, "tail_cut")
    assert code(Chain().verify([], kept=head_of(entries))) == (1, "tail_cut")


def test_an_older_copy_shows_beside_a_head_kept_elsewhere() -> None:
    entries = chain_of(4)
    assert code(Chain().verify(entries[:2], recorded=head_of(entries[:2]), kept=head_of(entries))) == (3, "rolled_back")


def test_an_older_copy_that_was_written_on_shows_too() -> None:
    entries, others = chain_of(4), chain_of(6)
    kept = head_of(entries)
    assert code(Chain().verify(others, recorded=head_of(others), kept=kept)) == (4, "rolled_back")


def test_entries_the_ledger_did_not_write() -> None:
    entries = chain_of(4)
    assert code(Chain().verify(entries, recorded=head_of(entries[:3]))) == (4, "forged")
    assert code(Chain().verify(entries, recorded=LedgerHead(seq=4, hash="0" * 64))) == (4, "content_changed")


def test_without_a_key_a_chain_hashed_anew_verifies_and_with_one_it_does_not() -> None:
    assert Chain().verify(chain_of(3)).ok
    keyed = Chain(b"secret")
    assert keyed.verify(chain_of(3, b"secret")).ok
    assert code(keyed.verify(chain_of(3))) == (1, "content_changed")
    assert code(keyed.verify(chain_of(3, b"another"))) == (1, "content_changed")
    assert code(Chain().verify(chain_of(3, b"secret"))) == (1, "content_changed")


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(LedgerError, match="empty"):
        Chain(b"")


@settings(max_examples=60)
@given(st.data())
def test_any_other_arrangement_of_a_chain_is_found(data: st.DataObject) -> None:
    entries = chain_of(6)
    picked = data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=8))
    renumbered = [changed(entry, seq=n) for n, entry in enumerate(picked, start=1)]
    prefix = [e.hash for e in picked] == [e.hash for e in entries[: len(picked)]]
    assert Chain().verify(renumbered).ok == prefix
    assert Chain().verify(renumbered, kept=head_of(entries)).ok == (prefix and len(picked) == 6)
