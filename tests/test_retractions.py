"""What somebody took back, or another disputes, is no evidence any more: jokes, admitted mistakes, open disputes."""

from __future__ import annotations

import pytest

from admission.eligibility import admissible
from admission.history import History
from admission.records import Role, Turn


def said(*turns: tuple[Role, str, str]) -> History:
    return History.of(
        "c", [Turn(id=f"t{n}", role=role, speaker=who, text=text) for n, (role, who, text) in enumerate(turns, 1)]
    )


def evidence(h: History, obligation: str) -> list[str]:
    return [p.turn_id for p in admissible([h.passage(i) for i in range(h.passage_count)], obligation, h)]


class TestJokes:
    @pytest.mark.parametrize("owned_up", ["Ha, no, kidding.", "Just joking, I sleep at home.", "That was a joke!"])
    def test_are_no_evidence_once_their_teller_owns_up(self, owned_up: str) -> None:
        h = said(("user", "Edda", "I moved into the laboratory for good."), ("assistant", "helper", "Really?"),
                 ("user", "Edda", owned_up))  # fmt: skip
        assert "t1" not in evidence(h, "Edda moved into the laboratory.")

    @pytest.mark.parametrize("other", ["You're kidding!", "I'm not joking.", "Kidding aside, the lease is signed."])
    def test_talk_of_joking_that_takes_nothing_back_leaves_the_evidence(self, other: str) -> None:
        h = said(("user", "Edda", "I moved into the laboratory for good."), ("assistant", "helper", "Really?"),
                 ("user", "Edda", other))  # fmt: skip
        assert "t1" in evidence(h, "Edda moved into the laboratory.")

    def test_a_later_joke_takes_back_only_what_was_said_last(self) -> None:
        h = said(("user", "Edda", "My ferry leaves at noon."), ("assistant", "helper", "Packed?"),
                 ("user", "Edda", "I am bringing forty suitcases."), ("assistant", "helper", "Forty?"),
                 ("user", "Edda", "Kidding, one bag."))  # fmt: skip
        assert evidence(h, "Edda's ferry leaves at noon.")[0] == "t1"
        assert "t3" not in evidence(h, "Edda is bringing forty suitcases.")


class TestAdmittedMistakes:
    @pytest.mark.parametrize(
        "withdrawal",
        ["I was wrong, the pump has no timer.", "Correction: no timer on that pump.", "Scratch that about the timer.",
         "I mixed that up, the timer belongs to the old one."],
    )  # fmt: skip
    def test_withdraw_what_the_same_speaker_said_of_the_same_thing(self, withdrawal: str) -> None:
        h = said(("user", "Ruben", "Can the pump start by itself?"), ("assistant", "helper", "The pump has a timer."),
                 ("user", "Ruben", "Where?"), ("assistant", "helper", withdrawal))  # fmt: skip
        assert "t2" not in evidence(h, "The pump has a timer.")

    def test_say_nothing_of_another_matter(self) -> None:
        h = said(("assistant", "helper", "The pump has a timer."), ("user", "Ruben", "And the price?"),
                 ("assistant", "helper", "I was wrong about the price, it is 80."))  # fmt: skip
        assert "t1" in evidence(h, "The pump has a timer.")

    def test_of_somebody_else_withdraw_nothing(self) -> None:
        h = said(("user", "Ruben", "The pump has a timer."), ("assistant", "helper", "I was wrong about the timer."))
        assert "t1" in evidence(h, "The pump has a timer.")

    def test_after_the_write_are_not_known_to_it(self) -> None:
        turns = [Turn(id="t1", role="assistant", text="The pump has a timer."),
                 Turn(id="t2", role="assistant", text="I was wrong, it has no timer.")]  # fmt: skip
        assert "t1" in evidence(History.of("c", turns[:1]), "The pump has a timer.")


class TestDisputes:
    OPEN = (("user", "Petra", "The archive moved to the Hobart server in May."),
            ("user", "Ivar", "No, the archive is still in Perth."))  # fmt: skip

    def test_left_open_speak_for_neither_side(self) -> None:
        h = said(*self.OPEN)
        assert evidence(h, "The archive is on the Hobart server.") == []
        assert evidence(h, "The archive is in Perth.") == []

    def test_end_with_who_gives_way(self) -> None:
        petra_yields = said(*self.OPEN, ("user", "Petra", "You're right, sorry."))
        assert "t2" in evidence(petra_yields, "The archive is in Perth.")
        assert "t1" not in evidence(petra_yields, "The archive is on the Hobart server.")
        ivar_yields = said(*self.OPEN, ("user", "Petra", "I saw it."), ("user", "Ivar", "I stand corrected."))
        assert "t1" in evidence(ivar_yields, "The archive is on the Hobart server.")

    def test_a_denial_of_what_concerns_the_speaker_alone_stands(self) -> None:
        h = said(("user", "Petra", "You must love that rowing club."), ("user", "Ivar", "No, I left the rowing club."))
        assert "t2" in evidence(h, "Ivar left the rowing club.")

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("I had to close the shop.", "Oh no! The shop too?"),
            ("Have you seen the archive in Hobart?", "No, but the archive sounds fun."),
            ("The archive moved to Hobart.", "No worries, I know the archive."),
            ("The archive moved to Hobart.", "No, thanks, coffee is fine."),
            ("The archive moved to Hobart.", "No further proof is needed of the archive."),
        ],
    )
    def test_pity_answers_and_politeness_dispute_nothing(self, first: str, second: str) -> None:
        h = said(("user", "Petra", first), ("user", "Ivar", second))
        assert "t1" in evidence(h, first)
