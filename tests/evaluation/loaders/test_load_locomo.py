"""LoCoMo: observations become writes after their session, turns get their captions and times, ids stay LoCoMo's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admission.conversations import read_conversations
from admission.errors import InputError
from admission.evaluation.derivation.cases import read_cases
from admission.evaluation.loaders import load_conversations
from admission.evidence import citation_view
from admission.records import Conversation


def sample(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "sample_id": "conv-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Mira",
            "speaker_b": "Tomas",
            "session_2_date_time": "12:05 am on 1 July, 2024",
            "session_2": [{"speaker": "Tomas", "dia_id": "D2:1", "text": "We named her Plum."}],
            "session_1_date_time": "1:56 pm on 8 May, 2024",
            "session_1": [
                {"speaker": "Mira", "dia_id": "D1:1", "text": "I planted a pear tree."},
                {
                    "speaker": "Tomas",
                    "dia_id": "D1:2",
                    "text": "Look at our cat!",
                    "blip_caption": "a photo of a cat on a fence",
                    "query": "cat fence",
                },
                {"speaker": "Mira", "dia_id": "D1:3", "text": "So sweet."},
            ],
            "session_3_date_time": "3:00 pm on 2 July, 2024",
        },
        "observation": {
            "session_1_observation": {
                "Mira": [["Mira planted a pear tree.", "D1:1"]],
                "Tomas": [["Tomas has a cat.", ["D1:2"]]],
            },
            "session_2_observation": {"Tomas": [["Tomas has a cat named Plum.", "D1:2, D2:1"]]},
        },
    }
    return {**base, **changes}


def cited(ids: object, session: int = 1) -> dict[str, Any]:
    return sample(observation={f"session_{session}_observation": {"Mira": [["Mira gardens.", ids]]}})


def load(tmp_path: Path, *samples: Any) -> list[Conversation]:
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps(samples, indent=1), encoding="utf-8")
    return list(load_conversations(file))


def test_turns_are_those_of_the_same_conversation_in_the_format_of_the_contract(tmp_path: Path) -> None:
    contract = tmp_path / "writes.jsonl"
    turn = {"role": "user", "speaker": "Mira"}
    turns = [
        {**turn, "id": "D1:1", "time": "2024-05-08T13:56:00", "text": "I planted a pear tree."},
        {
            "id": "D1:2",
            "role": "user",
            "speaker": "Tomas",
            "time": "2024-05-08T13:56:30",
            "text": "Look at our cat! [shares image: a photo of a cat on a fence]",
        },
        {**turn, "id": "D1:3", "time": "2024-05-08T13:57:00", "text": "So sweet."},
        {**turn, "id": "D2:1", "speaker": "Tomas", "time": "2024-07-01T00:05:00", "text": "We named her Plum."},
    ]
    contract.write_text(json.dumps({"id": "conv-1", "namespace": ["locomo", "conv-1"], "turns": turns}))
    (expected,) = read_conversations(contract)
    (loaded,) = load(tmp_path, sample())
    assert loaded.turns == expected.turns
    assert (loaded.id, loaded.namespace) == (expected.id, expected.namespace)


def test_every_observation_is_a_write_after_the_last_turn_of_its_session(tmp_path: Path) -> None:
    (conversation,) = load(tmp_path, sample())
    assert [(w.id, w.memory, w.citations, w.written_after) for w in conversation.writes] == [
        ("conv-1.s1.01", "Mira planted a pear tree.", ("D1:1",), "D1:3"),
        ("conv-1.s1.02", "Tomas has a cat.", ("D1:2",), "D1:3"),
        ("conv-1.s2.01", "Tomas has a cat named Plum.", ("D1:2", "D2:1"), "D2:1"),
    ]


def test_the_subject_is_kept_beside_the_write_and_labels_nothing(tmp_path: Path) -> None:
    load(tmp_path, sample())
    cases = read_cases([tmp_path / "locomo10.json"], passage_chars=1200)
    assert [(case.reference["subject"], case.valid) for case in cases] == [
        ("Mira", None),
        ("Tomas", None),
        ("Tomas", None),
    ]


def test_a_memory_is_judged_on_nothing_after_its_session(tmp_path: Path) -> None:
    load(tmp_path, sample())
    cases = read_cases([tmp_path / "locomo10.json"], passage_chars=1200)
    assert [turn.id for turn in cases[0].history] == ["D1:1", "D1:2", "D1:3"]
    assert [turn.id for turn in cases[2].history] == ["D1:1", "D1:2", "D1:3", "D2:1"]


@pytest.mark.parametrize(
    ("ids", "citations"),
    [
        ("D1:1", ("D1:1",)),
        (["D1:1", "D1:3"], ("D1:1", "D1:3")),
        ("D1:1, D1:3", ("D1:1", "D1:3")),
        ("D1:1; D1:3", ("D1:1", "D1:3")),
        ("D1:1 D1:1", ("D1:1",)),
        ("D:1:03", ("D1:3",)),
        ("", ()),
        ("D2:1", ("D2:1",)),
        ("turn one", ("turn", "one")),
    ],
)
def test_citations_are_read_leniently_and_none_is_lost(tmp_path: Path, ids: object, citations: tuple[str, ...]) -> None:
    (conversation,) = load(tmp_path, cited(ids))
    assert conversation.writes[0].citations == citations


def test_a_citation_of_a_later_session_is_invalid_to_the_gate(tmp_path: Path) -> None:
    load(tmp_path, cited("D1:1; D2:1"))
    (case,) = read_cases([tmp_path / "locomo10.json"], passage_chars=1200)
    view, invalid, _ = citation_view(case.history, case.candidate, limit=16)
    assert (view.turn_ids, invalid) == (("D1:1",), ("D2:1",))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sample_id": None}, "sample 1: sample_id: Input should be a valid string"),
        ({"conversation": {"session_2_date_time": "x"}}, "sample 'conv-1': conversation: has no session_1"),
        ({"conversation": {"session_1": [{"text": "Hi."}]}}, "sample 'conv-1', session_1: date_time"),
        (
            {"conversation": {"session_1": [{"text": "Hi."}], "session_1_date_time": "1:56 pm on 8 May, 2024"}},
            "sample 'conv-1', session_1: turns.0.dia_id: Field required",
        ),
        (
            {"conversation": {"session_1": [], "session_1_date_time": "8 May"}},
            "session_1_date_time: time data '8 May' does not match",
        ),
        ({"observation": {"session_7_observation": {}}}, "observation.session_7_observation: is of no session with"),
        ({"observation": {"notes": {}}}, "observation.notes: is of no session with turns"),
        ({"observation": {"session_1_observation": {"Mira": ["x"]}}}, "observation.session_1_observation.Mira.0"),
    ],
)
def test_what_is_not_as_locomo_has_it_is_named(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        load(tmp_path, sample(**changed))
    assert said in str(error.value)


def test_ids_are_used_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sample_id: 'conv-1' is used twice"):
        load(tmp_path, sample(), sample())
    twice = sample()
    twice["conversation"]["session_2"][0]["dia_id"] = "D1:1"
    with pytest.raises(InputError, match="dia_id: 'D1:1' is used twice"):
        load(tmp_path, twice)


def test_a_json_list_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sample 1: line: Input should be a valid dictionary"):
        load(tmp_path, 7)
    (tmp_path / "torn.json").write_text('[{"sample_id":')
    with pytest.raises(InputError, match=r"torn.json: file: is not JSON"):
        list(load_conversations(tmp_path / "torn.json"))


def test_a_session_with_an_odd_number_is_refused_rather_than_left_out(tmp_path: Path) -> None:
    odd = sample()
    odd["conversation"]["session_01"] = odd["conversation"]["session_1"]
    with pytest.raises(InputError, match="session_01"):
        load(tmp_path, odd)
