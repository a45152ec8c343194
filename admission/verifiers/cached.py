"""A verifier's answers kept on disk by the content of what was asked: the same call is paid for once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from pydantic import Field, TypeAdapter, ValidationError

from admission.records import Judgment, Question, Record, Usage, VerificationView, canonical_json, digest
from admission.verifiers.protocol import Verifier
from admission.verifiers.relay import Part, Relay

if TYPE_CHECKING:
    from admission.verifiers.result_cache import ResultCache

FORMAT = 1
"""Of keys and entries: another one makes misses of whatever was kept before."""


class Kept(Record):
    """What is kept of a judgment: its numbers, the turn ids it names, and the note, which may quote a turn.

    Neither memory, obligation nor passages; and no label, for the gate makes that of the numbers.
    """

    support: float = Field(ge=0.0, le=1.0)
    contradiction: float = Field(ge=0.0, le=1.0)
    evidence: tuple[str, ...]
    note: str


_ENTRY = TypeAdapter(tuple[Kept, ...])


class _Call(NamedTuple):
    """Questions (by number) that the verifier answers in one company, and the key of their answers."""

    numbers: tuple[int, ...]
    key: str


class CachedVerifier(Relay):
    """Answers from `cache` what the verifier was asked before in the same words; all else it asks, and keeps.

    What a model says of a statement may depend on the others in its prompt. So an entry holds the answers to all
    questions of one write on the same passages, under a digest of them all and of what else the answers depend on:
    the verifier's identity, its role and its view. Where one is missing all are asked again. A verifier that asks each
    statement by itself (`asking = "isolated"`) has an entry a question.

    Only calls whose every answer was judged are kept: failures and abstentions are asked anew. Name, thresholds and
    identity are those of the verifier, so reports and their digests are the same with and without a cache, but for
    usage: `cache_hits` counts the questions that were answered at no cost.
    """

    def __init__(self, then: Verifier, cache: ResultCache) -> None:
        super().__init__(then.name, then)
        self.thresholds = then.thresholds
        self.reads_whole = then.reads_whole
        self.names_evidence = then.names_evidence
        self._cache = cache
        self._seat = ("verifier", "obligations")

    @property
    def identity(self) -> dict[str, object]:
        return self.then.identity

    def seated(self, role: str, view: VerificationView) -> Self:
        seat = super().seated(role, view)
        seat._seat = (role, view)
        return seat

    def _begin(self, questions: Sequence[Question]) -> Part:
        calls = self._calls(questions)
        entries = self._cache.read(call.key for call in calls)
        known: dict[int, Judgment] = {}
        missing: list[_Call] = []
        for call in calls:
            kept = _read(entries.get(call.key), len(call.numbers))
            if kept is None:
                missing.append(call)
                continue
            known.update((n, self._remembered(questions[n], one)) for n, one in zip(call.numbers, kept, strict=True))
        asked = [number for call in missing for number in call.numbers]

        def complete(answers: Sequence[Judgment]) -> list[Judgment]:
            fresh = dict(zip(asked, answers, strict=True))
            by_call = {call.key: [fresh[number] for number in call.numbers] for call in missing}
            self._cache.write({key: _written(found) for key, found in by_call.items() if _all_judged(found)})
            costs = {n: self.then.usage([questions[n]], [judgment]) for n, judgment in fresh.items()}
            found = known | {n: j.model_copy(update={"cost": costs[n]}) for n, j in fresh.items()}
            return [found[number] for number in range(len(questions))]

        return Part([questions[number] for number in asked], complete)

    def _calls(self, questions: Sequence[Question]) -> list[_Call]:
        """The questions by company: those of one write that share all but the obligation, or each by itself."""
        identity = self.then.identity
        options = identity.get("options")
        asking = options.get("asking") if isinstance(options, dict) else None
        # Thresholds only make labels of the numbers; but which answers are asked for again alone follows the labels.
        depends = (
            identity if asking == "joint_then_isolated" else {k: v for k, v in identity.items() if k != "thresholds"}
        )
        shared = [canonical_json(question.model_dump(mode="json", exclude={"obligation"})) for question in questions]
        companies: dict[object, list[int]] = {}
        for number, question in enumerate(questions):
            company = number if asking == "isolated" else (question.account, shared[number])
            companies.setdefault(company, []).append(number)
        return [
            _Call(
                tuple(numbers),
                digest(
                    {
                        "format": FORMAT,
                        "verifier": depends,
                        "seat": self._seat,
                        "shared": shared[numbers[0]],
                        "obligations": [questions[number].obligation.model_dump(mode="json") for number in numbers],
                    }
                ),
            )
            for numbers in companies.values()
        ]

    def _remembered(self, question: Question, kept: Kept) -> Judgment:
        judgment = self._judgment(question, kept.support, kept.contradiction, kept.evidence, kept.note)
        return judgment.model_copy(update={"cost": Usage(cache_hits=1)})


def _all_judged(answers: Sequence[Judgment]) -> bool:
    return all(answer.outcome == "judged" for answer in answers)


def _written(answers: Sequence[Judgment]) -> str:
    return json.dumps([answer.model_dump(include=set(Kept.model_fields)) for answer in answers])


def _read(text: str | None, count: int) -> tuple[Kept, ...] | None:
    """The entry, or None if it is missing, broken or not of so many answers."""
    try:
        kept = _ENTRY.validate_json(text) if text is not None else ()
    except ValidationError:
        return None
    return kept if len(kept) == count else None
