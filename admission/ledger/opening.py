"""From a ledger URL to the ledger it names."""

from __future__ import annotations

from admission.errors import LedgerError, SettingsError
from admission.ledger.protocol import Ledger
from admission.ledger.sqlite import SqliteLedger
from admission.ledger.sqlite_file import MEMORY

_FORMS = "give sqlite:///relative/path, sqlite:////absolute/path, or sqlite:// for one in memory"


def open_ledger(url: str, *, key: bytes | None = None) -> Ledger:
    """Open the ledger a URL names, making the file if there is none yet (its folder has to exist).

    `sqlite:///relative/path`, `sqlite:////absolute/path`, `sqlite://` (in memory, gone when closed). `key` is the
    secret of a keyed hash chain; a ledger is opened with the key it was begun with. Errors: `SettingsError` for a URL
    that names no ledger, `LedgerError` for one that cannot be opened.
    """
    # Only the scheme is ever repeated in a message: what follows may hold a password.
    scheme, colon, rest = url.partition("://")
    if scheme in {"postgresql", "postgres"} and colon:
        raise LedgerError("ledger", "postgresql:// is not available: this version has no Postgres ledger yet", _FORMS)
    if scheme != "sqlite" or not colon:
        named = f"{scheme}:// names no kind of ledger" if colon else "is not a URL"
        raise SettingsError("ledger.url", named, _FORMS)
    if rest in {"", "/", f"/{MEMORY}"}:
        return SqliteLedger(key=key)
    if not rest.startswith("/"):
        raise SettingsError("ledger.url", "sqlite:// is followed by a host name", _FORMS)
    return SqliteLedger(rest[1:], key=key)
