"""From a decision to the store, as generators of steps: put where nothing came after it, and completed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from langgraph.store.base import PutOp

from admission.errors import LedgerError
from admission.ledger import Deletion, Ledger, WriteRecord
from admission.records import Namespace
from graph_nodes.deciding import Deciding, Write
from graph_nodes.steps import Blocking, Inner, Purge, Steps

logger = logging.getLogger(__name__)

PutOf = Callable[[WriteRecord], PutOp]
Place = tuple[Namespace, str]

# The name of what a key has that has no memory.
NOTHING = ""


@dataclass
class Settled:
    """What became of writes, as fingerprints: in the store; overtaken by a later write or delete of their key; refused
    by the store, with its error."""

    stored: list[str] = field(default_factory=list)
    overtaken: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)


class Settling:
    """How a write that its caller does not wait for gets into the store, however late its verdict comes."""

    def __init__(self, ledger: Ledger, deciding: Deciding, put_of: PutOf) -> None:
        self._ledger = ledger
        self._deciding = deciding
        self._put_of = put_of

    def settle(self, writes: Sequence[Write], held: set[str]) -> Steps[Settled]:
        """Judge these writes, and store what is to be stored. `held` as in `Deciding.decided`."""
        records = yield from self._deciding.decided(writes, held)
        to_store = [
            _as_asked(record, write)
            for write, record in zip(writes, records, strict=True)
            if goes_to_store(record, write.intent.key)
        ]
        return (yield from self.carry_out(to_store))

    def carry_out(self, records: Iterable[WriteRecord]) -> Steps[Settled]:
        """Bring decided writes to their end, each for itself: one the store refuses does not keep the others back."""
        settled = Settled()
        for record in records:
            fingerprint = record.intent.fingerprint
            try:
                stored = yield from self._carry_out(record)
            except Exception as error:  # noqa: BLE001 - it stays decided, and is tried again
                logger.warning("write %s could not be stored: %s", fingerprint, type(error).__name__)
                settled.failed.append((fingerprint, f"{type(error).__name__}: {error}"))
            else:
                (settled.stored if stored else settled.overtaken).append(fingerprint)
        return settled

    def _carry_out(self, record: WriteRecord) -> Steps[bool]:
        """Put the value, unless its key was written or deleted later.

        Looks again after the put: whoever wrote or deleted meanwhile may have been faster than it, and then the store
        is given once more what it has to have. So no two need a lock to agree, in whatever processes they are.
        """
        fingerprint, place = record.intent.fingerprint, (record.intent.namespace, record.intent.key)
        wanted: WriteRecord | None = yield Blocking(partial(self._ledger.latest, *place))
        if _name(wanted) != fingerprint:
            yield Blocking(partial(self._ledger.overtake, fingerprint))
            return False
        given = yield from self._agreed(place, None)
        if given == fingerprint:
            yield from self.complete([record])
            return True
        yield from self._without_the_erased(record)
        yield Blocking(partial(self._ledger.overtake, fingerprint))
        return False

    def remove(self, deletions: Sequence[Deletion], given: Mapping[Place, str]) -> Steps[None]:
        """Bring deletions to their end. `given`: what the store was told already of some of their keys, by name: the
        write it was given last, or `NOTHING`."""
        for deletion in deletions:
            place = (deletion.namespace, deletion.key)
            yield from self._agreed(place, given.get(place))
        yield Blocking(partial(self._ledger.removed, deletions))

    def complete(self, records: Sequence[WriteRecord]) -> Steps[None]:
        """These writes are in the store. One that was erased since its decision is taken out again, and that is a
        `LedgerError`: a writer may be slower with its put than an erasure with its delete."""
        try:
            for record in records:
                yield Blocking(partial(self._ledger.complete, record.intent.fingerprint))
        except LedgerError:
            for record in records:
                yield from self._without_the_erased(record)
            raise

    def _without_the_erased(self, record: WriteRecord) -> Steps[None]:
        known: WriteRecord | None = yield Blocking(partial(self._ledger.write, record.intent.fingerprint))
        if known is None:
            place = (record.intent.namespace, record.intent.key)
            given = yield from self._agreed(place, record.intent.fingerprint)
            yield Purge([place] if given == NOTHING else [])

    def _agreed(self, place: Place, given: str | None) -> Steps[str]:
        """Give the store what its key is to have, until ledger and store agree; the name of that. None: nothing yet."""
        look = Blocking(partial(self._ledger.latest, *place))
        wanted: WriteRecord | None = yield look
        while _name(wanted) != given:
            given = _name(wanted)
            yield Inner([self._put_of(wanted) if wanted is not None else PutOp(*place, None)])
            wanted = yield look
        return given


def _as_asked(record: WriteRecord, write: Write) -> WriteRecord:
    """With the store's arguments of this very put: an equal value may be put again with another index or ttl."""
    return record.model_copy(update={"intent": record.intent.model_copy(update={"options": write.intent.options})})


def _name(record: WriteRecord | None) -> str:
    """Tells apart what a key can have."""
    return record.intent.fingerprint if record is not None else NOTHING


def goes_to_store(record: WriteRecord, key: str) -> bool:
    """A finished write is repeated only where the caller names its very key, as it would be without the gate: under
    another key it would undo what has happened to the first since."""
    return record.stored_value is not None and (record.state == "decided" or record.intent.key == key)
