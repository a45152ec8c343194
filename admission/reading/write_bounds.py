"""May this principal write there? The boundary of reads, for puts and deletes, and the rules that change it."""

from __future__ import annotations

from admission.reading.axes import AxisReading
from admission.reading.context import QueryContext
from admission.reading.relations import Relations, RelationSource
from admission.reading.rules import compiled_rules, owner_of
from admission.reading_settings import ReadingSettings, pattern_text
from admission.records import Namespace


class WriteBounds:
    """Where the principals of one deployment may write and delete.

    A `deny` rule that holds, or may, refuses. Else a principal may write into what is its own by the settings' `owner`
    within the boundary of its reads, and wherever an `allow` rule for writes holds. What lies within the boundary and
    is not its own is open where no `allow` rule is about it. What is not known opens nothing.
    """

    def __init__(self, settings: ReadingSettings, relations: RelationSource | None = None) -> None:
        self._settings = settings
        self._rules = compiled_rules(settings, Relations(settings.relations, relations), "write")

    def read(self, namespace: Namespace, context: QueryContext, *, inside: bool) -> AxisReading:
        """True or False, and why. `inside`: does the boundary of the principal's reads hold this namespace?"""
        record = self._settings.declared(namespace)
        path = pattern_text(namespace)
        about = [(rule, rule.about(path, record.policy_tags)) for rule in self._rules]
        held = [(rule, rule.holds(record, context, lacking)) for rule, lacking in about if lacking is not None]
        for rule, lacking in held:
            if rule.denies and lacking is not None:
                code = "denied_by_rule" if lacking == () else "rule_unresolved"
                return AxisReading(value=False, reason=f"{code}: {rule.name}")
        allowing = [(rule, lacking) for rule, lacking in held if not rule.denies]
        if inside and owner_of(namespace, self._settings.owner_template) == context.principal is not None:
            return AxisReading(value=True, reason="own_namespace")
        for rule, lacking in allowing:
            if lacking == ():
                return AxisReading(value=True, reason=f"allowed_by_rule: {rule.name}")
        if not inside:
            return AxisReading(value=False, reason="other_namespace: no rule for writes opens it")
        if allowing:
            return AxisReading(value=False, reason=f"no_rule_allows: none of {len(allowing)} rules about it holds")
        return AxisReading(value=True, reason="own_namespace: within the boundary")
