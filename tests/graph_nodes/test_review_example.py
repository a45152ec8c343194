"""The review example runs, and each kind of decision does what it says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore
from scripted_gate import stored

from admission.gate import AdmissionGate
from admission.ledger import open_ledger
from admission.records import Question
from admission.settings import load_settings
from admission.verifiers.scripted import ScriptedVerifier
from graph_nodes import AdmissionStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "review.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("review_example", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["review_example"] = module  # pydantic looks the module up for the classes it defines
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def store() -> AdmissionStore:
    def no_friend(question: Question) -> tuple[float, float]:
        return (0.0, 0.0) if "friend" in question.obligation.text else (1.0, 0.0)

    first, second, third = (ScriptedVerifier(judge, no_friend) for judge in ("first", "second", "third"))
    gate = AdmissionGate(load_settings(), verifier_a=first, verifier_b=second, adjudicator=third)
    return AdmissionStore(InMemoryStore(), gate=gate, ledger=open_ledger("sqlite://"))


@pytest.mark.parametrize(
    ("decision", "outcome", "also_stored"),
    [
        ({"verdict": "reject"}, "rejected", []),
        ({"verdict": "approve"}, "approved", [("MADE_UP", "approved_over_unresolved")]),
        ({"verdict": "edit", "text": "The user adopted the dog."}, "edited", [("The user adopted the dog.", None)]),
        ({"verdict": "edit", "text": "A friend adopted the dog with a friend."}, "edited", []),
    ],
)
def test_the_example(
    example: ModuleType, store: AdmissionStore, decision: dict[str, Any], outcome: str, also_stored: list[Any]
) -> None:
    (review,) = example.main(store, lambda memory: {"why": "as I see it", **decision})
    assert (review["outcome"], review["by"], review["why"]) == (outcome, "Kim", "as I see it")
    found = [(value["content"], value.get("admission")) for value in stored(store, ("notes",)).values()]
    expected = [(example.MADE_UP if text == "MADE_UP" else text, mark) for text, mark in also_stored]
    assert sorted(found, key=str) == sorted([(example.SAID, None), *expected], key=str)
    assert store.ledger.verify().ok


def test_as_it_is_the_scripted_person_rejects_what_was_made_up(example: ModuleType, store: AdmissionStore) -> None:
    (review,) = example.main(store)
    assert review["outcome"] == "rejected"
    assert [value["content"] for value in stored(store, ("notes",)).values()] == [example.SAID]
