"""Truth in three values, strong Kleene logic over them, and what the read gate finds on each axis."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from admission.records import Record


def _read(value: object) -> object:
    return None if value == "?" else value


def shown(value: bool | None) -> int | str:
    """1, 0 or "?"."""
    return "?" if value is None else int(value)


Truth = Annotated[bool | None, BeforeValidator(_read), PlainSerializer(shown, when_used="json")]
"""True, False, or None where it is not known. JSON has 1, 0 and "?"."""


def conjunction(*values: bool | None) -> bool | None:
    """Strong Kleene "and" (Kleene 1952): False if any is, True if all are (so of nothing), else None."""
    if False in values:
        return False
    return None if None in values else True


def disjunction(*values: bool | None) -> bool | None:
    """Strong Kleene "or": True if any is, False if all are (so of nothing), else None."""
    if True in values:
        return True
    return None if None in values else False


def negation(value: bool | None) -> bool | None:
    """Strong Kleene "not": what is not known stays so."""
    return None if value is None else not value


class AxisReading(Record):
    """What one axis says of a memory for a question, and why: `reason` is "code: detail"."""

    value: Truth
    reason: str = Field(min_length=1)

    @property
    def code(self) -> str:
        """The reason without its detail, which may quote names of namespaces, rules and keys."""
        return self.reason.partition(":")[0]


class Admissibility(Record):
    """Whether a memory may be used for a question: three axes and their conjunction."""

    scope: AxisReading
    policy: AxisReading
    lifecycle: AxisReading
    admissible: Truth

    @classmethod
    def of(cls, scope: AxisReading, policy: AxisReading, lifecycle: AxisReading) -> Admissibility:
        admissible = conjunction(scope.value, policy.value, lifecycle.value)
        return cls(scope=scope, policy=policy, lifecycle=lifecycle, admissible=admissible)

    @model_validator(mode="after")
    def _follows_from_the_axes(self) -> Admissibility:
        if self.admissible is not conjunction(self.scope.value, self.policy.value, self.lifecycle.value):
            raise ValueError("'admissible' is not the conjunction of the three axes")
        return self

    @property
    def axes(self) -> tuple[AxisReading, AxisReading, AxisReading]:
        return (self.scope, self.policy, self.lifecycle)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the memory is not admissible: the reasons of the axes that say no or, where none does, of those that do
        not know. None for an admissible one."""
        if self.admissible is True:
            return ()
        return tuple(axis.reason for axis in self.axes if axis.value is self.admissible)

    def usable(self, relevant: bool | None) -> bool | None:
        """Relevant and admissible. Whether it is relevant is for the ranker, or whoever asks, to say."""
        return conjunction(relevant, self.admissible)
