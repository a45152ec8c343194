"""The hash chain by itself, over hand-made entries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_records import SPACE

from admission.errors import LedgerError
from admission.ledger import Entry, LedgerHead
from admission.ledger.chain import EMPTY, GENESIS, Chain
from admission.ledger.hashing import canonical_bytes


def chain_of(length: int, key: bytes | None = None, *, one_namespace: bool = True) -> list[Entry]:
    chain, head, entries = Chain(key), EMPTY, []
    for n in range(length):
        namespace = SPACE if one_namespace else (*SPACE, f"{n}")
        body = {"id": f"r{n}", "namespace": list(namespace)}
        entry = chain.following(head, kind="report", namespace=namespace, key=f"k{n}", body=body)
        entries.append(entry)
        head = LedgerHead(seq=entry.seq, hash=entry.hash)
    return entries


def changed(entry: Entry, **fields: Any) -> Entry:
    return entry.model_copy(update=fields)


def head_of(entries: list[Entry]) -> LedgerHead:
    return LedgerHead(seq=entries[-1].seq, hash=entries[-1].hash)


def code(found: Any) -> tuple[int | None, str]:
    assert not found.ok
    assert found.problem.startswith(f"{found.kind}: ")
    return found.first_bad, found.kind


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


CHANGES = [
    ({"value_digest": "0" * 64}, "content_changed"),
    ({"body": {"id": "r1", "more": None}}, "content_changed"),
    ({"body": ["no report"]}, "content_changed"),
    ({"namespace": ("acme", "user-8")}, "moved"),
    ({"kind": "stored"}, "metadata_changed"),
    ({"time": "2000-01-01T00:00:00.000000+00:00"}, "metadata_changed"),
    ({"fingerprint": "f" * 64}, "metadata_changed"),
    ({"key": "k9"}, "metadata_changed"),
    ({"hash": "0" * 64}, "metadata_changed"),
    ({"previous": "0" * 64}, "metadata_changed"),
    ({"content_digest": "0" * 64}, "metadata_changed"),
]


@pytest.mark.parametrize("key", [None, b"secret"])
@pytest.mark.parametrize(("change", "kind"), CHANGES)
@pytest.mark.parametrize("place", [2, 4])
def test_a_change_of_anything_is_named_where_it_is(
    change: dict[str, Any], kind: str, place: int, key: bytes | None
) -> None:
    entries = chain_of(4, key, one_namespace=False)
    head = head_of(entries)
    entries[place - 1] = changed(entries[place - 1], **change)
    found = Chain(key).verify(entries, recorded=head)
    assert code(found) == (place, kind)
    assert (found.entries, found.head) == (place - 1, head_of(entries[: place - 1]))


def test_an_entry_from_before_content_digests_were_kept_verifies_and_a_change_of_it_is_a_change_of_content() -> None:
    entries = [changed(entry, content_digest=None) for entry in chain_of(3)]
    assert Chain().verify(entries).ok
    entries[1] = changed(entries[1], key="k9")
    assert code(Chain().verify(entries)) == (2, "content_changed")


def test_a_namespace_that_nothing_else_names_shows_as_changed_metadata() -> None:
    entry = Chain().following(EMPTY, kind="deleted", namespace=SPACE, key="k1", body={"thread": None, "task": None})
    assert code(Chain().verify([changed(entry, namespace=("acme", "user-8"))])) == (1, "metadata_changed")


def test_the_kind_an_entry_had_is_told() -> None:
    entries = chain_of(3)
    entries[1] = changed(entries[1], kind="review")
    assert "it was a 'report' entry" in Chain().verify(entries).problem


@pytest.mark.parametrize("body_too", [False, True])
def test_an_entry_moved_to_another_namespace_is_named_with_where_it_was(body_too: bool) -> None:
    entries = chain_of(4)
    here = {**entries[1].body, "namespace": ["acme", "user-8"]} if body_too else entries[1].body
    entries[1] = changed(entries[1], namespace=("acme", "user-8"), body=here)
    found = Chain().verify(entries)
    assert code(found) == (2, "moved")
    assert "recorded under ['acme', 'user-7']" in found.problem


def test_a_moved_entry_that_was_hashed_anew_is_named_by_the_next() -> None:
    entries = chain_of(4)
    moved = changed(entries[1], namespace=("acme", "user-8"))
    entries[1] = changed(moved, hash=Chain().hash_of(moved))
    assert code(Chain().verify(entries)) == (2, "moved")
    assert code(Chain().verify(entries[:2], recorded=head_of(chain_of(2)))) == (2, "content_changed")


def test_an_entry_put_in_between_is_forged() -> None:
    entries = chain_of(4)
    planted = Chain().following(head_of(entries[:2]), kind="report", namespace=SPACE, key=None, body={"id": "planted"})
    later = [changed(entry, seq=entry.seq + 1) for entry in entries[2:]]
    assert code(Chain().verify([*entries[:2], planted, *later])) == (3, "forged")


def test_an_entry_in_place_of_another_is_forged_where_nothing_after_it_knows_it() -> None:
    entries = chain_of(4, b"secret")
    planted = changed(entries[1], body={"id": "planted"}, hash="a" * 64, content_digest="b" * 64)
    assert code(Chain(b"secret").verify([entries[0], planted, *entries[2:]])) == (2, "forged")


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
    assert code(keyed.verify(chain_of(3))) == (1, "forged")
    assert code(keyed.verify(chain_of(3, b"another"))) == (1, "content_changed")
    assert code(Chain().verify(chain_of(3, b"secret"))) == (1, "content_changed")


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(LedgerError, match="empty"):
        Chain(b"")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_other_arrangement_of_a_chain_is_found(data: st.DataObject) -> None:
    entries = chain_of(6)
    picked = data.draw(st.lists(st.sampled_from(entries), min_size=1, max_size=8))
    renumbered = [changed(entry, seq=n) for n, entry in enumerate(picked, start=1)]
    prefix = [e.hash for e in picked] == [e.hash for e in entries[: len(picked)]]
    assert Chain().verify(renumbered).ok == prefix
    assert Chain().verify(renumbered, kept=head_of(entries)).ok == (prefix and len(picked) == 6)
