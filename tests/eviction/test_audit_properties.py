"""What holds of every audit: the store stays as it was, nobody who answers or marks sees a label, and cells sum."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from eviction_chat import SETTINGS, FakeJudgingChat, FakeReadingChat
from eviction_worlds import FakeEncoder, small_data, word_count, worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from admission.eviction.answering.judges import ChatJudge
from admission.eviction.answering.model_reader import ModelReader
from admission.eviction.bench import Bench, Budget
from admission.eviction.controls import Unrelated, controls
from admission.eviction.importance import EmbeddedImportance, Importance
from admission.eviction.policies import Adversarial, EvictionPolicy, Fifo, RandomOrder
from admission.eviction.records import Memory
from admission.eviction.redundancy import RedundancyAware
from admission.eviction.restore import CELLS, Condition, ReadSetting, Subject, restore
from admission.eviction.scoring import Failed, Judged, Mark, Trial
from admission.eviction.shares import cell_figures
from admission.verifiers.chat import building

World = tuple[Subject, NDArray[np.bool_], int]
CONDITIONS: tuple[Condition, ...] = ("forced", "ranked")
HIDDEN = ("ID-", "HISTORY-", "QUESTION-", "KIND-", "gold", "evict", "restor", "forced", "ranked", "fifo", "placebo")


class FakeMoodyScoring:
    """Marks at random, and fails at random."""

    name = "moody"
    limits: tuple[str, ...] = ()
    failures: tuple[Failed, ...] = ()
    identity: dict[str, object] = {"fake": True}  # noqa: RUF012 - a constant

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def marks(self, trials: Sequence[Trial]) -> list[Mark | None]:
        made: tuple[Mark | None, ...] = ("right", "wrong", "abstained", None)
        return [self._random.choice(made) for _ in trials]


def labelled(world: Subject, number: int = 0) -> Subject:
    """The same question with ids that stand nowhere in its texts, so that they can be looked for."""
    held = tuple(Memory(id=f"ID-{place}", text=each.text) for place, each in enumerate(world.memories))
    question = world.question.model_copy(
        update={
            "id": f"QUESTION-{number}",
            "history": "HISTORY-1",
            "kind": "KIND-1",
            "gold": tuple(f"ID-{place}" for place in world.gold),
            "answer": held[world.gold[0]].text,
        }
    )
    return replace(world, question=question, memories=held)


@given(st.lists(worlds(), min_size=1, max_size=8), st.sampled_from(CONDITIONS), st.integers(0, 99))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_each_question_is_in_one_cell_and_the_cells_sum(given: list[World], condition: Condition, seed: int) -> None:
    subjects = [labelled(world, number) for number, (world, _, _) in enumerate(given)]
    setting = ReadSetting(condition=condition, ranker="bm25", k=2)
    found = restore(subjects, [kept for _, kept, _ in given], setting, FakeMoodyScoring(seed))
    outcomes = [each.outcome for each in found]
    figures = cell_figures(outcomes)
    counted = sum(outcome.gain is not None for outcome in outcomes)
    assert sum(figures.counts.values()) == figures.questions == len(given)
    answered = ("right", "irreversible", "recoverable", "residual")
    assert sum(figures.counts[cell] for cell in CELLS if cell in answered) == counted
    assert figures.counts["unread"] == len(given) - counted
    for outcome in outcomes:
        gained = outcome.cell in ("irreversible", "recoverable")
        assert (outcome.gain == 1) == gained
        assert not gained or (outcome.cell == "irreversible") == (outcome.survived < outcome.gold)


@given(st.lists(worlds(), min_size=1, max_size=6), st.sampled_from(CONDITIONS), st.integers(0, 99))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_neither_restoring_nor_a_control_changes_what_is_kept(
    given: list[World], condition: Condition, seed: int
) -> None:
    subjects = [labelled(world, number) for number, (world, _, _) in enumerate(given)]
    kept = [left for _, left, _ in given]
    for array in (*kept, *(s.ranked for s in subjects), *(s.sizes for s in subjects)):
        array.setflags(write=False)
    before = [(left.tolist(), s.memories, s.ranked.tolist()) for left, s in zip(kept, subjects, strict=True)]
    setting, scoring = ReadSetting(condition=condition, ranker="bm25", k=2), FakeMoodyScoring(seed)
    found = restore(subjects, kept, setting, scoring)
    unrelated = Unrelated([(f"h{n}", s.memories, s.sizes) for n, s in enumerate(subjects)] + [_own(subjects[0])])
    made = controls(found, setting, scoring, unrelated, seed=seed)
    assert all(count.hits <= count.n for count in vars(made).values())
    assert [(left.tolist(), s.memories, s.ranked.tolist()) for left, s in zip(kept, subjects, strict=True)] == before


def _own(subject: Subject) -> tuple[str, Sequence[Memory], NDArray[np.int64]]:
    return subject.question.history, subject.memories, subject.sizes


@given(worlds(), st.sampled_from(CONDITIONS))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_prompt_holds_an_id_a_label_a_policy_or_the_condition(world: World, condition: Condition) -> None:
    subject, kept, k = labelled(world[0]), world[1], world[2]
    reading, judging = FakeReadingChat(asked=[]), FakeJudgingChat(asked=[])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "chat_model", lambda field, *_: judging if field == "models.judge" else reading)
        scoring = Judged(ModelReader("chat:reader", SETTINGS), ChatJudge("chat:judge", SETTINGS))
    setting = ReadSetting(condition=condition, ranker="bm25", k=k)
    found = restore([subject], [kept], setting, scoring)
    controls(found, setting, scoring, Unrelated([_own(subject)]))
    assert reading.asked
    assert judging.asked
    assert scoring.failures == ()
    for prompt in (*reading.asked, *judging.asked):
        assert [hidden for hidden in HIDDEN if hidden.lower() in prompt.lower()] == []
    answers = {line for prompt in judging.asked for line in prompt.splitlines() if line.startswith("Answer: ")}
    assert len(judging.asked) <= len(reading.asked)
    assert all("memory 1" not in answer for answer in answers)


POLICIES: tuple[EvictionPolicy, ...] = (
    Fifo(),
    RandomOrder(1),
    RedundancyAware(FakeEncoder()),
    Importance(EmbeddedImportance(FakeEncoder())),
    Adversarial({"h0/1", "h1/2"}, 1),
)
BENCH = Bench(small_data(), FakeEncoder(), word_count)


@given(
    st.sampled_from(POLICIES),
    st.one_of(
        st.builds(Budget, tokens=st.integers(0, 200)), st.builds(Budget, share=st.floats(0, 1, allow_subnormal=False))
    ),
)
@settings(max_examples=80, deadline=None, derandomize=True)
def test_what_a_history_keeps_never_exceeds_its_budget(policy: EvictionPolicy, budget: Budget) -> None:
    for history, kept in BENCH.kept(policy, budget).items():
        sizes = BENCH.sizes[history]
        assert sizes[kept].sum() <= budget.of(int(sizes.sum()))
