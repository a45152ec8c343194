"""The entailment verifier on the shipped weights: plain cases it must get right, its protocol, and how it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from admission.errors import WeightsError
from admission.records import Judgment, Obligation, Participant, Passage, Question, Thresholds
from admission.verifiers import entailment_weights, minilm
from admission.verifiers.entailment import EntailmentVerifier


@pytest.fixture(scope="module")
def verifier() -> EntailmentVerifier:
    return EntailmentVerifier()


def said(*turns: tuple[str, str]) -> tuple[Passage, ...]:
    return tuple(
        Passage(id=f"t{n}", turn_id=f"t{n}", position=n, role="user", speaker=speaker, time="2026-04-06T10:00:00",
                text=text, origin="conversation", end=len(text))
        for n, (speaker, text) in enumerate(turns, 1)
    )  # fmt: skip


def question(claim: str, *turns: tuple[str, str]) -> Question:
    return Question(
        obligation=Obligation(id="o1", text=claim, type="fact"), memory=claim, view="expanded", passages=said(*turns)
    )


def judge(verifier: EntailmentVerifier, claim: str, *turns: tuple[str, str]) -> Judgment:
    (judgment,) = verifier.judge([question(claim, *turns)])
    return judgment


CHAT = (
    ("Nina", "Morning! I finally adopted a dog last week, a brown spaniel called Biscuit."),
    ("Omar", "Lovely! I could never, I'm allergic to dogs."),
    ("Nina", "The train to work was late again today."),
)


@pytest.mark.parametrize(
    ("claim", "turn"),
    [
        ("Nina adopted a dog.", "t1"),
        ("Nina's dog is called Biscuit.", "t1"),
        ("Omar is allergic to dogs.", "t2"),
    ],
)
def test_what_a_speaker_says_of_themselves_supports_it_and_the_turn_is_named(
    verifier: EntailmentVerifier, claim: str, turn: str
) -> None:
    judgment = judge(verifier, claim, *CHAT)
    assert judgment.label == "supported"
    assert judgment.evidence == (turn,)
    assert turn in judgment.note


@pytest.mark.parametrize("claim", ["Omar adopted a dog.", "Omar's dog is called Biscuit.", "Nina is allergic to dogs."])
def test_what_another_says_of_themselves_does_not_support_it(verifier: EntailmentVerifier, claim: str) -> None:
    assert judge(verifier, claim, *CHAT).label != "supported"


def test_a_participant_none_of_whose_turns_is_shown_has_said_nothing(verifier: EntailmentVerifier) -> None:
    asked = question("Omar finally adopted a brown spaniel called Biscuit last week.", CHAT[0])
    alone, among = verifier.judge(
        [asked, asked.model_copy(update={"people": (Participant(role="user", name="Omar"),)})]
    )
    assert among.support < alone.support
    assert among.label != "supported"


@pytest.mark.parametrize(
    "claim",
    [
        "Nina works as a dentist in Lisbon.",
        "Omar has bought a house by the sea.",
        "Nina is learning to play the cello.",
    ],
)
def test_what_nobody_said_is_not_supported_and_missing_evidence_is_no_counter_evidence(
    verifier: EntailmentVerifier, claim: str
) -> None:
    judgment = judge(verifier, claim, *CHAT)
    assert judgment.label == "insufficient"


def test_the_opposite_of_what_was_said_is_contradicted(verifier: EntailmentVerifier) -> None:
    turn = ("Nina", "I did not buy the red car, it was far too expensive.")
    bought = judge(verifier, "Nina bought the red car.", turn)
    declined = judge(verifier, "Nina did not buy the red car.", turn)
    assert bought.label == "contradicted"
    assert bought.evidence == ("t1",)
    assert declined.support > bought.support
    assert declined.contradiction < bought.contradiction


def test_taking_the_evidence_away_takes_the_support_away(verifier: EntailmentVerifier) -> None:
    with_it = judge(verifier, "Nina adopted a dog.", *CHAT)
    without = judge(verifier, "Nina adopted a dog.", *CHAT[2:])
    assert with_it.support > without.support
    assert without.label == "insufficient"


def test_one_judgment_a_question_in_order_whatever_their_company(verifier: EntailmentVerifier) -> None:
    asked = [question(f"Nina adopted a dog in town number {n}.", *CHAT[: 1 + n % 3]) for n in range(9)]
    together = verifier.judge(asked)
    fresh = EntailmentVerifier()
    assert [j.view for j in together] == ["expanded"] * 9
    assert together == [fresh.judge([one])[0] for one in asked]
    assert together[::-1] == verifier.judge(asked[::-1])


def test_no_questions_no_judgments(verifier: EntailmentVerifier) -> None:
    assert verifier.judge([]) == []


async def test_async_answers_are_the_sync_ones(verifier: EntailmentVerifier) -> None:
    asked = [question("Nina adopted a dog.", *CHAT)]
    assert await verifier.ajudge(asked) == verifier.judge(asked)


@pytest.mark.parametrize(
    ("claim", "text", "reason"),
    [
        ("Nina vive en Sevilla con su hermana.", "I live in Seville with my sister.", "language"),
        ("Nina lives in Seville.", "Vivo en Sevilla con mi hermana desde hace un año.", "language"),
        ("Nina lives in Seville.", " \n ", "empty"),
        ("Nina says " + "that she went to the shop and then home again and " * 20, "Hello there.", "too_long"),
    ],
)
def test_it_abstains_on_what_it_cannot_judge(verifier: EntailmentVerifier, claim: str, text: str, reason: str) -> None:
    judgment = judge(verifier, claim, ("Nina", text))
    assert judgment.outcome == "abstained"
    assert judgment.reason.startswith(f"{reason}: ")
    assert (judgment.support, judgment.contradiction, judgment.label) == (0.0, 0.0, "insufficient")


def test_it_abstains_without_passages(verifier: EntailmentVerifier) -> None:
    assert judge(verifier, "Nina adopted a dog.").outcome == "abstained"


def test_another_language_is_judged_where_the_statement_stands_word_for_word(verifier: EntailmentVerifier) -> None:
    judgment = judge(
        verifier, "mi hermana vive en Sevilla", ("Nina", "¡Hola! Mi hermana vive en Sevilla. No la veo mucho.")
    )
    assert (judgment.label, judgment.support, judgment.evidence) == ("supported", 1.0, ("t1",))


def test_foreign_passages_are_left_out_beside_english_ones(verifier: EntailmentVerifier) -> None:
    judgment = judge(verifier, "Omar is allergic to dogs.", ("Nina", "No me gusta el café de la oficina."), CHAT[1])
    assert (judgment.label, judgment.evidence) == ("supported", ("t2",))


def test_the_relevant_end_of_a_very_long_turn_is_read(verifier: EntailmentVerifier) -> None:
    long = "We talked about the weather for a while. " * 200 + "Also, I am allergic to dogs."
    judgment = judge(verifier, "Omar is allergic to dogs.", ("Omar", long))
    assert judgment.label == "supported"
    assert "cut" in judgment.note


def test_thresholds_come_with_the_weights_and_can_be_overridden() -> None:
    shipped = entailment_weights.describe()
    assert EntailmentVerifier().thresholds == Thresholds.model_validate(shipped["thresholds"])
    strict = EntailmentVerifier(thresholds=Thresholds(support=1.0, contradiction=1.0))
    assert judge(strict, "Nina adopted a dog.", *CHAT).label == "insufficient"
    assert strict.identity != EntailmentVerifier().identity


def test_a_missing_or_damaged_weight_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="missing"):
        EntailmentVerifier(weights=tmp_path / "none.safetensors")
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(entailment_weights.WEIGHTS.read_bytes()[:5000])
    with pytest.raises(WeightsError, match="cannot be read"):
        EntailmentVerifier(weights=damaged)


def test_a_file_for_another_backbone_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    other = tmp_path / "other.safetensors"
    save_file({}, other, metadata={"json": '{"format": "entailment-1", "base_sha256": "0"}'})
    with pytest.raises(WeightsError, match="not of format entailment-2"):
        EntailmentVerifier(weights=other)


def test_a_backbone_that_is_not_the_publishers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="missing"):
        minilm.checked(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(WeightsError, match="SHA-256"):
        minilm.checked(tmp_path)
