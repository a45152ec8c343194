"""Whose word a statement rests on: the participant it is about, and what counts as that participant's own word."""

from __future__ import annotations

import pytest

from admission.records import Participant, Passage, Role
from admission.verifiers.attribution import only_others_say, own_word, speakers, subject_of

ANA, BEN = Participant(role="user", name="Ana"), Participant(role="user", name="Ben Okri")
BOT = Participant(role="assistant", name="Memo")


def passage(
    position: int,
    role: Role,
    speaker: str | None,
    text: str = "...",
    *,
    reply_to: str | None = None,
    confirmed_by: str | None = None,
) -> Passage:
    return Passage(
        id=f"t{position}", turn_id=f"t{position}", position=position, role=role, speaker=speaker, text=text,
        origin="tool" if role == "tool" else "conversation", reply_to=reply_to, confirmed_by=confirmed_by,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "subject"),
    [
        ("Ana sold the car.", ANA),
        ("Ana's sister sold the car.", ANA),
        ("Yesterday Ben sold Ana the car.", BEN),
        ("Okri sold the car.", BEN),
        ("The user sold the car.", Participant(role="user")),
        ("User's dog is called Rex.", Participant(role="user")),
        ("The assistant suggested Porto.", Participant(role="assistant")),
        ("Memo suggested Porto.", BOT),
    ],
)
def test_a_statement_is_about_the_participant_it_names_first(claim: str, subject: Participant) -> None:
    assert subject_of(claim, (BEN, ANA, BOT)) == subject


@pytest.mark.parametrize(
    "claim", ["The car was sold.", "Analysts sold the car.", "The user interface is blue.", "Bend it."]
)
def test_a_statement_that_names_no_participant_is_about_none(claim: str) -> None:
    assert subject_of(claim, (ANA, BEN, BOT)) is None


def test_a_common_word_in_lower_case_is_no_name_unless_the_name_is_written_so() -> None:
    assert subject_of("What comes in may stay.", (Participant(role="user", name="May"),)) is None
    may = Participant(role="user", name="may")
    assert subject_of("May likes tea.", (may,)) == may


def test_own_word_is_what_the_participant_said_or_confirmed_and_what_tools_brought() -> None:
    shown = [
        passage(0, "user", "Ana"),
        passage(1, "user", "Ben Okri"),
        passage(2, "assistant", "Memo", confirmed_by="t3"),
        passage(3, "user", "Ana"),
        passage(4, "assistant", "Memo"),
        passage(5, "tool", "calendar"),
    ]
    assert [p.id for p in own_word(shown, ANA)] == ["t0", "t2", "t3", "t5"]
    assert [p.id for p in own_word(shown, Participant(role="user"))] == ["t0", "t1", "t2", "t3", "t5"]
    assert [p.id for p in own_word(shown, BOT)] == ["t2", "t4", "t5"]


def test_a_turn_without_a_name_is_the_word_of_whoever_has_its_role() -> None:
    shown = [passage(0, "user", None), passage(1, "assistant", None)]
    assert [p.id for p in own_word(shown, ANA)] == ["t0"]
    assert [p.id for p in own_word(shown, Participant(role="assistant"))] == ["t1"]


def test_speakers_are_users_and_assistants_once_each() -> None:
    shown = [
        passage(0, "user", "Ana"),
        passage(1, "tool", "calendar"),
        passage(2, "user", "Ana"),
        passage(3, "assistant", None),
    ]
    assert speakers(shown) == (ANA, Participant(role="assistant"))


TRIP = "I took a short trip to Rome last week."


def test_words_that_only_others_say_are_a_share_of_the_claims_content_words() -> None:
    shown = [passage(0, "user", "Ana", TRIP), passage(1, "user", "Ben Okri", "I was in Rome once, years ago.")]
    assert only_others_say("Ana took a short trip to Rome.", shown, ANA) == 0.0
    # Of "took short trip Rome", Ben says only "Rome".
    assert only_others_say("Ben took a short trip to Rome.", shown, BEN) == 0.75


def test_words_nobody_says_and_participants_names_do_not_count() -> None:
    shown = [passage(0, "user", "Ana", TRIP), passage(1, "user", "Ben Okri", "Lucky Ana!")]
    assert only_others_say("Ben envies Ana.", shown, BEN) == 0.0
    assert only_others_say("Ben met the ambassador.", shown, BEN) == 0.0


def test_what_somebody_answers_is_taken_up_in_the_answer() -> None:
    asked = passage(0, "assistant", None, "Do you want the window seat?")
    answer = passage(1, "user", "Ana", "Yes, always.", reply_to="t0")
    assert only_others_say("Ana wants the window seat.", [asked, answer], ANA) == 0.0
    assert only_others_say("Ana wants the window seat.", [asked, passage(1, "user", "Ana", "Hm.")], ANA) == 1.0


def test_what_tools_bring_is_not_another_participants_word() -> None:
    shown = [passage(0, "tool", "calendar", "Dentist, 4 May"), passage(1, "user", "Ana", "Thanks.")]
    assert only_others_say("Ana has a dentist appointment on 4 May.", shown, ANA) == 0.0


def test_a_proposal_is_the_word_of_who_brought_it_up_and_not_of_who_took_it_up() -> None:
    shown = [
        passage(0, "user", "Ana", "Where should the team trip go? Any suggestions?"),
        passage(1, "user", "Ben Okri", "Edinburgh would be lovely.", reply_to="t0"),
        passage(2, "user", "Ana", "Edinburgh is a great suggestion!", reply_to="t1"),
    ]
    assert only_others_say("Ben suggested Edinburgh for the team trip.", shown, BEN) == 0.0
    assert only_others_say("Ana suggested Edinburgh for the team trip.", shown, ANA) == 0.25
    assert only_others_say("Ana likes Edinburgh for the team trip.", shown, ANA) == 0.0
    assert only_others_say("Ana was recommended Edinburgh for the team trip.", shown, ANA) == 0.0
