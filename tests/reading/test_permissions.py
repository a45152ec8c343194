"""What directives say of one principal's use of a memory, on the policy axis beside purposes and rules."""

from __future__ import annotations

import pytest

from admission.metadata import Permission, RecordMetadata
from admission.reading.axes import AxisReading
from admission.reading.context import QueryContext
from admission.reading.permissions import permitted, withdrawn
from admission.reading.policies import PolicyAxis
from admission.reading_settings import ReadingSettings, ReadRule

NOON = "2026-03-05T12:00:00+00:00"
DENIED = Permission(principal="petra", effect="deny", source="t1")
ALLOWED = Permission(principal="petra", effect="allow", source="t2")
FOR_A_WHILE = ALLOWED.model_copy(update={"until": "2026-03-06T00:00:00+00:00"})


def read(
    *permissions: Permission,
    principal: str | None = "petra",
    time: str | None = NOON,
    purpose: str | None = None,
    purposes: tuple[str, ...] | None = None,
    **settings: object,
) -> AxisReading:
    axis = PolicyAxis(ReadingSettings(**settings))  # type: ignore[arg-type]
    metadata = RecordMetadata(namespace=("clinic", "ana"), permissions=permissions, purpose_allow=purposes)
    return axis.read(metadata, QueryContext(query="", principal=principal, time=time, purpose=purpose))


@pytest.mark.parametrize("default", ["allow", "deny", "unresolved"])
def test_what_is_withheld_is_closed_and_what_is_granted_open_whatever_the_default(default: str) -> None:
    withheld = read(DENIED, policy_default=default)
    assert withheld.value is False and withheld.code == "withheld_by_directive"
    assert read(ALLOWED, policy_default=default) == AxisReading(value=True, reason="granted_by_directive: t2")


@pytest.mark.parametrize("default", ["allow", "deny"])
def test_it_says_nothing_of_anybody_else(default: str) -> None:
    for permission in (DENIED, ALLOWED):
        assert read(permission, principal="tom", policy_default=default).value is (default == "allow")


@pytest.mark.parametrize(
    ("permissions", "time", "value"),
    [
        ((DENIED, ALLOWED), NOON, True),
        ((ALLOWED, DENIED), NOON, False),
        ((DENIED, FOR_A_WHILE), NOON, True),
        ((DENIED, FOR_A_WHILE), "2026-03-06T00:00:00+00:00", False),
        ((FOR_A_WHILE,), "2026-03-06T00:00:00+00:00", None),
        ((DENIED, FOR_A_WHILE), None, None),
        ((FOR_A_WHILE, DENIED), None, False),
    ],
    ids=["granted since", "withheld since", "for a while", "the while is over", "then nothing is said", "when?", "now"],
)
def test_the_newest_that_is_in_force_counts(
    permissions: tuple[Permission, ...], time: str | None, value: bool | None
) -> None:
    assert read(*permissions, time=time).value is value


def test_without_a_principal_it_is_open() -> None:
    assert read(DENIED, principal=None, policy_default="allow").value is None


def test_a_grant_stands_in_for_a_rule_that_allows_and_lifts_neither_purposes_nor_a_rule_that_denies() -> None:
    staff = ReadRule(name="staff", roles=("staff",))
    never = ReadRule(name="never", effect="deny", namespace="clinic/*")
    assert read(ALLOWED, policy=(staff,), policy_default="deny").value is True
    assert read(ALLOWED, policy=(never,)).reason == "denied_by_rule: never"
    assert read(ALLOWED, purposes=("care",), purpose="ads").value is False
    assert read(ALLOWED, purposes=("care",), purpose="care").value is True


def test_a_rule_that_allows_does_not_lift_what_is_withheld() -> None:
    assert read(DENIED, policy=(ReadRule(name="all"),)).value is False


def test_a_new_one_makes_those_before_it_meaningless_unless_it_ends() -> None:
    other = Permission(principal="tom", effect="deny", source="t0")
    assert permitted((other, DENIED), ALLOWED) == (other, ALLOWED)
    assert permitted((other, DENIED), FOR_A_WHILE) == (other, DENIED, FOR_A_WHILE)
    assert permitted((DENIED, other), DENIED) == (DENIED, other)
    assert withdrawn((DENIED, other, FOR_A_WHILE), "petra") == (other,)
