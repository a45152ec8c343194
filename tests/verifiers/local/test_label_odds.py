"""Scores with a shared start against scores of whole prompts, over architectures with different memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tiny_local_models import TURNS, causal, passage, question, tokenizer

from admission.records import Passage
from admission.verifiers.local.label_odds import LabelScorer, shared_start, tokens_read
from admission.verifiers.local.loading import LocalModel
from admission.verifiers.local.prompting import Ids, Prompter

STATEMENTS = ("Ana moved.", "Ana moved to Leeds in March.", "Ana moved because her sister had a baby.", "Bo moved.")
OTHER_TURNS = (passage("t9", "It rained all day, and nobody came to the market."),)


class Watched:
    """A scorer over a model that notes how many tokens each forward pass was given."""

    def __init__(self, model: Any, batch_size: int = 3) -> None:
        self.prompter = Prompter(tokenizer())
        self.passes: list[int] = []
        model.register_forward_pre_hook(self._note, with_kwargs=True)
        self.opening = self.prompter.opening()
        self.scorer = LabelScorer(
            LocalModel(model, tokenizer(), "tiny"),
            self.prompter.yes,
            self.prompter.no,
            opening=self.opening,
            batch_size=batch_size,
        )

    def _note(self, model: Any, args: Any, kwargs: Any) -> None:
        self.passes.append(kwargs["input_ids"].numel())

    def prompts(self, turns: Sequence[Passage] = TURNS) -> list[Ids]:
        return [ids for text in STATEMENTS for ids in self.prompter.ids(question(text, *turns))]


@pytest.mark.parametrize(
    ("architecture", "config"),
    [
        ("llama", {}),
        ("mistral", {"sliding_window": 64}),
        ("gemma3_text", {"head_dim": 8, "sliding_window": 48, "layer_types": ["sliding_attention", "full_attention"]}),
        ("gpt2", {}),
        ("mamba", {"state_size": 8}),
    ],
)
def test_scores_after_a_shared_start_are_those_of_the_whole_prompts(architecture: str, config: dict[str, Any]) -> None:
    watched = Watched(causal(architecture, **config))
    for turns in (TURNS, OTHER_TURNS):
        prompts = watched.prompts(turns)
        whole = [watched.scorer.odds_alone(ids) for ids in prompts]
        assert watched.scorer.odds(prompts) == pytest.approx(whole, abs=1e-4)
        assert max(whole) - min(whole) > 0.01


def test_the_evidence_is_read_once_and_the_rules_once_for_all() -> None:
    watched = Watched(causal(), batch_size=100)
    prompts = watched.prompts()
    start = len(shared_start(prompts))
    watched.scorer.odds(prompts)
    opening, rest, ends = watched.passes
    assert (opening, opening + rest) == (len(watched.opening), start)
    assert ends == len(prompts) * (max(map(len, prompts)) - start)
    watched.passes.clear()
    watched.scorer.odds(watched.prompts(OTHER_TURNS))
    assert len(watched.passes) == 2


def test_the_start_holds_the_whole_evidence_and_the_count_of_tokens_takes_it_once() -> None:
    watched = Watched(causal())
    prompts = watched.prompts()
    start = shared_start(prompts)
    shown = tokenizer().decode(start)
    assert all(turn.text in shown for turn in TURNS)
    assert not any(statement in shown for statement in STATEMENTS)
    assert tokens_read(prompts) == len(start) + sum(len(ids) - len(start) for ids in prompts)
    assert tokens_read(prompts) < sum(map(len, prompts)) / 3


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_the_size_of_batches_and_the_order_of_prompts_change_no_score(batch_size: int) -> None:
    prompts = Watched(causal()).prompts()
    known = Watched(causal()).scorer.odds(prompts)
    watched = Watched(causal(), batch_size=batch_size)
    assert watched.scorer.odds(prompts[::-1])[::-1] == pytest.approx(known, abs=1e-4)


def test_equal_prompts_and_a_prompt_alone_can_be_scored() -> None:
    watched = Watched(causal())
    prompt = watched.prompts()[0]
    alone = watched.scorer.odds_alone(prompt)
    assert watched.scorer.odds([prompt]) == pytest.approx([alone], abs=1e-4)
    assert watched.scorer.odds([prompt, prompt]) == pytest.approx([alone, alone], abs=1e-4)
