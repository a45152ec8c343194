"""Relations of principals to what records belong to: who is whose nurse, who works on what, from when to when."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from admission.reading.axes import conjunction, disjunction
from admission.reading.validity import standing
from admission.reading_settings import SELF, Relation

RelationSource = Callable[[str], Sequence[Relation] | None]
"""All relations that a principal has, past and future ones too; None, or an exception: not known (it is down)."""


logger = logging.getLogger(__name__)


class Relations:
    """Who is related to what: what the settings state, and what a source (a directory, a database) adds to it."""

    def __init__(self, stated: Iterable[Relation], source: RelationSource | None = None) -> None:
        self._source = source
        self._stated: dict[str, list[Relation]] = {}
        for relation in stated:
            self._stated.setdefault(relation.subject, []).append(relation)

    def holds(
        self,
        names: frozenset[str],
        principal: str | None,
        targets: Sequence[str] | None,
        tags: Sequence[str] | None,
        time: str | None,
    ) -> bool | None:
        """Has the principal a relation of these names to one of the targets, for a record with these tags, at `time`?

        None where it turns on something that is not known.
        """
        if principal is None:
            return None
        own = None
        if SELF in names:
            own = None if targets is None else principal in targets
            if own is True or len(names) == 1:
                return own
        added = self._added(principal)
        found = [False if SELF not in names else own, None if added is None else False]
        for relation in chain(self._stated.get(principal, ()), added or ()):
            if relation.relation in names and relation.subject == principal:
                value = _counts(relation, targets, tags, time)
                if value is True:
                    return True
                found.append(value)
        return disjunction(*found)

    def _added(self, principal: str) -> Sequence[Relation] | None:
        if self._source is None:
            return ()
        try:
            return self._source(principal)
        except Exception as error:  # noqa: BLE001 - what a directory that broke would have said is not known
            logger.warning("the source of relations failed: %s", type(error).__name__)
            return None


def _counts(
    relation: Relation, targets: Sequence[str] | None, tags: Sequence[str] | None, time: str | None
) -> bool | None:
    """Does this relation lead to one of the targets, reach a record with these tags, and hold at this time?"""
    leads = None if targets is None else relation.object in targets
    if leads is False:
        return False
    reaches: bool | None = True
    if relation.scope is not None:
        reaches = None if tags is None else not frozenset(relation.scope).isdisjoint(tags)
    now = standing(relation.valid_from, relation.valid_to, time)
    return conjunction(leads, reaches, None if now is None else now == "holds")
