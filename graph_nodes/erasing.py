"""Erasing a memory for good: out of the ledger, the store beneath, what its file keeps of deleted rows, and caches."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from langgraph.store.base import GetOp, Item, PutOp, Result

from admission.errors import LedgerError
from admission.ledger import Deletion, Erasure, Ledger
from admission.records import Namespace, Record
from admission.settings import CacheSettings
from graph_nodes.purging import BUSY
from graph_nodes.steps import Blocking, Inner, Purge, Steps

logger = logging.getLogger(__name__)

Place = tuple[Namespace, str]


class Erased(Record):
    """What an erasure did: `keys` of the namespace that the store has no more (others may have said the same), and how
    many `entries` of the ledger lost their content. `not_reached`: where something may be left, for a person to see to.
    """

    namespace: Namespace
    keys: tuple[str, ...]
    entries: int
    not_reached: tuple[str, ...] = ()


class Erasing:
    """How one store erases. The ledger comes first: from its `erased` entry on, whoever recovers finishes the rest."""

    def __init__(self, ledger: Ledger, cache: CacheSettings, *, store: str) -> None:
        self._ledger = ledger
        self._cache = cache
        self._store = store

    def erase(self, namespace: Namespace, key: str, *, by: str, why: str) -> Steps[Erased]:
        """Erase what this key has and had, and whatever else of the namespace says the same. A repeat finishes what an
        interrupted erasure left, and is otherwise without effect."""
        erase = partial(self._ledger.erase, namespace, key, by=by, why=why, store=self._store)
        try:
            erasure: Erasure = yield Blocking(erase)
        except LedgerError:
            # Perhaps after it, for what the database keeps: no reader of the store is to find it until a repeat.
            yield from self._delete_erased()
            raise
        places = [(namespace, one) for one in erasure.keys]
        yield Inner([PutOp(*place, None) for place in places])
        left = yield from self._clear(places)
        if BUSY not in left:
            yield Blocking(partial(self._end, places))
        return Erased(namespace=namespace, keys=erasure.keys, entries=erasure.entries, not_reached=left)

    def finish(self) -> Steps[None]:
        """Take out of the store what the ledger says was erased, and clear what the databases keep of it: a process may
        have ended in between. What cannot be cleared now is left for the next start."""
        deleted = yield from self._delete_erased()
        open: list[Place] = yield Blocking(self._open)
        if not deleted and not open:
            return
        try:
            yield Blocking(self._ledger.purge)
            gone: list[Place] = yield Blocking(partial(self._without_a_memory, open))
            left = yield from self._clear(list(dict.fromkeys((*deleted, *gone))))
            if BUSY not in left:
                yield Blocking(partial(self._end, open))
        except Exception as error:  # noqa: BLE001 - it is out of every read; the store is to be of use meanwhile
            logger.warning("databases still keep something that was erased: %s", type(error).__name__)

    def _delete_erased(self) -> Steps[list[Place]]:
        """Delete from the store what was erased and is there still; where."""
        erasures: list[Erasure] = yield Blocking(self._ledger.erasures)
        places = list(dict.fromkeys((one.namespace, key) for one in erasures for key in one.keys))
        if not places:
            return []
        found: list[Result] = yield Inner([GetOp(*place, refresh_ttl=False) for place in places])
        there = [place for place, item in zip(places, found, strict=True) if isinstance(item, Item)]
        left: list[Place] = yield Blocking(partial(self._without_a_memory, there))
        if left:
            yield Inner([PutOp(*place, None) for place in left])
        return left

    def _clear(self, places: Sequence[Place]) -> Steps[tuple[str, ...]]:
        left: tuple[str, ...] = yield Purge(places)
        yield Blocking(self._clear_cache)
        return left

    def _open(self) -> list[Place]:
        return [(one.namespace, one.key) for one in self._unfinished()]

    def _end(self, places: Sequence[Place]) -> None:
        self._ledger.removed([one for one in self._unfinished() if (one.namespace, one.key) in places])

    def _unfinished(self) -> list[Deletion]:
        return [one for one in self._ledger.erasing() if one.store == self._store]

    def _without_a_memory(self, places: Sequence[Place]) -> list[Place]:
        """Not those that were written again since."""
        return [place for place in places if self._ledger.latest(*place) is None]

    def _clear_cache(self) -> None:
        """What models answered may quote the memory, and does not say whose it was: all of it goes."""
        if self._cache.folder is None or not self._cache.folder.expanduser().is_dir():
            return
        from admission.verifiers.result_cache import ResultCache

        ResultCache(self._cache.folder, self._cache.size_mb).clear()


def check_flushed(done: bool) -> None:
    """Raises `LedgerError` where writes are pending still: one decided later would bring back what is to go."""
    if not done:
        raise LedgerError("write", "writes of this store are pending still", "flush it, and try again")
