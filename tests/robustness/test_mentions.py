"""Words that a passage mentions and nobody in it says are no evidence; words that somebody says stay evidence."""

from __future__ import annotations

import pytest

from admission.eligibility import only_mentions
from admission.history import History
from admission.obligations import split
from admission.records import Candidate, Role, Turn


def mentions_only(text: str, obligation: str, role: Role = "user", speaker: str = "Bo") -> bool:
    turns = [
        Turn(id="t1", role="user", speaker="Ana", text="Hello.", origin="conversation"),
        Turn(id="t2", role=role, speaker=speaker, text=text, origin=None),
    ]
    history = History.of("c", turns)
    return only_mentions(history.passages_of("t2")[0], obligation, history)


@pytest.mark.parametrize(
    "text",
    [
        'Ana once wrote "I moved to Lisbon" in a poem.',
        "> I moved to Lisbon.",
        "Imagine that Ana moved to Lisbon.",
        "Please translate this: Ana moved to Lisbon. Thanks!",
        "The rumour that Ana moved to Lisbon is old.",
        "Ana: I moved to Lisbon.",
        "```\n# Ana moved to Lisbon\n```",
        "Is it right that Ana moved to Lisbon?",
        "Act as though Ana moved to Lisbon.",
        "Please confirm that Ana moved to Lisbon.",
        "Copy this ten times: Ana moved to Lisbon. Ana moved to Lisbon.",
        "Sentence: Ana moved to Lisbon.",
        "The parrot says: I moved to Lisbon.",
        "Somebody wrote:\nI moved to Lisbon.",
        "I moved to Lisbon, said the parrot.",
        "In another universe, I moved to Lisbon.",
        "[3] user: I moved to Lisbon",
        "<note>I moved to Lisbon</note>",
        "![I moved to Lisbon](https://example.org/p.png)",
        "Mein Satz lautet „Ana moved to Lisbon“.",
        'The letter reads: "He wrote "I moved to Lisbon" to them all".',
    ],
)
def test_a_claim_that_is_only_mentioned_is_no_evidence(text: str) -> None:
    assert mentions_only(text, "Ana moved to Lisbon.")


@pytest.mark.parametrize(
    ("text", "obligation"),
    [
        ("Ana moved to Lisbon, imagine!", "Ana moved to Lisbon."),
        ("Imagine my surprise. Ana moved to Lisbon.", "Ana moved to Lisbon."),
        ('I read "The Lord of the Rings" in May.', "Bo read The Lord of the Rings."),
        ('My favourite film is "Spirited Away".', "Bo's favourite film is Spirited Away."),
        ('Ana told me "I moved to Lisbon".', "Bo says that Ana moved to Lisbon."),
        ("Please translate my letter into French: Dear Bo, it rains.", "Bo wants a letter translated into French."),
        ("I deploy with `make ship`.", "Bo deploys with make ship."),
        ("```toml\nport = 8080\n```", "The port is 8080."),
        ("I told them: I moved to Lisbon.", "Bo moved to Lisbon."),
        ("Childhood memory: I moved to Lisbon.", "Bo moved to Lisbon."),
        ("<b>I moved to Lisbon</b>!", "Bo moved to Lisbon."),
        ("Customer: Acme. Deadline: Friday.", "The deadline is Friday."),
        ("Please confirm the date. I moved to Lisbon.", "Bo moved to Lisbon."),
    ],
)
def test_what_is_said_stays_evidence(text: str, obligation: str) -> None:
    assert not mentions_only(text, obligation)


def test_the_data_of_a_tool_are_what_it_says_and_a_quotation_in_its_prose_is_not() -> None:
    assert not mentions_only('{"note": "Ana moved to Lisbon"}', "Ana moved to Lisbon.", "tool", "crm")
    assert mentions_only('The mug reads "Ana moved to Lisbon" in red.', "Ana moved to Lisbon.", "tool", "crm")


@pytest.mark.parametrize(
    ("memory", "obligations"),
    [
        ("Ana adopted a cat (and moved to Lisbon).", ["Ana adopted a cat.", "Ana moved to Lisbon."]),
        ("Ana (Ana moved to Lisbon) adopted a cat.", ["Ana adopted a cat.", "Ana moved to Lisbon."]),
        ("Ana has a cat (called Mimi).", ["Ana has a cat (called Mimi)."]),
        ("Ana's sister (who sings) has a cat.", ["Ana's sister (who sings) has a cat."]),
    ],
)
def test_a_clause_in_brackets_is_an_obligation_of_its_own(memory: str, obligations: list[str]) -> None:
    candidate = Candidate(id="w", conversation="c", namespace=(), memory=memory)
    assert [obligation.text for obligation in split(candidate)] == obligations
