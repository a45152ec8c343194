"""What only a ledger on a server meets: opening, migrations, lost connections, other transactions, refusals."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import psycopg
import pytest
from ledger_filling import fill
from ledger_places import PostgresPlace, SqlitePlace
from ledger_proxy import FakeNetwork
from ledger_records import HELD, SPACE, TEA, a_report, an_intent

from admission.errors import LedgerError, SettingsError
from admission.ledger import Ledger, open_ledger
from admission.ledger import postgres_schema as schema
from admission.ledger.chain import Chain
from admission.ledger.postgres import PostgresLedger
from admission.records import Report

pytestmark = pytest.mark.server


def refused(url: str, match: str, **how: Any) -> None:
    with pytest.raises(LedgerError, match=match) as error:
        PostgresLedger(url, **how)
    assert error.value.remedy
    assert "hunter2" not in str(error.value)


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


# -- opening ---------------------------------------------------------------------------------------------------------


def test_many_that_open_a_new_ledger_at_once_all_get_it(postgres_place: PostgresPlace) -> None:
    start = threading.Barrier(8)

    def work(n: int) -> None:
        start.wait()
        with closing(postgres_place.open()) as ledger:
            ledger.record_report(a_report(f"r{n}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    with closing(postgres_place.open()) as ledger:
        assert ledger.verify(ledger.head()).entries == 8
    versions = [(n,) for n in range(1, len(schema.MIGRATIONS) + 1)]
    assert postgres_place.rows("SELECT version FROM ledger_versions ORDER BY 1") == versions


def test_what_was_written_is_there_when_opened_again(postgres_place: PostgresPlace) -> None:
    intent = an_intent()
    with closing(postgres_place.open()) as ledger:
        ledger.claim(intent)
        decided = ledger.decide(intent.fingerprint, a_report(memory="a NUL: \x00"), TEA)
        head = ledger.head()
    with closing(postgres_place.open()) as ledger:
        assert ledger.incomplete() == [decided]
        assert ledger.report("report-1") is not None
        assert ledger.verify(head).ok


def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_refused(
    postgres_place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(postgres_place.open()) as ledger:
        head = fill(ledger)
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "ALTER TABLE writes ADD COLUMN note text"))
        for _ in range(2):
            with closing(postgres_place.open()) as ledger:
                assert ledger.verify(head).ok
        assert postgres_place.rows("SELECT max(version) FROM ledger_versions") == [(len(schema.MIGRATIONS),)]
        assert set(postgres_place.rows("SELECT note FROM writes")) == {(None,)}
    newest = len(schema.MIGRATIONS)
    refused(postgres_place.url, f"schema version {newest + 1}.*reads up to {newest}; upgrade memory-admission")


def test_a_migration_that_fails_leaves_the_schema_as_it_was(
    postgres_place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(postgres_place.open()) as ledger:
        head = fill(ledger)
    with monkeypatch.context() as newer:
        broken = "ALTER TABLE writes ADD COLUMN note text; ALTER TABLE no_such_table ADD COLUMN note text"
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
        refused(postgres_place.url, "no_such_table")
    with closing(postgres_place.open()) as ledger:
        assert ledger.verify(head).ok


def test_a_schema_of_something_else_is_refused_and_left_alone(postgres_place: PostgresPlace) -> None:
    create = f'CREATE SCHEMA "{postgres_place.schema}"'
    with psycopg.connect(postgres_place.address) as db:
        db.execute(create)
        db.execute(f'CREATE TABLE "{postgres_place.schema}".store (key text)')
    refused(postgres_place.url, "schema of something else; give the ledger a schema of its own")
    found = postgres_place.rows(f"SELECT tablename FROM pg_tables WHERE schemaname = '{postgres_place.schema}'")
    assert found == [("store",)]


def test_an_empty_schema_that_someone_made_becomes_a_ledger(postgres_place: PostgresPlace) -> None:
    with psycopg.connect(postgres_place.address) as db:
        db.execute(f'CREATE SCHEMA "{postgres_place.schema}"')
    with closing(postgres_place.open()) as ledger:
        assert ledger.head().seq == 0


def test_a_ledger_that_has_to_exist_is_not_begun(postgres_place: PostgresPlace) -> None:
    with pytest.raises(LedgerError, match="no ledger at postgresql://"):
        open_ledger(postgres_place.url, must_exist=True)
    assert postgres_place.rows(f"SELECT 1 FROM pg_namespace WHERE nspname = '{postgres_place.schema}'") == []
    postgres_place.open().close()
    open_ledger(postgres_place.url, must_exist=True).close()


def test_the_same_writes_give_the_same_entries_as_in_sqlite(
    postgres_place: PostgresPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("admission.ledger.chain.utc_now", lambda: "2026-05-01T12:00:00.000000+00:00")
    exported = []
    for place in (SqlitePlace(tmp_path), postgres_place):
        with closing(place.open(b"secret")) as ledger:
            fill(ledger)
            exported.append(list(ledger.entries()))
    assert exported[0] == exported[1]
    assert Chain(b"secret").verify(exported[1]).ok


# -- what is wrong with the address ----------------------------------------------------------------------------------


def test_a_server_that_is_away(postgres_server: str) -> None:
    network = FakeNetwork("127.0.0.1", 1)
    network.close()
    refused(
        f"postgresql://tester:hunter2@127.0.0.1:{network.port}/test",
        "no connection to the server.*check that it runs, and host, port",
    )


def test_a_database_that_is_not_there(postgres_place: PostgresPlace) -> None:
    there = urlsplit(postgres_place.url)
    refused(
        there._replace(path="/no_such_database").geturl(),
        "does not exist.*check that it runs, and host, port, database",
    )


@pytest.mark.parametrize(
    "rest", ["%zz", "/test?no_such_option=hunter2", "?schema=", f"?schema={'x' * 64}", "?schema=pg_x"]
)
def test_an_address_that_is_none(rest: str) -> None:
    with pytest.raises(SettingsError, match=r"ledger\.url") as error:
        open_ledger(f"postgresql://tester:hunter2@127.0.0.1{rest}")
    assert "hunter2" not in str(error.value)


def test_without_psycopg_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "admission.ledger.postgres")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LedgerError, match=r"pip install 'memory-admission\[postgres\]'"):
        open_ledger("postgresql://127.0.0.1/test")


# -- what the server refuses -----------------------------------------------------------------------------------------


def test_a_server_that_may_only_be_read(postgres_place: PostgresPlace) -> None:
    with closing(postgres_place.open()) as ledger:
        ledger.record_report(a_report())
    read_only = f"{postgres_place.url}&options=-cdefault_transaction_read_only%3Don"
    with closing(open_ledger(read_only)) as ledger:
        assert [report.id for _, report in ledger.reports()] == ["report-1"]
        assert ledger.verify().ok
        with pytest.raises(LedgerError, match=r"may not be written to.*primary server"):
            ledger.record_report(a_report("report-2"))


def test_a_key_postgres_cannot_keep(postgres_place: PostgresPlace) -> None:
    with closing(postgres_place.open()) as ledger:
        with pytest.raises(LedgerError, match=r"NUL character.*remove it"):
            ledger.claim(an_intent().model_copy(update={"key": "a\x00b"}))
        with pytest.raises(LedgerError, match="use shorter namespaces, keys and ids"):
            ledger.record_delete(SPACE, os.urandom(5000).hex(), thread=None, task=None)
        assert ledger.claim(an_intent()).state == "claimed"
        assert kinds(ledger) == []


def test_a_transaction_that_holds_the_chain_is_waited_for_and_not_for_ever(postgres_place: PostgresPlace) -> None:
    intent = an_intent()
    with closing(PostgresLedger(postgres_place.url, timeout_s=2.0)) as ledger:
        claimed = ledger.claim(intent)
        with psycopg.connect(postgres_place.address, options=f"-c search_path={postgres_place.schema}") as db:
            db.execute("SELECT * FROM head FOR UPDATE")
            with pytest.raises(LedgerError, match=r"another transaction holds it locked.*try again"):
                ledger.decide(intent.fingerprint, a_report(), TEA)
            other = an_intent({"content": "another"}, key="k2")
            assert ledger.claim(other).state == "claimed"  # claims do not wait
            db.rollback()
        assert ledger.write(intent.fingerprint) == claimed
        assert ledger.decide(intent.fingerprint, a_report(), TEA).state == "decided"


class HaltingReport(Report):
    """Stands for a process that is halted in the middle of a transaction."""

    go_on: ClassVar[threading.Event] = threading.Event()
    halted: ClassVar[threading.Event] = threading.Event()

    def model_dump(self, **how: Any) -> dict[str, Any]:
        self.halted.set()
        self.go_on.wait()
        return super().model_dump(**how)


def test_a_process_halted_in_a_transaction_does_not_hold_up_the_others(postgres_place: PostgresPlace) -> None:
    first, second = an_intent(), an_intent({"content": "another"}, key="k2")
    halting = HaltingReport(**a_report("halted").model_dump())
    with (
        closing(PostgresLedger(postgres_place.url, timeout_s=2.0)) as slow,
        closing(postgres_place.open()) as quick,
        ThreadPoolExecutor(1) as pool,
    ):
        slow.claim(first)
        quick.claim(second)
        waiting = pool.submit(slow.decide, first.fingerprint, halting, TEA)
        halting.halted.wait()
        try:
            assert quick.decide(second.fingerprint, a_report(), second.value).state == "decided"
        finally:
            halting.go_on.set()
        with pytest.raises(LedgerError, match=r"halted for too long|no connection"):
            waiting.result()
        assert slow.decide(first.fingerprint, a_report("again"), TEA).state == "decided"
        assert kinds(quick) == ["report", "report"]
        assert quick.verify(quick.head()).ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_ledger_is_not_used_across_a_fork(postgres_place: PostgresPlace) -> None:
    with closing(postgres_place.open()) as ledger:
        child = os.fork()
        if child == 0:
            try:
                ledger.head()
                os._exit(1)
            except LedgerError as error:
                os._exit(0 if "fork" in str(error) else 2)
            finally:
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.head().seq == 0


# -- lost connections ------------------------------------------------------------------------------------------------


@pytest.fixture
def network(postgres_server: str) -> Iterator[FakeNetwork]:
    with psycopg.connect(postgres_server) as db:
        host, port = db.info.host, db.info.port
    if host.startswith("/"):
        pytest.skip("the server is reached by a Unix socket")
    made = FakeNetwork(host, port)
    yield made
    made.close()


def over(network: FakeNetwork, place: PostgresPlace, timeout_s: float = 30.0) -> PostgresLedger:
    """The ledger at `place`, reached over `network`."""
    there = urlsplit(place.url)
    user = f"{there.netloc.rpartition('@')[0]}@" if "@" in there.netloc else ""
    url = there._replace(netloc=f"{user}127.0.0.1:{network.port}").geturl()
    return PostgresLedger(f"{url}&sslmode=disable&gssencmode=disable", timeout_s=timeout_s)


def test_a_ledger_goes_on_after_all_its_connections_were_lost(
    network: FakeNetwork, postgres_place: PostgresPlace
) -> None:
    intent = an_intent()
    with closing(over(network, postgres_place)) as ledger:
        ledger.claim(intent)
        assert ledger.hold(intent.fingerprint)
        for call in (ledger.head, lambda: ledger.claim(intent), lambda: ledger.record_report(a_report())):
            network.cut_all()
            call()
        network.cut_all()
        ledger.release(intent.fingerprint)
        assert ledger.hold(intent.fingerprint)
        assert kinds(ledger) == ["report"]


def test_a_server_that_is_away_for_a_moment_is_waited_for(network: FakeNetwork, postgres_place: PostgresPlace) -> None:
    with closing(over(network, postgres_place)) as ledger:
        network.refuse(1)
        network.cut_all()
        ledger.record_report(a_report())
        assert network.refused == 1
        assert kinds(ledger) == ["report"]


def test_a_server_that_stays_away_is_an_error_in_time(network: FakeNetwork, postgres_place: PostgresPlace) -> None:
    with closing(over(network, postgres_place, timeout_s=1.0)) as ledger:
        network.close()
        with pytest.raises(LedgerError, match=r"server is away|no connection") as error:
            ledger.claim(an_intent())
        assert "check that it runs" in error.value.remedy
        with pytest.raises(LedgerError, match="no connection"):
            ledger.hold("any")


def claim(ledger: Ledger) -> object:
    return ledger.claim(an_intent({"content": "new"}, key="k2"))


def decide(ledger: Ledger) -> object:
    return ledger.decide(an_intent().fingerprint, a_report(), TEA)


def report(ledger: Ledger) -> object:
    return ledger.record_report(a_report())


def delete(ledger: Ledger) -> object:
    return ledger.record_delete(SPACE, "k1", thread=None, task=None)


def restore(ledger: Ledger) -> object:
    return ledger.restore(an_intent({"content": "held"}).fingerprint, by="Ada", why="because")


@pytest.mark.parametrize("answer_only", [False, True], ids=["before it arrives", "its answer only"])
@pytest.mark.parametrize("words", [b"INSERT INTO", b"COMMIT"], ids=["insert", "commit"])
@pytest.mark.parametrize("call", [claim, decide, report, delete, restore], ids=lambda call: call.__name__)
def test_a_connection_lost_within_a_transaction_loses_and_doubles_nothing(
    network: FakeNetwork,
    postgres_place: PostgresPlace,
    call: Callable[[Ledger], object],
    words: bytes,
    answer_only: bool,
) -> None:
    intent, held = an_intent(), an_intent({"content": "held"})
    with closing(postgres_place.open()) as ledger:
        for one in (intent, held):
            ledger.claim(one)
        ledger.decide(held.fingerprint, HELD, None)
        before = (len(kinds(ledger)), len(ledger.incomplete()))
    with closing(over(network, postgres_place)) as ledger:
        network.cut_at(words, answer_only=answer_only)
        answer = call(ledger)
        assert network.cuts == 1
        after = (len(kinds(ledger)), len(ledger.incomplete()))
        assert ledger.verify(ledger.head()).ok
    added = (after[0] - before[0], after[1] - before[1])
    assert (
        added
        == {
            claim: (0, 1),
            decide: (1, 0),
            report: (1, 0),
            delete: (1, 0),
            restore: (1, 1),
        }[call]
    )
    if call in (decide, restore):
        assert answer.state == "decided"  # type: ignore[attr-defined]
