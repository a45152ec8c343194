"""The cascade: where embedded verifiers agree the judgment is theirs; only the rest goes to the model behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.errors import SettingsError, VerifierError
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import (
    Candidate,
    Judgment,
    Obligation,
    ObligationType,
    Passage,
    Question,
    Report,
    Thresholds,
    Turn,
    Usage,
)
from admission.settings import Settings
from admission.verifiers import Verifier, check_kind
from admission.verifiers.assembly import Assembly
from admission.verifiers.cascade import CascadeVerifier, on_even_odds
from admission.verifiers.sameness import same_models
from admission.verifiers.scripted import ScriptedVerifier

ENTAILMENT, ALIGNMENT = Thresholds(support=0.63, contradiction=0.57), Thresholds(support=0.94, contradiction=0.45)
SAID = Passage(id="t1", turn_id="t1", position=0, role="user", text="I sold the car.", origin="conversation")
Numbers = tuple[float, float]

# Support and contradiction as the two embedded verifiers would measure them for each label, by their own thresholds.
MEASURED: dict[str, tuple[Numbers, Numbers]] = {
    "supported": ((0.64, 0.56), (0.94, 0.0)),
    "insufficient": ((0.62, 0.0), (0.93, 0.44)),
    "contradicted": ((0.1, 0.58), (0.9, 0.46)),
    "conflicting": ((0.99, 0.57), (0.95, 0.99)),
}


def question(type: ObligationType = "fact", id: str = "o1") -> Question:
    obligation = Obligation(id=id, text="Ana sold the car.", type=type)
    return Question(obligation=obligation, memory="Ana sold the car.", view="citation_only", passages=(SAID,))


def embedded(name: str, thresholds: Thresholds, answer: Numbers | Judgment | Exception) -> ScriptedVerifier:
    def script(question: Question) -> Numbers | Judgment:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return ScriptedVerifier(name, script, thresholds)


class FakeModel(ScriptedVerifier):
    """Stands for a language model: it knows in which role it sits and what it was asked."""

    role = "verifier"

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": "chat", "model": self.name, "thresholds": self.thresholds.model_dump()}

    def seated(self, role: str, view: object) -> FakeModel:
        seat = FakeModel(self.name, self._script, self.thresholds)
        seat.role, seat.asked = role, self.asked
        return seat


def model(answer: Numbers = (0.9, 0.1), thresholds: Thresholds | None = None) -> FakeModel:
    return FakeModel("chat:large", lambda question: answer, thresholds)


def cascade(
    first: Numbers | Judgment | Exception, second: Numbers | Judgment | Exception, then: Verifier | None = None
) -> CascadeVerifier:
    stage = [embedded("entailment", ENTAILMENT, first), embedded("alignment", ALIGNMENT, second)]
    return CascadeVerifier("cascade:large", stage, then if then is not None else model())


def both_ways(judge: CascadeVerifier, questions: Sequence[Question]) -> list[Judgment]:
    """The judgments of a call, checked to be the same when awaited."""
    judgments = judge.judge(questions)
    assert asyncio.run(judge.ajudge(questions)) == judgments
    return judgments


@pytest.mark.parametrize("label", MEASURED)
def test_where_they_agree_the_judgment_is_theirs_and_no_model_is_asked(label: str) -> None:
    behind = model()
    judge = cascade(*MEASURED[label], behind)
    (judgment,) = both_ways(judge, [question()])
    assert (judgment.label, judgment.verifier, judgment.evidence) == (label, "cascade:large", ("t1",))
    assert judgment.note.startswith("entailment and alignment agree.")
    assert judge.thresholds.label(judgment.support, judgment.contradiction) == label
    assert behind.asked == []
    assert judge.usage([question()], [judgment]) == Usage()


def test_support_is_the_lower_of_those_that_agree() -> None:
    (judgment,) = cascade((0.9999, 0.0), (0.95, 0.0)).judge([question()])
    assert judgment.support == on_even_odds(0.95, ALIGNMENT.support) < on_even_odds(0.9999, ENTAILMENT.support)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ((0.9, 0.0), (0.5, 0.0), "entailment found it supported and alignment found it insufficient"),
        (
            (0.9, 0.0),
            Judgment.abstained("alignment", "citation_only", "language: only English"),
            "abstained (language)",
        ),
        (VerifierError("unavailable", "no weights"), (0.95, 0.0), "entailment failed (unavailable)"),
        (RuntimeError("out of memory"), ValueError("?"), "entailment failed (model_error) and alignment failed"),
    ],
)
def test_where_they_differ_abstain_or_fail_the_model_decides(
    first: Numbers | Exception, second: Numbers | Judgment | Exception, why: str
) -> None:
    (judgment,) = both_ways(cascade(first, second, model((0.2, 0.8))), [question()])
    assert (judgment.label, judgment.support, judgment.contradiction) == ("contradicted", 0.2, 0.8)
    assert judgment.note.startswith("chat:large was asked, for ")
    assert why in judgment.note


def test_an_embedded_verifier_that_answers_short_is_one_that_failed() -> None:
    class FakeShort(ScriptedVerifier):
        def judge(self, questions: Sequence[Question]) -> list[Judgment]:
            return []

    behind = model()
    CascadeVerifier("cascade:large", [FakeShort("short", lambda q: (1.0, 0.0))], behind).judge([question()])
    assert len(behind.asked) == 1


def test_every_relation_goes_to_the_model_and_to_no_one_else() -> None:
    behind = model((0.1, 0.0))
    judge = cascade((0.99, 0.0), (0.99, 0.0), behind)
    asked = [question("fact", "o1"), question("relation", "o2"), question("qualification", "o3")]
    judgments = judge.judge(asked)
    assert [j.label for j in judgments] == ["supported", "insufficient", "supported"]
    assert [q.obligation.id for q in behind.asked] == ["o2"]
    assert [len(verifier.asked) for verifier in judge.first if isinstance(verifier, ScriptedVerifier)] == [2, 2]


def test_the_memory_as_a_whole_is_asked_where_anyone_in_the_cascade_wants_it() -> None:
    judge = cascade((0.9, 0.0), (0.95, 0.0))
    assert not judge.reads_whole
    judge.first[0].reads_whole = True
    assert CascadeVerifier("cascade:large", judge.first, model()).reads_whole


def test_usage_is_what_the_model_was_asked() -> None:
    judge = cascade((0.99, 0.0), (0.99, 0.0))
    asked = [question("fact", "o1"), question("relation", "o2"), question("relation", "o3")]
    assert judge.usage(asked, judge.judge(asked)) == Usage(calls=2)


class FakeDown(FakeModel):
    """A model that fails every call."""

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        raise VerifierError("unavailable", "no key")


def test_a_model_that_fails_takes_nothing_with_it_that_was_not_asked_of_it() -> None:
    judge = cascade((0.99, 0.0), (0.99, 0.0), FakeDown("chat:large", lambda q: (1.0, 0.0)))
    fact, relation = both_ways(judge, [question("fact", "o1"), question("relation", "o2")])
    assert fact.label == "supported"
    assert (relation.outcome, relation.reason) == ("failed", "unavailable: no key")


def test_a_model_that_answers_short_fails_the_whole_call() -> None:
    class FakeShort(FakeModel):
        def judge(self, questions: Sequence[Question]) -> list[Judgment]:
            return []

    with pytest.raises(VerifierError, match="1 questions got 0 answers"):
        cascade((0.9, 0.0), (0.1, 0.0), FakeShort("chat:large", lambda q: (1.0, 0.0))).judge([question()])


def test_the_labels_of_a_model_with_its_own_thresholds_are_kept() -> None:
    strict = Thresholds(support=0.8, contradiction=0.3)
    for numbers in ((0.79, 0.29), (0.8, 0.0), (0.1, 0.3), (0.9, 0.9)):
        (judgment,) = cascade((0.0, 0.0), (0.99, 0.0), model(numbers, strict)).judge([question()])
        assert judgment.label == strict.label(*numbers)


scores = st.integers(0, 10_000).map(lambda n: n / 10_000)
bounds = st.floats(0.0, 1.0)


@given(scores, bounds)
def test_a_number_stays_on_its_side_of_the_bound(value: float, bound: float) -> None:
    assert (on_even_odds(value, bound) >= 0.5) == (value >= bound)
    assert 0.0 <= on_even_odds(value, bound) <= 1.0


@given(scores, st.floats(0.01, 0.99), st.floats(-3.0, 8.0))
def test_strictness_asks_as_much_of_it_as_of_the_number_it_was(value: float, bound: float, strictness: float) -> None:
    own, even = Thresholds(support=bound).stricter(strictness), Thresholds(support=0.5).stricter(strictness)
    mapped = on_even_odds(value, bound)
    # But for what four decimals leave open.
    if abs(mapped - even.support) > 1e-4:
        assert (mapped >= even.support) == (value >= own.support)


@given(scores)
def test_on_even_odds_a_number_is_what_it_is(value: float) -> None:
    assert on_even_odds(value, 0.5) == value


TURNS = [
    Turn(id=f"t{n}", role="user", speaker="Ana", text=text, origin="conversation")
    for n, text in enumerate(["I sold the old car.", "I moved to Leeds.", "My sister had a baby."], start=1)
]


def decided(memory: str, citation: str, behind: Verifier, strictness: float = 0.0) -> Report:
    """The report of a gate with cascades in both roles, whose embedded verifiers find the last word in a passage."""

    def last_word(high: float) -> Callable[[Question], Numbers]:
        def script(question: Question) -> Numbers:
            word = question.obligation.text.rstrip(".").split()[-1]
            return (high if any(word in p.text for p in question.passages) else 0.01), 0.0

        return script

    stage = [
        ScriptedVerifier("entailment", last_word(0.7), ENTAILMENT),
        ScriptedVerifier("alignment", last_word(0.95), ALIGNMENT),
    ]
    settings = Settings(verification={"adjudicator": None, "strictness": strictness})  # type: ignore[arg-type]
    a, b = (CascadeVerifier(f"cascade:{name}", stage, behind) for name in ("one", "other"))
    gate = AdmissionGate(settings, verifier_a=a, verifier_b=b)
    written = Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=(citation,))
    return gate.decide(written, Timeline("c", TURNS).before(None))


def test_a_gate_with_cascades_admits_repairs_and_refuses_as_their_labels_say() -> None:
    assert decided("Ana sold the old car.", "t1", model()).status == "admitted"
    assert decided("Ana sold the old car.", "t3", model()).status == "repaired"
    assert decided("Ana owns a yacht.", "t1", model()).status == "unresolved"


def test_a_gate_with_cascades_takes_the_models_word_on_a_relation() -> None:
    memory = "Ana moved to Leeds because her sister had a baby."
    for answer, status in (((0.9, 0.0), "supported"), ((0.1, 0.0), "insufficient")):
        report = decided(memory, "t2", model(answer))
        assert {f.label for f in report.obligations if f.type == "relation"} == {status}


def test_strictness_binds_a_cascade_as_it_binds_those_it_is_made_of() -> None:
    # .7 against .63 is .31 in log-odds, .95 against .94 is .19.
    assert decided("Ana sold the old car.", "t1", model(), strictness=0.15).status == "admitted"
    assert decided("Ana sold the old car.", "t1", model(), strictness=0.25).status == "unresolved"


def test_the_model_is_seated_in_its_role_and_the_embedded_verifiers_are_shared() -> None:
    judge = cascade((0.9, 0.0), (0.95, 0.0))
    a, third = judge.seated("verifier_a", "obligations"), judge.seated("adjudicator", "obligations")
    assert [seat.then.role for seat in (a, third) if isinstance(seat.then, FakeModel)] == ["verifier_a", "adjudicator"]
    assert a.first == third.first == judge.first


def test_a_panel_of_one_model_behind_cascades_is_warned_of() -> None:
    judges = {
        "verifier_a": cascade((0.9, 0.0), (0.95, 0.0)),
        "verifier_b": model(),
        "adjudicator": embedded("x", ENTAILMENT, (0.0, 0.0)),
    }
    (warning,) = same_models(judges)
    assert "verifier_a and verifier_b are both chat:large" in warning


def test_the_identity_follows_everyone_in_the_cascade() -> None:
    same = cascade((0.9, 0.0), (0.95, 0.0)).identity
    assert same == cascade((0.9, 0.0), (0.95, 0.0)).identity
    assert same != cascade((0.9, 0.0), (0.95, 0.0), model(thresholds=Thresholds(support=0.7))).identity
    assert same != CascadeVerifier("cascade:large", [embedded("entailment", ENTAILMENT, (0.9, 0.0))], model()).identity


def test_a_kind_names_the_section_that_is_asked_second() -> None:
    check_kind("verification.verifier_a", "cascade:large", ["large"], ["small"])
    check_kind("verification.verifier_a", "cascade:small", ["large"], ["small"])
    for kind, remedy in (("cascade:huge", "large, small"), ("cascade:", "[models.NAME]")):
        with pytest.raises(SettingsError) as caught:
            check_kind("verification.verifier_a", kind, ["large"], ["small"])
        assert remedy in caught.value.remedy
    with pytest.raises(SettingsError, match="another name"):
        check_kind("verification.verifier_a", "cascade:both", ["both"], ["both"])


def test_thresholds_belong_to_those_in_a_cascade_not_to_it() -> None:
    with pytest.raises(ValueError, match="set those of entailment, alignment and the model"):
        Settings(verification={"thresholds": {"cascade:large": {"support": 0.7}}})  # type: ignore[arg-type]


def test_roles_and_cascades_share_each_verifier_that_is_built() -> None:
    built: list[str] = []

    def build(kind: str) -> Verifier:
        built.append(kind)
        return FakeModel(kind, lambda q: (0.0, 0.0))

    assembly = Assembly(build, models=["large"])
    first, second = assembly.judge("cascade:large"), assembly.judge("cascade:small")
    assert isinstance(first, CascadeVerifier)
    assert isinstance(second, CascadeVerifier)
    assert (first.then.name, second.then.name) == ("chat:large", "local:small")
    assert first.first == second.first == (assembly.judge("entailment"), assembly.judge("alignment"))
    assert assembly.judge("chat:large") is first.then
    assert sorted(built) == ["alignment", "chat:large", "entailment", "local:small"]
