"""Corrupted metadata: who is hit, what the gate then hides or shows, and against what it is counted."""

from __future__ import annotations

import numpy as np
import pytest
from reading_worlds import CURRENT, OPEN_GATE, by_position, memory, question, scripted, two_people

from admission.evaluation.reading.channels import NOWHERE, channels
from admission.evaluation.reading.corruption import ChannelFigures, CorruptionCurves, corrupt
from admission.evaluation.reading.dataset import ReadingData


def channel(found: CorruptionCurves, name: str) -> ChannelFigures:
    return next(each for each in found.channels if each.channel == name)


def losses(figures: ChannelFigures) -> list[float]:
    return [each.loss.value or 0.0 for each in figures.figures]


@pytest.fixture(scope="module")
def curves() -> CorruptionCurves:
    return corrupt(by_position(two_people(40, 12)), OPEN_GATE, "scripted", k=20, rates=(0.0, 0.5, 1.0), draws=3)


def test_without_corruption_every_channel_is_the_clean_gate(curves: CorruptionCurves) -> None:
    clean = curves.baselines["clean"]["loss"]
    assert all(each.figures[0].loss == clean for each in curves.channels)


def test_namespaces_taken_from_all_memories_leave_nothing_to_find(curves: CorruptionCurves) -> None:
    for name in ("namespace false deny", "namespace missing"):
        last = channel(curves, name).figures[-1]
        assert (last.recall.value, last.loss.value) == (0.0, 1.0)
        assert last.scope_violations.value is None


def test_a_false_permission_shows_others_memories_and_is_counted_by_the_true_namespace(
    curves: CorruptionCurves,
) -> None:
    figures = channel(curves, "namespace false allow").figures
    assert figures[0].scope_violations.value == 0.0
    assert figures[1].scope_violations.value > 0.1
    assert figures[2].scope_violations.value == pytest.approx(0.5, abs=0.05)


def test_all_memories_denied_by_policy_lose_everything(curves: CorruptionCurves) -> None:
    assert losses(channel(curves, "policy false deny"))[-1] == 1.0


def test_what_the_data_never_stated_cannot_go_missing(curves: CorruptionCurves) -> None:
    for name in ("policy missing", "lifecycle missing", "policy false allow"):
        figures = channel(curves, name)
        assert not figures.applies
        assert set(losses(figures)) == {losses(figures)[0]}
        assert set(figures.first_worse.values()) == {None}


def test_the_first_rate_that_loses_is_named_for_each_baseline(curves: CorruptionCurves) -> None:
    found = channel(curves, "namespace false deny")
    assert found.first_worse["clean"] == 0.5
    assert curves.baselines["global"]["loss"].value > curves.baselines["clean"]["loss"].value
    assert found.clearly_worse["clean"] in (0.5, 1.0)


def test_a_memory_wrongly_called_stale_is_hidden_from_questions_about_now_alone() -> None:
    memories = (memory("m", "ana", lifecycle=CURRENT), memory("n", "ben", lifecycle=CURRENT))
    for intent, loss in (("current", 1.0), ("history", 0.0), (None, 0.0)):
        data = ReadingData("d", memories, (question("q", "ana", ["m"], intent=intent),), "")
        found = corrupt(scripted(data), OPEN_GATE, "scripted", rates=(0.0, 1.0), draws=1)
        assert losses(channel(found, "lifecycle false stale")) == [0.0, loss]


def test_a_gate_that_hides_what_is_open_hides_a_memory_whose_state_went_missing() -> None:
    memories = (memory("m", "ana", lifecycle=CURRENT, purpose_allow=["care"]),)
    data = ReadingData("d", memories, (question("q", "ana", ["m"], purpose="care"),), "")
    closed = OPEN_GATE.model_copy(update={"expose_unresolved": False})
    for settings, loss in ((closed, 1.0), (OPEN_GATE, 0.0)):
        found = corrupt(scripted(data), settings, "scripted", rates=(0.0, 1.0), draws=1)
        assert losses(channel(found, "lifecycle missing")) == [0.0, loss]
        assert losses(channel(found, "policy missing")) == [0.0, loss]


def test_a_falsely_permitted_memory_is_shown_and_counted_as_the_violation_it_is() -> None:
    memories = (memory("bad", "ana", purpose_allow=["billing"]), memory("good", "ana", purpose_allow=["care"]))
    data = ReadingData("d", memories, (question("q", "ana", ["good"], purpose="care"),), "")
    found = corrupt(by_position(data), OPEN_GATE, "scripted", rates=(0.0, 1.0), draws=1)
    assert found.baselines["namespace"]["loss"].value == 0.5
    assert losses(channel(found, "policy false allow")) == [0.0, 0.5]
    assert losses(channel(found, "policy missing")) == [0.0, 0.5]


def test_a_higher_rate_hits_what_a_lower_one_hit_and_swapping_keeps_how_many_each_has() -> None:
    questions = by_position(two_people(50))
    deny = next(each for each in channels(()) if each.name == "namespace false deny")
    low, high = (deny.seen(questions, rate, 1).namespace == NOWHERE for rate in (0.1, 0.4))
    assert low.any()
    assert (high | ~low).all()
    swap = next(each for each in channels(()) if each.name == "namespace swapped")
    seen = swap.seen(questions, 0.5, 1).namespace
    assert np.bincount(seen).tolist() == np.bincount(questions.namespace_of).tolist()
    assert (seen != questions.namespace_of).any()


def test_the_same_run_gives_the_same_curves(curves: CorruptionCurves) -> None:
    questions = by_position(two_people(40, 12))
    assert corrupt(questions, OPEN_GATE, "scripted", k=20, rates=(0.0, 0.5, 1.0), draws=3) == curves
