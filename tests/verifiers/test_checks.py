"""The explicit checks of the alignment verifier, each on sentences where a person knows the answer."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission.records import Passage
from admission.verifiers.checks import Check, Evidence, gather, read, read_passages, run_checks
from admission.verifiers.checks.dates import dates
from admission.verifiers.checks.links import link_of
from admission.verifiers.checks.numbers import quantities
from admission.verifiers.checks.polarity import modality, negated_words

FRIDAY = "2025-06-13T09:00:00"


def chat(*lines: tuple[str, str], time: str | None = FRIDAY) -> tuple[Passage, ...]:
    return tuple(
        Passage(id=f"t{i}", turn_id=f"t{i}", position=i, role="user", speaker=speaker, time=time, text=text,
                origin="conversation")
        for i, (speaker, text) in enumerate(lines, start=1)
    )  # fmt: skip


def found(kind: str, obligation: str, *lines: tuple[str, str], time: str | None = FRIDAY) -> Check | None:
    statement = read(obligation)
    evidence: Evidence = gather(statement, read_passages(chat(*lines, time=time)))
    return next((check for check in run_checks(statement, evidence) if check.kind == kind), None)


def state(kind: str, obligation: str, *lines: tuple[str, str], time: str | None = FRIDAY) -> str | None:
    check = found(kind, obligation, *lines, time=time)
    return check and check.state


class TestNames:
    def test_a_name_said_in_a_passage_is_found(self) -> None:
        assert state("names", "Rhea met Tobias.", ("Rhea", "I met Tobias at the lido.")) == "ok"

    def test_a_speaker_counts_as_named(self) -> None:
        assert state("names", "The kiln belongs to Rhea.", ("Rhea", "The kiln is mine.")) == "ok"

    def test_a_name_nobody_says_is_missing(self) -> None:
        check = found("names", "Rhea met Augustin.", ("Rhea", "I met Tobias at the lido."))
        assert check is not None
        assert (check.state, check.words) == ("missing", ("Augustin",))

    def test_another_name_for_the_same_thing_conflicts(self) -> None:
        check = found("names", "Rhea has a tortoise named Bolt.", ("Rhea", "My tortoise is a slow one named Comet."))
        assert check is not None
        assert (check.state, check.said, check.turn_id) == ("conflict", "Comet", "t1")

    def test_short_forms_are_the_same_name(self) -> None:
        assert state("names", "The boat belongs to Tobias.", ("Amir", "Ask Tobi, it is his boat.")) == "ok"

    def test_an_ordinary_first_word_is_no_name(self) -> None:
        assert state("names", "Greenhouses stay warm.", ("Rhea", "A greenhouse stays warm.")) is None


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "value", "unit"),
        [
            ("It weighs 40 kg.", 40.0, "kg"),
            ("It weighs 40kg.", 40.0, "kg"),
            ("She owns three canoes.", 3.0, "cano"),
            ("It took twenty-five minutes.", 25.0, "minut"),
            ("They raised $1,250.", 1250.0, "dollar"),
            ("A couple of days passed.", 2.0, "day"),
            ("He paid two hundred and ten euros.", 210.0, "euro"),
            ("She swims twice a week.", 2.0, "time"),
            ("It grew by 12%.", 12.0, "percent"),
        ],
    )
    def test_quantities_are_read_with_their_units(self, text: str, value: float, unit: str) -> None:
        (quantity,) = quantities(read(text))
        assert (quantity.value, quantity.unit) == (value, unit)

    def test_the_same_number_in_another_unit_conflicts(self) -> None:
        check = found("numbers", "The cistern takes 700 gallons.", ("Rhea", "The cistern takes 700 litres."))
        assert check is not None
        assert (check.state, check.words, check.said) == ("conflict", ("700 gallons",), "700 litres")

    def test_another_number_of_the_same_thing_conflicts(self) -> None:
        assert state("numbers", "Rhea owns five canoes.", ("Rhea", "I own three canoes.")) == "conflict"

    def test_number_words_equal_digits(self) -> None:
        assert state("numbers", "Rhea owns 3 canoes.", ("Rhea", "I own three canoes.")) == "ok"

    def test_a_converted_measure_is_the_same(self) -> None:
        assert state("numbers", "The trail is 10 km long.", ("Rhea", "The trail is 10,000 metres long.")) == "ok"

    def test_a_bound_holds_for_numbers_within_it(self) -> None:
        said = ("Rhea", "We sold 43 tickets.")
        assert state("numbers", "They sold more than 40 tickets.", said) == "ok"
        assert state("numbers", "They sold more than 50 tickets.", said) == "conflict"

    def test_a_sum_of_said_numbers_is_said(self) -> None:
        assert state("numbers", "They sold 43 tickets.", ("Rhea", "30 tickets on Friday, 13 more at the door.")) == "ok"

    def test_a_number_corrected_later_conflicts(self) -> None:
        lines = (("Rhea", "Please order 9 chairs."), ("Odd", "Done."), ("Rhea", "Two fewer guests: 7 chairs is final."))
        check = found("numbers", "Rhea ordered 9 chairs.", *lines)
        assert check is not None
        assert (check.state, check.said, check.turn_id) == ("conflict", "7 chairs", "t3")

    def test_a_number_nobody_says_is_missing(self) -> None:
        assert state("numbers", "Rhea has two canoes.", ("Rhea", "I like canoes.")) == "missing"

    @given(st.text(max_size=60))
    def test_reading_never_fails_and_stays_inside_the_text(self, text: str) -> None:
        body = read(text)
        assert all(0 <= q.start < q.end <= len(body.text) for q in quantities(body))


class TestDates:
    @pytest.mark.parametrize(
        ("text", "day"),
        [
            ("We left yesterday.", date(2025, 6, 12)),
            ("See you tomorrow.", date(2025, 6, 14)),
            ("It opened on 3 March 2024.", date(2024, 3, 3)),
            ("It opened on March 3rd, 2024.", date(2024, 3, 3)),
            ("It opened on 2024-03-03.", date(2024, 3, 3)),
            ("It broke two days ago.", date(2025, 6, 11)),
            ("He arrived on Monday.", date(2025, 6, 9)),
            ("He arrives on Monday.", date(2025, 6, 16)),
            ("He arrived last Tuesday.", date(2025, 6, 10)),
            ("He arrives next Tuesday.", date(2025, 6, 17)),
            ("It is due on the 20th.", date(2025, 6, 20)),
        ],
    )
    def test_a_date_is_resolved_at_the_time_of_its_turn(self, text: str, day: date) -> None:
        (when,) = dates(text, datetime.fromisoformat(FRIDAY))
        assert any(first <= day <= last for first, last in when.spans)

    def test_last_week_is_the_calendar_week_before(self) -> None:
        (when,) = dates("It rained last week.", datetime.fromisoformat(FRIDAY))
        assert when.spans == ((date(2025, 6, 2), date(2025, 6, 8)),)

    def test_the_resolved_day_agrees_with_an_absolute_date(self) -> None:
        assert state("dates", "Rhea left on 12 June 2025.", ("Rhea", "I left yesterday.")) == "ok"

    def test_another_day_conflicts_and_says_which(self) -> None:
        check = found("dates", "Rhea left on 2 May 2026.", ("Rhea", "I left yesterday."))
        assert check is not None
        assert (check.state, check.said) == ("conflict", "yesterday (12 June 2025)")

    def test_a_turn_tells_of_its_own_day(self) -> None:
        assert state("dates", "Rhea sold her boat on 13 June 2025.", ("Rhea", "I sold my boat!")) == "ok"

    def test_a_day_nobody_speaks_of_is_missing(self) -> None:
        assert state("dates", "Rhea left on 2 May 2026.", ("Rhea", "I left."), time=None) == "missing"

    def test_clock_times_agree_across_notations(self) -> None:
        assert state("clock", "The ferry leaves at 17:30.", ("Rhea", "The ferry leaves at 5:30 pm.")) == "ok"
        assert state("clock", "The ferry leaves at 18:30.", ("Rhea", "The ferry leaves at 5:30 pm.")) == "conflict"

    @given(st.text(max_size=60), st.datetimes())
    def test_reading_never_fails(self, text: str, told: datetime) -> None:
        assert all(w.start < w.end for w in dates(text, told))

    @pytest.mark.parametrize("text", ["May 0000", "31 February", "in 9999 years", "999 years ago", "the 31st", "99:99"])
    @pytest.mark.parametrize("told", [None, "0001-01-01T00:00:00", "9999-12-31T23:59:59", "2024-02-29T12:00:00+05:30"])
    def test_impossible_dates_resolve_to_nothing_or_a_day(self, text: str, told: str | None) -> None:
        dates(text, datetime.fromisoformat(told) if told else None)


class TestNegation:
    def test_words_after_a_negation_are_denied(self) -> None:
        text = read("Rhea does not eat mussels, but she loves clams.")
        assert {text.words[i].lower for i in negated_words(text)} >= {"eat", "mussels"}
        assert "clams" not in {text.words[i].lower for i in negated_words(text)}

    @pytest.mark.parametrize(
        ("obligation", "said"),
        [
            ("Rhea eats mussels.", "I never eat mussels."),
            ("Rhea does not eat mussels.", "I eat mussels every Friday."),
            ("Rhea likes mussels.", "I can't stand mussels."),
            ("Rhea likes mussels.", "I hate mussels."),
            ("Rhea accepted the transfer.", "I refused the transfer."),
            ("Rhea hikes without a map.", "I hike with a map."),
        ],
    )
    def test_a_flipped_statement_conflicts(self, obligation: str, said: str) -> None:
        assert state("negation", obligation, ("Rhea", said)) == "conflict"

    def test_two_denials_agree(self) -> None:
        assert state("negation", "Rhea does not eat mussels.", ("Rhea", "No, I never eat mussels.")) == "ok"

    def test_nothing_denied_is_nothing_to_check(self) -> None:
        assert state("negation", "Rhea eats mussels.", ("Rhea", "I eat mussels.")) is None


class TestModality:
    def test_plans_wishes_and_chances_are_told_apart(self) -> None:
        assert modality(read("I'm going to sell the boat.")) == {"plan"}
        assert modality(read("I'd love to sell the boat.")) == {"wish"}
        assert modality(read("Maybe the boat sinks.")) == {"chance"}
        assert modality(read("I sold the boat.")) == frozenset()

    @pytest.mark.parametrize(
        "said",
        ["I plan to sell the boat.", "I hope to sell the boat.", "Should I sell the boat?", "I may sell the boat."],
    )
    def test_a_fact_needs_more_than_a_plan_a_wish_or_a_question(self, said: str) -> None:
        assert state("modality", "Rhea sold the boat.", ("Rhea", said)) == "missing"

    def test_a_plan_is_borne_out_by_a_plan(self) -> None:
        assert state("modality", "Rhea plans to sell the boat.", ("Rhea", "I'm planning to sell the boat.")) == "ok"

    def test_a_done_thing_is_no_plan(self) -> None:
        assert state("modality", "Rhea hopes to sell the boat.", ("Rhea", "I sold the boat yesterday.")) == "conflict"


class TestSpeaker:
    def test_what_another_says_of_themselves_is_not_about_the_subject(self) -> None:
        check = found("speaker", "Rhea keeps bees.", ("Odd", "I keep bees."), ("Rhea", "Nice."))
        assert check is not None
        assert check.state == "conflict"
        assert "Odd" in check.said

    def test_ones_own_statement_counts(self) -> None:
        assert state("speaker", "Rhea keeps bees.", ("Odd", "Nice."), ("Rhea", "I keep bees.")) == "ok"

    def test_a_statement_addressed_to_the_subject_may_count(self) -> None:
        assert state("speaker", "Rhea keeps bees.", ("Odd", "You keep bees, right?"), ("Rhea", "Yes.")) == "ok"

    def test_who_does_it_and_to_whom_is_kept_apart(self) -> None:
        lines = (("Odd", "I admire your quilts, Rhea."), ("Rhea", "Thanks."))
        assert state("speaker", "Odd admires Rhea's quilts.", *lines) == "ok"
        assert state("speaker", "Rhea admires Odd's quilts.", *lines) == "conflict"

    def test_reported_words_need_their_speaker(self) -> None:
        lines = (("Odd", "We should paint the shed green."), ("Rhea", "Fine."))
        assert state("speaker", "Odd suggested painting the shed green.", *lines) == "ok"
        assert state("speaker", "Rhea suggested painting the shed green.", *lines) == "missing"


class TestLinks:
    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            ("Rhea moved because her lease ended.", "cause"),
            ("Rhea moved so that her son could walk to school.", "purpose"),
            ("Rhea took a second job to pay off the boat.", "purpose"),
            ("Rhea leaves if the rent goes up.", "condition"),
            ("Rhea moved before her lease ended.", "order"),
        ],
    )
    def test_links_are_recognised(self, text: str, kind: str) -> None:
        link = link_of(read(text))
        assert link is not None
        assert link.kind == kind

    @pytest.mark.parametrize(
        "text", ["Rhea wants to move to Bergen.", "Rhea moved to Bergen.", "Rhea is going to sing."]
    )
    def test_a_completing_to_is_no_purpose(self, text: str) -> None:
        assert link_of(read(text)) is None

    def test_a_said_cause_is_ok(self) -> None:
        said = ("Rhea", "I moved because the lease ended.")
        assert state("cause", "Rhea moved because her lease ended.", said) == "ok"

    def test_two_facts_side_by_side_are_no_cause(self) -> None:
        said = ("Rhea", "I moved in May. The lease ended in May.")
        assert state("cause", "Rhea moved because her lease ended.", said) == "missing"

    def test_a_part_that_is_not_said_is_missing(self) -> None:
        said = ("Rhea", "I moved because the lease ended.")
        assert state("cause", "Rhea moved because her neighbours were loud.", said) == "missing"

    def test_parts_said_far_apart_are_not_linked(self) -> None:
        lines = (
            ("Rhea", "I moved."),
            ("Odd", "Where to, because I lost track."),
            ("Odd", "And how is the dog?"),
            ("Rhea", "The dog sleeps."),
            ("Rhea", "Remember when that lease ended?"),
        )
        assert state("cause", "Rhea moved because her lease ended.", *lines) == "missing"


class TestScope:
    @pytest.mark.parametrize(
        ("kind", "obligation", "said", "expected"),
        [
            ("quantifier", "All the hens were sold.", "All the hens were sold.", "ok"),
            ("quantifier", "All the hens were sold.", "Some of the hens were sold.", "conflict"),
            ("quantifier", "All the hens were sold.", "The hens were sold.", "missing"),
            ("frequency", "Rhea always swims.", "I swim every morning.", "ok"),
            ("frequency", "Rhea regularly swims.", "I swim once in a blue moon.", "conflict"),
            ("frequency", "Rhea regularly swims.", "I swim.", "missing"),
            ("degree", "Rhea was slightly hurt.", "I was badly hurt.", "conflict"),
            ("degree", "Swimming is Rhea's favourite sport.", "Swimming is my favorite sport.", "ok"),
            ("comparison", "The red hen is older than the white one.", "The red hen is younger.", "conflict"),
        ],
    )
    def test_strength_is_compared(self, kind: str, obligation: str, said: str, expected: str) -> None:
        assert state(kind, obligation, ("Rhea", said)) == expected


class TestMention:
    def test_quoted_words_are_not_the_speakers_own(self) -> None:
        said = ("Rhea", 'Please shorten this letter: "I have been a beekeeper for six years and love it."')
        assert state("quotation", "Rhea has been a beekeeper for six years.", said) == "missing"

    def test_a_statement_taken_back_later_conflicts(self) -> None:
        lines = (
            ("Rhea", "I sold the boat to a pirate."),
            ("Odd", "Really?"),
            ("Rhea", "No, kidding, it is in the shed."),
        )
        assert state("taken_back", "Rhea sold the boat to a pirate.", *lines) == "conflict"


@given(st.text(max_size=80), st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_checks_never_fail_on_any_text(obligation: str, said: list[str]) -> None:
    shown = read_passages(chat(*(("Rhea", text) for text in said)))
    statement = read(obligation)
    if shown:
        checks = run_checks(statement, gather(statement, shown))
        assert all(check.state in ("ok", "missing", "conflict") and 0 < check.strength <= 1 for check in checks)
