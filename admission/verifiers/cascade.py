"""The cascade: embedded verifiers judge first, and a language model is asked only what they leave open."""

from __future__ import annotations

from collections.abc import Sequence

from admission.records import Judgment, Label, ObligationType, Question, Thresholds
from admission.verifiers.protocol import SCORE_DECIMALS, Verifier
from admission.verifiers.relay import Part, Relay

MODELS_OWN: frozenset[ObligationType] = frozenset(("relation",))
"""What the embedded verifiers are not asked at all."""
EVEN = 0.5
"""A cascade's own thresholds: numbers of verifiers with other thresholds are brought to these."""


class CascadeVerifier(Relay):
    """Asks `then` where those of `first` differ in label, where one of them abstains or fails, and for every relation.

    Where they agree, the judgment is theirs: the lower support, and of the contradictions the one nearer to its bound,
    so that no label holds on one verifier's word alone, whatever `verification.strictness` is. Numbers keep their
    distance, in log-odds, from the threshold of whoever measured them (`on_even_odds`), so each label is the one that
    verifier gave. The note says who judged. Usage is that of `then`: the embedded verifiers cost no request, and a
    budget of calls is not spent on them.
    """

    def __init__(self, name: str, first: Sequence[Verifier], then: Verifier) -> None:
        super().__init__(name, then)
        self.first = tuple(first)
        self.thresholds = Thresholds(support=EVEN, contradiction=EVEN)
        # Embedded verifiers hold a part to less because the whole is asked as well; it is a relation, so the model is.
        self.reads_whole = then.reads_whole or any(judge.reads_whole for judge in first)
        # Of the rest the embedded verifiers may have the last word, which only know where they found most.
        self.names_evidence = then.names_evidence & MODELS_OWN

    @property
    def identity(self) -> dict[str, object]:
        then = self.then.identity
        named = {"model": then["model"]} if "model" in then else {}  # what `sameness` compares
        return {"kind": "cascade", **named, "first": [judge.identity for judge in self.first], "then": then}

    def _begin(self, questions: Sequence[Question]) -> Part:
        relations = [question.obligation.type in MODELS_OWN for question in questions]
        rest = [question for question, relation in zip(questions, relations, strict=True) if not relation]
        heard = zip(*(_heard(judge, rest) for judge in self.first), strict=True)
        known: dict[int, Judgment] = {}
        why: dict[int, str] = {}
        for number, (question, relation) in enumerate(zip(questions, relations, strict=True)):
            answers = () if relation else next(heard)
            why[number] = "it is a relation" if relation else self._open(answers)
            if not why[number]:
                known[number] = self._agreed(question, answers)
        asked = [number for number in range(len(questions)) if number not in known]

        def complete(answers: Sequence[Judgment]) -> list[Judgment]:
            found = known | {n: self._asked(questions[n], a, why[n]) for n, a in zip(asked, answers, strict=True)}
            return [found[number] for number in range(len(questions))]

        return Part([questions[number] for number in asked], complete)

    def _open(self, answers: Sequence[Judgment]) -> str:
        """Why the first verifiers' answers decide nothing; empty where they do."""
        missing = [
            f"{judge.name} {answer.outcome} ({answer.reason.partition(':')[0]})"
            for judge, answer in zip(self.first, answers, strict=True)
            if answer.outcome != "judged"
        ]
        if missing:
            return " and ".join(missing)
        labels = [_label(judge, answer) for judge, answer in zip(self.first, answers, strict=True)]
        if len(set(labels)) == 1:
            return ""
        found = (f"{judge.name} found it {label}" for judge, label in zip(self.first, labels, strict=True))
        return " and ".join(found)

    def _agreed(self, question: Question, answers: Sequence[Judgment]) -> Judgment:
        pairs = list(zip(self.first, answers, strict=True))
        against = [on_even_odds(a.contradiction, judge.thresholds.contradiction) for judge, a in pairs]
        said = (f"{judge.name}: {answer.note}" for judge, answer in pairs if answer.note)
        return self._judgment(
            question,
            support=min(on_even_odds(answer.support, judge.thresholds.support) for judge, answer in pairs),
            contradiction=min(against) if min(against) >= EVEN else max(against),
            evidence=tuple(dict.fromkeys(turn for _, answer in pairs for turn in answer.evidence)),
            note=" ".join((f"{' and '.join(judge.name for judge in self.first)} agree.", *said)),
        )

    def _asked(self, question: Question, answer: Judgment, why: str) -> Judgment:
        cost = self.then.usage([question], [answer])
        if answer.outcome != "judged":
            return answer.model_copy(update={"verifier": self.name, "cost": cost})
        bounds = self.then.thresholds
        judgment = self._judgment(
            question,
            on_even_odds(answer.support, bounds.support),
            on_even_odds(answer.contradiction, bounds.contradiction),
            answer.evidence,
            f"{self.then.name} was asked, for {why}. {answer.note}".rstrip(),
        )
        return judgment.model_copy(update={"cost": cost})


def on_even_odds(value: float, bound: float) -> float:
    """`value` against a threshold of .5 as it stands against `bound`: as far from it in log-odds, and on the same side.

    A bound of 0 is always reached and one of 1 by 1 alone, as `Thresholds.stricter` has it.
    """
    if bound == EVEN:
        return value
    if bound in (0.0, 1.0):
        return 1.0 if value >= bound else 0.0
    holds, against = value * (1 - bound), (1 - value) * bound
    even = round(holds / (holds + against), SCORE_DECIMALS)
    # Rounding must not carry a number over the bound.
    return even if (even >= EVEN) == (value >= bound) else EVEN if value >= bound else EVEN - 10**-SCORE_DECIMALS


def _heard(judge: Verifier, questions: Sequence[Question]) -> list[Judgment]:
    """What this verifier says; a failed call is a failed answer to each question, which then goes to the model."""
    try:
        answers = judge.judge(questions) if questions else []
        if len(answers) == len(questions):
            return answers
        code, detail = "malformed_answer", f"{len(questions)} questions got {len(answers)} answers"
    except Exception as error:  # noqa: BLE001 - any failure of an embedded verifier only means that the model is asked
        code, detail = getattr(error, "code", "model_error"), str(error)
    return [Judgment.failed(judge.name, question.view, code, detail) for question in questions]


def _label(judge: Verifier, answer: Judgment) -> Label:
    return judge.thresholds.label(answer.support, answer.contradiction)
