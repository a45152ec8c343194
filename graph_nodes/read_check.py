"""Reads held against the ledger, as a generator of steps: is what the store returns what passed the gate?"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from langgraph.store.base import GetOp, Item, Result

from admission.errors import LedgerError
from admission.ledger import Ledger
from admission.records import Namespace, digest
from graph_nodes.outcome import ReadProblem, ReadProblemKind, announce_problem
from graph_nodes.steps import Blocking, Inner, Steps

logger = logging.getLogger(__name__)

Place = tuple[Namespace, str]


class ReadCheck:
    """Names memories that were changed behind the gate or never passed it; with `hide`, it keeps them from readers."""

    def __init__(self, ledger: Ledger, *, hide: bool) -> None:
        self._ledger = ledger
        self._hide = hide

    def checked(self, results: Sequence[Result]) -> Steps[list[Result]]:
        """The results of reads, without the memories that are to be hidden."""
        found: dict[Place, ReadProblemKind] = yield Blocking(partial(self._problems, _items(results)))
        if found:
            # Written between the read and the look into the ledger? Then it is as it should be the second time.
            places = list(found)
            again: list[Result] = yield Inner([GetOp(*place, refresh_ttl=False) for place in places])
            found = yield Blocking(partial(self._problems, _items(again)))
        for (namespace, key), kind in found.items():
            logger.warning("a memory of %s is not as the ledger has it: %s", "/".join(namespace), kind)
            announce_problem(ReadProblem(namespace=namespace, key=key, kind=kind, hidden=self._hide))
        return [_without(result, found) for result in results] if self._hide else list(results)

    def _problems(self, items: Sequence[Item]) -> dict[Place, ReadProblemKind]:
        problems = {(item.namespace, item.key): self._problem(item) for item in items}
        return {place: kind for place, kind in problems.items() if kind is not None}

    def _problem(self, item: Item) -> ReadProblemKind | None:
        try:
            latest = self._ledger.latest(item.namespace, item.key)
            if latest is not None and _same(latest.stored_value, item.value):
                return None
            # A later value may be decided on and not be in the store yet.
            versions = self._ledger.versions(item.namespace, item.key)
        except LedgerError:
            return "unverifiable"
        if not versions:
            return "unknown"
        if versions[-1].ended is not None:
            return "deleted"
        return None if _same(versions[-1].value, item.value) else "changed"


def _items(results: Sequence[Result]) -> list[Item]:
    """The memories in results of reads; namespaces, which are tuples, are none."""
    parts = (part for result in results for part in (result if isinstance(result, list) else [result]))
    return [part for part in parts if isinstance(part, Item)]


def _without(result: Result, hidden: Mapping[Place, ReadProblemKind]) -> Result:
    def shown(part: object) -> bool:
        return not isinstance(part, Item) or (part.namespace, part.key) not in hidden

    if isinstance(result, list):
        return cast(Result, [part for part in result if shown(part)])
    return result if shown(result) else None


def _same(recorded: dict[str, Any] | None, found: dict[str, Any]) -> bool:
    return recorded is not None and (digest(recorded) == digest(found) or _alike(recorded, found))


def _alike(recorded: Any, found: Any) -> bool:
    """The same JSON, with numbers by their value: Postgres hands 1e22 back as an integer, and -0.0 as 0.0."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        return recorded.keys() == found.keys() and all(_alike(recorded[name], found[name]) for name in recorded)
    if isinstance(recorded, list) and isinstance(found, list | tuple):
        return len(recorded) == len(found) and all(map(_alike, recorded, found))
    if _is_number(recorded) and _is_number(found):
        return _same_number(recorded, found)
    return digest(recorded) == digest(found)


def _is_number(part: object) -> bool:
    return isinstance(part, int | float) and not isinstance(part, bool)


def _same_number(recorded: float, found: float) -> bool:
    if not isinstance(recorded, float):
        return recorded == found
    try:
        return recorded == float(found)  # 1e300 comes back with 301 digits, more than the float ever had
    except OverflowError:
        return False
