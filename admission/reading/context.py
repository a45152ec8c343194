"""A question, who asks it, for what, with what intent and when: the context that memories are judged against."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import field_validator

from admission.records import Namespace, Record

Intent = Literal["current", "history"]


class QueryContext(Record):
    """What the read gate knows of a question. Everything but `query` and `intent` comes from the run's authenticated
    context, never from the question's words or a model's arguments. None: missing, which is never made up.

    `namespace` is the principal's, a boundary. `roles`: an empty tuple states that the principal has none. `intent`:
    is the question about what holds now (`current`) or about what held before (`history`)? `time` is when it is asked:
    ISO 8601, UTC where no offset is given.
    """

    query: str
    question_id: str | None = None
    principal: str | None = None
    namespace: Namespace | None = None
    roles: tuple[str, ...] | None = None
    purpose: str | None = None
    intent: Intent | None = None
    time: str | None = None

    @field_validator("time")
    @classmethod
    def _time_is_iso(cls, value: str | None) -> str | None:
        if value is not None:
            datetime.fromisoformat(value)
        return value
