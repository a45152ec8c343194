"""The read gate: may this memory be used for this question? Scope, policy and lifecycle, each with its reason."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache

from admission.metadata import RecordMetadata
from admission.reading.axes import Admissibility, AxisReading
from admission.reading.context import Intent, QueryContext
from admission.reading.intent import IntentClassifier, intent_of
from admission.reading.lifecycle import lifecycle
from admission.reading.policies import Policy, PolicyAxis
from admission.reading.relations import RelationSource
from admission.reading.write_bounds import WriteBounds
from admission.reading_settings import ReadingSettings
from admission.records import Namespace

logger = logging.getLogger(__name__)

_REMEDY = (
    "set policy_default to 'allow' where namespace and lifecycle are to decide alone, or declare purposes or rules"
)

UNKNOWN = AxisReading(value=None, reason="metadata_missing: nothing is known of this memory but its text")
OWN = AxisReading(value=True, reason="own_namespace")
BELOW = AxisReading(value=True, reason="own_namespace: below the principal's")
PRINCIPAL_MISSING = AxisReading(value=None, reason="principal_missing: nobody vouches for who asks")
NAMESPACE_MISSING = AxisReading(value=None, reason="namespace_missing: whose memory it is is not known")
PLACE_MISSING = AxisReading(value=None, reason="boundary_missing: where the principal's memories are is not known")


class ReadGate:
    """Judges memories by their metadata and the question's context, by nothing the text says. No I/O of its own.

    `policies` are asked beside the settings' rules; `relations` adds to the settings' relations, for what a directory
    knows; `intents` reads questions whose caller states no intent (None: as `settings.intent` says).
    """

    def __init__(
        self,
        settings: ReadingSettings,
        *,
        policies: Sequence[Policy] = (),
        relations: RelationSource | None = None,
        intents: IntentClassifier | None = None,
    ) -> None:
        self.settings = settings
        self._policy = PolicyAxis(settings, policies, relations)
        self._writes = WriteBounds(settings, relations)
        classifier = intent_of if intents is None and settings.intent == "rules" else intents
        if not policies and _shows_nothing(settings):
            logger.warning("[reading] says of no memory what it may be used for: none is shown; %s", _REMEDY)
        # One question is held against many memories; it is read once.
        self._classified = None if classifier is None else lru_cache(maxsize=256)(classifier)

    def read(self, metadata: RecordMetadata | None, context: QueryContext) -> Admissibility:
        """The three axes and their strong Kleene conjunction. `metadata` None: nothing is known of the memory."""
        if metadata is None:
            return Admissibility.of(UNKNOWN, UNKNOWN, UNKNOWN)
        return Admissibility.of(
            self._scope(metadata.namespace, context),
            self._policy.read(metadata, context),
            lifecycle(metadata, self.intent(context), context.time),
        )

    def may_write(self, namespace: Namespace, context: QueryContext, *, inside: bool) -> AxisReading:
        """May the context's principal put and delete memories there? `inside`: is it within the boundary of reads?"""
        return self._writes.read(namespace, context, inside=inside)

    def exposes(self, admissibility: Admissibility) -> bool:
        """Does a reader get to see it? What is not known is shown only where the deployment chose so."""
        if admissibility.admissible is None:
            return self.settings.expose_unresolved
        return admissibility.admissible

    def intent(self, context: QueryContext) -> Intent | None:
        """The caller's intent or, where there is none and a classifier is declared, what the question's words say."""
        if context.intent is not None or self._classified is None:
            return context.intent
        try:
            return self._classified(context.query)
        except Exception as error:  # noqa: BLE001 - a classifier that broke says nothing, and nothing is made up
            logger.warning("the classifier of intents failed: %s", type(error).__name__)
            return None

    def _scope(self, namespace: Namespace | None, context: QueryContext) -> AxisReading:
        own = context.namespace
        if context.principal is None:
            return PRINCIPAL_MISSING
        if not own:
            return PLACE_MISSING
        if not namespace:
            return NAMESPACE_MISSING
        if namespace == own:
            return OWN
        if self.settings.sub_namespaces and namespace[: len(own)] == own:
            return BELOW
        return AxisReading(value=False, reason=f"other_namespace: {'/'.join(namespace)} is not {'/'.join(own)}")


def _shows_nothing(settings: ReadingSettings) -> bool:
    """Does nothing in the settings say of any memory what it may be used for, and is what is open not shown?"""
    stated = any("read" in rule.access for rule in settings.policy) or any(
        rule.purpose_allow is not None for rule in settings.records
    )
    return not stated and settings.policy_default == "unresolved" and not settings.expose_unresolved
