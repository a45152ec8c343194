"""Interventions: decisions by evidence flip with it, decisions by plausibility never; histories change as said."""

from __future__ import annotations

from typing import Any

import pytest
from family_worlds import ORACLE, family
from replayed_worlds import SAID, UNTRUE, cases, gate, oracle

from admission.evaluation.derivation.cases import Case
from admission.evaluation.derivation.interventions import (
    ALL,
    INTERVENTIONS,
    Intervened,
    Intervention,
    InterventionFigures,
    InterventionsReport,
    changed,
    intervened,
    with_unrelated,
    without_turns,
)
from admission.history import History
from admission.records import Question, Turn
from admission.text import content_terms


def plausible(question: Question) -> tuple[float, float]:
    """A fool: supports whatever it is asked, whatever is shown."""
    return (0.95, 0.0)


def believer(question: Question) -> tuple[float, float]:
    """Takes the premise of the untrue memory for the memory."""
    shown = {passage.text for passage in question.passages}
    return (0.95, 0.0) if question.memory == UNTRUE and SAID[0] in shown else (0.02, 0.0)


def measured(script: Any, given: list[Case]) -> InterventionsReport:
    changes, left_out = changed(given, passage_chars=1200)
    own = gate(script)
    found = [
        Intervened(
            change,
            {"obligations": own.decide(change.case.candidate, change.case.history)},
            {"obligations": own.decide(change.case.candidate, change.history)},
        )
        for change in changes
    ]
    return intervened(found, ["obligations"], left_out, unlabelled=sum(case.valid is None for case in given))


def of(found: InterventionsReport, kind: Intervention, part: str = ALL) -> InterventionFigures:
    return next(one for one in found.figures if (one.intervention, one.part) == (kind, part))


def shares(found: InterventionFigures) -> tuple[float | None, float | None, float | None]:
    return found.before.value, found.after.value, found.flipped.value


def test_every_decision_of_an_oracle_flips_when_the_evidence_is_gone() -> None:
    found = measured(oracle, cases(4))
    removed = of(found, "evidence_removed")
    assert shares(removed) == (1.0, 0.0, 1.0)
    assert (removed.lost, removed.gained, removed.flipped.n) == (8, 0, 8)
    assert removed.p == pytest.approx(2 * 0.5**8)
    assert removed.adjusted == pytest.approx(2 * removed.p), "two tests: one a kind of intervention"
    assert (removed.difference.value, removed.difference.groups) == (-1.0, 4)
    assert shares(of(found, "premise_replaced")) == (0.0, 0.0, None)


def test_no_decision_of_a_judge_that_looks_at_nothing_flips() -> None:
    found = measured(plausible, cases(4))
    for kind in INTERVENTIONS:
        assert shares(of(found, kind)) == (1.0, 1.0, 0.0)
        assert of(found, kind).p == 1.0


def test_a_memory_believed_for_its_premise_is_not_believed_on_other_talk() -> None:
    found = measured(believer, cases(4))
    assert shares(of(found, "premise_replaced")) == (1.0, 0.0, 1.0)
    assert shares(of(found, "evidence_removed")) == (0.0, 0.0, None)


def test_removed_turns_were_never_said_and_the_rest_stays_as_it_was() -> None:
    case = cases(1)[0]
    history = without_turns(case, ["t2"], passage_chars=1200)
    assert [turn.id for turn in history] == ["t1", "t3", "t4"]
    assert [turn.text for turn in case.history] == list(SAID), "the history of the case itself is untouched"
    assert not history.search(["leak"], 4)


def test_a_replaced_premise_is_other_talk_of_the_same_speaker_of_about_its_length() -> None:
    said = ("Nora bought a boat in Lisse.", "Then what?", "It rained for an hour today.", "Nora likes the boat.")
    roles = ("Ada", "Ben", "Ada", "Ada")
    turns = [
        Turn(id=f"t{n}", role="user", speaker=who, text=text)
        for n, (who, text) in enumerate(zip(roles, said, strict=True))
    ]
    case = cases(1)[2]._replace(history=History.of("c0", turns))
    history = with_unrelated(case, ["t0"], passage_chars=1200)
    assert [turn.text for turn in history] == [said[2], *said[1:]]
    assert [(turn.id, turn.speaker) for turn in history] == [(turn.id, turn.speaker) for turn in turns]


def test_small_talk_stands_where_the_history_has_nothing_unrelated() -> None:
    case = cases(1)[2]
    history = with_unrelated(case, ["t1", "t2", "t3", "t4"], passage_chars=1200)
    texts = [turn.text for turn in history]
    assert len(set(texts)) == 4 and not set(texts) & set(SAID)
    wanted = set(content_terms(case.candidate.memory))
    assert all(wanted.isdisjoint(content_terms(text)) for text in texts)
    assert all(0.5 * len(old) <= len(new) for old, new in zip(SAID, texts, strict=True))


def test_the_premise_is_what_the_reference_names_else_what_the_author_cites() -> None:
    cited = cases(1)[2]
    named = cited._replace(reference={**cited.reference, "obligations": [{"text": "x", "evidence": ["t3"]}]})
    found, _ = changed([cited, named], passage_chars=1200)
    moved = [[t.id for t, old in zip(one.history, one.case.history, strict=True) if t != old] for one in found]
    assert moved == [["t1"], ["t3"]]


def test_writes_of_which_nothing_can_be_taken_are_counted() -> None:
    valid, _, untrue = cases(1)
    bare = untrue._replace(candidate=untrue.candidate.model_copy(update={"citations": ()}))
    unlabelled = valid._replace(reference={})
    found = measured(oracle, [valid._replace(reference={"status": "admitted"}), bare, unlabelled])
    assert found.left_out == {"evidence_removed": 1, "premise_replaced": 1}
    assert (found.unlabelled, found.figures) == (1, ())


def test_cells_of_matched_families_are_counted_apart_and_drawn_by_family() -> None:
    found = measured(plausible, [case for n in range(3) for case in family(f"f{n}", ORACLE)])
    assert {one.part for one in found.figures} == {
        ALL, "local_valid", "distributed_valid", "local_invalid", "distributed_invalid",
    }  # fmt: skip
    assert of(found, "evidence_removed", "local_valid").before.n == 3
    assert of(found, "evidence_removed").difference.groups == 3, "two cells of each family"
    assert of(found, "evidence_removed", "local_valid").adjusted is None
