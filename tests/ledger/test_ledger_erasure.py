"""Erasing a memory: nothing of its text stays, the chain still verifies, and nobody can pretend to have erased."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ledger_erasing import OTHER, SAYS_SO, SECRET, a_report_on, a_turn, a_write, found_in, hold_back, remember
from ledger_places import Place, PostgresPlace, SqlitePlace
from ledger_records import SPACE

from admission.errors import LedgerError
from admission.ledger import Ledger, SqliteLedger, Verification
from admission.ledger.chain import Chain
from admission.ledger.erasing import MARK, Texts, accounts
from admission.metadata import RecordMetadata
from admission.records import Namespace, digest

BY = {"by": "Ada", "why": "she asked for it"}
ELSEWHERE: Namespace = ("acme", "user-8")


def check(place: Place, key: bytes | None = None) -> Verification:
    with closing(place.open(key)) as ledger:
        return ledger.verify()


def verified(ledger: Ledger) -> bool:
    return ledger.verify(ledger.head()).ok


# -- nothing of the text stays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, b"secret"], ids=["plain", "keyed"])
def test_no_byte_of_the_text_nor_a_digest_of_it_is_found_after_an_erasure(place: Place, key: bytes | None) -> None:
    with closing(place.open(key)) as ledger:
        kept = remember(ledger, OTHER, "k2")
        gone = remember(ledger, SECRET, "k1", metadata=RecordMetadata(namespace=SPACE))
        head = ledger.head()
        digests = (gone.fingerprint, digest(gone.value), SECRET[:12])
        assert found_in(place, SECRET, OTHER, *digests) == [SECRET, OTHER, *digests]
        ledger.erase(SPACE, "k1", **BY)
        assert found_in(place, SECRET, OTHER, *digests) == [OTHER]
        assert ledger.verify(head).ok
        assert ledger.write(gone.fingerprint) is None
        record = ledger.write(kept.fingerprint)
        assert record is not None
        assert record.stored_value == kept.value
    assert found_in(place, SECRET, *digests) == []
    assert check(place, key).ok


def test_quarantine_earlier_versions_and_pending_writes_of_the_key_are_erased_with_it(place: Place) -> None:
    texts = [f"Zoë keeps the spare key under stone number {n}." for n in range(3)]
    with closing(place.open()) as ledger:
        remember(ledger, texts[0], "k1")
        hold_back(ledger, texts[1], "k1")
        pending = a_write(texts[2], "k1").model_copy(update={"conversation": (a_turn(texts[2]),)})
        ledger.claim(pending)
        assert found_in(place, *texts) == texts
        ledger.erase(SPACE, "k1", **BY)
        assert (ledger.quarantine(), ledger.incomplete()) == ([], [])
        assert verified(ledger)
    assert found_in(place, *texts) == []


def test_what_else_in_the_namespace_says_the_same_is_erased_and_the_rest_of_it_stays(place: Place) -> None:
    with closing(place.open()) as ledger:
        other = remember(ledger, OTHER, "k2", report=a_report_on(OTHER, "report-2", seen=SAYS_SO))
        ledger.record_report(a_report_on(SECRET, "audit"))
        ledger.record_read("q1", {"event": "read", "text": f"Is it true that {SECRET}"}, namespace=SPACE)
        turns = (a_turn(SAYS_SO), a_turn("Hi."))
        pending = a_write("Zoë has a passport.", "k3").model_copy(update={"conversation": turns})
        ledger.claim(pending)
        remember(ledger, SECRET, "k1")
        ledger.erase(SPACE, "k1", **BY)
        found = ledger.report("report-2")
        assert found is not None
        assert (found[1].memory, found[1].status) == (OTHER, "admitted")
        assert [passage.text for passage in found[1].passages] == [MARK, f"Note that {OTHER}"]
        assert ledger.versions(SPACE, "k2")[0].value == other.value
        (waiting,) = ledger.incomplete()
        assert [turn.text for turn in waiting.intent.conversation or ()] == [MARK, "Hi."]
        assert [entry.body["text"] for entry in ledger.reads("q1")] == [MARK]
        assert verified(ledger)
    assert found_in(place, SECRET, SAYS_SO, "X-4711") == []


def test_another_memory_with_the_same_text_goes_too_and_the_store_is_told_its_key(ledger: Ledger) -> None:
    remember(ledger, f"{SECRET} And she likes trains.", "k2")
    remember(ledger, SECRET, "k3")
    remember(ledger, OTHER, "k3")  # is what k3 has now
    remember(ledger, SECRET, "k1")
    assert set(ledger.erase(SPACE, "k1", **BY).keys) == {"k1", "k2"}
    assert ledger.latest(SPACE, "k2") is None
    latest = ledger.latest(SPACE, "k3")
    assert latest is not None
    assert latest.intent.value["content"] == OTHER
    assert [version.erased for version in ledger.versions(SPACE, "k3")] == [True, False]
    assert verified(ledger)


def test_another_memory_that_shares_a_field_with_it_is_another_memory(ledger: Ledger) -> None:
    where = {"source": "from the long talk on Monday morning"}
    for key, text in (("k1", SECRET), ("k2", OTHER)):
        intent = a_write(text, key).model_copy(update={"value": {"content": text, **where}})
        ledger.claim(intent)
        ledger.decide(intent.fingerprint, a_report_on(text, f"r-{key}"), intent.value)
        ledger.complete(intent.fingerprint)
    assert ledger.erase(SPACE, "k1", **BY).keys == ("k1",)
    assert ledger.latest(SPACE, "k2") is not None


def test_another_namespace_is_not_touched(ledger: Ledger) -> None:
    there = remember(ledger, SECRET, "k1", namespace=ELSEWHERE)
    below = remember(ledger, SECRET, "k1", namespace=(*SPACE, "work"))
    remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY)
    for intent in (there, below):
        record = ledger.write(intent.fingerprint)
        assert record is not None
        assert record.stored_value == intent.value
    assert verified(ledger)


def test_a_key_that_is_the_text_itself_is_not_repeated(place: Place) -> None:
    with closing(place.open()) as ledger:
        remember(ledger, SECRET, SECRET)
        assert ledger.erase(SPACE, SECRET, **BY).keys == (SECRET,)
        assert verified(ledger)
    assert found_in(place, SECRET) == []


def test_who_erases_must_not_quote_the_text(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1")
    with pytest.raises(LedgerError, match="quotes what is to be erased"):
        ledger.erase(SPACE, "k1", by="Ada", why=f"it said: {SECRET}")
    with pytest.raises(LedgerError, match="by, why: empty"):
        ledger.erase(SPACE, "k1", by="", why="no reason")
    assert ledger.latest(SPACE, "k1") is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SECRET, True),
        (f"I said {SECRET.upper()} Yes.", True),
        (SECRET.removesuffix(".").replace(" ", "\n"), True),
        ("Zoe\u0308's passport number is X-4711-Δ", True),
        ("Zoë's passport number is X-4712-Δ.", False),
        ("passport number", False),
        ("Zoë's passport number is X-4711-Δelta", False),
    ],
)
def test_a_text_is_found_in_other_case_spacing_and_form(text: str, found: bool) -> None:
    assert Texts([SECRET]).within({"passages": [{"text": text}]}) is found


def test_a_short_text_is_found_only_where_it_stands_alone_and_our_own_words_are_nobodys_text() -> None:
    assert Texts(["Tea."]).within(["tea"])
    assert not Texts(["Tea."]).within(["Ines drinks green tea."])
    assert not Texts(["user"]).within({"role": "user", "status": "admitted"})


# -- what is left ----------------------------------------------------------------------------------------------------


def test_what_is_left_says_that_it_was_erased_by_whom_and_why(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1", metadata=RecordMetadata(namespace=SPACE))
    before = list(ledger.entries())
    erasure = ledger.erase(SPACE, "k1", **BY)
    assert (erasure.entries, erasure.keys) == (3, ("k1",))
    after = list(ledger.entries())
    assert [entry.kind for entry in after] == ["report", "metadata", "stored", "deleted", "erased"]
    same = ("seq", "kind", "time", "namespace", "key", "previous", "hash")
    for was, left in zip(before, after, strict=False):
        assert [getattr(was, name) for name in same] == [getattr(left, name) for name in same]
        assert (left.fingerprint, left.value_digest, left.content_digest, left.salt) == (None, None, None, None)
    said = after[-1].body
    assert (said["by"], said["why"], said["writes"], said["keys"]) == ("Ada", "she asked for it", 1, ["k1"])
    assert [(one["seq"], one["hash"]) for one in said["entries"]] == [(entry.seq, entry.hash) for entry in before]


def test_lists_histories_and_metadata_show_that_something_was_erased_and_fail_at_nothing(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1", metadata=RecordMetadata(namespace=SPACE))
    remember(ledger, OTHER, "k1")
    ledger.erase(SPACE, "k1", **BY)
    for entry, report in ledger.reports(status="admitted", namespace=SPACE):
        assert (entry.key, report.memory, report.passages, report.obligations) == ("k1", MARK, (), ())
        assert report.reasons == ("erased: the memory was erased",)
        found = ledger.report(report.id)
        assert found is not None
        assert found[1] == report
    assert [(v.erased, v.value, v.status) for v in ledger.versions(SPACE, "k1")] == [(True, {}, "admitted")] * 2
    assert [version.ended is not None for version in ledger.versions(SPACE, "k1")] == [True, True]
    assert ledger.metadata([(SPACE, "k1")]) == {}
    assert ledger.latest(SPACE, "k1") is None


def test_an_export_verifies_like_the_ledger(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY)
    exported = list(ledger.entries())
    assert Chain().verify(exported, erased=accounts(exported)).ok
    assert not Chain().verify(exported).ok


def test_only_a_keyed_digest_of_the_text_stays(place: Place) -> None:
    with closing(place.open(b"secret")) as ledger:
        remember(ledger, SECRET, "k1")
        ledger.erase(SPACE, "k1", **BY)
        assert [entry.body["texts"] for entry in ledger.entries() if entry.kind == "erased"] == [
            [Chain(b"secret").text_digest(SECRET)]
        ]


def test_without_a_key_no_digest_of_the_text_stays_and_the_hashes_cannot_be_tried(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1")
    before = list(ledger.entries())
    ledger.erase(SPACE, "k1", **BY)
    assert [entry.body["texts"] for entry in ledger.entries() if entry.kind == "erased"] == [None]
    # Who guesses the whole of an entry still lacks its salt.
    for entry in before:
        guess = entry.model_copy(update={"salt": None})
        assert Chain().hash_of(guess) != entry.hash


# -- again and after -------------------------------------------------------------------------------------------------


def test_a_second_erasure_changes_nothing_and_names_the_keys_again(ledger: Ledger) -> None:
    remember(ledger, f"{SECRET} And she likes trains.", "k2")
    remember(ledger, SECRET, "k1")
    first = ledger.erase(SPACE, "k1", **BY)
    head = ledger.head()
    assert {(one.namespace, one.key) for one in ledger.erasures()} == {(SPACE, "k1"), (SPACE, "k2")}
    assert all(set(one.keys) == {"k1", "k2"} for one in ledger.erasures())
    second = ledger.erase(SPACE, "k1", by="Bob", why="to be sure")
    assert (second.entries, set(second.keys)) == (0, set(first.keys))
    assert ledger.head() == head


def test_a_repeat_names_no_key_that_was_written_again_since(ledger: Ledger) -> None:
    remember(ledger, f"{SECRET} And she likes trains.", "k2")
    remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY)
    remember(ledger, OTHER, "k2")
    assert ledger.erase(SPACE, "k1", **BY).keys == ("k1",)


def test_an_erasure_for_a_store_is_open_until_that_is_through_with_it(ledger: Ledger) -> None:
    remember(ledger, f"{SECRET} And she likes trains.", "k2")
    remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY, store="mine")
    assert {(one.key, one.store) for one in ledger.erasing()} == {("k1", "mine"), ("k2", "mine")}
    assert ledger.deletions() == []
    ledger.purge()
    ledger.removed(ledger.erasing())
    assert ledger.erasing() == [] and verified(ledger)


def test_traces_of_questions_from_above_the_namespace_lose_the_text_too(ledger: Ledger) -> None:
    remember(ledger, SECRET, "k1")
    for place in (SPACE[:1], (), SPACE):
        ledger.record_read("q1", {"text": SECRET, "question": digest(SECRET)}, namespace=place)
    ledger.record_read("q2", {"text": SECRET}, namespace=("elsewhere",))
    ledger.erase(SPACE, "k1", **BY)
    assert [entry.body for entry in ledger.reads("q1")] == [{"text": "[erased]", "question": "[erased]"}] * 3
    assert ledger.reads("q2")[0].body == {"text": SECRET}
    assert verified(ledger)


def test_a_key_the_ledger_never_knew_is_nothing_to_erase(ledger: Ledger) -> None:
    remember(ledger, OTHER, "k1")
    head = ledger.head()
    erasure = ledger.erase(SPACE, "k9", **BY)
    assert (erasure.entries, erasure.keys, ledger.head()) == (0, ("k9",), head)


def test_a_retry_of_an_erased_write_is_a_new_write_and_judged_anew(ledger: Ledger) -> None:
    intent = remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY)
    record = ledger.claim(intent)
    assert (record.state, record.report, record.stored_value) == ("claimed", None, None)
    remember(ledger, SECRET, "k1")
    assert [version.erased for version in ledger.versions(SPACE, "k1")] == [True, False]
    assert verified(ledger)
    assert ledger.erase(SPACE, "k1", **BY).entries == 2
    assert verified(ledger)


def test_a_write_that_was_erased_while_it_was_judged_is_not_decided(ledger: Ledger) -> None:
    intent = a_write(SECRET, "k1")
    ledger.claim(intent)
    ledger.erase(SPACE, "k1", **BY)
    with pytest.raises(LedgerError, match="no such write"):
        ledger.decide(intent.fingerprint, a_report_on(SECRET, "r1"), intent.value)


def test_the_count_of_changes_never_goes_back(ledger: Ledger) -> None:
    value = {"content": OTHER, "topic": "travel"}
    remember(ledger, OTHER, "k2")
    remember(ledger, SECRET, "k2")
    before = ledger.changes(SPACE, "k2", value)
    remember(ledger, SECRET, "k1")
    ledger.erase(SPACE, "k1", **BY)
    assert ledger.changes(SPACE, "k2", value) > before


def test_what_was_erased_once_can_be_left_with_less_by_another_erasure(ledger: Ledger) -> None:
    remember(ledger, OTHER, "k2", report=a_report_on(OTHER, "report-2", seen=f"{SECRET} And more."))
    remember(ledger, SECRET, "k1")
    remember(ledger, "Note that Zoë prefers window seats on trains", "k3")
    ledger.erase(SPACE, "k1", **BY)
    ledger.erase(SPACE, "k3", **BY)
    assert verified(ledger)
    found = ledger.report("report-2")
    assert found is not None
    assert [passage.text for passage in found[1].passages] == [MARK, MARK]


# -- nobody else erases ----------------------------------------------------------------------------------------------


def erased_and_more(place: Place, key: bytes | None = None) -> int:
    """1-2 an erased write, 3-4 one that stays, 5 a delete, 6 the erasure. Its seq."""
    with closing(place.open(key)) as ledger:
        remember(ledger, SECRET, "k1")
        remember(ledger, OTHER, "k2")
        ledger.erase(SPACE, "k1", **BY)
        return ledger.head().seq


def found(place: Place, key: bytes | None = None) -> tuple[int | None, str | None]:
    verification = check(place, key)
    assert not verification.ok
    return verification.first_bad, verification.kind


TOMBSTONE = "fingerprint = NULL, value_digest = NULL, content_digest = NULL, salt = NULL"


def test_entries_are_guarded_again_after_an_erasure(place: Place) -> None:
    erased_and_more(place)
    with pytest.raises(Exception, match="never"):
        place.rows("UPDATE entries SET body = '{}' WHERE seq = 3")


@pytest.mark.parametrize("key", [None, b"secret"], ids=["plain", "keyed"])
@pytest.mark.parametrize("body", ["'{\"erased\":true}'", "(SELECT body FROM entries WHERE seq = 1)"])
def test_a_planted_tombstone_is_a_changed_content(place: Place, body: str, key: bytes | None) -> None:
    erased_and_more(place, key)
    place.attack(f"UPDATE entries SET {TOMBSTONE}, body = {body} WHERE seq = 3", "DELETE FROM writes")
    assert found(place, key) == (3, "content_changed")


@pytest.mark.parametrize("key", [None, b"secret"], ids=["plain", "keyed"])
def test_a_forged_erasure_is_no_account(place: Place, key: bytes | None) -> None:
    last = erased_and_more(place, key)
    ((hash,),) = place.rows("SELECT hash FROM entries WHERE seq = 3")
    forger = Chain(None)
    with closing(place.open(key)) as ledger:
        entry = next(entry for entry in ledger.entries() if entry.seq == 3)
        left = entry.model_copy(
            update={
                "body": {"erased": True},
                "fingerprint": None,
                "value_digest": None,
                "content_digest": None,
                "salt": None,
            }
        )
        body = {"by": "x", "why": "y", "keys": [], "writes": 1, "texts": None,
                "entries": [{"seq": 3, "hash": hash, "left": forger.left_digest(left)}]}  # fmt: skip
        forged = forger.following(ledger.head(), kind="erased", namespace=SPACE, key="k2", body=body)
    place.attack(
        f"UPDATE entries SET {TOMBSTONE}, body = '{{\"erased\": true}}' WHERE seq = 3",
        "DELETE FROM writes",
        "INSERT INTO entries (seq, kind, time, namespace, key, body, previous, hash, content_digest, salt)"
        " VALUES (:seq, 'erased', :time, :namespace, 'k2', :body, :previous, :hash, :digest, :salt)",
        seq=forged.seq,
        time=forged.time,
        namespace=json.dumps(SPACE, separators=(",", ":")),
        body=json.dumps(body),
        previous=forged.previous,
        hash=forged.hash,
        digest=forged.content_digest,
        salt=forged.salt,
    )
    # Under a key the digest of what is left does not fit either; without one, the entry is not the ledger's own.
    assert found(place, key) == ((3, "content_changed") if key else (last + 1, "forged"))


def test_a_replayed_erasure_is_no_account(place: Place) -> None:
    last = erased_and_more(place)
    with closing(place.open()) as ledger:
        ledger.record_delete(SPACE, "k9", thread=None, task=None)
    columns = "kind, time, fingerprint, namespace, key, value_digest, body, previous, hash, content_digest, salt"
    place.attack(
        f"INSERT INTO entries (seq, {columns}) SELECT {last + 2}, {columns} FROM entries WHERE seq = {last}",
        f"UPDATE head SET seq = {last + 2}",
    )
    assert found(place) == (last + 2, "replayed")


def test_an_erasure_that_was_pointed_at_another_entry_is_changed_content(place: Place) -> None:
    last = erased_and_more(place)
    place.attack(f"UPDATE entries SET body = replace(body, '\"seq\":1', '\"seq\":3') WHERE seq = {last}")
    assert found(place)[1] == "content_changed"


@pytest.mark.parametrize(
    "change",
    [
        "body = replace(body, 'erased: the memory was erased', 'forged: it says so')",
        "key = 'k9'",
        "hash = previous",
        "time = '2000-01-01T00:00:00.000000+00:00'",
    ],
)
def test_a_changed_tombstone_is_found(place: Place, change: str) -> None:
    erased_and_more(place)
    place.attack(f"UPDATE entries SET {change} WHERE seq = 1")
    assert found(place) == (1, "content_changed")


def test_an_erased_content_that_was_put_back_is_found(place: Place) -> None:
    with closing(place.open()) as ledger:
        remember(ledger, SECRET, "k1")
        (report, _) = list(ledger.entries())
        ledger.erase(SPACE, "k1", **BY)
    place.attack(
        "UPDATE entries SET fingerprint = :fingerprint, value_digest = :value_digest, body = :body,"
        " content_digest = :content_digest, salt = :salt WHERE seq = 1",
        fingerprint=report.fingerprint,
        value_digest=report.value_digest,
        body=json.dumps(report.body),
        content_digest=report.content_digest,
        salt=report.salt,
    )
    assert found(place) == (1, "content_changed")


def test_an_erasure_does_not_account_for_what_somebody_changed(place: Place) -> None:
    with closing(place.open()) as ledger:
        remember(ledger, OTHER, "k2", report=a_report_on(OTHER, "report-2", seen=SAYS_SO))
        remember(ledger, SECRET, "k1")
    place.attack("UPDATE entries SET body = replace(body, 'admitted', 'repaired') WHERE seq = 1")
    with closing(place.open()) as ledger, pytest.raises(LedgerError, match="entry 1 is not as it was recorded"):
        ledger.erase(SPACE, "k1", **BY)
    assert found(place) == (1, "content_changed")


def test_an_erased_write_that_was_put_back_beside_the_chain_is_found(place: Place) -> None:
    erased_and_more(place)
    value = json.dumps({"content": "planted"})
    place.attack(
        "INSERT INTO writes"
        " (fingerprint, namespace, key, value, value_digest, options, state, stored_value, report_seq)"
        " VALUES ('f', :namespace, 'k1', :value, :digest, '{}', 'decided', :value, 1)",
        namespace=json.dumps(SPACE, separators=(",", ":")),
        value=value,
        digest=digest({"content": "planted"}),
    )
    assert found(place) == (1, "write_disagrees")


# -- what a database keeps of overwritten rows -----------------------------------------------------------------------


def test_an_erasure_that_died_before_the_file_was_cleared_is_finished_by_the_next(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(place.open()) as ledger:
        remember(ledger, SECRET, "k1")
        with monkeypatch.context() as patched:
            patched.setattr(type(ledger), "_purge", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                ledger.erase(SPACE, "k1", **BY)
        assert ledger.latest(SPACE, "k1") is None
        assert ledger.erase(SPACE, "k1", **BY).entries == 0
        assert verified(ledger)
    assert found_in(place, SECRET) == []


def test_a_reader_that_holds_on_to_an_older_state_is_named_and_the_next_erasure_clears_the_file(
    tmp_path: Path,
) -> None:
    place = SqlitePlace(tmp_path)
    with closing(SqliteLedger(str(place.file), timeout_s=0.05)) as ledger, closing(sqlite3.connect(place.file)) as db:
        remember(ledger, SECRET, "k1")
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM entries").fetchone()
        with pytest.raises(LedgerError, match=r"write-ahead log still has it.*erase the same key again"):
            ledger.erase(SPACE, "k1", **BY)
        assert ledger.latest(SPACE, "k1") is None
        db.execute("ROLLBACK")
        ledger.erase(SPACE, "k1", **BY)
        assert found_in(place, SECRET) == []


@pytest.mark.server
def test_a_transaction_that_may_still_see_the_text_on_postgres_is_named_and_the_next_erasure_clears_it(
    postgres_place: PostgresPlace,
) -> None:
    import psycopg

    from admission.ledger.postgres import PostgresLedger

    with closing(PostgresLedger(postgres_place.url, timeout_s=5)) as ledger:
        remember(ledger, SECRET, "k1")
        with psycopg.connect(postgres_place.address) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1")
            with pytest.raises(LedgerError, match=r"keeps it for a transaction.*erase the same key again"):
                ledger.erase(SPACE, "k1", **BY)
            assert ledger.latest(SPACE, "k1") is None
    with closing(postgres_place.open()) as ledger:
        ledger.erase(SPACE, "k1", **BY)
    assert found_in(postgres_place, SECRET) == []


def test_a_row_that_somebody_made_unreadable_is_erased_with_the_rest(tmp_path: Path) -> None:
    place = SqlitePlace(tmp_path)
    with closing(place.open()) as ledger:
        ledger.claim(a_write(SECRET, "k1"))
        ledger.claim(a_write(OTHER, "k2"))
    place.attack(f"UPDATE writes SET value = 'no JSON: {SECRET.replace(chr(39), chr(39) * 2)}' WHERE key = 'k2'")
    with closing(place.open()) as ledger:
        ledger.erase(SPACE, "k1", **BY)
    assert found_in(place, SECRET) == []
