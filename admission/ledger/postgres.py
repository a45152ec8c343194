"""A ledger in a schema of a Postgres database, for many processes and machines at once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

import psycopg
from psycopg.rows import DictRow
from psycopg_pool import ConnectionPool, PoolClosed
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    retry_if_result,
    stop_after_delay,
    wait_fixed,
    wait_random_exponential,
)

from admission.errors import LedgerError
from admission.ledger.consistency import headless
from admission.ledger.holds import number_of
from admission.ledger.postgres_schema import prepare
from admission.ledger.postgres_server import (
    AdvisoryLocks,
    configure,
    connect,
    connection_parameters,
    is_passing,
    parse_address,
    rewrite,
    server_errors,
)
from admission.ledger.sql_ledger import SqlLedger
from admission.ledger.statements import Database
from admission.records import Namespace, canonical_json

T = TypeVar("T")

_PAGE = 200
_LONGEST_PAUSE_S = 1.0


class PostgresLedger(SqlLedger):
    """A `Ledger` in one schema of a Postgres database (13 or newer), made and brought up to date when it is opened.

    `url` is libpq's (`postgresql://user@host:port/database`), with `?schema=NAME` for another schema than "admission".
    Threads share a pool of up to `connections`; holds take one more connection, from the first on. Whoever appends to
    the chain locks its head, so that appends follow one another; claims and reads go on beside them. The wait for a
    lock or a connection takes at most `timeout_s` seconds, a statement twice that.

    A transaction that a lost connection, a restarting server or a deadlock ended is made again, within `timeout_s`
    seconds; where the connection was lost while it committed, the server is asked what became of it first.

    `key` turns the hash chain into a keyed one (`Chain`). With `must_exist`, a missing ledger is an error.
    """

    def __init__(
        self,
        url: str,
        *,
        key: bytes | None = None,
        connections: int = 10,
        timeout_s: float = 30.0,
        must_exist: bool = False,
    ) -> None:
        address = parse_address(url)
        super().__init__(address.name, key=key, locks=AdvisoryLocks(address, timeout_s))
        self._address = address
        self._timeout_s = timeout_s
        self._process = os.getpid()
        with server_errors(self.name):
            # Not through the pool: what is wrong with the address should be said at once and in full.
            with connect(address, timeout_s) as db:
                prepare(db, address, self._chain, must_exist=must_exist)
            self._pool: ConnectionPool[psycopg.Connection[DictRow]] = ConnectionPool(
                kwargs=connection_parameters(address, timeout_s),
                configure=partial(configure, address=address, timeout_s=timeout_s),
                min_size=1,
                max_size=connections,
                timeout=timeout_s,
                open=True,
            )
        # Also at the end of a program that does not close it: the pool's threads would be waited for.
        self._closing = weakref.finalize(self, _close, self._pool, self._process)
        self._retrying = Retrying(
            retry=retry_if_exception(is_passing),
            stop=stop_after_delay(timeout_s),
            wait=wait_random_exponential(multiplier=0.02, max=_LONGEST_PAUSE_S),
            before_sleep=partial(_check, self._pool),
            reraise=True,
        )

    def close(self) -> None:
        super().close()
        self._closing()

    def _read(self, work: Callable[[Database], T]) -> T:
        return self._again_if_passing(partial(self._reading, work))

    def _write(self, work: Callable[[Database], T], *, appends: bool = True) -> T:
        return self._again_if_passing(partial(self._appending if appends else self._inserting, work))

    @contextmanager
    def _snapshot(self) -> Iterator[Database]:
        with self._errors(), self._pool.connection() as db, db.transaction(), ExitStack() as cursors:
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            db.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # it holds nothing others wait for
            yield _Streaming(db, cursors)

    def _lock_key(self, db: Database, namespace: Namespace, key: str) -> None:
        name = number_of(f"key\n{self._address.schema}\n{canonical_json(namespace)}\n{key}")
        db.execute("SELECT pg_advisory_xact_lock(?)", (name,))

    @contextmanager
    def _unguarded(self, db: Database) -> Iterator[None]:
        # Holds up other writers of entries, who wait for the chain's head anyway, and no reader.
        db.execute("ALTER TABLE entries DISABLE TRIGGER entries_are_never_changed")
        yield
        db.execute("ALTER TABLE entries ENABLE TRIGGER entries_are_never_changed")

    def _purge(self) -> None:
        """Both tables are written anew. What a transaction under way may still see is kept by that, and waited for. The
        server's own log of writes, and backups, are not ours to clear."""
        ended = Retrying(
            retry=retry_if_result(bool),
            stop=stop_after_delay(self._timeout_s),
            wait=wait_fixed(_LONGEST_PAUSE_S),
            retry_error_callback=lambda state: state.outcome and state.outcome.result(),
        )
        with self._errors(), connect(self._address, self._timeout_s) as db:
            db.execute("SET statement_timeout = 0")
            for table in ("entries", "writes"):
                if ended.copy()(rewrite, db, table):
                    problem = f"{self.name}: erased, but the server keeps it for a transaction that is under way"
                    raise LedgerError("ledger", problem, "erase the same key again when that has ended")

    def _field(self, name: str) -> str:
        return f"""(body_field(body, '{name}') COLLATE "C")"""

    def _again_if_passing(self, attempt: Callable[[], T]) -> T:
        with self._errors():
            result: T = self._retrying.copy()(attempt)
        return result

    # -- one attempt ---------------------------------------------------------------------------------------------

    def _reading(self, work: Callable[[Database], T]) -> T:
        with self._pool.connection() as db:
            return work(_Session(db))

    def _inserting(self, work: Callable[[Database], T]) -> T:
        with self._pool.connection() as db, db.pipeline() as pipeline, db.transaction():
            return work(_Session(db, pipeline))

    def _appending(self, work: Callable[[Database], T]) -> T:
        committing: str | None = None
        try:
            # In a pipeline: what needs no answer waits for none, and the chain is locked for fewer round trips.
            with self._pool.connection() as db, db.pipeline() as pipeline:
                session = _Session(db, pipeline)
                session.execute("BEGIN")
                transaction = self._lock_chain(session)
                result = work(session)
                committing = transaction
                session.execute("COMMIT")
        except psycopg.Error:
            # The answer to COMMIT may be all that was lost.
            if committing is not None and self._retrying.copy()(self._was_committed, committing):
                return result
            raise
        return result

    def _was_committed(self, transaction: str) -> bool:
        with self._pool.connection() as db, db.transaction():
            self._lock_chain(_Session(db))  # waits for its end, should it still be under way
            row = db.execute("SELECT pg_xact_status(%s::xid8) AS status", (transaction,)).fetchone()
        return row is not None and row["status"] == "committed"

    def _lock_chain(self, db: Database) -> str:
        """Keep all others from appending until the transaction ends; its number."""
        row = db.execute("SELECT pg_current_xact_id()::text AS number FROM head FOR UPDATE").fetchone()
        if row is None:
            raise headless(self.name)
        return str(row["number"])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        if self._process != os.getpid():
            # Two processes would talk over each other on the same sockets.
            raise LedgerError("ledger", f"{self.name}: opened before this process was forked", "open it after the fork")
        with server_errors(self.name):
            try:
                yield
            except PoolClosed as error:
                raise LedgerError("ledger", f"{self.name}: closed", "open it again") from error


class _Session:
    """A connection that is spoken to in the ledgers' shared SQL, in a pipeline or not."""

    def __init__(self, db: psycopg.Connection[DictRow], pipeline: psycopg.Pipeline | None = None) -> None:
        self._db = db
        self._pipeline = pipeline

    def execute(self, sql: str, parameters: Sequence[object] = (), /) -> Any:
        cursor = self._db.execute(sql.replace("?", "%s").encode(), parameters)
        if self._pipeline is not None and sql.lstrip().startswith("SELECT"):
            # Whoever selects looks at the answer next. A server in the midst of a pipeline does not count as idle, and
            # would let a process that is halted now keep its locks.
            self._pipeline.sync()
        return cursor


class _Streaming:
    """As `_Session`, but rows stay on the server until they are asked for, page by page."""

    def __init__(self, db: psycopg.Connection[DictRow], cursors: ExitStack) -> None:
        self._db = db
        self._cursors = cursors
        self._count = 0

    def execute(self, sql: str, parameters: Sequence[object] = (), /) -> Any:
        self._count += 1
        cursor = self._cursors.enter_context(self._db.cursor(f"rows_{self._count}"))
        cursor.itersize = _PAGE
        return cursor.execute(sql.replace("?", "%s").encode(), parameters)


def _close(pool: ConnectionPool[psycopg.Connection[DictRow]], process: int) -> None:
    if process == os.getpid():
        pool.close()


def _check(pool: ConnectionPool[psycopg.Connection[DictRow]], _: RetryCallState) -> None:
    """Drop connections that were lost together with the one that just failed."""
    pool.check()
