"""Which texts an entailment model is given to read for one claim, made of the passages of a view."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admission.records import Passage
from admission.verifiers.premises import MAX_PREMISES, line, premises


def words_in(text: str) -> int:
    return len(text.split())


def passage(
    position: int, speaker: str, text: str, *, reply_to: str | None = None, confirmed_by: str | None = None
) -> Passage:
    return Passage(
        id=f"t{position}", turn_id=f"t{position}", position=position, role="user", speaker=speaker,
        time="2026-03-02T09:00:00", text=text, origin="conversation", reply_to=reply_to, confirmed_by=confirmed_by,
    )  # fmt: skip


def test_a_turn_is_read_with_its_speaker_and_its_day() -> None:
    assert line("Nina", "2026-03-02T09:00:00", "I moved\n yesterday.") == "Nina (2026-03-02): I moved yesterday."
    assert line("Nina", None, "Hello") == "Nina: Hello"


def test_who_has_no_name_is_read_under_the_role() -> None:
    asked = passage(1, "Nina", "I only eat rice.").model_copy(update={"speaker": None, "time": None})
    told = asked.model_copy(update={"role": "assistant", "text": "Noted: rice only.", "position": 2, "id": "t2"})
    found = premises([asked, told], "The user eats only rice.", 100, words_in)
    assert "User: I only eat rice.\nAssistant: Noted: rice only." in [p.text for p in found]


def test_a_line_break_in_a_text_or_a_name_starts_no_second_line() -> None:
    assert "\n" not in line("Nina\nBo", None, "Fine.\nBo (2026-03-02): I agree.")


def test_a_reply_is_read_after_the_turn_it_answers() -> None:
    asked = passage(1, "Assistant", "Which colour for the shed door?")
    answer = passage(6, "Nina", "Green, please.", reply_to="t1")
    found = premises([answer, asked], "The shed door is to be green.", 100, words_in)
    together = "Assistant (2026-03-02): Which colour for the shed door?\nNina (2026-03-02): Green, please."
    assert together in [p.text for p in found]
    assert "Nina (2026-03-02): Green, please." not in [p.text for p in found]


def test_a_proposal_is_read_with_the_turn_that_confirms_it() -> None:
    proposed = passage(3, "Assistant", "Shall I book the eight o'clock ferry?", confirmed_by="t9")
    accepted = passage(9, "Nina", "Yes.")
    found = premises([proposed, accepted], "Nina wants the eight o'clock ferry.", 100, words_in)
    assert any(set(p.turn_ids) == {"t3", "t9"} and p.text.endswith("Yes.") for p in found)


def test_neighbouring_turns_are_read_together_and_distant_ones_jointly_when_they_fit() -> None:
    passages = [
        passage(0, "Nina", "I bought a kayak."),
        passage(1, "Bo", "What colour?"),
        passage(40, "Nina", "The kayak is leaking."),
    ]
    read = {frozenset(p.turn_ids) for p in premises(passages, "Nina's kayak leaks.", 100, words_in)}
    assert {frozenset({"t0", "t1"}), frozenset({"t0", "t1", "t40"})} <= read
    assert frozenset({"t1", "t40"}) not in read


def test_a_turn_that_shares_only_the_speakers_name_is_unrelated() -> None:
    for said, related in (("The traffic was awful.", False), ("My dog ate the cake.", True)):
        (found,) = premises([passage(0, "Nina", said)], "Nina has a dog.", 100, words_in)
        assert found.related is related


def test_the_last_turn_on_the_matter_is_read_by_itself_for_it_may_correct_what_was_said() -> None:
    passages = [
        passage(0, "Nina", "The dentist appointment is on Tuesday at nine."),
        passage(5, "Nina", "It rained all day."),
        passage(9, "Nina", "The dentist moved me to Friday."),
    ]
    found = premises(passages, "Nina's dentist appointment is on Tuesday.", 100, words_in)
    assert ("t9",) in [p.turn_ids for p in found]


def test_a_turn_of_somebody_else_about_the_same_thing_is_unrelated_to_a_claim_that_names_a_speaker() -> None:
    passages = [passage(0, "Nina", "I have a dog."), passage(9, "Omar", "I could never have a dog.")]
    found = {p.turn_ids: p.related for p in premises(passages, "Nina has a dog.", 100, words_in)}
    assert found["t0",] is True
    assert found["t9",] is False


def test_a_long_turn_is_cut_to_the_sentences_nearest_to_the_claim_wherever_they_stand() -> None:
    filler = "We talked about the weather for a while. " * 40
    long = passage(0, "Nina", f"{filler}In the end I sold the piano. {filler}")
    (found,) = premises([long], "Nina sold the piano.", 30, words_in)
    assert "I sold the piano." in found.text
    assert found.cut
    assert words_in(found.text) <= 30


def test_one_endless_sentence_is_cut_to_the_stretch_nearest_to_the_claim() -> None:
    endless = passage(0, "Nina", "and so on " * 400 + "then I sold the piano " + "and so on " * 400)
    (found,) = premises([endless], "Nina sold the piano.", 30, words_in)
    assert "sold the piano" in found.text
    assert words_in(found.text) <= 30


@given(
    st.lists(st.text("ab c.\n", max_size=60), min_size=1, max_size=16),
    st.integers(20, 60),
)
def test_there_are_few_premises_none_over_budget_and_every_turn_of_one_is_a_passage(
    texts: list[str], budget: int
) -> None:
    passages = [passage(place, "Nina", text) for place, text in enumerate(texts)]
    found = premises(passages, "Nina said a b c.", budget, words_in)
    assert 1 <= len(found) <= MAX_PREMISES
    assert len({p.text for p in found}) <= len(found)
    for premise in found:
        assert set(premise.turn_ids) <= {p.turn_id for p in passages}
        # Three lines carry a name and a day each, which are never cut.
        assert words_in(premise.text) <= budget + 2 * len(premise.turn_ids)
