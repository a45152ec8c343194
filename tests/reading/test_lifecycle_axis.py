"""The lifecycle axis: state against intent, validity over time, and what was asked to be forgotten."""

import pytest

from admission.metadata import Lifecycle, RecordMetadata
from admission.reading.lifecycle import lifecycle

NOW = "2026-06-01T12:00:00+00:00"


def of(state: str | None, *, forget: bool | None = None, **times: str | None) -> RecordMetadata:
    return RecordMetadata(lifecycle=Lifecycle(state=state, **times), forget=forget)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "current", "history", "unknown"),
    [
        ("current", True, True, True),
        ("stale", False, True, None),
        ("superseded", False, True, None),
        ("forgotten", False, False, False),
        (None, None, None, None),
    ],
)
def test_state_against_intent_is_the_table_of_the_method(
    state: str | None, current: bool | None, history: bool | None, unknown: bool | None
) -> None:
    assert lifecycle(of(state), "current", NOW).value is current
    assert lifecycle(of(state), "history", NOW).value is history
    assert lifecycle(of(state), None, NOW).value is unknown


@pytest.mark.parametrize("intent", ["current", "history", None])
def test_a_request_to_forget_stays_usable_when_it_is_swept_up_in_what_it_forgets(intent: str | None) -> None:
    assert lifecycle(of("forgotten", forget=True), intent, NOW).value is True  # type: ignore[arg-type]
    assert lifecycle(of("current", forget=True), intent, NOW).value is True  # type: ignore[arg-type]


def test_a_request_to_forget_that_was_taken_back_is_past_like_anything_else() -> None:
    assert lifecycle(of("superseded", forget=True), "current", NOW).value is False


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "holds"),
    [
        ("2026-01-01", None, True),
        ("2026-01-01", "2026-05-31", False),
        ("2026-01-01", "2026-06-01", True),  # a day that something ends with is its last
        (None, "2026-06-01T12:00:00Z", False),  # a moment that something ends with is the first without it
        (None, "2026-06-01T12:00:01Z", True),
        ("2026-06-01T14:00:00+02:00", None, True),  # the same moment elsewhere
        ("2026-06-01T12:30:00", None, False),
        ("2026-07-01", "2026-08-01", False),
        (None, "9999-12-31", True),  # the last day there is: no end
    ],
)
def test_a_current_memory_outside_of_its_validity_counts_as_stale(
    valid_from: str | None, valid_to: str | None, holds: bool
) -> None:
    memory = of("current", valid_from=valid_from, valid_to=valid_to)
    assert lifecycle(memory, "current", NOW).value is holds
    assert lifecycle(memory, "history", NOW).value is True
    assert lifecycle(memory, None, NOW).value is (True if holds else None)


def test_without_a_time_or_with_one_that_cannot_be_read_it_is_open_whether_a_validity_is_over() -> None:
    memory = of("current", valid_to="2026-05-31")
    assert lifecycle(memory, "current", None).value is None
    assert lifecycle(memory, "current", None).code == "time_missing"
    assert lifecycle(memory, "history", None).value is True
    unreadable = of("current", valid_to="next Friday")
    assert lifecycle(unreadable, "current", NOW).value is None
    assert lifecycle(unreadable, "current", NOW).code == "time_unreadable"


def test_a_bound_that_decides_does_so_whatever_the_other_says() -> None:
    assert lifecycle(of("current", valid_from="who knows", valid_to="2026-01-01"), "current", NOW).value is False


def test_no_validity_makes_up_for_a_missing_state() -> None:
    assert lifecycle(of(None, valid_from="2026-01-01", valid_to="2026-12-31"), "current", NOW).value is None


def test_the_reason_names_the_memory_that_took_the_place() -> None:
    reason = lifecycle(of("superseded", superseded_by="trip-2"), "current", NOW).reason
    assert reason == "superseded: trip-2 took its place"
