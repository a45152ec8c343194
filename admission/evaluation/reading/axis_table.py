"""What the read gate says of each memory for one question, as numbers; every distinct metadata is read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.reading.dataset import ReadingData
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings

Axis = Literal["scope", "policy", "lifecycle"]
AXES: tuple[Axis, ...] = ("scope", "policy", "lifecycle")
YES, NO, OPEN = 1, 0, -1
_UNREAD = 2

Values = NDArray[np.int8]
"""YES, NO or OPEN, which is "?"."""


class MetadataClasses:
    """The distinct metadata of some memories, and which of them each memory has (`of`, shape (memories,)).

    When a memory was written is left out: no axis reads it, and it would make every memory a class of its own.
    """

    def __init__(self, metadata: Sequence[RecordMetadata]) -> None:
        places: dict[RecordMetadata, int] = {}
        bare = (found.model_copy(update={"created_at": None}) for found in metadata)
        self.of = np.array([places.setdefault(found, len(places)) for found in bare], dtype=np.intp)
        self.distinct = tuple(places)


class AxisTable:
    """Readings of one question, made when they are first asked for."""

    def __init__(self, gate: ReadGate, classes: MetadataClasses, context: QueryContext) -> None:
        self._gate = gate
        self._classes = classes
        self._context = context
        self._read = np.full((len(classes.distinct), len(AXES)), _UNREAD, dtype=np.int8)

    def values(self, memories: NDArray[np.intp]) -> Values:
        """(memories, 3): scope, policy and lifecycle of the memories at these places."""
        classes = self._classes.of[memories]
        for place in np.unique(classes[self._read[classes, 0] == _UNREAD]):
            found = self._gate.read(self._classes.distinct[place], self._context)
            self._read[place] = [OPEN if axis.value is None else int(axis.value) for axis in found.axes]
        return self._read[classes]


def conjunctions(values: Values) -> Values:
    """Strong Kleene "and" over the last axis: NO if any is, YES if all are, else OPEN."""
    denied = (values == NO).any(axis=-1)
    granted = (values == YES).all(axis=-1)
    return np.where(denied, NO, np.where(granted, YES, OPEN)).astype(np.int8)


def stated_axes(data: ReadingData, settings: ReadingSettings) -> tuple[Axis, ...]:
    """The axes on which the data or the settings say anything at all. The others are "?" for every memory."""
    has_namespaces = any(memory.metadata.namespace for memory in data.memories)
    rules = bool(settings.policy) or settings.policy_default != "unresolved"
    stated = {
        "scope": has_namespaces and any(question.context.namespace for question in data.questions),
        "policy": rules or any(memory.metadata.purpose_allow is not None for memory in data.memories),
        "lifecycle": any(memory.metadata.lifecycle.state is not None for memory in data.memories),
    }
    return tuple(axis for axis in AXES if stated[axis])
