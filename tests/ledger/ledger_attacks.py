"""Nine kinds of tampering with a ledger's database, in SQL that both databases understand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ledger_filling import fill
from ledger_places import Place
from ledger_records import SPACE, a_report

from admission.ledger import LedgerHead
from admission.ledger.chain import Chain
from admission.ledger.protocol import Damage
from admission.records import canonical_json

COLUMNS = "kind, time, fingerprint, namespace, key, value_digest, body, previous, hash, content_digest, salt"
FIT_HEAD = "UPDATE head SET seq = 4, hash = (SELECT hash FROM entries WHERE seq = 4)"


@dataclass(frozen=True)
class Tampering:
    """What was done to a ledger filled by `fill`, and what checking is to say of it: the first bad entry and the kind.
    `without_head`: does checking find it without a head kept elsewhere?"""

    name: str
    commit: Callable[[Place], None]
    first_bad: int
    kind: Damage
    without_head: bool = True


def by(*statements: str) -> Callable[[Place], None]:
    return lambda place: place.attack(*statements)


def forge(place: Place, key: bytes | None = None) -> None:
    """Append an entry, soundly linked as far as someone without the ledger's key can, and fit the head to nothing."""
    ((seq, last),) = place.rows("SELECT seq, hash FROM head")
    body: dict[str, Any] = a_report("planted").model_dump(mode="json")
    head = LedgerHead(seq=seq, hash=last)
    entry = Chain(key).following(head, kind="report", namespace=SPACE, key=None, body=body)
    place.attack(
        f"INSERT INTO entries (seq, {COLUMNS}) VALUES (:seq, 'report', :time, NULL, :namespace, NULL, NULL, :body,"
        " :previous, :hash, :content_digest, :salt)",
        seq=entry.seq,
        time=entry.time,
        namespace=canonical_json(SPACE),
        body=canonical_json(body),
        previous=entry.previous,
        hash=entry.hash,
        content_digest=entry.content_digest,
        salt=entry.salt,
    )


def roll_back(place: Place) -> None:
    """Put back the copy that was kept when the ledger had 7 entries, after an eighth was written."""
    place.put_back()


DELETE_FIFTH = "DELETE FROM entries WHERE seq = 5"
CLOSE_GAP = (
    "UPDATE entries SET seq = 5 WHERE seq = 6",
    "UPDATE entries SET seq = 6 WHERE seq = 7",
    "UPDATE writes SET report_seq = 5 WHERE report_seq = 6",
)
SWAP = (
    "UPDATE entries SET seq = -1 WHERE seq = 4",
    "UPDATE entries SET seq = 4 WHERE seq = 5",
    "UPDATE entries SET seq = 5 WHERE seq = -1",
)
REPLAY = (
    f"INSERT INTO entries (seq, {COLUMNS}) SELECT 9, {COLUMNS} FROM entries WHERE seq = 5",
    "UPDATE head SET seq = 9",
)
ELSEWHERE = "replace({}, '\"user-7\"', '\"user-8\"') WHERE"
MOVE = (
    f"UPDATE entries SET namespace = {ELSEWHERE.format('namespace')} seq = 4",
    f"UPDATE entries SET body = {ELSEWHERE.format('body')} seq = 4",
    f"UPDATE writes SET namespace = {ELSEWHERE.format('namespace')} key = 'k2'",
)
TIME = "UPDATE entries SET time = '2000-01-01T00:00:00.000000+00:00' WHERE seq = 4"
CUT = "DELETE FROM entries WHERE seq > 4"
NO_TRACE = "DELETE FROM writes WHERE report_seq > 4"

TAMPERINGS = (
    Tampering(
        "content changed",
        by("UPDATE entries SET body = replace(body, 'unresolved', 'admitted') WHERE seq = 4"),
        4,
        "content_changed",
    ),
    Tampering("quarantined value changed", by("UPDATE writes SET value = '{}' WHERE key = 'k2'"), 4, "content_changed"),
    Tampering("tail cut", by(CUT), 5, "tail_cut"),
    Tampering("tail cut, head fitted", by(CUT, FIT_HEAD), 5, "tail_cut"),
    Tampering("tail cut, every trace removed", by(CUT, FIT_HEAD, NO_TRACE), 5, "rolled_back", without_head=False),
    Tampering("record deleted", by(DELETE_FIFTH), 5, "entry_missing"),
    Tampering("record deleted, gap closed", by(DELETE_FIFTH, *CLOSE_GAP), 5, "entry_missing"),
    Tampering("order changed", by(*SWAP), 4, "order_changed"),
    Tampering("record forged", forge, 9, "forged"),
    Tampering("moved across namespaces", by(*MOVE), 4, "moved"),
    Tampering("entry alone moved", by(MOVE[0]), 4, "moved"),
    Tampering("write alone moved", by(MOVE[2]), 4, "moved"),
    Tampering("old record replayed", by(*REPLAY), 9, "replayed"),
    Tampering("time changed", by(TIME), 4, "metadata_changed"),
    Tampering("key changed", by("UPDATE entries SET key = 'k9' WHERE seq = 4"), 4, "metadata_changed"),
    Tampering("key of a write changed", by("UPDATE writes SET key = 'k9' WHERE key = 'k2'"), 4, "metadata_changed"),
    Tampering("rolled back", roll_back, 8, "rolled_back", without_head=False),
)


def fill_and_copy(place: Place, key: bytes | None = None) -> LedgerHead:
    """A filled ledger of which a copy was kept before its eighth entry; closed again. Its head."""
    ledger = place.open(key)
    fill(ledger)
    ledger.close()
    place.keep_copy()
    ledger = place.open(key)
    ledger.record_delete(SPACE, "k3", thread=None, task=None)
    head = ledger.head()
    ledger.close()
    return head
