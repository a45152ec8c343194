"""Erasing a memory for good: out of the ledger, the store beneath, what its file keeps of deleted rows, and caches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from langgraph.store.base import GetOp, Item, PutOp, Result

from admission.errors import LedgerError
from admission.ledger import Erasure, Ledger
from admission.records import Namespace, Record
from admission.settings import CacheSettings
from graph_nodes.steps import Blocking, Inner, Purge, Steps

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

    def __init__(self, ledger: Ledger, cache: CacheSettings) -> None:
        self._ledger = ledger
        self._cache = cache

    def erase(self, namespace: Namespace, key: str, *, by: str, why: str) -> Steps[Erased]:
        """Erase what this key has and had, and whatever else of the namespace says the same. A repeat finishes what an
        interrupted erasure left, and is otherwise without effect."""
        erasure: Erasure = yield Blocking(partial(self._ledger.erase, namespace, key, by=by, why=why))
        places = [(namespace, one) for one in erasure.keys]
        left: tuple[str, ...] = yield from self._out_of_the_store(places)
        return Erased(namespace=namespace, keys=erasure.keys, entries=erasure.entries, not_reached=left)

    def finish(self) -> Steps[None]:
        """Take out of the store what the ledger says was erased: a process may have ended in between."""
        erasures: list[Erasure] = yield Blocking(self._ledger.erasures)
        places = list(dict.fromkeys((one.namespace, key) for one in erasures for key in one.keys))
        if not places:
            return
        found: list[Result] = yield Inner([GetOp(*place, refresh_ttl=False) for place in places])
        there = [place for place, item in zip(places, found, strict=True) if isinstance(item, Item)]
        left: list[Place] = yield Blocking(partial(self._without_a_memory, there))
        if left:
            yield from self._out_of_the_store(left)

    def _out_of_the_store(self, places: Sequence[Place]) -> Steps[tuple[str, ...]]:
        yield Inner([PutOp(*place, None) for place in places])
        left: tuple[str, ...] = yield Purge(places)
        yield Blocking(self._clear_cache)
        return left

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
    """Raises `LedgerError` where writes are pending still: one decided later would bring the text back."""
    if not done:
        raise LedgerError("write", "writes of this store are pending still", "flush it, and erase again")
