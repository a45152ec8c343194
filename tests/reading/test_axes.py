"""Three-valued truth: all combinations of the axes, strong Kleene logic, and what is kept of a judgment."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from admission.reading.axes import Admissibility, AxisReading, conjunction, disjunction, negation

VALUES = (True, False, None)
TRUTHS = st.sampled_from(VALUES)
FEW = settings(max_examples=50, deadline=None)
LISTS = st.lists(TRUTHS, max_size=6)


def reading(name: str, value: bool | None) -> AxisReading:
    return AxisReading(value=value, reason=f"{name}_said: so")


def admissibility(scope: bool | None, policy: bool | None, lifecycle: bool | None) -> Admissibility:
    return Admissibility.of(reading("scope", scope), reading("policy", policy), reading("lifecycle", lifecycle))


@pytest.mark.parametrize("values", list(product(VALUES, repeat=3)))
def test_a_memory_is_admissible_if_all_axes_say_so_and_not_if_any_denies_it_else_it_is_open(
    values: tuple[bool | None, bool | None, bool | None],
) -> None:
    found = admissibility(*values)
    if False in values:
        expected, why = False, False
    elif None in values:
        expected, why = None, None
    else:
        expected, why = True, None
    assert found.admissible is expected
    names = [name for name, value in zip(("scope", "policy", "lifecycle"), values, strict=True) if value is why]
    assert list(found.reasons) == ([] if expected else [f"{name}_said: so" for name in names])


@pytest.mark.parametrize("values", list(product(VALUES, repeat=4)))
def test_a_memory_is_usable_if_it_is_relevant_and_admissible(values: tuple[bool | None, ...]) -> None:
    relevant, *axes = values
    assert admissibility(*axes).usable(relevant) is conjunction(*values)


@FEW
@given(LISTS)
def test_a_conjunction_is_the_least_of_its_parts_with_the_unknown_between_no_and_yes(values: list[bool | None]) -> None:
    rank = {False: 0, None: 1, True: 2}
    assert rank[conjunction(*values)] == min((rank[value] for value in values), default=2)
    assert rank[disjunction(*values)] == max((rank[value] for value in values), default=0)


@FEW
@given(LISTS, LISTS)
def test_order_and_grouping_do_not_matter(some: list[bool | None], more: list[bool | None]) -> None:
    assert conjunction(*some, *more) is conjunction(*more, *some)
    assert conjunction(*some, *more) is conjunction(conjunction(*some), conjunction(*more))


@FEW
@given(LISTS)
def test_not_turns_and_into_or(values: list[bool | None]) -> None:
    assert negation(conjunction(*values)) is disjunction(*(negation(value) for value in values))


@FEW
@given(LISTS, st.data())
def test_learning_what_was_unknown_never_overturns_what_was_settled(
    values: list[bool | None], data: st.DataObject
) -> None:
    learnt = [data.draw(st.booleans()) if value is None else value for value in values]
    before = conjunction(*values)
    assert before is None or conjunction(*learnt) is before


@pytest.mark.parametrize("values", list(product(VALUES, repeat=3)))
def test_json_shows_one_nought_and_a_question_mark_and_reads_them_back(
    values: tuple[bool | None, bool | None, bool | None],
) -> None:
    found = admissibility(*values)
    body = found.model_dump(mode="json")
    assert [body[axis]["value"] for axis in ("scope", "policy", "lifecycle")] == [
        {True: 1, False: 0, None: "?"}[value] for value in values
    ]
    assert Admissibility.model_validate(body) == found
    assert Admissibility.model_validate_json(found.model_dump_json()) == found


def test_a_judgment_that_does_not_follow_from_its_axes_is_refused() -> None:
    body = admissibility(True, None, True).model_dump(mode="json")
    with pytest.raises(ValidationError, match="conjunction"):
        Admissibility.model_validate({**body, "admissible": 1})


def test_the_code_of_a_reason_leaves_out_what_it_quotes() -> None:
    assert AxisReading(value=False, reason="other_namespace: memories/bo is not memories/ana").code == "other_namespace"
    assert AxisReading(value=True, reason="current").code == "current"
