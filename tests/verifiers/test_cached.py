"""The result cache: what was asked before in the same words costs nothing, and a broken cache costs only calls."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from admission.errors import SettingsError, VerifierError
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.records import (
    Account,
    Candidate,
    Judgment,
    Obligation,
    Passage,
    Question,
    Report,
    Thresholds,
    Turn,
    Usage,
)
from admission.settings import Settings, load_settings
from admission.verifiers.assembly import Assembly, result_cache
from admission.verifiers.cached import CachedVerifier
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.protocol import Verifier
from admission.verifiers.result_cache import ResultCache
from admission.verifiers.scripted import Script, ScriptedVerifier

SAID = Passage(id="t1", turn_id="t1", position=0, role="user", text="I sold the heliotrope car.", origin="conversation")


class FakeModel(ScriptedVerifier):
    """Stands for a language model: its options and its role are part of what it answers to."""

    def __init__(self, script: Script, name: str = "chat:large", asking: str = "joint", bound: float = 0.5) -> None:
        super().__init__(name, script, Thresholds(support=bound))
        self.options = {"asking": asking}

    @property
    def identity(self) -> dict[str, object]:
        return {"model": self.name, "options": self.options, "thresholds": self.thresholds.model_dump()}

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        return [judgment.model_copy(update={"verifier": self.name}) for judgment in super().judge(questions)]


def sure(question: Question) -> Judgment:
    return Judgment(
        verifier="any", view=question.view, support=0.8125, contradiction=0.0, label="supported",
        evidence=("t1",), note='t1: "sold the car"',
    )  # fmt: skip


def question(text: str = "Ana sold the jacaranda car.", id: str = "o1", memory: str = "A memory.") -> Question:
    obligation = Obligation(id=id, text=text, type="fact")
    return Question(obligation=obligation, memory=memory, view="citation_only", passages=(SAID,))


FOUR = [question(f"Ana sold car {n}.", f"o{n}") for n in range(1, 5)]


def cached(folder: Path, script: Script = sure, **model: object) -> tuple[CachedVerifier, FakeModel]:
    """A cached verifier as a new process would open it, and the model behind it."""
    behind = FakeModel(script, **model)  # type: ignore[arg-type]
    return CachedVerifier(behind, ResultCache(folder, size_mb=8)), behind


def judged(judge: Verifier, questions: Sequence[Question]) -> tuple[list[Judgment], Usage]:
    judgments = judge.judge(questions)
    return judgments, judge.usage(questions, judgments)


def asked_again(folder: Path, questions: Sequence[Question] = FOUR, script: Script = sure, **model: object) -> int:
    """How many of the questions a new process puts to the model."""
    judge, behind = cached(folder, script, **model)
    judge.judge(questions)
    return len(behind.asked)


def rewrite(folder: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(folder / "cache.db") as connection:
        connection.execute(statement, values)
    connection.close()


def test_the_same_call_is_paid_for_once_and_answered_alike_by_another_process(tmp_path: Path) -> None:
    first, cost = judged(cached(tmp_path)[0], FOUR)
    again, behind = cached(tmp_path)
    second, none = judged(again, FOUR)
    assert (cost, none) == (Usage(calls=4), Usage(cache_hits=4))
    assert behind.asked == []
    assert [j.model_dump() for j in first] == [j.model_dump() for j in second]
    assert asyncio.run(again.ajudge(FOUR)) == second


def test_what_was_asked_for_another_candidate_is_found(tmp_path: Path) -> None:
    judged(cached(tmp_path)[0], FOUR)
    other = Account(candidate="other", number=3, spent=Usage(calls=2))
    assert asked_again(tmp_path, [q.model_copy(update={"account": other}) for q in FOUR]) == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"memory": "Another memory."},
        {"view": "expanded"},
        {"passages": (SAID.model_copy(update={"time": "2026-01-01"}),)},
        {"passages": (SAID, SAID.model_copy(update={"id": "t2", "turn_id": "t2"}))},
        {"obligation": FOUR[0].obligation.model_copy(update={"type": "relation"})},
    ],
)
def test_anything_else_in_the_question_is_another_question(tmp_path: Path, changed: dict[str, object]) -> None:
    judged(cached(tmp_path)[0], FOUR[:1])
    assert asked_again(tmp_path, [FOUR[0].model_copy(update=changed)]) == 1


def test_another_model_role_or_view_is_asked_anew(tmp_path: Path) -> None:
    judge, behind = cached(tmp_path)
    seats = [judge.seated(role, view) for role in ("verifier_a", "adjudicator") for view in ("obligations", "holistic")]  # type: ignore[arg-type]
    for seat in seats:
        seat.judge(FOUR[:1])
    assert len(behind.asked) == 4
    assert asked_again(tmp_path, FOUR[:1], name="chat:other") == 1


def test_a_threshold_makes_another_label_of_the_same_answer(tmp_path: Path) -> None:
    judged(cached(tmp_path)[0], FOUR)
    judge, behind = cached(tmp_path, bound=0.9)
    assert {j.label for j in judge.judge(FOUR)} == {"insufficient"}
    assert behind.asked == []


def test_where_labels_decide_what_is_asked_again_the_threshold_counts(tmp_path: Path) -> None:
    judged(cached(tmp_path, asking="joint_then_isolated")[0], FOUR)
    assert asked_again(tmp_path, asking="joint_then_isolated") == 0
    assert asked_again(tmp_path, asking="joint_then_isolated", bound=0.9) == 4


@pytest.mark.parametrize(("asking", "asked"), [("joint", 3), ("joint_then_isolated", 3), ("isolated", 0)])
def test_an_answer_given_in_company_counts_in_that_company_only(tmp_path: Path, asking: str, asked: int) -> None:
    judged(cached(tmp_path, asking=asking)[0], FOUR)
    assert asked_again(tmp_path, FOUR[:3], asking=asking) == asked


def test_writes_judged_together_have_an_entry_each(tmp_path: Path) -> None:
    one, two = (
        [q.model_copy(update={"account": Account(candidate="w", number=number)}) for q in FOUR[:2]] for number in (1, 2)
    )
    judge, _ = cached(tmp_path)
    judge.judge([*one, *two])
    assert asked_again(tmp_path, one) == asked_again(tmp_path, FOUR[:2]) == 0
    assert asked_again(tmp_path, [*FOUR[:2], *FOUR[2:]]) == 4


@pytest.mark.parametrize("outcome", ["failed", "abstained"])
def test_what_was_not_judged_is_not_kept_and_its_company_is_asked_with_it(tmp_path: Path, outcome: str) -> None:
    def wavers(question: Question) -> Judgment:
        if question.obligation.id != "o2":
            return sure(question)
        if outcome == "failed":
            return Judgment.failed("any", question.view, "timeout", "slow")
        return Judgment.abstained("any", question.view, "empty: nothing")

    judged(cached(tmp_path, wavers)[0], FOUR)
    assert asked_again(tmp_path, script=wavers) == 4
    judged(cached(tmp_path, wavers, asking="isolated")[0], FOUR)
    assert asked_again(tmp_path, script=wavers, asking="isolated") == 1


def test_a_call_that_fails_leaves_what_the_cache_knows(tmp_path: Path) -> None:
    def down(question: Question) -> Judgment:
        raise VerifierError("rate_limited", "too many")

    judged(cached(tmp_path, asking="isolated")[0], FOUR[:2])
    judgments, cost = judged(cached(tmp_path, down, asking="isolated")[0], FOUR[:3])
    assert [j.outcome for j in judgments] == ["judged", "judged", "failed"]
    assert judgments[2].reason == "rate_limited: too many"
    assert cost.cache_hits == 2


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "nonsense",
        "[]",
        "null",
        '[{"support": 1}]',
        '[{"support": 7, "contradiction": 0, "evidence": [], "note": ""}]',
        '[{"support": NaN, "contradiction": 0, "evidence": [], "note": ""}]',
        '[{"support": 1, "contradiction": 0, "evidence": [], "note": "", "label": "supported"}]',
        '[{"support": 1, "contradiction": 0, "evidence": "t1", "note": ""}]',
        b"\x80\x04N.",
        b"\xff\xfe",
        7,
        None,
    ],
)
def test_an_entry_that_cannot_be_read_is_asked_for_and_mended(tmp_path: Path, entry: object) -> None:
    judged(cached(tmp_path)[0], FOUR[:1])
    rewrite(tmp_path, "UPDATE Cache SET value = ?", entry)
    assert asked_again(tmp_path, FOUR[:1]) == 1
    assert asked_again(tmp_path, FOUR[:1]) == 0


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.path, "w")


@pytest.mark.parametrize("place", ["value", "file", "key"])
def test_nothing_in_the_folder_is_ever_unpickled(tmp_path: Path, place: str) -> None:
    folder, sprung = tmp_path / "cache", tmp_path / "sprung"
    judged(cached(folder)[0], FOUR[:1])
    trap = pickle.dumps(Trap(sprung))
    (folder / "trap.val").write_bytes(trap)
    row = {
        "value": ("UPDATE Cache SET mode = 4, value = ?", trap),
        "file": ("UPDATE Cache SET mode = 4, value = NULL, filename = ?", "trap.val"),
        "key": ("UPDATE Cache SET raw = 0, key = ?", trap),
    }
    rewrite(folder, *row[place])
    assert asked_again(folder, FOUR[:1]) == 1
    ResultCache(folder, size_mb=8).clear()
    assert not sprung.exists()


def test_a_row_can_have_no_file_read_or_removed(tmp_path: Path) -> None:
    folder, precious = tmp_path / "cache", tmp_path / "precious.txt"
    precious.write_text('[{"support": 1, "contradiction": 0, "evidence": [], "note": "planted"}]')
    judged(cached(folder)[0], FOUR[:1])
    rewrite(folder, "UPDATE Cache SET mode = 3, value = NULL, filename = ?", "../precious.txt")
    judgments, _ = judged(cached(folder)[0], FOUR[:1])
    assert judgments[0].note != "planted"
    ResultCache(folder, size_mb=8).clear()
    assert precious.exists()


@pytest.mark.parametrize("broken", ["not a database", "a file where the folder should be"])
def test_a_cache_that_cannot_be_opened_costs_calls_and_says_so_once(
    tmp_path: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "cache"
    if broken == "not a database":
        folder.mkdir()
        (folder / "cache.db").write_bytes(b"nonsense" * 1000)
    else:
        folder.write_text("")
    judge, behind = cached(folder)
    for _ in range(2):
        assert {j.outcome for j in judge.judge(FOUR)} == {"judged"}
    assert len(behind.asked) == 8
    assert [record.getMessage() for record in caplog.records if "cannot be used" in record.getMessage()] != []
    assert len(caplog.records) == 1


def test_the_folder_holds_numbers_turn_ids_and_the_note_but_no_memory_and_no_passage(tmp_path: Path) -> None:
    judged(cached(tmp_path)[0], [question(memory="Ana sold the amaranth car.")])
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"sold the car" in kept
    assert all(word not in kept for word in (b"jacaranda", b"amaranth", b"heliotrope"))


def test_clearing_leaves_nothing_behind(tmp_path: Path) -> None:
    judged(cached(tmp_path, asking="isolated")[0], FOUR)
    assert ResultCache(tmp_path, size_mb=8).clear() == 4
    assert asked_again(tmp_path) == 4
    ResultCache(tmp_path, size_mb=8).clear()
    assert b"sold the car" not in b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_clearing_a_folder_that_is_no_cache_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        ResultCache(tmp_path, size_mb=8).clear()


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    judged(cached(tmp_path / "cache")[0], FOUR[:1])
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


def test_the_oldest_entries_make_room(tmp_path: Path) -> None:
    store = ResultCache(tmp_path, size_mb=1)
    for start in range(0, 200, 20):
        store.write({f"key {n}": "x" * 20_000 for n in range(start, start + 20)})
    kept = store.read(f"key {n}" for n in range(200))
    assert "key 199" in kept
    assert "key 0" not in kept
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 8 * 2**20


def test_threads_share_a_cache(tmp_path: Path) -> None:
    judge, _ = cached(tmp_path)
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = list(pool.map(lambda n: judge.judge([question(f"Ana sold car {n}.")]), range(12)))
    assert all(judgments[0].label == "supported" for judgments in answers)
    assert asked_again(tmp_path, [question("Ana sold car 7.")]) == 0


def test_a_cascade_keeps_what_its_model_said_and_computes_the_rest(tmp_path: Path) -> None:
    def report(folder: Path) -> tuple[list[Judgment], Usage]:
        judge, _ = cached(folder)
        differ = [ScriptedVerifier("one", lambda q: (0.9, 0.0)), ScriptedVerifier("other", lambda q: (0.0, 0.0))]
        return judged(CascadeVerifier("cascade:large", differ, judge), FOUR)

    assert report(tmp_path)[1] == Usage(calls=4)
    judgments, usage = report(tmp_path)
    assert usage == Usage(cache_hits=4)
    assert {j.verifier for j in judgments} == {"cascade:large"}


def decided(folder: Path | None) -> Report:
    turns = [Turn(id="t1", role="user", speaker="Ana", text="I sold the car and the boat.", origin="conversation")]
    written = Candidate(
        id="w", conversation="c", namespace=("n",), memory="Ana sold the car. Ana sold the boat.", citations=("t1",)
    )
    judges: list[Verifier] = [FakeModel(sure, name) for name in ("chat:one", "chat:other")]
    if folder is not None:
        judges = [CachedVerifier(judge, ResultCache(folder, size_mb=8)) for judge in judges]
    gate = AdmissionGate(Settings(), verifier_a=judges[0], verifier_b=judges[1], adjudicator=FakeModel(sure, "third"))
    return gate.decide(written, Timeline("c", turns).before(None))


def test_a_report_is_the_same_with_and_without_a_cache_but_for_its_usage_and_times(tmp_path: Path) -> None:
    reports = [decided(None), decided(tmp_path), decided(tmp_path)]
    assert [r.usage for r in reports] == [Usage(calls=4), Usage(calls=4), Usage(cache_hits=4)]
    assert all(
        r.model_copy(update={"usage": Usage(), "timing_ms": {}})
        == reports[0].model_copy(update={"usage": Usage(), "timing_ms": {}})
        for r in reports
    )


def test_there_is_no_cache_unless_a_folder_is_set(tmp_path: Path) -> None:
    assert result_cache(Settings().cache.folder, 1) is None
    (tmp_path / "gate.toml").write_text(f'[cache]\nfolder = "{tmp_path / "answers"}"\nsize_mb = 5\n')
    settings = load_settings(tmp_path / "gate.toml").cache
    assert (settings.folder, settings.size_mb) == (tmp_path / "answers", 5)


def test_a_folder_without_diskcache_is_refused_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "admission.verifiers.result_cache")
    monkeypatch.setitem(sys.modules, "diskcache", None)
    with pytest.raises(SettingsError, match="install memory-admission\\[cache\\]"):
        AdmissionGate(Settings(cache={"folder": tmp_path}))  # type: ignore[arg-type]


def test_models_that_are_paid_for_answer_from_the_cache_and_those_that_compute_do_not(tmp_path: Path) -> None:
    assembly = Assembly(lambda kind: FakeModel(sure, kind), ["large"], ResultCache(tmp_path, size_mb=8))
    cached_kinds = {
        kind for kind in ("entailment", "chat:large", "local:small") if isinstance(assembly.judge(kind), CachedVerifier)
    }
    assert cached_kinds == {"chat:large"}
    cascade = assembly.judge("cascade:large")
    assert isinstance(cascade, CascadeVerifier)
    assert isinstance(cascade.then, CachedVerifier)
    assert not isinstance(assembly.plain("chat:large"), CachedVerifier)
