"""One rule of the settings, made ready to be asked of many records: is it about the record, and does it hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from typing import Literal

from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.relations import Relations
from admission.reading.validity import standing
from admission.reading_settings import OWNER, ReadingSettings, ReadRule
from admission.records import Namespace

Lacking = tuple[str, ...] | None
"""What has to be known to tell that a rule holds: nothing, so it does; some things, so it may. None: it does not hold,
whatever else is known."""

_OWNER_PART = f"{{{OWNER}}}"
_Condition = tuple[bool | None, str]
"""A condition's value, and what it turns on."""


class CompiledRule:
    """A `ReadRule` with its pattern compiled and its lists made sets."""

    def __init__(self, rule: ReadRule, relations: Relations, owner: tuple[str, ...] | None) -> None:
        self.name = rule.name
        self.denies = rule.effect == "deny"
        self._rule = rule
        self._matches = None if rule.namespace == "*" else re.compile(translate(rule.namespace)).match
        self._tags = frozenset(rule.tags)
        self._roles = frozenset(rule.roles)
        self._purposes = frozenset(rule.purposes)
        self._names = frozenset(rule.relations)
        self._timed = rule.valid_from is not None or rule.valid_to is not None
        self._relations = relations
        self._owner = owner

    def about(self, path: str | None, tags: tuple[str, ...] | None) -> Lacking:
        """Is the rule about records that have these tags in this namespace (its `pattern_text`)?"""
        return _told(self._which(path, tags))

    def holds(self, metadata: RecordMetadata, context: QueryContext, lacking: tuple[str, ...]) -> Lacking:
        """Does it hold for who asks, what for and when, of a record that it is about as far as is known (`lacking`)?"""
        return _told(self._who(metadata, context), lacking)

    def _which(self, path: str | None, tags: tuple[str, ...] | None) -> Iterator[_Condition]:
        if self._matches is not None:
            yield None if path is None else self._matches(path) is not None, "its namespace"
        if self._tags:
            yield None if tags is None else not self._tags.isdisjoint(tags), "its tags"

    def _who(self, metadata: RecordMetadata, context: QueryContext) -> Iterator[_Condition]:
        if self._roles:
            roles = context.roles
            yield None if roles is None else not self._roles.isdisjoint(roles), "the principal's roles"
        if self._purposes:
            yield None if context.purpose is None else context.purpose in self._purposes, "the purpose"
        if self._timed:
            now = standing(self._rule.valid_from, self._rule.valid_to, context.time)
            yield None if now is None else now == "holds", "the time"
        if self._names:
            tags, targets = metadata.policy_tags, self._targets(metadata)
            related = self._relations.holds(self._names, context.principal, targets, tags, context.time)
            yield related, f"relations ({', '.join(self._rule.relations)})"

    def _targets(self, metadata: RecordMetadata) -> Sequence[str] | None:
        """What a relation has to lead to; None where the record does not say."""
        to = self._rule.to
        if to == OWNER:
            owner = owner_of(metadata.namespace, self._owner)
            return None if owner is None else (owner,)
        if to == "writer":
            writer = metadata.provenance.written_by if metadata.provenance.authenticated is True else None
            return None if writer is None else (writer,)
        kind = to.removeprefix("tag:") + ":"
        tags = metadata.policy_tags
        return None if tags is None else [tag.removeprefix(kind) for tag in tags if tag.startswith(kind)]


def compiled_rules(
    settings: ReadingSettings, relations: Relations, access: Literal["read", "write"]
) -> tuple[CompiledRule, ...]:
    """The settings' rules for this access, in their order."""
    rules = (rule for rule in settings.policy if access in rule.access)
    return tuple(CompiledRule(rule, relations, settings.owner_template) for rule in rules)


def owner_of(namespace: Namespace | None, template: tuple[str, ...] | None) -> str | None:
    """Whose record it is: the component of its namespace where the template has `{owner}`. None where there is no
    template, the namespace is missing or shorter, or a literal component of the template is another one there."""
    if namespace is None or template is None or len(namespace) < len(template):
        return None
    owner = None
    for component, part in zip(template, namespace, strict=False):
        if component == _OWNER_PART:
            owner = part
        elif component not in ("*", part):
            return None
    return owner


def _told(conditions: Iterator[_Condition], lacking: tuple[str, ...] = ()) -> Lacking:
    """Strong Kleene "and" of the conditions, with what it turns on where it is open."""
    for value, what in conditions:
        if value is False:
            return None
        if value is None:
            lacking = (*lacking, what)
    return lacking
