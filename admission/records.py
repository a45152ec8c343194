"""The nouns of the gate as frozen models: turn, passage, candidate, obligation, judgment, finding, decision, report."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

Role = Literal["user", "assistant", "tool", "system"]
Origin = Literal["conversation", "memory", "instruction", "tool", "external"]
ViewName = Literal["citation_only", "expanded"]
ObligationType = Literal["fact", "relation", "qualification"]
Label = Literal["supported", "insufficient", "contradicted", "conflicting"]
Status = Literal["admitted", "repaired", "unresolved", "contradicted", "invalid"]
Action = Literal["persist", "persist_marked", "quarantine", "review", "drop"]
ResolvedBy = Literal["agreement", "adjudication", "single", "none"]
Outcome = Literal["judged", "abstained", "failed"]
Check = Literal["removed", "unrelated"]
FailureCode = Literal[
    "model_error",
    "timeout",
    "rate_limited",
    "refused",
    "malformed_answer",
    "missing_answer",
    "budget",
    "unavailable",
]
VerificationView = Literal[
    "holistic", "atomic_claims", "predicate_argument_qa", "compact_relation", "composition_graph", "obligations"
]

STORED_ACTIONS: frozenset[Action] = frozenset(("persist", "persist_marked"))
"""Those that let the store have the memory."""
QUARANTINED_ACTIONS: frozenset[Action] = frozenset(("quarantine", "review"))
"""Those that keep it where a person can still restore it."""
OBLIGATION_TYPES: frozenset[ObligationType] = frozenset(("fact", "relation", "qualification"))
STATUSES: tuple[Status, ...] = ("admitted", "repaired", "unresolved", "contradicted", "invalid")

_DEFAULT_ORIGIN: dict[str, Origin] = {
    "user": "conversation",
    "assistant": "conversation",
    "tool": "tool",
    "system": "instruction",
}


def _namespace(value: object) -> object:
    """JSON, msgpack and databases bring tuples back as lists: re-tuple them."""
    return tuple(value) if isinstance(value, list) else value


Namespace = Annotated[tuple[str, ...], BeforeValidator(_namespace)]
TurnIds = Annotated[tuple[str, ...], BeforeValidator(_namespace)]


class Record(BaseModel):
    """Base of all records: immutable, and unknown fields are an error rather than a silent loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Turn(Record):
    """One message of a conversation.

    `time` is ISO 8601 text as it was given (an offset is optional); `origin` says where the text came from and
    defaults from the role: user, assistant -> conversation; tool -> tool; system -> instruction.
    """

    id: str = Field(min_length=1)
    role: Role
    speaker: str | None = None
    time: str | None = None
    text: str
    origin: Origin

    @model_validator(mode="before")
    @classmethod
    def _origin_from_role(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("origin") is None and data.get("role") in _DEFAULT_ORIGIN:
            return {**data, "origin": _DEFAULT_ORIGIN[data["role"]]}
        return data

    @field_validator("time")
    @classmethod
    def _time_is_iso(cls, value: str | None) -> str | None:
        if value is not None:
            datetime.fromisoformat(value)
        return value

    @property
    def when(self) -> datetime | None:
        return datetime.fromisoformat(self.time) if self.time is not None else None


class Passage(Record):
    """What a view is made of: a turn, or a window of a long one.

    `id` is the turn id, or `<turn id>#<n>` (from 1) for a window. `position` is the passage's place in the whole
    conversation, from 0. `start` and `end` are character offsets into the turn's text. `reply_to` names the turn a
    user's turn answers, where the two have to be read together; `confirmed_by` names the user's turn that accepts what
    this assistant turn proposes.
    """

    id: str
    turn_id: str
    position: int
    role: Role
    speaker: str | None = None
    time: str | None = None
    text: str
    origin: Origin
    start: int = 0
    end: int = 0
    reply_to: str | None = None
    confirmed_by: str | None = None


class Participant(Record):
    """Who speaks in a conversation: a role, and a name where one is known. Without a name: whoever has the role."""

    role: Role
    name: str | None = None


class Candidate(Record):
    """A memory about to be written: its text, the author's citations (turn ids), where and after which turn.

    `written_after` None means after the last turn.
    """

    id: str
    conversation: str
    namespace: Namespace
    memory: str
    citations: TurnIds = ()
    written_after: str | None = None


class View(Record):
    """The passages a verifier is shown for one candidate."""

    name: ViewName
    passages: tuple[Passage, ...]

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.turn_id for p in self.passages))


class Obligation(Record):
    """One stand-alone statement that must hold for the memory to hold. `id` is unique within its candidate."""

    id: str
    text: str
    type: ObligationType


class Usage(Record):
    """`calls` are questions put to an embedded verifier (batched or not), or requests sent to a model, retries and
    repair rounds among them; tokens are the verifiers' own count."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_hits: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_hits=self.cache_hits + other.cache_hits,
        )


class Account(Record):
    """The write a question is asked for, and what this judge's answers for it have cost so far.

    `number` tells the writes of one call apart: candidate ids need not be unique over conversations.
    """

    candidate: str
    number: int = 0
    spent: Usage = Usage()


class Question(Record):
    """One obligation put to a verifier on some passages of a view. `memory` is the whole text it was split from.

    `people` are those who speak in the conversation before the write, also where none of their turns is shown.
    `account` is the driver's, for budgets and traces: it is no part of what is judged, and of no dump.
    """

    obligation: Obligation
    memory: str
    view: ViewName
    passages: tuple[Passage, ...]
    people: tuple[Participant, ...] = ()
    account: Account | None = Field(default=None, exclude=True, repr=False)

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.turn_id for p in self.passages))


class Thresholds(Record):
    """From two numbers in [0, 1] to one of the four labels. Support and contradiction are read apart."""

    support: float = Field(default=0.5, ge=0.0, le=1.0)
    contradiction: float = Field(default=0.5, ge=0.0, le=1.0)

    def label(self, support: float, contradiction: float) -> Label:
        holds, refuted = support >= self.support, contradiction >= self.contradiction
        if holds and refuted:
            return "conflicting"
        return "supported" if holds else "contradicted" if refuted else "insufficient"

    def stricter(self, log_odds: float) -> Thresholds:
        """The same with `log_odds` added to the logit of the support threshold; 0 and 1, and contradiction, stay."""
        if log_odds == 0:
            return self  # not even the last bit of a threshold may move where nothing is asked for
        raised = self.support * math.exp(log_odds)
        return self.model_copy(update={"support": raised / (raised + 1 - self.support)})


class Judgment(Record):
    """One verifier's support and contradiction for one obligation on one view.

    `evidence` are the turn ids it relied on, the strongest first; `note` is a sentence for a person. A verifier that
    abstained or failed judged nothing: support and contradiction are 0, the label is `insufficient`, and `outcome`
    and `reason` (`code: detail`) say why. `check`: not on the view itself but a counterfactual of it, with the evidence
    `removed` or on `unrelated` passages in its place. `cost` is what a verifier that pays for its calls tells the
    driver of them: the first judgment of a call carries it. It is of no dump and reaches no report.
    """

    verifier: str
    view: ViewName
    support: float = Field(ge=0.0, le=1.0)
    contradiction: float = Field(ge=0.0, le=1.0)
    label: Label
    outcome: Outcome = "judged"
    evidence: TurnIds = ()
    note: str = ""
    reason: str = ""
    check: Check | None = None
    cost: Usage | None = Field(default=None, exclude=True, repr=False)

    @property
    def unmoved(self) -> bool:
        """Whether this answer to a counterfactual is support that rests on no evidence: on unrelated passages, or where
        the verifier names none. What it names elsewhere is further evidence."""
        return self.label == "supported" and (
            self.check == "unrelated" or (self.check == "removed" and not self.evidence)
        )

    @classmethod
    def abstained(cls, verifier: str, view: ViewName, reason: str) -> Judgment:
        return cls(verifier=verifier, view=view, support=0.0, contradiction=0.0, label="insufficient",
                   outcome="abstained", reason=reason)  # fmt: skip

    @classmethod
    def failed(cls, verifier: str, view: ViewName, code: str, detail: str) -> Judgment:
        return cls(verifier=verifier, view=view, support=0.0, contradiction=0.0, label="insufficient",
                   outcome="failed", reason=f"{code}: {detail}")  # fmt: skip


class Finding(Record):
    """What the panel found for one obligation: its judgments, any adjudication, the label and minimal evidence.

    `evidence` are turn ids: for a supported obligation the smallest set found that still supports it. `view` is what it
    stands on: `citation_only` too where judges saw later turns beside the citations and relied on cited ones alone.
    """

    id: str
    text: str
    type: ObligationType
    label: Label
    view: ViewName
    evidence: TurnIds = ()
    resolved_by: ResolvedBy
    judgments: tuple[Judgment, ...] = ()


class Citations(Record):
    """`author`: as given; `invalid`: those that name no turn before the write; `final`: those stored."""

    author: TurnIds = ()
    invalid: TurnIds = ()
    final: TurnIds = ()


class Views(Record):
    """Turn ids shown in each view; a view that was never built is empty."""

    citation_only: TurnIds = ()
    expanded: TurnIds = ()


class Decision(Record):
    """Status, action and reasons (`code: detail`, the most important first)."""

    status: Status
    action: Action
    reasons: tuple[str, ...] = ()


class Report(Record):
    """Everything about one candidate: what was shown, asked, answered, found and decided. Times in milliseconds.

    `supersedes` is the id of the report on the stored memory that an update takes the place of.
    """

    id: str
    conversation: str
    namespace: Namespace
    memory: str
    written_after: str | None = None
    status: Status
    action: Action
    reasons: tuple[str, ...] = ()
    supersedes: str | None = None
    citations: Citations = Citations()
    views: Views = Views()
    passages: tuple[Passage, ...] = ()
    obligations: tuple[Finding, ...] = ()
    usage: Usage = Usage()
    timing_ms: dict[str, float] = Field(default_factory=dict)
    config_digest: str
    input_digest: str

    @classmethod
    def on(cls, candidate: Candidate, **fields: Any) -> Report:
        """A report on this candidate; `fields` are all those that the candidate does not say."""
        return cls(
            id=candidate.id,
            conversation=candidate.conversation,
            namespace=candidate.namespace,
            memory=candidate.memory,
            written_after=candidate.written_after,
            **fields,
        )

    @property
    def decision(self) -> Decision:
        return Decision(status=self.status, action=self.action, reasons=self.reasons)


class Write(Record):
    """A recorded memory write of a conversation file. `reference` is scored by evaluations and never read otherwise.

    Fields a data set adds to a write are kept in `extra` and ignored.
    """

    id: str
    memory: str
    citations: TurnIds = ()
    written_after: str | None = None
    reference: dict[str, Any] | None = None


class Conversation(Record):
    """One line of a conversation file: turns in order, and the writes made from them."""

    id: str
    namespace: Namespace
    turns: tuple[Turn, ...]
    writes: tuple[Write, ...] = ()

    def candidate(self, write: Write) -> Candidate:
        return Candidate(id=write.id, conversation=self.id, namespace=self.namespace, memory=write.memory,
                         citations=write.citations, written_after=write.written_after)  # fmt: skip


def canonical_json(value: object) -> str:
    """One text for one value: sorted keys, no spaces, non-ASCII kept. What every digest of this package is taken of."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def digest(value: object) -> str:
    """SHA-256 of `canonical_json(value)`, as 64 hex characters."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()
