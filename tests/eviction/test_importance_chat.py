"""Importance by a chat model that is a fake: what it is asked, what its answers count for, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eviction_worlds import memories, word_count
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from pydantic import Field

from admission.errors import SettingsError
from admission.eviction.importance import Importance
from admission.eviction.importance_chat import ChatImportance, score_of
from admission.eviction.policies import survivors
from admission.settings import Settings
from admission.verifiers.chat import building

SETTINGS = Settings(models={"some": {"model": "openai:some-model", "max_concurrency": 1, "retries": 0}})  # type: ignore[dict-item]


class FakeRater(FakeListChatModel):
    """Rates health 9, anything else 2, refuses to answer about weather; keeps what it was asked."""

    responses: list[str] = Field(default=["-"])
    asked: list[str] = Field(default_factory=list)

    def _call(self, messages: Any, *_args: Any, **_more: Any) -> str:
        text = str(messages[-1].content)
        self.asked.append(text)
        return "9" if "diabetes" in text else "no number" if "weather" in text else "2"


@pytest.fixture
def rater(monkeypatch: pytest.MonkeyPatch) -> FakeRater:
    made = FakeRater(asked=[])
    monkeypatch.setattr(building, "chat_model", lambda *_args, **_more: made)
    return made


def test_what_the_model_rates_lowest_goes_first_and_what_it_does_not_rate_stays(rater: FakeRater) -> None:
    scorer = ChatImportance("some", SETTINGS)
    held = memories("she has diabetes", "hello you there", "about the weather")
    assert survivors(held, 6, Importance(scorer), word_count) == ("m0", "m2")
    assert scorer.unscored == 1
    assert sorted(rater.asked) == [f"Memory:\n{memory.text}" for memory in sorted(held, key=lambda m: m.text)]


def test_no_score_is_paid_for_twice(rater: FakeRater, tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    texts = ["she has diabetes", "hello", "hello"]
    assert ChatImportance("some", SETTINGS, file).scores(texts) == [9, 2, 2]
    assert len(rater.asked) == 2
    again = ChatImportance("some", SETTINGS, file)
    assert again.missing(texts) == []
    assert again.scores(texts) == [9, 2, 2]
    assert len(rater.asked) == 2


def test_what_is_not_rated_is_counted_over_all_histories_and_once(rater: FakeRater) -> None:
    scorer = ChatImportance("some", SETTINGS)
    for texts in (["about the weather", "hello"], ["more weather"], ["about the weather"]):
        scorer.scores(texts)
    assert scorer.unscored == 2


@pytest.mark.parametrize(
    ("answer", "score"),
    [("7", 7), (" 10.", 10), ("Score: 3/10", 3), ("8 out of 10", 8), ("11", None), ("0", None), ("7.5", None),
     ("3 or 4", None), ("none", None), ("", None), ("-3", None)],
)  # fmt: skip
def test_an_answer_is_one_whole_number_from_1_to_10_or_no_score(answer: str, score: float | None) -> None:
    assert score_of(answer) == score


def test_a_section_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingsError, match=r"models\.other"):
        ChatImportance("other", SETTINGS)
