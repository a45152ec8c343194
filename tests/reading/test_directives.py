"""What a turn asks for about the use of memories, whose word counts, and until when."""

from __future__ import annotations

import pytest

from admission.reading.directives import Authority, Directive, DirectiveKind, Person, authorised, read_directives

PEOPLE = (
    Person(principal="ivo", names=("Ivo", "Ivo Brandt")),
    Person(principal="petra", names=("Petra", "Petra Lang", "aunt", "family")),
    Person(principal="tom_a", names=("Tom", "Tom Aller")),
    Person(principal="tom_b", names=("Tom", "Tom Beck")),
)
MONDAY = "2026-02-02T09:30"


def read(text: str, time: str | None = MONDAY) -> tuple[Directive, ...]:
    return read_directives("t7", text, by="ivo", time=time, people=PEOPLE, known=("Heron",))


def one(text: str, time: str | None = MONDAY) -> Directive:
    found = read(text, time)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Please delete my old number 030-555-0142.", ("030-555-0142",)),
        ("Could you erase the locker code LK-4471 from your notes?", ("LK-4471",)),
        ("I want the Swan Inn contact removed from memory.", ("Swan Inn",)),
        ("Forget what I told you about 'the blue house', please.", None),
        ('Do not retain the note "Heron = Quayside Mills".', ("Quayside Mills",)),
        ("Security notice: remove the label dock-19 from shared memory.", ("dock-19",)),
        ("The value hr_tok_7K2M-QQ4P should be treated as deleted.", ("hr_tok_7K2M-QQ4P",)),
        ("Delete extension 52 and the alias Mira.", ("extension 52", "Mira")),
        ("Deleted the old line 030-555-0177 as requested.", ("030-555-0177",)),
        ("Deletion request recorded for Swan Inn, 030-555-0142 and Mira.", ("030-555-0142", "Swan Inn", "Mira")),
    ],
)
def test_a_request_to_forget_names_what_is_meant(text: str, values: tuple[str, ...] | None) -> None:
    directive = one(text)
    assert directive.kind == "forget"
    if values is not None:
        assert directive.values == values


@pytest.mark.parametrize(
    "text",
    [
        "Was the deleted number 030-555-0142?",
        "The deleted contact details stay unavailable.",
        "Restore the deleted line 030-555-0142 for me.",
        "I cannot discuss deleted notes.",
        "Do you want the old number removed?",
        "Legal will remove auto-renewal from the draft.",
        "Please remove the dressing after a day.",
        "I deleted the photo app on my phone.",
        "She forgot her umbrella again.",
        "Do not delete my number.",
        "The nurse removed the stitches.",
        "The scan may show nothing.",
        "We can see the harbour from here.",
        "Ivo said that he might forget the meeting.",
    ],
)
def test_talk_about_deletion_or_about_other_things_is_no_directive(text: str) -> None:
    assert read(text) == ()


def test_each_request_of_a_list_is_one_directive_and_what_is_kept_is_none() -> None:
    found = read("Delete the Swan Inn desk number, delete the Mira alias, and keep 030-555-0100.")
    assert [directive.values for directive in found] == [("Swan Inn",), ("Mira",)]


def test_names_of_people_and_projects_identify_no_memory() -> None:
    assert one("Delete the Heron staging token from memory.").values == ()
    assert one("Delete the note on Ivo Brandt from memory.").values == ()


def test_a_request_that_waits_for_something_is_deferred() -> None:
    assert one("After the visit is over, please delete the old number 030-555-0142.").deferred
    assert not one("Please delete the note to call after 6 PM.").deferred


def test_a_report_that_it_was_done_is_marked_as_one() -> None:
    assert one("Old line 030-555-0142 cleared from shared memory.").done
    assert not one("Please clear the old line 030-555-0142 from shared memory.").done


@pytest.mark.parametrize(
    ("text", "kind", "topics", "only"),
    [
        ("Please don't tell Petra about the diagnosis.", "restrict", ("diagnosi",), False),
        ("Do not share my results with Petra.", "restrict", ("result",), False),
        ("Petra should not hear the lab values.", "restrict", ("lab", "valu"), False),
        ("Petra may receive ride times only.", "restrict", ("ride", "time"), True),
        ("Keep Petra to logistics.", "restrict", ("logist",), True),
        ("Petra can see the calendar, but not the notes.", "grant", ("calendar",), False),
        ("Approved for Petra: the audit logs through Friday.", "grant", ("audit", "log"), False),
        ("Please revoke my aunt's scheduling access.", "revoke", ("schedul",), False),
        ("Revoke Petra's access entirely.", "revoke", (), False),
        ("Temporary access for Petra is now revoked.", "revoke", (), False),
        ("Petra no longer has billing access.", "revoke", ("bill",), False),
        ("Family access revoked at my request.", "revoke", (), False),
    ],
)
def test_who_may_know_what_is_read_with_the_person_and_the_topics(
    text: str, kind: DirectiveKind, topics: tuple[str, ...], only: bool
) -> None:
    directive = one(text)
    assert (directive.kind, directive.who, directive.topics, directive.only) == (kind, ("petra",), topics, only)


def test_a_person_nobody_can_tell_stays_unresolved_and_is_reported() -> None:
    ambiguous, pronoun = one("Do not share my results with Tom."), one("She can hear the ride times.")
    assert (ambiguous.who, ambiguous.who_said) == ((), "Tom")
    assert (pronoun.who, pronoun.who_said) == ((), "She")


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("Petra may see the calendar until Friday.", "2026-02-07T00:00:00+00:00"),
        ("Petra may see the calendar through Friday 18:00.", "2026-02-06T18:00:00+00:00"),
        ("Petra may see the calendar until Monday at 5 pm.", "2026-02-02T17:00:00+00:00"),
        ("Petra may see the calendar until tomorrow.", "2026-02-04T00:00:00+00:00"),
        ("Petra may see the calendar until 2026-03-01.", "2026-03-02T00:00:00+00:00"),
        ("Petra may see the calendar through March 5.", "2026-03-06T00:00:00+00:00"),
        ("Petra may see the calendar.", None),
    ],
)
def test_an_end_is_read_from_the_time_of_the_turn(text: str, until: str | None) -> None:
    assert one(text).until == until


def test_without_the_time_of_the_turn_a_weekday_means_nothing() -> None:
    assert one("Petra may see the calendar until Friday.", time=None).until is None


def test_a_sentence_too_long_for_a_plain_request_is_not_read() -> None:
    assert read("Please delete " + "the very old " * 60 + "number 030-555-0142.") == ()


def test_only_those_whom_the_deployment_names_have_a_say() -> None:
    directive = one("Please delete my old number 030-555-0142.")
    roles = {"ivo": ("patient",), "petra": ("visitor",)}
    by_role = (Authority(kinds=("forget",), roles=("patient",)),)
    assert authorised(directive, by_role, roles)
    assert authorised(directive, (Authority(kinds=("forget",), principals=("ivo",)),), {})
    assert not authorised(directive, (Authority(kinds=("grant",), roles=("patient",)),), roles)
    assert not authorised(directive.model_copy(update={"by": "petra"}), by_role, roles)
    assert not authorised(directive.model_copy(update={"by": None}), by_role, roles)
