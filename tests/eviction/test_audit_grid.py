"""The whole audit on small histories: cells, shares, controls, comparisons, and a run that was stopped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from eviction_worlds import FakeEncoder, FakeJudge, FakeReader, keeping, small_data, subject, word_count

from admission.errors import InputError
from admission.eviction.bench import Bench, Budget
from admission.eviction.comparison import corrected, gap, matched
from admission.eviction.controls import Unrelated, controls
from admission.eviction.grid import Denominator, Finished, FinishedCell, Grid
from admission.eviction.policies import Adversarial, EvictionPolicy, Fifo, RandomOrder
from admission.eviction.records import AuditData, checked
from admission.eviction.report import reported
from admission.eviction.restore import ReadSetting, restore
from admission.eviction.scoring import Containment, Judged

SETTINGS = [
    ReadSetting(condition=condition, ranker=ranker, k=3)
    for condition, ranker in (("forced", "bm25"), ("ranked", "bm25"), ("ranked", "dense"))
]
BUDGETS = [Budget(share=0.8), Budget(share=0.3)]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(checked(small_data()), FakeEncoder(), word_count)


def policies(bench: Bench) -> list[EvictionPolicy]:
    return [Fifo(), RandomOrder(1), Adversarial({id for question in bench.questions for id in question.gold}, 1)]


def ran(bench: Bench, finished: Finished | None = None) -> tuple[Denominator, list[FinishedCell]]:
    return Grid(bench, policies(bench), BUDGETS, SETTINGS, Containment()).run(finished or Finished())


def test_every_cell_sums_and_forced_reading_leaves_nothing_recoverable(bench: Bench) -> None:
    denominator, done = ran(bench)
    assert len(done) == (1 + 3 * 2) * 3
    assert (denominator.asked, denominator.abstention, denominator.counted) == (21, 3, 18)
    for cell in reported(bench, Containment(), denominator, done).cells:
        assert sum(cell.figures.counts.values()) == cell.figures.questions == denominator.counted
        assert sum(sum(counts.values()) for counts in cell.kinds.values()) == denominator.counted
        assert cell.figures.counts["residual"] == 0
        if cell.cell.setting.condition == "forced":
            assert cell.figures.counts["recoverable"] == 0


def test_the_shares_are_those_that_a_few_independent_lines_come_to(bench: Bench) -> None:
    denominator, done = ran(bench)
    report = reported(bench, Containment(), denominator, done)
    for found in done:
        cell = found.cell
        counts: Counter[str] = Counter()
        for history in bench.data.histories:
            words = [len(memory.text.split()) for memory in history.memories]
            policy = next((p for p in policies(bench) if p.name == cell.policy), None)
            gone: set[str] = set()
            share = {"80 %": 0.8, "30 %": 0.3, "everything": 1.0}[cell.budget]
            for place in policy.order(history.memories) if policy else ():
                left = sum(w for w, m in zip(words, history.memories, strict=True) if m.id not in gone)
                if left <= int(share * sum(words)):
                    break
                gone.add(history.memories[place].id)
            for outcome in (o for o in found.outcomes if o.group == history.id):
                gold = next(q.gold for q in bench.questions if q.id == outcome.question)
                if outcome.read == len(gold):
                    counts["right"] += 1
                else:
                    counts["irreversible" if gone & set(gold) else "recoverable"] += 1
        figures = report.of(cell.policy, cell.budget, cell.setting.condition, cell.setting.ranker)
        assert figures is not None
        assert {name: n for name, n in figures.figures.counts.items() if n} == dict(counts)
        wrong = counts["irreversible"] + counts["recoverable"]
        assert figures.figures.of_restored.value == (counts["irreversible"] / wrong if wrong else None)
        assert figures.figures.of_errors.value == figures.figures.of_restored.value


def test_another_ranker_never_changes_what_is_irreversible(bench: Bench) -> None:
    _, done = ran(bench)
    by_store: dict[tuple[str, str], set[int]] = {}
    for found in done:
        lost = sum(outcome.cell == "irreversible" for outcome in found.outcomes)
        by_store.setdefault((found.cell.policy, found.cell.budget), set()).add(lost)
    assert all(len(counts) == 1 for counts in by_store.values())


def test_a_stopped_run_goes_on_and_comes_to_the_same(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    whole = ran(bench, Finished(file))
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:5]) + '\n{"key": "cut o')
    assert ran(bench, Finished(file)) == whole
    assert len(Finished(file)._known) >= 20


def test_cells_of_other_data_or_settings_are_not_taken_for_these(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    ran(bench, Finished(file))
    other = Bench(small_data(histories=2), FakeEncoder(), word_count)
    _, done = ran(other, Finished(file))
    assert {len(cell.outcomes) for cell in done} == {12}


def test_a_data_set_without_an_answerable_question_is_refused() -> None:
    data = small_data()
    none = AuditData("none", data.histories, tuple(q for q in data.questions if not q.answerable), "")
    with pytest.raises(InputError, match="gold evidence"):
        ran(Bench(none, FakeEncoder(), word_count))


def test_long_histories_have_budgets_in_tokens_and_short_ones_in_shares() -> None:
    long = Bench(small_data(), FakeEncoder(), lambda texts: [10_000] * len(texts))
    assert [budget.label for budget in long.default_budgets()] == ["80,000", "30,000", "8,000"]
    short = Bench(small_data(), FakeEncoder(), word_count)
    assert [budget.label for budget in short.default_budgets()] == ["80 %", "30 %", "8 %"]


def test_the_controls_tell_evidence_from_its_place() -> None:
    texts = ("tea in spring", "boats are loud", "paint is blue", "dogs do bark", "cats like milk", "rain is wet")
    asked = subject(texts, [0, 1], [2, 3, 4, 5, 1, 0], answer="tea in spring | boats are loud")
    setting = ReadSetting(condition="ranked", ranker="bm25", k=2)
    scoring = Judged(FakeReader(), FakeJudge())
    found = restore([asked], [keeping(6, 1, 2, 3, 4)], setting, scoring)
    assert found[0].outcome.cell == "irreversible"
    made = controls(found, setting, scoring, Unrelated([("h", asked.memories, asked.sizes)]))
    assert (made.placebo.hits, made.placebo.n) == (0, 1)
    assert (made.surviving_only.hits, made.surviving_only.n) == (0, 1)
    assert (made.whole_store.hits, made.whole_store.n) == (0, 1)
    assert (made.no_piece.hits, made.no_piece.n) == (0, 1)
    assert (made.harmed.hits, made.agreement.hits, made.agreement.n) == (0, 1, 1)


def test_a_restoration_that_confuses_the_reader_is_harm() -> None:
    class FakeEasilyConfusedReader(FakeReader):
        def answer(self, requests: object) -> list[str | None]:
            assert isinstance(requests, list)
            return ["tea" if len(request.context) < 3 else "no idea" for request in requests]

    asked = subject(("tea", "a boat", "blue"), [0], [1, 2, 0], answer="tea")
    setting = ReadSetting(condition="ranked", ranker="bm25", k=2)
    scoring = Judged(FakeEasilyConfusedReader(), FakeJudge())
    found = restore([asked], [keeping(3, 1, 2)], setting, scoring)
    assert (found[0].outcome.cell, found[0].outcome.gain) == ("right", -1)
    made = controls(found, setting, scoring, Unrelated([("h", asked.memories, asked.sizes)]))
    assert (made.harmed.hits, made.harmed.n) == (1, 1)


def test_a_placebo_takes_text_of_another_history_and_of_about_the_same_length() -> None:
    asked = subject(("tea in spring", "a boat"), [0], [1, 0])
    other = subject(("one", "one two three", "one two three four five six"), [0], [0])
    found = restore([asked], [keeping(2, 1)], ReadSetting(condition="ranked", ranker="bm25", k=1), Containment())
    import numpy as np

    unrelated = Unrelated([("h", asked.memories, asked.sizes), ("other", other.memories, other.sizes)])
    taken = unrelated.like(found[0], (0,), np.random.default_rng(0))
    assert [memory.text for memory in taken] == ["one two three"]


def test_a_gap_that_is_there_is_different_and_one_that_is_not_is_not_detected() -> None:
    groups = [f"h{n % 20}" for n in range(200)]
    high, low = [float(n % 5 != 0) for n in range(200)], [float(n % 5 == 0) for n in range(200)]
    different, same = corrected(
        [gap("far", (high, groups), (low, groups)), gap("near", (high, groups), (high, groups))]
    )
    assert different.value == pytest.approx(0.6)
    assert different.verdict == "different"
    assert (same.value, same.verdict) == (0, "not detected at this resolution")


def test_where_one_of_two_has_no_errors_nothing_is_compared() -> None:
    assert gap("empty", ([], []), ([1.0], ["h"])).verdict == "nothing to compare"


def test_holm_multiplies_the_smallest_p_most_and_never_lets_a_larger_one_overtake_it() -> None:
    base = gap("g", ([1.0, 0.0], ["a", "b"]), ([0.0, 1.0], ["a", "b"]))
    found = corrected([base.model_copy(update={"p": p}) for p in (0.04, 0.01, 0.03, None)])
    assert [each.adjusted for each in found] == [pytest.approx(0.06), pytest.approx(0.03), pytest.approx(0.06), None]


def test_policies_are_matched_within_five_points_of_accuracy() -> None:
    assert matched(0.60, 0.55)
    assert not matched(0.60, 0.549)
    assert not matched(None, 0.5)
