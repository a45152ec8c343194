"""The Postgres server of a ledger: its address, connections to it, and its errors in terms of what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import PoolClosed, PoolTimeout

from admission.errors import LedgerError, SettingsError
from admission.ledger.holds import number_of

SCHEMA = "admission"
_LONGEST_NAME = 63  # bytes of an identifier
_CONNECT_TIMEOUT_S = 10

# By SQLSTATE, or by its class (the first two characters).
_REMEDIES: dict[str, tuple[str, str]] = {
    "08": ("the connection was lost", "check the server and the network, then try again"),
    "22": ("a text or number cannot be kept or read", "correct it, or run `admission verify` to see what was changed"),
    "23": ("its tables contradict each other", "run `admission verify` to see what was changed"),
    "25006": ("it may not be written to", "name the primary server, and a user who may write"),
    "25P03": ("this process was halted for too long within a transaction", "try again"),
    "40": ("the server chose this transaction to give way, again and again", "try again when fewer write"),
    "42501": ("access is denied", "let the schema's owner open the ledger once, and grant this user its tables"),
    "42": ("its tables are not those of a ledger of this version", "restore a backup, or name another schema"),
    "53100": ("the server's disk is full", "free some space; nothing was half written"),
    "53": ("the server is short of resources", "see its log, then try again"),
    "54": ("a name is longer than an index can hold", "use shorter namespaces, keys and ids"),
    "55P03": ("another transaction holds it locked", "end the program that holds it, then try again"),
    "57014": ("the server took too long", "see what keeps it busy, then try again"),
    "57": ("the server is shutting down or starting", "try again when it runs"),
    "P0001": ("ledger entries are never changed or deleted", "append instead"),
}
# Libpq gives no code for what goes wrong while it connects, only the server's words, which the message repeats.
_AWAY = ("no connection to the server", "check that it runs, and host, port, database, user and password of the URL")
_NO_CONNECTION = (
    "no connection in time: the server is away, or all are in use",
    "check that it runs, or write less at once",
)
_NUL = ("a name or text holds a NUL character, which Postgres cannot keep", "remove it")

# A transaction that ended with one of these left nothing behind and may be made again.
_PASSING = ("08", "40001", "40P01", "25P03", "57P01", "57P02", "57P03")


@dataclass(frozen=True)
class Address:
    """Where a ledger is: libpq's parameters, the schema, and a name without user and password for people."""

    parameters: dict[str, Any]
    schema: str
    name: str


def parse_address(url: str) -> Address:
    """From a libpq URL (`postgresql://user@host:port/database`); `?schema=` names another schema than "admission"."""
    place, _, query = url.partition("?")
    options = [option for option in query.split("&") if option]
    schemas = [unquote(option[len("schema=") :]) for option in options if option.startswith("schema=")]
    rest = "&".join(option for option in options if not option.startswith("schema="))
    try:
        parameters = {name: value for name, value in conninfo_to_dict(f"{place}?{rest}").items() if value is not None}
    except psycopg.ProgrammingError:
        # Without libpq's message, which may repeat a password.
        remedy = "give postgresql://USER@HOST:PORT/DATABASE?schema=NAME"
        raise SettingsError("ledger.url", "is no address of a Postgres database", remedy) from None
    schema = schemas[-1] if schemas else SCHEMA
    if not schema or "\0" in schema or len(schema.encode()) > _LONGEST_NAME or schema.startswith("pg_"):
        remedy = f"give a name of 1 to {_LONGEST_NAME} bytes that does not begin with pg_"
        raise SettingsError("ledger.url", "schema= names no schema", remedy)
    host, port, database = (parameters.get(name, "") for name in ("host", "port", "dbname"))
    name = f"postgresql://{host}{':' if port else ''}{port}/{database}?schema={schema}"
    return Address(parameters, schema, name)


def connection_parameters(address: Address, timeout_s: float) -> dict[str, Any]:
    """What `psycopg.connect` and a pool are to be called with. What the URL says itself is left as it is."""
    given: dict[str, Any] = {
        "application_name": "memory-admission",
        "connect_timeout": _CONNECT_TIMEOUT_S,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": int(timeout_s * 1000),
        **address.parameters,
    }
    return {**given, "client_encoding": "UTF8", "autocommit": True, "row_factory": dict_row}


def configure(db: psycopg.Connection[DictRow], address: Address, timeout_s: float) -> None:
    """The settings of a new connection: the ledger's schema, bounds on waiting, commits that are on disk."""
    wait = str(int(timeout_s * 1000))
    path = sql.SQL("{}, pg_temp").format(sql.Identifier(address.schema)).as_string(db)
    settings = {
        "search_path": path,
        "lock_timeout": wait,
        "statement_timeout": str(int(timeout_s * 2000)),  # beyond the other, for the clearer error
        # For the lock of a process that is halted while it writes, the others would wait without end.
        "idle_in_transaction_session_timeout": wait,
    }
    durable = (
        "CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"
    )
    calls = ", ".join([*["set_config(%s, %s, false)"] * len(settings), durable])
    db.execute(f"SELECT {calls}".encode(), [part for setting in settings.items() for part in setting])


def connect(address: Address, timeout_s: float) -> psycopg.Connection[DictRow]:
    """One connection, outside any pool."""
    db: psycopg.Connection[DictRow] = psycopg.connect(**connection_parameters(address, timeout_s))
    try:
        configure(db, address, timeout_s)
    except BaseException:
        db.close()
        raise
    return db


def rewrite(db: psycopg.Connection[DictRow], table: str) -> int:
    """Write a table anew, without the row versions that were overwritten or deleted. How many of them are still there,
    because a transaction that is under way may see them."""
    kept: list[int] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        # "... 2 dead row versions cannot be removed yet": the number comes first in every language of the server.
        number = re.match(r"\D*(\d+)", notice.message_detail or "")
        if number is not None:
            kept.append(int(number[1]))

    db.add_notice_handler(note)
    try:
        db.execute(f"VACUUM (FULL, VERBOSE) {table}".encode())
        db.execute(f"ANALYZE {table}".encode())
    finally:
        db.remove_notice_handler(note)
    return sum(kept)


@contextmanager
def server_errors(name: str) -> Iterator[None]:
    """Turns whatever psycopg raises inside into a `LedgerError` about the ledger `name`."""
    try:
        yield
    except psycopg.Error as error:
        problem, remedy = _remedy(error)
        raise LedgerError("ledger", f"{name}: {problem} ({_first_line(error)})", remedy) from error
    except UnicodeEncodeError as error:
        raise LedgerError(
            "ledger", f"{name}: a name or text is not valid Unicode ({error.reason})", "correct it"
        ) from error


def is_passing(error: BaseException) -> bool:
    """Is it an error after which the same transaction may be made again: a lost connection, a deadlock?"""
    if not isinstance(error, psycopg.Error) or isinstance(error, PoolTimeout | PoolClosed):
        return False
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(_PASSING)


class AdvisoryLocks:
    """Session-level advisory locks on a connection of their own, which the server drops when the process ends.

    Where the connection is lost the locks are, too: then two may judge one write, and the first decision stands. They
    do not work through a pooler that hands a connection on after each transaction.
    """

    def __init__(self, address: Address, timeout_s: float) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._db: psycopg.Connection[DictRow] | None = None

    def take(self, name: str) -> bool:
        with server_errors(self._address.name):
            try:
                return self._asked("pg_try_advisory_lock", name)
            except psycopg.OperationalError:  # lost since the last time: once more on a new connection
                self.close()
                return self._asked("pg_try_advisory_lock", name)

    def give_back(self, name: str) -> None:
        try:
            if self._db is not None:
                self._asked("pg_advisory_unlock", name)
        except psycopg.Error:  # with the connection the lock is gone
            self.close()

    def close(self) -> None:
        if self._db is None:
            return
        with suppress(psycopg.Error):  # where the connection is lost, so are the locks
            # A server learns that a connection was closed a moment later; others need not wait for that.
            self._db.execute("SELECT pg_advisory_unlock_all()")
        self._db.close()
        self._db = None

    def _asked(self, function: str, name: str) -> bool:
        if self._db is None:
            self._db = connect(self._address, self._timeout_s)
        number = number_of(f"hold\n{self._address.schema}\n{name}")
        row = self._db.execute(f"SELECT {function}(%s) AS done".encode(), (number,)).fetchone()
        return row is not None and bool(row["done"])


def _remedy(error: psycopg.Error) -> tuple[str, str]:
    if isinstance(error, PoolTimeout):
        return _NO_CONNECTION
    if error.sqlstate is None:
        return _NUL if isinstance(error, psycopg.DataError) else _AWAY
    known = _REMEDIES.get(error.sqlstate) or _REMEDIES.get(error.sqlstate[:2])
    return known or ("Postgres refused", "check that the schema is a ledger of this version, and the server's log")


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0]
