"""The policy axis: may this record be used for this purpose by this principal? Rules of the settings, or code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from admission.metadata import RecordMetadata
from admission.reading.axes import AxisReading, conjunction
from admission.reading.context import QueryContext
from admission.reading.permissions import permission_for
from admission.reading.relations import Relations, RelationSource
from admission.reading.rules import CompiledRule, compiled_rules
from admission.reading_settings import ReadingSettings, pattern_text
from admission.records import Namespace

_Part = tuple[bool | None, str]
_About = tuple[CompiledRule, tuple[str, ...]]


class Policy(Protocol):
    """A policy in code: True or False where it has a say, None where it lacks what it needs; "code: detail" says why.

    It has to hold beside what the settings' rules and the record's purposes say, and where it has nothing against a use
    it answers True. What it raises leaves the axis open. Same record and context, same answer.
    """

    def __call__(self, metadata: RecordMetadata, context: QueryContext, /) -> AxisReading: ...


class PolicyAxis:
    """The policy axis of one deployment.

    Whatever is stated of a record has to hold: its own purposes (`purpose_allow`); what a directive grants this
    principal, one of the `allow` rules that are about it, or else `policy_default`; each policy in code; and no `deny`
    rule, nor a directive that withholds it. Where none of the first three says anything, `policy_default` does. All in
    three values: what is missing leaves open what turns on it and nothing else.
    """

    def __init__(
        self, settings: ReadingSettings, policies: Sequence[Policy] = (), relations: RelationSource | None = None
    ) -> None:
        values: dict[str, bool | None] = {"unresolved": None, "allow": True, "deny": False}
        self._default = values[settings.policy_default]
        self._unstated = AxisReading(value=self._default, reason=_UNSTATED[self._default])
        self._policies = tuple(policies)
        self._rules = compiled_rules(settings, Relations(settings.relations, relations), "read")
        # Memories share their namespaces, and mostly their tags.
        self._about = lru_cache(maxsize=4096)(self._find_about)

    def read(self, metadata: RecordMetadata, context: QueryContext) -> AxisReading:
        denying, allowing = self._about(metadata.namespace, metadata.policy_tags)
        if not (denying or allowing or metadata.permissions or self._speaks_without_rules(metadata)):
            return self._unstated
        directed = permission_for(metadata, context.principal, context.time)
        granted = directed if directed is not None and directed[0] is True else None
        stated = list(self._stated(allowing, granted, metadata, context)) or [(self._default, self._unstated.reason)]
        withheld = [directed] if directed is not None and granted is None else []
        parts = [*withheld, *_denials(denying, metadata, context), *stated]
        value = conjunction(*(part[0] for part in parts))
        return _reading(value, "; ".join(reason for found, reason in parts if found is value))

    def _find_about(
        self, namespace: Namespace | None, tags: tuple[str, ...] | None
    ) -> tuple[list[_About], list[_About]]:
        """The rules that are, or may be, about such a record: those that deny, and those that allow."""
        path = None if namespace is None else pattern_text(namespace)
        found = [(rule, rule.about(path, tags)) for rule in self._rules]
        about = [(rule, lacking) for rule, lacking in found if lacking is not None]
        return [one for one in about if one[0].denies], [one for one in about if not one[0].denies]

    def _stated(
        self, about: Sequence[_About], granted: _Part | None, metadata: RecordMetadata, context: QueryContext
    ) -> Iterator[_Part]:
        if metadata.purpose_allow is not None:
            yield _purpose(metadata.purpose_allow, context.purpose)
        if granted is not None:
            yield granted
        elif about:
            yield self._allowed(about, metadata, context)
        for policy in self._policies:
            try:
                reading = policy(metadata, context)
            except Exception as error:  # noqa: BLE001 - what a policy that broke would have said is not known
                yield None, f"policy_failed: {type(error).__name__}"
            else:
                yield reading.value, reading.reason

    def _speaks_without_rules(self, metadata: RecordMetadata) -> bool:
        return metadata.purpose_allow is not None or bool(self._policies)

    def _allowed(self, about: Sequence[_About], metadata: RecordMetadata, context: QueryContext) -> _Part:
        """The `allow` rules that are about a record: one that holds is enough; where none does, the default decides."""
        opened: list[str] = []
        for rule, known in about:
            lacking = rule.holds(metadata, context, known)
            if lacking == ():
                return True, f"allowed_by_rule: {rule.name}"
            if lacking:
                opened.append(_open(rule, lacking))
        if self._default is True:
            return True, f"allowed_by_default: none of {len(about)} rules about it holds"
        if not opened and self._speaks_without_rules(metadata) and all(known for _, known in about):
            # Perhaps no rule is about it, and then what else is stated decides alone.
            opened = [_open(rule, known) for rule, known in about]
        if opened:
            return None, "; ".join(opened)
        return self._default, f"no_rule_allows: none of {len(about)} rules about it holds"


@lru_cache(maxsize=1024)
def _reading(value: bool | None, reason: str) -> AxisReading:
    """Memories share their reasons."""
    return AxisReading(value=value, reason=reason)


def _denials(about: Sequence[_About], metadata: RecordMetadata, context: QueryContext) -> Iterator[_Part]:
    """One part for each `deny` rule that holds (False) or may (None)."""
    for rule, known in about:
        lacking = rule.holds(metadata, context, known)
        if lacking == ():
            yield False, f"denied_by_rule: {rule.name}"
        elif lacking:
            yield None, _open(rule, lacking)


_UNSTATED: dict[bool | None, str] = {
    None: "policy_missing: neither purposes nor rules say anything of it, and policy_default leaves it open",
    True: "allowed_by_default: neither purposes nor rules say anything of it",
    False: "denied_by_default: neither purposes nor rules say anything of it",
}


def _open(rule: CompiledRule, missing: Sequence[str]) -> str:
    return f"rule_unresolved: {rule.name} turns on {', '.join(missing)}"


def _purpose(allowed: Sequence[str], purpose: str | None) -> _Part:
    if not allowed:
        return False, "purpose_not_allowed: the record may be used for no purpose"
    if purpose is None:
        return None, "purpose_missing: the record is for some purposes, and this one is not known"
    if purpose in allowed:
        return True, f"purpose_allowed: {purpose}"
    return False, f"purpose_not_allowed: {purpose} is none of the record's purposes"
