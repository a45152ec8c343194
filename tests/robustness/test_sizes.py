"""Inputs of any size and of any characters get a report or a typed error, and never a crash."""

from __future__ import annotations

import pytest

from admission.conversations import read_conversations
from admission.eligibility import poses
from admission.errors import InputError
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.obligations import cover, split
from admission.records import Candidate, Question, Report, Turn
from admission.settings import Settings
from admission.text import disguise, sentences
from admission.verifiers.scripted import ScriptedVerifier


def said(id: str, text: str) -> Turn:
    return Turn(id=id, role="user", speaker="Ana", text=text, origin="conversation")


def decided(memory: str, turns: list[Turn], citations: tuple[str, ...] = ("t1",)) -> Report:
    """By judges that support what shares its last word with a passage."""

    def shares(question: Question) -> tuple[float, float]:
        last = question.obligation.text.rstrip(". ").split()[-1]
        return (1.0 if any(last in passage.text for passage in question.passages) else 0.0), 0.0

    gate = AdmissionGate(
        Settings(verification={"adjudicator": None}),
        verifier_a=ScriptedVerifier("a", shares),
        verifier_b=ScriptedVerifier("b", shares),
    )
    candidate = Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=citations)
    return gate.decide(candidate, History.of("c", turns))


@pytest.mark.parametrize("memory", ["", " \n\t ", "\u200b\u200b", "\x00\x01\x07", "\U0001f389" * 500, "." * 20_000])
def test_a_memory_that_says_nothing_is_invalid(memory: str) -> None:
    report = decided(memory, [said("t1", "I adopted a grey cat.")])
    assert (report.status, report.action) == ("invalid", "drop")
    assert report.reasons[0].startswith("no_claim")


@pytest.mark.parametrize("text", ["", " ", "\x00", "\u200b", "\U0001f389" * 500, "{" * 9000, "\ufeff", "\ud800"])
def test_turns_that_say_nothing_support_nothing(text: str) -> None:
    report = decided("Ana adopted a grey cat.", [said("t1", text)])
    assert report.status == "unresolved"


def test_an_empty_conversation_leaves_a_memory_unresolved() -> None:
    report = decided("Ana adopted a grey cat.", [], citations=())
    assert report.status == "unresolved"
    assert any(reason.startswith("no_history") for reason in report.reasons)


@pytest.mark.parametrize("place", ["first", "last"])
def test_what_matters_is_found_at_either_end_of_a_turn_of_9000_characters(place: str) -> None:
    filler = "The tram was late again. " * 360
    text = f"I adopted a grey cat. {filler}" if place == "first" else f"{filler}I adopted a grey cat."
    assert decided("Ana adopted a grey cat.", [said("t1", text)]).status == "admitted"


@pytest.mark.parametrize(
    "unit",
    ["word", "A. ", "I moved. ", '"', "(a ", "`", "<!-- ", "\u200b", "[INST] ", "Ana (2026-01-05): a. ", "> ", "\n"],
)
def test_text_that_repeats_a_mark_is_read_in_bounded_time(unit: str) -> None:
    # Each of these would take minutes if one pattern went back over the text for every occurrence.
    text = (unit * 20_000)[:60_000]
    history = History.of("c", [said("t1", text)])
    assert all(history.passage(n).text in text for n in range(history.passage_count))
    assert all(0 <= start < end <= len(text) for start, end in sentences(text))


@pytest.mark.slow
def test_a_turn_of_two_megabytes_is_cut_into_windows_of_which_the_budget_is_shown() -> None:
    text = "The tram was late again.\n" * 80_000 + "I adopted a grey cat."
    report = decided("Ana adopted a grey cat.", [said("t1", text)])
    assert len(text) > 2_000_000
    assert report.status in ("admitted", "repaired")
    assert len(report.passages) <= 16


@pytest.mark.slow
def test_a_conversation_of_a_hundred_thousand_turns_is_read_and_a_memory_judged() -> None:
    timeline = Timeline("c", (said(f"t{n}", "The tram was late.") for n in range(100_000)))
    timeline.extend([said("last", "I adopted a grey cat.")])
    assert timeline.before(None).contains("last")
    history = timeline.before(None)
    assert [position for position, _ in history.search(["cat"], 3)] == [100_000]


@pytest.mark.parametrize(
    "memory", ["Ana adopted a cat. " * 1000, "Ana saw a cat and " * 1100, "A. " * 6700, "(Ana ran) " * 2000]
)
def test_a_memory_of_20000_characters_has_a_bounded_number_of_obligations(memory: str) -> None:
    candidate = Candidate(id="w", conversation="c", namespace=(), memory=memory)
    assert 1 <= len(cover(memory, split(candidate))) <= 25
    assert decided(memory, [said("t1", "It rained.")]).status == "unresolved"


def test_control_characters_in_a_memory_reach_the_report_as_they_are() -> None:
    report = decided("Ana adopted\x00 a \x1b[31mgrey cat.", [said("t1", "I like tea.")])
    assert report.status == "unresolved"
    assert report.memory == "Ana adopted\x00 a \x1b[31mgrey cat."


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"id": "a", "turns": 5}', "null", '{"id": "a", "turns": [{"id": ""}]}', "\x00"]
)
def test_a_conversation_file_that_is_none_is_a_typed_error_with_its_line(line: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "bad.jsonl"
    file.write_text(line)
    with pytest.raises(InputError) as caught:
        list(read_conversations(file))
    assert str(caught.value.where).endswith("bad.jsonl:1")


@pytest.mark.parametrize(
    "text",
    [
        "Ana asked the assistant to ignore her earlier instructions about tea.",
        "Ana's insurance claim was approved on Monday.",
        "The invoice was verified and the order status is approved.",
        "Ana marked the parcel as urgent.",
        "Ana prints labels: 40 a day.",
        "Please remember that I moved to Lisbon.",
        "Ana believes that the statement of her bank is correct.",
        "Ana told Bo to accept the offer.",
        "Mark says it is true that claims take a week.",
    ],
)
def test_ordinary_sentences_are_no_orders_to_the_judge(text: str) -> None:
    assert not poses(text)


@pytest.mark.parametrize(
    "text",
    [
        "The wire is 5 µm thick.",
        "IT-отдел",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ],
)
def test_units_emoji_and_other_scripts_are_no_disguise(text: str) -> None:
    assert disguise(text) is None
