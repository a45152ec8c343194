"""Which writes are the same write."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_records import SPACE, TEA

from admission.errors import LedgerError
from admission.ledger import fingerprint_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_retry_under_a_new_key_is_the_same_write() -> None:
    first = fingerprint_of("thread", "task", SPACE, TEA, key="key-1")
    assert fingerprint_of("thread", "task", SPACE, TEA, key="key-2") == first
    assert len(first) == 64


def test_every_other_part_tells_writes_apart() -> None:
    variants = [
        fingerprint_of("thread", "task", SPACE, TEA, key="k"),
        fingerprint_of("thread", "task", SPACE, TEA, 1, key="k"),
        fingerprint_of("thread-2", "task", SPACE, TEA, key="k"),
        fingerprint_of(None, "task", SPACE, TEA, key="k"),
        fingerprint_of("thread", "task-2", SPACE, TEA, key="k"),
        fingerprint_of("thread", None, SPACE, TEA, key="k"),
        fingerprint_of("thread", "task", ("acme",), TEA, key="k"),
        fingerprint_of("thread", "task", ("acme", "user", "7"), TEA, key="k"),
        fingerprint_of("thread", "task", SPACE, {"content": "something else"}, key="k"),
    ]
    assert len(set(variants)) == len(variants)


@pytest.mark.parametrize("thread", [None, "thread"])
def test_outside_a_task_the_key_tells_writes_apart(thread: str | None) -> None:
    first = fingerprint_of(thread, None, SPACE, TEA, key="key-1")
    assert fingerprint_of(thread, None, SPACE, TEA, key="key-1") == first
    assert fingerprint_of(thread, None, SPACE, TEA, key="key-2") != first


def test_the_value_is_taken_as_json_says_it() -> None:
    given_as = {"b": (1, 2), "a": datetime(2026, 5, 1)}
    read_back = {"a": "2026-05-01T00:00:00", "b": [1, 2]}
    assert fingerprint_of("t", "k", SPACE, given_as, key="") == fingerprint_of("t", "k", SPACE, read_back, key="")


def test_a_value_json_cannot_say_has_no_fingerprint() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    for value in ({"content": object()}, loop, ["not", "a", "dict"]):
        with pytest.raises(LedgerError, match="value"):
            fingerprint_of("t", "k", SPACE, value, key="k")  # type: ignore[arg-type]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_the_order_of_fields_does_not_matter(value: dict[str, object]) -> None:
    turned = dict(reversed(value.items()))
    assert fingerprint_of("t", "k", SPACE, value, key="") == fingerprint_of("t", "k", SPACE, turned, key="")
