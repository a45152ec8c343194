"""A ledger's tables in Postgres, by version, and bringing a schema up to date: forwards only, one process at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from admission.errors import LedgerError
from admission.ledger.chain import EMPTY
from admission.ledger.consistency import check_key
from admission.ledger.hashing import Hashing
from admission.ledger.holds import number_of
from admission.ledger.rows import sealed

if TYPE_CHECKING:
    from psycopg import Connection

    from admission.ledger.postgres_server import Address

OLDEST_SERVER = 130000  # pg_xact_status over restarts (xid8)

# Text is compared by byte, as SQLite does. Columns that hold JSON are text: what was hashed is kept to the letter, and
# jsonb knows no NUL character.
_FIRST = r"""
CREATE TABLE entries (
    seq bigint PRIMARY KEY,
    kind text NOT NULL,
    time text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C",
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    value_digest text,
    body text NOT NULL,
    previous text NOT NULL,
    hash text NOT NULL,
    content_digest text
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'ledger entries are never changed or deleted'; END $$;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_never_emptied BEFORE TRUNCATE ON entries EXECUTE FUNCTION refuse_change();
CREATE FUNCTION body_field(body text, name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT replace(body, '\u0000', '\ufffd')::json ->> name $$;
CREATE UNIQUE INDEX one_report_a_write ON entries (fingerprint) WHERE kind = 'report';
CREATE UNIQUE INDEX one_restored_a_write ON entries (fingerprint) WHERE kind = 'restored';
CREATE UNIQUE INDEX one_stored_a_write ON entries (fingerprint) WHERE kind = 'stored';
CREATE INDEX reports_by_id ON entries ((body_field(body, 'id') COLLATE "C")) WHERE kind = 'report';
CREATE INDEX changes_by_key ON entries (namespace, key) WHERE kind IN ('stored', 'deleted');

CREATE TABLE writes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text COLLATE "C" NOT NULL UNIQUE,
    namespace text COLLATE "C" NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    value_digest text NOT NULL,
    options text NOT NULL,
    thread text,
    task text,
    state text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'decided', 'done')),
    stored_value text,
    quarantined smallint NOT NULL DEFAULT 0 CHECK (quarantined IN (0, 1)),
    report_seq bigint UNIQUE REFERENCES entries (seq),
    CHECK ((state = 'claimed') = (report_seq IS NULL))
);
CREATE INDEX writes_incomplete ON writes (id) WHERE state <> 'done';
CREATE INDEX writes_quarantined ON writes (id) WHERE quarantined = 1;

CREATE TABLE head (
    one integer PRIMARY KEY CHECK (one = 1),
    seq bigint NOT NULL,
    hash text NOT NULL,
    key_check text NOT NULL
);
"""

_REVIEWS = "CREATE INDEX reviews_by_write ON entries (fingerprint) WHERE kind = 'review'"

_PENDING = """
ALTER TABLE writes ADD COLUMN conversation text, ADD COLUMN pending_after bigint;
CREATE INDEX writes_by_key ON writes (namespace, key);
CREATE UNIQUE INDEX one_overtaken_a_write ON entries (fingerprint) WHERE kind = 'overtaken';
"""

_READING = """
ALTER TABLE entries ADD COLUMN salt text;
ALTER TABLE writes ADD COLUMN seal text;
CREATE TABLE deletions (seq bigint PRIMARY KEY REFERENCES entries (seq), store text NOT NULL);
CREATE INDEX metadata_by_write ON entries (fingerprint) WHERE kind = 'metadata';
CREATE INDEX reads_by_question ON entries (key) WHERE kind = 'read';
CREATE INDEX erased_by_key ON entries (namespace, key) WHERE kind = 'erased';
"""

# The planner has no use for samples of these, which would outlive an erasure; a change of type drops those it has.
_TEXTS = {
    "entries": ("body", "value_digest"),
    "writes": ("value", "value_digest", "options", "stored_value", "conversation"),
}
_READING += "".join(
    f"ALTER TABLE {table} ALTER COLUMN {column} TYPE text, ALTER COLUMN {column} SET STATISTICS 0;\n"
    for table, columns in _TEXTS.items()
    for column in columns
)

# The script at place n makes version n + 1 out of version n. What was released is never changed, only added to.
MIGRATIONS: tuple[str, ...] = (_FIRST, _REVIEWS, _PENDING, _READING)
_SEALS_SINCE = 4


def prepare(db: Connection[Any], address: Address, hashing: Hashing, *, must_exist: bool) -> None:
    """Make the tables where there are none yet (unless they `must_exist`), or bring older ones up to date; check that
    the ledger was begun with the key given now. `db` is in autocommit mode, its search path the ledger's schema."""
    _check_server(db, address)
    version = _version(db, address)
    if version is None and must_exist:
        raise LedgerError("ledger", f"no ledger at {address.name}", "name one that has been begun")
    if version != len(MIGRATIONS):
        with db.transaction():
            db.execute("SET LOCAL statement_timeout = 0")
            db.execute("SELECT pg_advisory_xact_lock(%s)", (number_of(f"migrations\n{address.schema}"),))
            _migrate(db, address, hashing)
    _check_key(db, address, hashing)


def _check_server(db: Connection[Any], address: Address) -> None:
    if db.info.server_version < OLDEST_SERVER:
        found = f"{address.name}: PostgreSQL {db.info.server_version // 10000} is too old"
        raise LedgerError("ledger", found, "use version 13 or newer")
    encoding = db.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise LedgerError("ledger", f"{address.name}: the database's encoding is {encoding}", "name a database in UTF8")


def _version(db: Connection[Any], address: Address) -> int | None:
    """The schema's version; None where there is no ledger yet. Refuses a schema of something else, or a newer one."""
    relations = db.execute(
        "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
        (address.schema,),
    ).fetchall()
    if not relations:
        return None
    if "ledger_versions" not in {row["name"] for row in relations}:
        raise LedgerError(
            "ledger", f"{address.name}: is a schema of something else", "give the ledger a schema of its own (?schema=)"
        )
    row = db.execute("SELECT max(version) AS version FROM ledger_versions").fetchone()
    version = int(row["version"] or 0) if row else 0
    if version > len(MIGRATIONS):
        raise LedgerError(
            "ledger",
            f"{address.name}: has schema version {version}, "
            f"this version of memory-admission reads up to {len(MIGRATIONS)}",
            "upgrade memory-admission",
        )
    return version


def _check_key(db: Connection[Any], address: Address, hashing: Hashing) -> None:
    row = db.execute("SELECT key_check FROM head").fetchone()
    check_key(address.name, row and row["key_check"], hashing.key_check)


def _migrate(db: Connection[Any], address: Address, hashing: Hashing) -> None:
    version = _version(db, address)  # another process may have been faster
    if version is None:
        _begin(db, address)
    else:
        _check_key(db, address, hashing)
    for number, script in enumerate(MIGRATIONS[version or 0 :], start=(version or 0) + 1):
        db.execute(script.encode())
        db.execute("INSERT INTO ledger_versions (version) VALUES (%s)", (number,))
    if version is None:
        db.execute("INSERT INTO head VALUES (1, %s, %s, %s)", (EMPTY.seq, EMPTY.hash, hashing.key_check))
    elif version < _SEALS_SINCE:
        for row in db.execute("SELECT * FROM writes").fetchall():
            db.execute("UPDATE writes SET seal = %s WHERE id = %s", (hashing.seal(sealed(row)), row["id"]))


def _begin(db: Connection[Any], address: Address) -> None:
    from psycopg import sql

    # Asked first: CREATE SCHEMA needs a right on the database even where the schema is there already.
    if db.execute("SELECT 1 AS there FROM pg_namespace WHERE nspname = %s", (address.schema,)).fetchone() is None:
        db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(address.schema)))
    db.execute("CREATE TABLE ledger_versions (version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
