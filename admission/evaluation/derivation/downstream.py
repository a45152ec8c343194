"""What a memory does to later answers: exact, distorted or gone from the prompt, and retrieved among all others.

Method: DerivAudit, "downstream probes". A question is asked with the exact memory, with a distorted one in its place
and without either; then of stores that hold the distorted version of some memories, by what BM25 retrieves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, ValidationError

from admission.bm25 import Bm25Index
from admission.errors import InputError
from admission.evaluation.loaders.foreign import text_lines
from admission.evaluation.paired import Interval, group_interval, holm, mcnemar
from admission.evaluation.reading.dataset import json_lines
from admission.evaluation.statistics import proportion
from admission.evidence import query_terms
from admission.records import Record
from admission.reports.summary import Proportion
from admission.text import index_terms, words

Says = Callable[[str, str], bool]
"""Does this answer, the second text, say this reference, the first?"""
Arm = Literal["exact", "distorted", "removed"]
ARMS: tuple[Arm, ...] = ("exact", "distorted", "removed")


class PublishedDownstream(NamedTuple):
    """One model's rise of failures, as shares, with a distorted memory and without any; and by retrieval: how often an
    invalid memory misinformed and a valid one supported the right answer."""

    model: str
    distorted: float
    removed: float
    misinformed: float | None = None
    supported: float | None = None


PUBLISHED = (
    PublishedDownstream("Gemma-4-31B", 0.930, 0.995, 1.000, 0.919),
    PublishedDownstream("Qwen3-30B-A3B", 0.838, 0.928, 0.962, 0.859),
    PublishedDownstream("Llama-3.3-70B-Instruct", 0.922, 0.949),
)


class DownstreamCase(Record):
    """One question and the two versions of the memory that answers it.

    `answer` is the key phrase that an answer from `memory` has and one from `distorted` has not; `distorted_answer`
    the other way round. `kind` names what was distorted. `group`: cases that belong together, for the intervals; by
    default each is its own.
    """

    id: str = Field(min_length=1)
    group: str | None = None
    kind: str = "unnamed"
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    memory: str = Field(min_length=1)
    distorted: str = Field(min_length=1)
    distorted_answer: str = Field(min_length=1)

    @property
    def together(self) -> str:
        return self.id if self.group is None else self.group


class Retrieval(NamedTuple):
    """One question put to a store: what was retrieved, the best first, and whether its own memory is among it.

    `distorted`: whether the store holds its own memory in the distorted version.
    """

    case: DownstreamCase
    distorted: bool
    retrieved: tuple[str, ...]

    @property
    def found(self) -> bool:
        return (self.case.distorted if self.distorted else self.case.memory) in self.retrieved


class ArmFigures(Record):
    """One arm: the share of failures, and what they are (the right answer missing, the distorted claim asserted; an
    answer may do both)."""

    arm: Arm
    failures: Proportion
    missing: int
    asserted: int


class Rise(Record):
    """Failures in one arm less those with the exact memory, over the same questions.

    `difference`: with a 95 % bootstrap interval over groups; `only_arm`, `only_exact`: questions that fail only there;
    `p`: McNemar's exact test of the two, `adjusted` after Holm over the table.
    """

    arm: Arm
    kind: str
    difference: Interval
    only_arm: int
    only_exact: int
    p: float
    adjusted: float | None = None


class Natural(Record):
    """Questions put to stores, by what the own memory was: of those it was `retrieved` for, how often the answer is
    right, how often it asserts the distorted claim."""

    distorted: bool
    retrieved: Proportion
    right: Proportion
    misinformed: Proportion


class DownstreamFigures(Record):
    """All arms, the rises over all cases (`all`) and by kind, natural retrieval, and the cases left out because an
    answer failed: `failed` of the arms, `failed_retrievals` of the stores."""

    cases: int
    arms: tuple[ArmFigures, ...]
    rises: tuple[Rise, ...]
    natural: tuple[Natural, ...]
    failed: tuple[str, ...] = ()
    failed_retrievals: tuple[str, ...] = ()


def read_cases(file: Path) -> list[DownstreamCase]:
    """The cases of a JSONL file, one a line. Raises `InputError` naming line and field: ids are unique, and the two
    memories and the two answers differ."""
    cases: dict[str, DownstreamCase] = {}
    for where, data in json_lines(file, text_lines(file)):
        try:
            case = DownstreamCase.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, first["loc"])) or "line"
            raise InputError(field, first["msg"], "see docs/derivation.md for the fields", where=where) from error
        if case.id in cases:
            raise InputError("id", f"{case.id!r} is there twice", "give each case its own id", where=where)
        for field, other in (("distorted", case.memory), ("distorted_answer", case.answer)):
            if words(getattr(case, field).casefold()) == words(other.casefold()):
                raise InputError(field, "says the same as the exact one", "write what is distorted", where=where)
        cases[case.id] = case
    if not cases:
        raise InputError("file", "holds no case", "write one JSON object a line", where=str(file))
    return list(cases.values())


def shown(case: DownstreamCase, arm: Arm) -> tuple[str, ...]:
    """The memories of the prompt in this arm."""
    return {"exact": (case.memory,), "distorted": (case.distorted,), "removed": ()}[arm]


def retrievals(cases: Sequence[DownstreamCase], seed: int, k: int) -> list[Retrieval]:
    """Every question put to two stores: one that holds the distorted version of half of the memories, drawn with
    `seed`, and one that holds it of the other half. The first `k` by BM25 are retrieved."""
    half = set(random.Random(seed).sample(range(len(cases)), len(cases) // 2))
    every = set(range(len(cases)))
    return [found for distorted in (half, every - half) for found in _store(cases, distorted, k)]


def _store(cases: Sequence[DownstreamCase], distorted: set[int], k: int) -> Iterable[Retrieval]:
    texts = [case.distorted if place in distorted else case.memory for place, case in enumerate(cases)]
    index = Bm25Index()
    for text in texts:
        index.add(index_terms(words(text)))
    for place, case in enumerate(cases):
        hits = index.search(query_terms(case.question), len(texts), k)
        yield Retrieval(case, place in distorted, tuple(texts[hit] for hit, _ in hits))


def downstream(
    cases: Sequence[DownstreamCase],
    answers: Mapping[Arm, Sequence[str | None]],
    natural: Sequence[Retrieval],
    retrieved_answers: Sequence[str | None],
    says: Says,
) -> DownstreamFigures:
    """The figures over answers in each arm and to `natural`, in their order; None: that answer failed. An answer fails
    its question where the right answer is missing or the distorted claim is asserted."""
    scored: list[tuple[DownstreamCase, dict[Arm, _Scored]]] = []
    failed: list[str] = []
    for place, case in enumerate(cases):
        given = {arm: answers[arm][place] for arm in ARMS}
        marks = {arm: _scored(case, answer, says) for arm, answer in given.items() if answer is not None}
        if len(marks) < len(ARMS):
            failed.append(case.id)
        else:
            scored.append((case, marks))
    kinds = dict.fromkeys(case.kind for case, _ in scored)
    several = ("all", *sorted(kinds)) if len(kinds) > 1 else ("all",)
    rises = [_rise(arm, kind, scored) for kind in several for arm in ARMS[1:] if scored]
    adjusted = holm([one.p for one in rises])
    pairs = list(zip(natural, retrieved_answers, strict=True))
    return DownstreamFigures(
        cases=len(cases),
        arms=tuple(_arm(arm, [marks[arm] for _, marks in scored]) for arm in ARMS),
        rises=tuple(one.model_copy(update={"adjusted": p}) for one, p in zip(rises, adjusted, strict=True)),
        natural=tuple(_natural(distorted, pairs, says) for distorted in (False, True)),
        failed=tuple(failed),
        failed_retrievals=tuple(one.case.id for one, answer in pairs if answer is None),
    )


class _Scored(NamedTuple):
    right: bool
    asserted: bool

    @property
    def failure(self) -> bool:
        return not self.right or self.asserted


def _scored(case: DownstreamCase, answer: str, says: Says) -> _Scored:
    return _Scored(says(case.answer, answer), says(case.distorted_answer, answer))


def _arm(arm: Arm, marks: Sequence[_Scored]) -> ArmFigures:
    return ArmFigures(
        arm=arm,
        failures=proportion(sum(one.failure for one in marks), len(marks)),
        missing=sum(not one.right for one in marks),
        asserted=sum(one.asserted for one in marks),
    )


def _rise(arm: Arm, kind: str, scored: Sequence[tuple[DownstreamCase, Mapping[Arm, _Scored]]]) -> Rise:
    own = [(case, marks) for case, marks in scored if kind in ("all", case.kind)]
    pairs = [(marks[arm].failure, marks["exact"].failure) for _, marks in own]
    only_arm, only_exact = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    return Rise(
        arm=arm,
        kind=kind,
        difference=group_interval([float(a) - float(b) for a, b in pairs], [case.together for case, _ in own]),
        only_arm=only_arm,
        only_exact=only_exact,
        p=mcnemar(only_arm, only_exact),
    )


def _natural(distorted: bool, pairs: Sequence[tuple[Retrieval, str | None]], says: Says) -> Natural:
    own = [(one, answer) for one, answer in pairs if one.distorted is distorted and answer is not None]
    marks = [_scored(one.case, answer, says) for one, answer in own if one.found and answer is not None]
    return Natural(
        distorted=distorted,
        retrieved=proportion(len(marks), len(own)),
        right=proportion(sum(one.right and not one.asserted for one in marks), len(marks)),
        misinformed=proportion(sum(one.asserted for one in marks), len(marks)),
    )
