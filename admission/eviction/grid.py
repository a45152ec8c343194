"""The grid of the audit: policies by budgets by read settings, each cell kept when it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from admission.errors import InputError
from admission.evaluation.kept_answers import end_last_line
from admission.eviction.bench import Bench, Budget
from admission.eviction.controls import Controls, Count, Unrelated, controls
from admission.eviction.policies import EvictionPolicy, KeepAll
from admission.eviction.restore import Outcome, ReadSetting, Subject, answered_from_gold, restore
from admission.eviction.scoring import Mark, Scoring
from admission.records import Record

WHOLE = "everything"
"""The budget of the baseline."""


class Cell(Record):
    """One cell of the grid: its policy, the label of its budget, and how memory is read in it."""

    policy: str
    budget: str
    setting: ReadSetting


class FinishedCell(Record):
    """What one cell came to: `memories` and `gold` (pieces of all questions) kept, the outcomes, controls."""

    cell: Cell
    memories: Count
    gold: Count
    outcomes: tuple[Outcome, ...]
    controls: Controls


class Denominator(Record):
    """Which questions are counted: `asked` in the data set, `abstention` out because there is nothing to restore,
    `no_evidence` out because nobody says what their answer needs, `not_from_gold` out because the reader fails with
    clean gold evidence (of these it abstained from `abstained_from_gold`), `unread` out because asking it failed;
    `counted` are left."""

    asked: int
    abstention: int
    no_evidence: int
    not_from_gold: int
    abstained_from_gold: int
    unread: int
    counted: int


class Finished:
    """Cells done by this and earlier runs, as lines of a file: a run that was stopped goes on. Without one, none."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, FinishedCell] = {}
        if file is not None and file.is_file():
            end_last_line(file)
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    kept = json.loads(line)
                    self._known[kept["key"]] = FinishedCell.model_validate(kept["cell"])
                except (ValueError, KeyError, TypeError):
                    continue  # cut off when the run was stopped, or of another version: made anew

    def get(self, key: str) -> FinishedCell | None:
        return self._known.get(key)

    def keep(self, key: str, cell: FinishedCell) -> None:
        self._known[key] = cell
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"key": key, "cell": cell.model_dump(mode="json")}) + "\n")


class Grid:
    """All cells of one run. `policies` beside the baseline, which is always measured; `settings` as wanted."""

    def __init__(
        self,
        bench: Bench,
        policies: Sequence[EvictionPolicy],
        budgets: Sequence[Budget],
        settings: Sequence[ReadSetting],
        scoring: Scoring,
        *,
        seed: int = 0,
    ) -> None:
        self._bench = bench
        self._scoring = scoring
        self._seed = seed
        self._settings = tuple(settings)
        whole = Budget(share=1.0)
        self._stores = [(KeepAll(), whole, WHOLE)] + [
            (policy, budget, budget.label) for policy in policies for budget in budgets if policy.name != KeepAll.name
        ]

    def __len__(self) -> int:
        return len(self._stores) * len(self._settings)

    def run(
        self, finished: Finished, advance: Callable[[], None] = lambda: None
    ) -> tuple[Denominator, list[FinishedCell]]:
        """Every cell, in order; one that `finished` has is not made again. Raises `InputError` where no question is
        left to count."""
        done: list[FinishedCell] = []
        denominator: Denominator | None = None
        unrelated = Unrelated(
            [(history.id, history.memories, self._bench.sizes[history.id]) for history in self._bench.data.histories]
        )
        for setting, every in self._by_ranker():
            # From gold alone no ranker is asked: the filter is the same for all of one cap.
            from_gold = answered_from_gold(every, self._scoring, setting.cap)
            subjects = [subject for subject, mark in zip(every, from_gold, strict=True) if mark == "right"]
            denominator = self._denominator(from_gold)
            if not subjects:
                raise InputError("questions", "none is answered from its gold evidence", "give others, or a reader")
            for policy, budget, label in self._stores:
                cell = Cell(policy=policy.name, budget=label, setting=setting)
                key = self._key(cell, policy, budget, subjects)
                found = finished.get(key)
                if found is None:
                    found = self._cell(cell, subjects, policy, budget, unrelated)
                    finished.keep(key, found)
                done.append(found)
                advance()
        if denominator is None:
            raise InputError("settings", "no read setting was given", "give at least one")
        return denominator, done

    def _by_ranker(self) -> Iterator[tuple[ReadSetting, list[Subject]]]:
        made: dict[str, list[Subject]] = {}
        for setting in self._settings:
            if setting.ranker not in made:
                made = {setting.ranker: self._bench.subjects(setting.ranker)}
            yield setting, made[setting.ranker]

    def _cell(
        self, cell: Cell, subjects: Sequence[Subject], policy: EvictionPolicy, budget: Budget, unrelated: Unrelated
    ) -> FinishedCell:
        kept = self._bench.kept(policy, budget)
        found = restore(subjects, [kept[s.question.history] for s in subjects], cell.setting, self._scoring)
        outcomes = tuple(each.outcome for each in found)
        return FinishedCell(
            cell=cell,
            memories=Count(hits=sum(int(left.sum()) for left in kept.values()), n=sum(map(len, kept.values()))),
            gold=Count(hits=sum(o.survived for o in outcomes), n=sum(o.gold for o in outcomes)),
            outcomes=outcomes,
            controls=controls(found, cell.setting, self._scoring, unrelated, seed=self._seed),
        )

    def _denominator(self, from_gold: Sequence[Mark | None]) -> Denominator:
        questions = self._bench.data.questions
        return Denominator(
            asked=len(questions),
            abstention=sum(not question.answerable for question in questions),
            no_evidence=sum(question.answerable and not question.gold for question in questions),
            not_from_gold=sum(mark in ("wrong", "abstained") for mark in from_gold),
            abstained_from_gold=sum(mark == "abstained" for mark in from_gold),
            unread=sum(mark is None for mark in from_gold),
            counted=sum(mark == "right" for mark in from_gold),
        )

    def _key(self, cell: Cell, policy: EvictionPolicy, budget: Budget, subjects: Sequence[Subject]) -> str:
        """Digest of all that the cell depends on, which questions are counted among it."""
        whole = {
            "cell": cell.model_dump(),
            "policy": policy.identity,
            "budget": budget.model_dump(),
            "data": self._bench.digest,
            "scoring": self._scoring.identity,
            "counted": [subject.question.id for subject in subjects],
            "seed": self._seed,
        }
        return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()
