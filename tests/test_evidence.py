"""The two views within their bounds, filled in a fixed order, and the sets tried as minimal evidence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.evidence import (
    citation_view,
    expanded_view,
    fused_hits,
    later_mentions,
    read_together,
    support_subsets,
    with_later_mentions,
)
from admission.history import History, Timeline
from admission.records import Candidate, Obligation, Turn, View


def turn(id: str, text: str, role: str = "user", speaker: str | None = "Aino", **fields: str) -> Turn:
    return Turn.model_validate({"id": id, "role": role, "text": text, "speaker": speaker, **fields})


def talk(*texts: str) -> list[Turn]:
    return [turn(f"t{i}", text) for i, text in enumerate(texts, start=1)]


def candidate(memory: str, *citations: str) -> Candidate:
    return Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=citations)


def obligation(text: str, id: str = "o1") -> Obligation:
    return Obligation(id=id, text=text, type="fact")


def filler(n: int, first: int = 1) -> list[Turn]:
    """Turns that share no content word with any memory of these tests."""
    return [turn(f"f{i}", f"Item number {i} is filed.", speaker="Bo") for i in range(first, first + n)]


class TestCitationView:
    def test_shows_the_cited_turns_in_conversation_order(self) -> None:
        history = History.of("c", talk("I keep bees.", "Two hives.", "And rye."))
        view, invalid, ineligible = citation_view(history, candidate("Aino keeps bees.", "t3", "t1", "t3"))
        assert (view.name, view.turn_ids, invalid, ineligible) == ("citation_only", ("t1", "t3"), (), ())

    def test_names_citations_of_no_turn_before_the_write_and_of_turns_that_are_no_evidence(self) -> None:
        turns = [turn("m", "Aino keeps bees.", role="system", origin="memory"), *talk("Hello.", "I keep bees.")]
        history = Timeline("c", turns).before("t1")
        view, invalid, ineligible = citation_view(history, candidate("Aino keeps bees.", "t9", "t2", "m", "t1"))
        assert view.turn_ids == ("t1",)
        assert invalid == ("t9", "t2")
        assert ineligible == ("m",)

    def test_of_a_long_turn_the_windows_that_match_best_stay(self) -> None:
        sentences = [f"Parcel {i} is filed." for i in range(40)]
        sentences[33] = "The bees are in the orchard."
        history = Timeline("c", [turn("t1", " ".join(sentences))], passage_chars=30).before(None)
        view, _, _ = citation_view(history, candidate("Aino's bees are in the orchard.", "t1"), limit=4)
        assert len(view.passages) == 4
        assert "The bees are in the orchard." in {p.text for p in view.passages}
        assert [p.position for p in view.passages] == sorted(p.position for p in view.passages)

    def test_without_citations_it_is_empty(self) -> None:
        view, invalid, ineligible = citation_view(History.of("c", talk("Hi.")), candidate("Aino keeps bees."))
        assert (view.passages, invalid, ineligible) == ((), (), ())


class TestExpandedView:
    def test_finds_what_is_not_cited(self) -> None:
        history = History.of("c", [*talk("I keep bees in the orchard."), *filler(40)])
        view = expanded_view(history, candidate("Aino keeps bees.", "f9"))
        assert {"t1", "f9"} <= set(view.turn_ids)

    def test_keeps_the_bounds_and_the_order_of_the_conversation(self) -> None:
        history = History.of("c", [turn(f"t{i}", f"The bees again, {i}.") for i in range(60)])
        view = expanded_view(history, candidate("Aino keeps bees.", *(f"t{i}" for i in range(6))))
        assert len(view.passages) == 16
        assert len(set(view.turn_ids) - {f"t{i}" for i in range(6)}) == 10
        view = expanded_view(history, candidate("Aino keeps bees.", "t1"))
        assert len(view.passages) == 13
        assert [p.position for p in view.passages] == sorted({p.position for p in view.passages})

    def test_no_setting_lifts_the_bounds(self) -> None:
        history = History.of("c", filler(60))
        view = expanded_view(history, candidate("Aino keeps bees."), retrieved=50, total=50)
        assert len(view.passages) == 12
        cited = expanded_view(history, candidate("Bees.", *(f"f{i}" for i in range(1, 40))), retrieved=50, total=50)
        assert len(cited.passages) == 16

    def test_smaller_bounds_are_kept(self) -> None:
        history = History.of("c", filler(60))
        assert len(expanded_view(history, candidate("Bees.", "f1"), retrieved=2, total=16).passages) == 3
        assert len(expanded_view(history, candidate("Bees.", "f1"), retrieved=12, total=2).passages) == 2
        assert expanded_view(history, candidate("Bees.", "f1"), retrieved=0, total=16).turn_ids == ("f1",)

    def test_an_obligation_finds_what_the_memory_as_a_whole_does_not(self) -> None:
        history = History.of("c", [*talk("The orchard is behind the mill."), *filler(40)])
        without = expanded_view(history, candidate("Bees thrive."), retrieved=3)
        assert "t1" not in without.turn_ids
        with_it = expanded_view(history, candidate("Bees thrive."), [obligation("An orchard exists.")], retrieved=3)
        assert "t1" in with_it.turn_ids

    def test_the_answer_that_repeats_no_word_comes_with_its_question(self) -> None:
        turns = [
            *filler(20),
            turn("q", "Do you keep bees in the orchard?", role="assistant", speaker="helper"),
            turn("a", "Yes, both summers."),
            *filler(20, first=21),
        ]
        view = expanded_view(History.of("c", turns), candidate("Aino keeps bees in the orchard."), retrieved=2)
        assert view.turn_ids == ("q", "a")

    def test_the_question_comes_with_a_cited_answer(self) -> None:
        turns = [
            *filler(20),
            turn("q", "Shall I put it behind the mill?", role="assistant", speaker="helper"),
            turn("a", "Yes."),
            *filler(20, first=21),
        ]
        view = expanded_view(History.of("c", turns), candidate("Aino keeps bees.", "a"), retrieved=1)
        assert view.turn_ids == ("q", "a")

    def test_places_nothing_matches_go_to_neighbours_of_citations_then_of_hits_then_to_the_latest(self) -> None:
        turns = [*filler(20), *talk("I keep bees."), *filler(20, first=21)]
        view = expanded_view(History.of("c", turns), candidate("Aino keeps bees.", "f5"), retrieved=7)
        assert view.turn_ids == ("f4", "f5", "f6", "f20", "t1", "f21", "f39", "f40")

    def test_a_short_conversation_is_shown_whole(self) -> None:
        history = History.of("c", filler(5))
        assert len(expanded_view(history, candidate("Aino keeps bees.")).passages) == 5

    def test_a_long_cited_turn_leaves_room_for_retrieval(self) -> None:
        long = " ".join(f"Parcel {i} is filed." for i in range(60))
        turns = [*talk("I keep bees in the orchard."), *filler(30), turn("long", long)]
        history = Timeline("c", turns, passage_chars=30).before(None)
        view = expanded_view(history, candidate("Aino keeps bees in the orchard.", "long"))
        assert "t1" in view.turn_ids
        assert "long" in view.turn_ids
        assert len(view.passages) <= 16

    def test_what_was_just_said_comes_before_what_matches_as_well_but_not_before_a_much_better_match(self) -> None:
        turns = [
            turn("old", "Bees, I think, and then some."),
            turn("better", "The bees are in the orchard by the mill."),
            *filler(60),
            turn("new", "Bees, I think, and then some."),
        ]
        history = History.of("c", turns)
        hits = fused_hits(history, "Bees in the orchard by the mill.", [])
        assert [history.passage(position).id for position in hits] == ["better", "new", "old"]


word = st.sampled_from(["bees", "rye", "tea?", "Yes.", "the", "orchard.", "蜂", "no", "\n"])
said = st.tuples(
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.sampled_from(["conversation", "memory", "instruction", "tool", "external"]),
    st.lists(word, max_size=12).map(" ".join),
)


@given(
    st.lists(said, max_size=40),
    st.integers(0, 39),
    st.lists(word, max_size=6).map(" ".join),
    st.lists(st.integers(0, 45), max_size=20),
    st.integers(-1, 30),
    st.integers(-1, 30),
)
@settings(max_examples=200, deadline=None)
def test_no_later_and_no_ineligible_turn_is_ever_shown(
    spoken: list[tuple[str, str, str]], after: int, memory: str, cited: list[int], retrieved: int, total: int
) -> None:
    turns = [turn(f"t{i}", text, role, origin=origin) for i, (role, origin, text) in enumerate(spoken)]
    history = Timeline("c", turns, passage_chars=20).before(f"t{after}" if after < len(turns) else None)
    written = candidate(memory, *(f"t{i}" for i in cited))
    citations, invalid, ineligible = citation_view(history, written)
    expanded = expanded_view(history, written, [obligation("Bees like the orchard.")], retrieved=retrieved, total=total)
    for view in (citations, expanded):
        assert all(history.contains(p.turn_id) for p in view.passages)
        assert all(p.origin not in ("memory", "instruction") for p in view.passages)
        assert all(p.confirmed_by is None or history.contains(p.confirmed_by) for p in view.passages)
        assert len(view.passages) <= 16
        assert [p.position for p in view.passages] == sorted({p.position for p in view.passages})
    assert len(expanded.passages) <= max(0, total)
    cited_positions = {p.position for id in written.citations if history.contains(id) for p in history.passages_of(id)}
    assert len({p.position for p in expanded.passages} - cited_positions) <= 12
    assert set(invalid) | set(ineligible) | set(citations.turn_ids) <= set(written.citations)
    assert not set(invalid) & set(citations.turn_ids)
    again = expanded_view(history, written, [obligation("Bees like the orchard.")], retrieved=retrieved, total=total)
    assert again == expanded


class TestSupportSubsets:
    def view(self, *turns: Turn) -> View:
        history = History.of("c", turns)
        return View(name="expanded", passages=tuple(history.passage(i) for i in range(history.passage_count)))

    def sets(self, view: View, turn_ids: list[str], limit: int = 99) -> list[list[str]]:
        return [[p.turn_id for p in passages] for passages in support_subsets(view, turn_ids, limit)]

    def test_single_turns_by_strength_then_pairs_then_longer_heads(self) -> None:
        view = self.view(*talk("One.", "Two.", "Three.", "Four."))
        assert self.sets(view, ["t3", "t1", "t4"]) == [
            ["t3"],
            ["t1"],
            ["t4"],
            ["t1", "t3"],
            ["t3", "t4"],
            ["t1", "t4"],
            ["t1", "t3", "t4"],
        ]

    def test_an_answered_assistant_turn_comes_with_its_answer(self) -> None:
        view = self.view(turn("q", "Shall I note tea?", role="assistant", speaker="helper"), turn("a", "Yes."))
        assert self.sets(view, ["q"]) == [["q", "a"]]
        assert self.sets(view, ["a"]) == [["a"], ["q", "a"]]

    def test_the_question_of_another_user_is_tried_beside_a_fragment(self) -> None:
        view = self.view(
            *talk("I keep bees."), turn("q", "Where are they?", speaker="Bo"), turn("a", "In the orchard.")
        )
        assert self.sets(view, ["a", "t1"])[:3] == [["a"], ["t1"], ["q", "a"]]

    def test_all_windows_of_a_turn_go_together(self) -> None:
        history = Timeline("c", [turn("t1", "One fine day. Two fine days.")], passage_chars=15).before(None)
        view = View(name="expanded", passages=history.passages_of("t1"))
        assert [[p.id for p in s] for s in support_subsets(view, ["t1"], 5)] == [["t1#1", "t1#2"]]

    @pytest.mark.parametrize("limit", [0, 1, 5])
    def test_no_more_than_the_limit_and_none_twice(self, limit: int) -> None:
        view = self.view(*talk("One.", "Two.", "Three.", "Four."))
        found = self.sets(view, ["t1", "t2", "t2", "t3", "t4", "gone"], limit)
        assert len(found) == limit
        assert len({tuple(s) for s in found}) == len(found)


def test_later_mentions_are_the_passages_after_the_citations_that_speak_of_the_same_thing() -> None:
    said = ("The lamp is blue.", "The lamp was a gift.", "I slept badly.", "I painted the lamps green.")
    history, memory = History.of("c", talk(*said)), candidate("Aino's lamp is blue.", "t1", "t2")
    cited, _, _ = citation_view(history, memory)
    mentions = later_mentions(expanded_view(history, memory), cited, memory.memory)
    assert [passage.turn_id for passage in mentions] == ["t4"]


class TestCitationsWithLaterMentions:
    SAID = ("The lamp is blue.", "I slept badly.", "I painted the lamps green.", "My bicycle is new.")

    def together(self, *citations: str, statements: tuple[str, ...] = ("Aino's lamp is blue.",), limit: int = 16):
        history, memory = History.of("c", talk(*self.SAID)), candidate("Aino's lamp is blue.", *citations)
        cited, _, _ = citation_view(history, memory)
        view = with_later_mentions(cited, expanded_view(history, memory), statements, limit)
        return view if view is None else view.turn_ids

    def test_they_are_the_cited_passages_and_the_later_mentions_of_any_statement(self) -> None:
        assert self.together("t1") == ("t1", "t3")
        assert self.together("t1", statements=("Aino's lamp is blue.", "Aino has a new bicycle.")) == ("t1", "t3", "t4")

    def test_there_are_none_without_citations_without_a_mention_or_over_the_limit(self) -> None:
        assert self.together() is None
        assert self.together("t4") is None
        assert self.together("t1", limit=1) is None


def test_what_is_read_together_comes_together() -> None:
    turns = [turn("t1", "Shall I book the table?", "assistant", "Bot"), turn("t2", "Yes, please."), turn("t3", "Fine.")]
    passages = [History.of("c", turns).passage(position) for position in range(3)]
    assert read_together(passages, ["t1"]) == ("t1", "t2")
    assert read_together(passages, ["t2"]) == ("t2", "t1")
    assert read_together(passages[1:], ["t2"]) == ("t2",)
    assert read_together(passages, ["t3"]) == ("t3",)
