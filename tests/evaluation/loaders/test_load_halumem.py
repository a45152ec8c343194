"""HaluMem: memory points become writes after their session; what they were made for is scored by and never shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.errors import InputError
from admission.evaluation.derivation.cases import read_cases
from admission.evaluation.loaders import load_conversations
from admission.records import Conversation


def message(role: str, content: str, turn: int = 0) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": "Sep 04, 2025, 18:30:05", "dialogue_turn": turn}


def point(content: str, source: str = "secondary", **more: Any) -> dict[str, Any]:
    return {"index": 1, "memory_content": content, "memory_source": source, "is_update": "False", **more}


def user(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "uuid": "u-1",
        "persona_info": "Name: Lena Park; Gender: Female; Age: 41",
        "sessions": [
            {
                "start_time": "Sep 04, 2025, 18:30:05",
                "dialogue": [message("user", "I took up rowing."), message("assistant", "Wonderful!")],
                "memory_points": [point("Lena Park took up rowing.", importance=0.75)],
                "questions": [],
            },
            {
                "dialogue": [
                    message("user", "I row on Sundays now.", 0),
                    message("assistant", "Since you sail on Mondays, that fits.", 0),
                ],
                "memory_points": [
                    point(
                        "Lena Park rows on Sundays.",
                        "primary",
                        is_update="True",
                        original_memories=["Lena Park took up rowing."],
                    ),
                    point("Lena Park sails on Mondays.", "interference"),
                ],
            },
        ],
    }
    return {**base, **changes}


def load(tmp_path: Path, *users: Any) -> list[Conversation]:
    file = tmp_path / "HaluMem-Medium.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in users), encoding="utf-8")
    return list(load_conversations(file))


def test_the_sessions_of_a_user_are_one_conversation(tmp_path: Path) -> None:
    (conversation,) = load(tmp_path, user())
    assert (conversation.id, conversation.namespace) == ("u-1", ("halumem", "u-1"))
    assert [(t.id, t.role, t.speaker, t.time) for t in conversation.turns] == [
        ("S1:1", "user", "Lena Park", "2025-09-04T18:30:05"),
        ("S1:2", "assistant", None, "2025-09-04T18:30:05"),
        ("S2:1", "user", "Lena Park", "2025-09-04T18:30:05"),
        ("S2:2", "assistant", None, "2025-09-04T18:30:05"),
    ]


def test_memory_points_are_writes_after_their_session_and_cite_nothing(tmp_path: Path) -> None:
    (conversation,) = load(tmp_path, user())
    assert [(w.id, w.memory, w.citations, w.written_after) for w in conversation.writes] == [
        ("u-1.s1.01", "Lena Park took up rowing.", (), "S1:2"),
        ("u-1.s2.01", "Lena Park rows on Sundays.", (), "S2:2"),
        ("u-1.s2.02", "Lena Park sails on Mondays.", (), "S2:2"),
    ]


def test_only_interference_points_are_labelled_and_what_is_said_of_a_point_is_no_part_of_the_candidate(
    tmp_path: Path,
) -> None:
    load(tmp_path, user())
    cases = read_cases([tmp_path / "HaluMem-Medium.jsonl"], passage_chars=1200)
    assert [(case.reference["memory_source"], case.valid) for case in cases] == [
        ("secondary", None),
        ("primary", None),
        ("interference", False),
    ]
    assert cases[0].reference["importance"] == 0.75
    assert cases[1].reference["original_memories"] == ["Lena Park took up rowing."]
    assert "interference" not in cases[2].candidate.model_dump_json()


def test_a_session_of_foreign_questions_is_history_without_writes(tmp_path: Path) -> None:
    inserted = {"is_generated_qa_session": True, "dialogue": [{"role": "user", "content": "What is 2 + 2?"}]}
    (conversation,) = load(tmp_path, user(sessions=[*user()["sessions"], inserted]))
    assert conversation.turns[-1].text == "What is 2 + 2?"
    assert conversation.turns[-1].time is None
    assert len(conversation.writes) == 3


@pytest.mark.parametrize(
    ("persona", "speaker"),
    [
        ("Name: Lena Park; Gender: Female", "Lena Park"),
        ("Age: 41; Name:  Li ; Gender: Female", "Li"),
        ("A rower of 41.", None),
        ("", None),
    ],
)
def test_the_user_speaks_under_the_name_in_the_persona(tmp_path: Path, persona: str, speaker: str | None) -> None:
    (conversation,) = load(tmp_path, user(persona_info=persona))
    assert conversation.turns[0].speaker == speaker


def test_fields_that_are_not_used_may_hold_anything(tmp_path: Path) -> None:
    (conversation,) = load(tmp_path, user(token_cost=[1], total_question_count="many"))
    assert len(conversation.writes) == 3


def test_users_are_read_one_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "users.jsonl"
    file.write_text(json.dumps(user()) + "\n" + json.dumps({"uuid": "u-2", "sessions": 7}) + "\n")
    conversations = load_conversations(file)
    assert next(conversations).id == "u-1"
    with pytest.raises(InputError, match=r"users\.jsonl:2: sessions: "):
        next(conversations)


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        ([{}], ":1: sessions.0.dialogue: Field required"),
        ([{"dialogue": [{"role": "narrator", "content": "x"}]}], ":1: sessions.0.dialogue.0.role: Input should be"),
        (
            [{"dialogue": [{"role": "user", "content": "x", "timestamp": "noon"}]}],
            ":1: sessions.0.dialogue.0.timestamp: Value error, time data 'noon'",
        ),
        (
            [{"dialogue": [message("user", "x")], "memory_points": [{"index": 1}]}],
            ":1: sessions.0.memory_points.0.memory_content: Field required",
        ),
        ([{"dialogue": [], "memory_points": [point("x")]}], ":1: sessions.0.dialogue: has no turn, but memory points"),
    ],
)
def test_what_is_not_as_halumem_has_it_is_named(tmp_path: Path, sessions: list[Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, user(sessions=sessions))
    assert said in str(error.value)


def test_a_user_is_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":2: uuid: 'u-1' is used twice"):
        load(tmp_path, user(), user())
