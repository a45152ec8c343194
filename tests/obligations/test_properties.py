"""What holds of splitting and covering whatever the memory says."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from admission.obligations import cover, split
from admission.records import Candidate, Obligation
from admission.text import FUNCTION_WORDS, terms, words

NAMES = st.sampled_from(["Noa", "Per", "Ivo Lind", "The user", "Dr. Abara", "Noa's sister", "My landlord", "I"])
VERB_PHRASES = st.sampled_from(
    ["sold the flat", "bought 3 boats", "lives in Graz", "works at the port", "likes tea and scones", "met Bea",
     "does not smoke", "never eats meat or fish", "may move to Lyon", "plans to learn Welsh and keep bees", "knits",
     "left because the roof leaked", "said that Per sings", "is taller than Ivo", "moved out on 3 May 2024", "found it",
     "walked home after the concert", "gave her a book", "has two cats", "saved money to see Japan", "is a nurse"]
)  # fmt: skip
JOINTS = st.sampled_from(
    [" and ", ", and ", " but ", ", but ", "; ", " and then ", ", so ", " because ", ". ", ". She ", "\n- "]
)
LEADS = st.sampled_from(["", "In May 2024, ", "Although it rained, ", "If it rains, ", "Maybe ", "According to Bea, "])


@st.composite
def memories(draw: st.DrawFn) -> str:
    text = draw(LEADS) + draw(NAMES) + " " + draw(VERB_PHRASES)
    for _ in range(draw(st.integers(0, 3))):
        joint = draw(JOINTS)
        name = draw(NAMES) + " " if draw(st.booleans()) and joint != ". She " else ""
        text += joint + name + draw(VERB_PHRASES)
    return text + draw(st.sampled_from([".", "", "!", " 🙂"]))


ANYTHING = st.one_of(
    memories(), st.text(max_size=300), st.text("aA1 .,;:'\"`-\n*#?(){}[]/\\!’“”—。？é的", max_size=200)
)
DENIALS = {"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"}


def splitting(memory: str) -> tuple[Obligation, ...]:
    return split(Candidate(id="w", conversation="c", namespace=("t",), memory=memory))


def content(text: str) -> set[str]:
    return {term for w in words(text) if w.lower() not in FUNCTION_WORDS for term in terms(w)}


@settings(max_examples=150, deadline=None)
@given(memories())
def test_together_the_obligations_say_every_content_word(memory: str) -> None:
    said = set().union(*(content(o.text) for o in cover(memory, splitting(memory))))
    assert content(memory) <= said


@settings(max_examples=150, deadline=None)
@given(memories())
def test_the_rule_based_splitter_needs_no_completion(memory: str) -> None:
    found = splitting(memory)
    assert cover(memory, found) == found


@settings(max_examples=150, deadline=None)
@given(ANYTHING)
def test_any_text_is_split_and_covered_with_ordered_ids_and_within_bounds(memory: str) -> None:
    found = cover(memory, splitting(memory))
    assert [o.id for o in found] == [f"o{n}" for n in range(1, len(found) + 1)]
    assert len(found) <= 25
    assert all(o.text.strip() == o.text != "" for o in found)
    assert len({o.text for o in found}) == len(found)


@settings(max_examples=150, deadline=None)
@given(ANYTHING, st.lists(ANYTHING, max_size=3))
def test_covering_twice_changes_nothing(memory: str, texts: list[str]) -> None:
    given_obligations = [Obligation(id=str(n), text=t, type="fact") for n, t in enumerate(texts)]
    once = cover(memory, given_obligations)
    assert cover(memory, once) == once
    said = set().union(*(content(o.text) for o in once))
    if once and splitting(memory):
        assert {w for o in splitting(memory) for w in content(o.text)} <= said


@settings(max_examples=150, deadline=None)
@given(memories())
def test_no_obligation_brings_in_a_number_a_name_or_a_denial(memory: str) -> None:
    given_words = {w.lower().removesuffix("'s") for w in words(memory)}
    for obligation in cover(memory, splitting(memory)):
        for word in words(obligation.text):
            low = word.lower().removesuffix("'s")
            if re.search(r"\d", low) or low in DENIALS or word[0].isupper():
                assert low in given_words
