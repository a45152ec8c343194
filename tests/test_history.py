"""A conversation as it grows: prefixes that never change, passages with exact offsets, digests, participants."""

from __future__ import annotations

import random
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.errors import InputError
from admission.history import History, Timeline
from admission.records import Passage, Turn
from admission.text import terms


def turn(id: str, text: str = "Hello.", role: str = "user", **fields: str | None) -> Turn:
    return Turn.model_validate({"id": id, "role": role, "text": text, **fields})


def passages(history: History) -> list[Passage]:
    return [history.passage(position) for position in range(history.passage_count)]


class TestPrefixes:
    def test_before_takes_the_turns_up_to_and_including_the_named_one(self) -> None:
        timeline = Timeline("c", [turn("t1"), turn("t2"), turn("t3")])
        history = timeline.before("t2")
        assert [t.id for t in history] == ["t1", "t2"]
        assert history.turns == len(history) == 2
        assert history.contains("t2") and not history.contains("t3")
        assert [t.id for t in timeline.before(None)] == ["t1", "t2", "t3"]

    def test_a_history_is_what_it_was_when_the_conversation_goes_on(self) -> None:
        timeline = Timeline("c", [turn("t1", "I keep bees."), turn("t2", "Two hives.")])
        history = timeline.before(None)
        digest, found = history.digest, passages(history)
        timeline.extend([turn("t3", "Bees everywhere, bees and hives.")])
        assert history.turns == 2
        assert history.digest == digest
        assert passages(history) == found
        assert all(position < 2 for position, _ in history.search(terms("bees hives"), 10))

    def test_an_unknown_turn_is_an_error_that_names_the_field(self) -> None:
        timeline = Timeline("c", [turn("t1")])
        with pytest.raises(InputError) as error:
            timeline.before("t9")
        assert error.value.field == "written_after"
        with pytest.raises(InputError):
            timeline.before(None).turn("t9")

    def test_a_later_turn_is_unknown_to_an_earlier_history(self) -> None:
        history = Timeline("c", [turn("t1"), turn("t2")]).before("t1")
        with pytest.raises(InputError):
            history.passages_of("t2")
        with pytest.raises(IndexError):
            history.passage(1)

    def test_a_turn_id_used_twice_is_an_error(self) -> None:
        with pytest.raises(InputError, match="used twice"):
            Timeline("c", [turn("t1"), turn("t1")])

    def test_an_empty_conversation_is_one(self) -> None:
        history = History.of("c", [])
        assert history.turns == history.passage_count == 0
        assert history.search(["bees"], 5) == []
        assert history.participants == {}


class TestSync:
    def test_new_turns_are_appended(self) -> None:
        turns = [turn("t1"), turn("t2"), turn("t3")]
        timeline = Timeline("c", turns[:2])
        assert timeline.sync(turns).digest == History.of("c", turns).digest
        assert len(timeline) == 3

    def test_an_edited_turn_is_taken_as_it_is_now(self) -> None:
        timeline = Timeline("c", [turn("t1", "I keep bees."), turn("t2")])
        before = timeline.before(None)
        history = timeline.sync([turn("t1", "I keep goats."), turn("t2")])
        assert history.passages_of("t1")[0].text == "I keep goats."
        assert history.search(terms("bees"), 5) == []
        assert before.passages_of("t1")[0].text == "I keep bees."

    def test_removed_turns_are_gone(self) -> None:
        turns = [turn("t1"), turn("t2"), turn("t3")]
        timeline = Timeline("c", turns)
        history = timeline.sync([turns[1], turns[2], turn("t4")])
        assert [t.id for t in history] == ["t2", "t3", "t4"]
        assert not timeline.before(None).contains("t1")

    def test_going_back_and_on_another_way(self) -> None:
        turns = [turn("t1"), turn("t2"), turn("t3")]
        timeline = Timeline("c", turns)
        assert [t.id for t in timeline.sync(turns[:1])] == ["t1"]
        with pytest.raises(InputError):
            timeline.before("t2")
        assert [t.id for t in timeline.extend([turn("t2", "Other.")])] == ["t1", "t2"]
        assert [t.id for t in timeline.sync(turns)] == ["t1", "t2", "t3"]
        assert timeline.before(None).turn("t2").text == "Hello."

    @given(st.lists(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["Tea.", "Rye?"])), max_size=8), max_size=5))
    @settings(max_examples=100, deadline=None)
    def test_whatever_came_before_the_history_is_that_of_the_turns_given(
        self, states: list[list[tuple[int, str]]]
    ) -> None:
        timeline = Timeline("c")
        for state in states:
            turns = [turn(f"t{number}", text) for number, text in dict(state).items()]
            history, fresh = timeline.sync(turns), History.of("c", turns)
            assert list(history) == turns
            assert history.digest == fresh.digest
            assert passages(history) == passages(fresh)


class TestDigest:
    def test_covers_every_field_of_a_turn(self) -> None:
        base = {
            "id": "t1",
            "role": "user",
            "text": "Hi",
            "speaker": "A",
            "time": "2026-01-01",
            "origin": "conversation",
        }
        changes = {
            "id": "t2",
            "role": "assistant",
            "text": "Ho",
            "speaker": "B",
            "time": "2026-01-02",
            "origin": "tool",
        }
        digests = {
            History.of("c", [Turn.model_validate({**base, field: value})]).digest for field, value in changes.items()
        }
        assert len(digests | {History.of("c", [Turn.model_validate(base)]).digest}) == 7

    def test_covers_the_order_and_is_that_of_the_prefix(self) -> None:
        a, b = turn("t1", "Tea."), turn("t2", "Rye.")
        assert History.of("c", [a, b]).digest != History.of("c", [b, a]).digest
        assert Timeline("c", [a, b]).before("t1").digest == History.of("c", [a]).digest


def test_participants_are_those_heard_so_far_by_role() -> None:
    timeline = Timeline(
        "c",
        [
            turn("t1", speaker="Aino"),
            turn("t2", role="assistant", speaker="helper"),
            turn("t3", speaker="Bo"),
            turn("t4", role="tool", speaker="clock"),
        ],
    )
    assert timeline.before("t2").participants == {"user": ("Aino",), "assistant": ("helper",)}
    assert timeline.before(None).participants["user"] == ("Aino", "Bo")


class TestPassages:
    def test_a_short_turn_is_one_passage_under_its_own_id(self) -> None:
        (passage,) = History.of("c", [turn("t1", "I keep bees. Two hives.", speaker="Aino")]).passages_of("t1")
        assert (passage.id, passage.start, passage.end) == ("t1", 0, 23)
        assert (passage.text, passage.speaker, passage.position) == ("I keep bees. Two hives.", "Aino", 0)

    def test_a_long_turn_is_cut_at_sentence_ends(self) -> None:
        text = "One fine day. Two fine days. Three fine days."
        history = Timeline("c", [turn("t1", text)], passage_chars=30).before(None)
        assert [(p.id, p.text) for p in history.passages_of("t1")] == [
            ("t1#1", "One fine day. Two fine days."),
            ("t1#2", "Three fine days."),
        ]

    def test_sentences_of_other_scripts_end_too(self) -> None:
        history = Timeline(
            "c", [turn("t1", "蜂を飼っています。巣箱は二つです。春に増えます。")], passage_chars=10
        ).before(None)
        assert [p.text for p in history.passages_of("t1")] == [
            "蜂を飼っています。",
            "巣箱は二つです。",
            "春に増えます。",
        ]

    def test_a_sentence_too_long_is_cut_between_words_and_a_word_too_long_within(self) -> None:
        history = Timeline("c", [turn("t1", "a few words on " + "x" * 25)], passage_chars=10).before(None)
        assert [p.text for p in history.passages_of("t1")] == ["a few", "words on", "x" * 10, "x" * 10, "x" * 5]

    def test_empty_turns_have_none(self) -> None:
        assert History.of("c", [turn("t1", " \n")]).passages_of("t1") == ()

    def test_a_passage_is_found_by_its_speaker(self) -> None:
        history = History.of("c", [turn("t1", "I keep bees.", speaker="Aino"), turn("t2"), turn("t3"), turn("t4")])
        assert [position for position, _ in history.search(terms("Aino's"), 3)] == [0]

    @given(
        st.lists(st.text(alphabet="ab .!?。、蜂x\n\u3000👍", max_size=60), max_size=5),
        st.integers(1, 25),
    )
    @settings(max_examples=300, deadline=None)
    def test_windows_are_exact_short_ordered_and_lose_no_word(self, texts: list[str], size: int) -> None:
        history = Timeline("c", [turn(f"t{i}", text) for i, text in enumerate(texts)], passage_chars=size).before(None)
        for i, text in enumerate(texts):
            cut = history.passages_of(f"t{i}")
            assert all(text[p.start : p.end] == p.text and 0 < len(p.text) <= size for p in cut)
            assert all(a.end <= b.start for a, b in pairwise(cut))
            assert "".join("".join(p.text for p in cut).split()) == "".join(text.split())
            assert [p.id for p in cut] in ([f"t{i}"], [f"t{i}#{n}" for n in range(1, len(cut) + 1)])
        assert [p.position for p in passages(history)] == list(range(history.passage_count))


def test_several_threads_may_search_while_the_conversation_goes_on() -> None:
    timeline = Timeline("c", [turn("t0", "bees and rye")])
    faults: list[BaseException] = []
    words = ["bees", "rye", "tea", "oak", "lake"]

    def judge() -> None:
        try:
            for _ in range(200):
                history = timeline.before(None)
                hits = history.search(words, 5)
                assert all(position < history.passage_count for position, _ in hits)
                assert all(history.passage(position).text for position, _ in hits)
        except BaseException as error:
            faults.append(error)
            raise

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    choose = random.Random(1)
    for i in range(1, 400):
        timeline.extend([turn(f"t{i}", " ".join(choose.choices(words, k=4)))])
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(timeline) == 400
