"""LongMemEval's published JSON as histories of the eviction audit, read a question at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.errors import InputError
from admission.eviction.histories import json_items
from admission.eviction.histories.json_items import array_items
from admission.eviction.histories.loading import load


def turn(content: str, role: str = "user", **marks: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **marks}


def item(id: str = "q1", **changes: Any) -> dict[str, Any]:
    """A question whose answer stands in the later of its two sessions, in the place of one with other fields."""
    return {
        "question_id": id,
        "question_type": "single-session-user",
        "question": "Which boat did I rent?",
        "answer": 12,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 10:00"],
        "haystack_sessions": [
            [turn("I rented boat number 12.", has_answer=True), turn("Have fun!", "assistant", has_answer=False)],
            [turn("Good morning."), turn("Good morning to you.", "assistant")],
        ],
        "answer_session_ids": ["late"],
        **changes,
    }


def written(folder: Path, *items: object, name: str = "longmemeval_s.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(items, indent=1), encoding="utf-8")
    return file


def test_every_question_has_its_own_history_oldest_session_first_and_its_marked_turns_as_gold(tmp_path: Path) -> None:
    data = load(written(tmp_path, item("q1"), item("q2")))
    assert [history.id for history in data.histories] == ["q1", "q2"]
    first = data.histories[0].memories
    assert [(memory.id, memory.text) for memory in first] == [
        ("q1/2:1", "user: Good morning."),
        ("q1/2:2", "assistant: Good morning to you."),
        ("q1/1:1", "user: I rented boat number 12."),
        ("q1/1:2", "assistant: Have fun!"),
    ]
    assert (first[0].time, first[2].time) == ("2023-05-19T10:00:00", "2023-05-20T02:21:00")
    question = data.questions[0]
    assert (question.history, question.gold, question.answer) == ("q1", ("q1/1:1",), "12")
    assert (question.kind, question.time, question.answerable) == ("single-session-user", "2023-05-30T23:40:00", True)
    assert "2 questions, a history each, 8 turns as memories" in data.about


def test_where_no_turn_is_marked_the_whole_answer_sessions_are_gold(tmp_path: Path) -> None:
    unmarked = [[turn("I rented a boat."), turn("Have fun!", "assistant")], [turn("Good morning.")]]
    lost = item("lost", haystack_sessions=unmarked, answer_session_ids=["not there"])
    data = load(written(tmp_path, item(haystack_sessions=unmarked), lost))
    assert [question.gold for question in data.questions] == [("q1/1:1", "q1/1:2"), ()]
    assert "marked turns for 0, whole sessions for 1, none for 1" in data.about


def test_questions_about_what_was_never_said_are_not_answerable(tmp_path: Path) -> None:
    data = load(written(tmp_path, item("q1"), item("q1_abs")))
    assert [question.answerable for question in data.questions] == [True, False]


def test_a_session_may_come_twice_in_a_haystack_and_a_text_is_kept_once(tmp_path: Path) -> None:
    data = load(written(tmp_path, item(haystack_session_ids=["late", "late"]), item("q2")))
    assert len({memory.id for memory in data.histories[0].memories}) == 4
    first, second = (history.memories[0].text for history in data.histories)
    assert first is second


def test_a_folder_is_known_by_the_one_file_in_it_that_is_known(tmp_path: Path) -> None:
    written(tmp_path, item())
    (tmp_path / "notes.json").write_text("[1]")
    (tmp_path / "README.md").write_text("[{}]")
    assert load(tmp_path).name == "LongMemEval"
    written(tmp_path, item(), name="second.json")
    with pytest.raises(InputError, match=r"has several: longmemeval_s\.json, second\.json; name the file"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "item: has 2 session ids, 1 dates and 2 sessions"),
        ({"question_date": "yesterday"}, "question_date: 'yesterday' is no date such as"),
        ({"haystack_sessions": [[turn("x")], [{"role": "user"}]]}, "haystack_sessions.1.0.content: Field required"),
        ({"haystack_sessions": [[], []]}, "item: has no turn in its haystack"),
        ({"answer": None}, "answer.str: "),
    ],
)
def test_a_fault_is_named_by_file_line_and_field(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    file = written(tmp_path, item("q1"), item("q2", **changes))
    with pytest.raises(InputError) as found:
        load(file)
    assert str(found.value).startswith(f"longmemeval_s.json:{_line_of(file, 'q2')}: {field}")


def _line_of(file: Path, id: str) -> int:
    """The line at which the object with this id begins; its id is in the next."""
    return next(n for n, line in enumerate(file.read_text().split("\n"), 1) if f'"{id}"' in line) - 1


def test_two_questions_of_one_id_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two have the same id"):
        load(written(tmp_path, item("q1"), item("q1")))


def test_only_conversations_have_writes_to_take_as_memories(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--memories: longmemeval_s"):
        load(written(tmp_path, item()), "writes")


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_the_objects_of_an_array_are_the_same_whatever_is_read_at_once(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_items, "CHUNK", chunk)
    items = [{"text": 'a "quoted" ] } , [ line\n', "n": -1.5e3, "é": [None, True, {}]}, {}, {"long": "x" * 300}]
    for text in (json.dumps(items), json.dumps(items, indent=2, ensure_ascii=False), f"\ufeff \n{json.dumps(items)}\n"):
        file = tmp_path / "items.json"
        file.write_text(text, encoding="utf-8")
        assert [value for _, value in array_items(file)] == items
    (tmp_path / "empty.json").write_text(" [ ] ")
    assert list(array_items(tmp_path / "empty.json")) == []


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[\n{"a": 1},\n{"a": tru}]', "items.json:3: file: is not JSON"),
        ('[\n{"a": 1}\n{"b": 1}]', "items.json:3: file: has '{' where ']' should be"),
        ('[{"a": 1}', "items.json:1: file: ends before ']'"),
        ('[{"a": "', "items.json:1: file: is not JSON"),
        ('[{"a": 1}] more', "items.json:1: file: goes on behind the array"),
        ("[{},\n1]", "items.json:2: item: is no JSON object"),
        ("{}", "items.json:1: file: has '{' where '[' should be"),
        ("", "items.json:1: file: ends before '['"),
    ],
)
def test_what_is_no_array_of_objects_is_named_by_its_line(
    tmp_path: Path, text: str, said: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_items, "CHUNK", chunk)
    file = tmp_path / "items.json"
    file.write_text(text)
    with pytest.raises(InputError) as found:
        list(array_items(file))
    assert str(found.value).startswith(said)


def test_a_fault_early_in_a_long_file_is_found_before_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_items, "CHUNK", 64)
    file = tmp_path / "items.json"
    file.write_text('[{"a" 1}' + " " * 100_000 + "\udcff", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError, match="is not JSON"):
        list(array_items(file))
