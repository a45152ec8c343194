"""The questions of a data set one after the other, each with its rankings, its namespace and what the gate says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from admission.evaluation.reading.axis_table import YES, AxisTable, MetadataClasses
from admission.evaluation.reading.dataset import ReadingData, RequiredEvidence
from admission.evaluation.reading.rankers import Mask, Order, Ranked, Scores
from admission.evaluation.reading.routes import Asked, newest_first, seconds
from admission.metadata import RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings
from admission.records import Namespace


@dataclass(frozen=True)
class Reader:
    """A question with all that a comparison needs of it. `axes` is the reference: the metadata as the data have them,
    the intent as the caller states it."""

    question: RequiredEvidence
    asked: Asked
    axes: AxisTable
    required: frozenset[int]


class Questions:
    """`scores` by ranker, `settings` those of the read gate. The reference never guesses an intent from the words of a
    question: what its caller does not state is unresolved."""

    def __init__(
        self, data: ReadingData, scores: Mapping[str, Scores], settings: ReadingSettings, *, seed: int = 0
    ) -> None:
        self.data = data
        self.reference = ReadGate(settings.model_copy(update={"intent": "caller"}))
        self.classes = MetadataClasses([memory.metadata for memory in data.memories])
        self._scores = scores
        self._seed = seed
        self._places = {memory.id: place for place, memory in enumerate(data.memories)}
        self._written = np.array([seconds(memory.metadata.created_at) for memory in data.memories])
        self._newest: Callable[[str | None], Order] = cache(self._newest_first)

    def __len__(self) -> int:
        return len(self.data.questions)

    def __iter__(self) -> Iterator[Reader]:
        for number, question in enumerate(self.data.questions):
            required = np.array(list(dict.fromkeys(self._places[id] for id in question.required)), dtype=np.intp)
            context = question.context
            asked = Asked(
                ranked=Ranked({name: scores(number) for name, scores in self._scores.items()}),
                own=self.own(context),
                required=required,
                newest=self._newest(context.time),
                current_axes=AxisTable(self.reference, self.classes, context.model_copy(update={"intent": "current"})),
                seed=(self._seed, number),
            )
            yield Reader(
                question, asked, AxisTable(self.reference, self.classes, context), frozenset(required.tolist())
            )

    @cached_property
    def namespaces(self) -> tuple[Namespace | None, ...]:
        """The distinct namespaces of the memories, None among them where one is missing."""
        return tuple(dict.fromkeys(memory.metadata.namespace for memory in self.data.memories))

    @cached_property
    def namespace_of(self) -> NDArray[np.intp]:
        """(memories,) places in `namespaces`."""
        places = {namespace: place for place, namespace in enumerate(self.namespaces)}
        return np.array([places[memory.metadata.namespace] for memory in self.data.memories], dtype=np.intp)

    def in_scope(self, context: QueryContext) -> Mask:
        """(namespaces,) which namespaces the gate takes for the principal's. One that is missing never is."""
        return self._in_scope(context.model_copy(update={"query": "", "question_id": None, "time": None}))

    def own(self, context: QueryContext) -> Mask:
        """(memories,) which memories lie in the principal's namespace."""
        return self.in_scope(context)[self.namespace_of]

    @cached_property
    def _in_scope(self) -> Callable[[QueryContext], Mask]:
        @cache
        def in_scope(context: QueryContext) -> Mask:
            records = MetadataClasses([RecordMetadata(namespace=namespace) for namespace in self.namespaces])
            values = AxisTable(self.reference, records, context).values(np.arange(len(self.namespaces)))
            found: Mask = values[:, 0] == YES
            return found

        return in_scope

    def _newest_first(self, asked_at: str | None) -> Order:
        return newest_first(self._written, asked_at)
