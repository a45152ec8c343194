"""From a ledger URL to the ledger it names."""

from __future__ import annotations

from pathlib import Path

from admission.errors import LedgerError, SettingsError
from admission.ledger.protocol import Ledger
from admission.ledger.sqlite import SqliteLedger
from admission.ledger.sqlite_file import MEMORY

_FORMS = (
    "give sqlite:///relative/path, sqlite:////absolute/path, sqlite:// for one in memory, or"
    " postgresql://USER@HOST:PORT/DATABASE?schema=NAME"
)


def open_ledger(url: str, *, key: bytes | None = None, must_exist: bool = False) -> Ledger:
    """Open the ledger a URL names, and begin it if there is none yet, unless it `must_exist`.

    `sqlite:///relative/path`, `sqlite:////absolute/path` (the folder has to exist), `sqlite://` (in memory, gone when
    closed), `postgresql://...` as libpq has it, with `?schema=NAME` (by default "admission"; needs the extra
    `postgres`). `key` is the secret of a keyed hash chain; a ledger is opened with the key it was begun with. Errors:
    `SettingsError` for a URL that names no ledger, `LedgerError` for one that cannot be opened.
    """
    # Only the scheme is ever repeated in a message: what follows may hold a password.
    scheme, colon, rest = url.partition("://")
    if scheme in {"postgresql", "postgres"} and colon:
        return _open_postgres(url, key, must_exist)
    if scheme != "sqlite" or not colon:
        named = f"{scheme}:// names no kind of ledger" if colon else "is not a URL"
        raise SettingsError("ledger.url", named, _FORMS)
    if rest in {"", "/", f"/{MEMORY}"}:
        return SqliteLedger(key=key)
    if not rest.startswith("/"):
        raise SettingsError("ledger.url", "sqlite:// is followed by a host name", _FORMS)
    path = Path(rest[1:])
    if must_exist and not (path.is_file() and path.stat().st_size):
        raise LedgerError("ledger", f"no ledger at {url}", "name one that has been begun")
    return SqliteLedger(rest[1:], key=key)


def _open_postgres(url: str, key: bytes | None, must_exist: bool) -> Ledger:
    try:
        from admission.ledger.postgres import PostgresLedger
    except ImportError as error:
        remedy = "pip install 'memory-admission[postgres]'"
        raise LedgerError("ledger", f"postgresql:// needs psycopg ({error})", remedy) from error
    return PostgresLedger(url, key=key, must_exist=must_exist)
