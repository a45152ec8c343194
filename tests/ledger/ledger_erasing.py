"""Memories to be erased, and a raw search of all that a ledger's database keeps."""

from __future__ import annotations

import json
from typing import Any

from ledger_places import Place, PostgresPlace, SqlitePlace
from ledger_records import SPACE, an_intent

from admission.ledger import Ledger, WriteIntent
from admission.metadata import RecordMetadata
from admission.records import Action, Finding, Namespace, Passage, Report, Status, Turn

SECRET = "Zoë's passport number is X-4711-Δ."  # not ASCII: it is kept in two spellings
SAYS_SO = "By the way, my name is Zoë. Write down: zoë’s  PASSPORT number is X-4711-Δ, please."
OTHER = "Zoë prefers window seats on trains."
TABLES = ("entries", "writes", "head")


def a_report_on(
    text: str,
    id: str,
    *,
    seen: str = "Hello.",
    status: Status = "admitted",
    action: Action = "persist",
    namespace: Namespace = SPACE,
) -> Report:
    """A report that repeats the memory's text wherever reports do, and shows a passage `seen`."""
    passage = Passage(id="t1", turn_id="t1", position=0, role="user", text=seen, origin="conversation")
    said = passage.model_copy(update={"id": "t2", "turn_id": "t2", "position": 1, "text": f"Note that {text}"})
    finding = Finding(id="o1", text=text, type="fact", label="supported", view="citation_only", resolved_by="single")
    return Report(
        id=id,
        conversation="conv-1",
        namespace=namespace,
        memory=text,
        status=status,
        action=action,
        reasons=(f"quoted: “{text}”",),
        passages=(passage, said),
        obligations=(finding,),
        config_digest="config-1",
        input_digest="input-1",
    )


def a_write(text: str, key: str, **more: Any) -> WriteIntent:
    return an_intent({"content": text, "topic": "travel"}, key=key, task=f"task-{key}", **more)


def a_turn(text: str) -> Turn:
    return Turn(id="t1", role="user", text=text, origin="conversation")


def remember(
    ledger: Ledger,
    text: str,
    key: str,
    *,
    namespace: Namespace = SPACE,
    metadata: RecordMetadata | None = None,
    report: Report | None = None,
) -> WriteIntent:
    """Stored through the ledger, as far as it knows."""
    intent = a_write(text, key, namespace=namespace)
    ledger.claim(intent)
    found = report or a_report_on(text, f"report-{key}-{intent.fingerprint[:6]}", namespace=namespace)
    ledger.decide(intent.fingerprint, found, intent.value, metadata=metadata)
    ledger.complete(intent.fingerprint)
    return intent


def hold_back(ledger: Ledger, text: str, key: str) -> WriteIntent:
    intent = a_write(text, key)
    ledger.claim(intent)
    report = a_report_on(text, f"held-{key}", status="unresolved", action="quarantine")
    ledger.decide(intent.fingerprint, report, None)
    return intent


def spellings(text: str) -> list[bytes]:
    """The text as it may stand in a file: as it is, and as JSON has it with and without escapes."""
    return list({text.encode(), json.dumps(text)[1:-1].encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode()})


def raw(place: Place) -> bytes:
    """Every byte of the files an SQLite ledger is kept in; of Postgres the tables as text, what the server's statistics
    have of them, and the tables' files where the user may read them."""
    if isinstance(place, SqlitePlace):
        return b"\n".join(file.read_bytes() for file in sorted(place.file.parent.glob(f"{place.file.name}*")))
    assert isinstance(place, PostgresPlace)
    rows: list[Any] = [place.rows(f"SELECT t::text FROM {table} t") for table in TABLES]
    stats = "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE schemaname ="
    rows.append(place.rows(f"{stats} '{place.schema}'"))
    return str(rows).encode() + b"".join(_files(place))


def _files(place: PostgresPlace) -> list[bytes]:
    ((superuser,),) = place.rows("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    if not superuser:
        return []
    relations = (
        "SELECT pg_read_binary_file(pg_relation_filepath(c.oid)) FROM pg_class c"
        " WHERE c.relkind IN ('r', 't', 'i') AND pg_relation_size(c.oid) > 0"
        f" AND (c.relnamespace = '{place.schema}'::regnamespace"
        f" OR c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = '{place.schema}'::regnamespace))"
    )
    place.rows("CHECKPOINT")
    return [bytes(content) for (content,) in place.rows(relations)]


def found_in(place: Place, *texts: str) -> list[str]:
    """Which of the texts a raw search finds."""
    content = raw(place)
    return [text for text in texts if any(spelling in content for spelling in spellings(text))]
