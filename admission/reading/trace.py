"""The audit trace of a question: which memories were stored, retrieved, exposed, disclosed, and where one was lost.

Ids, numbers and reasons only: no memory's text is in it, and the question's own only where the deployment logs texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, TypeAdapter, ValidationError

from admission.errors import InputError, LedgerError
from admission.ledger import Entry
from admission.reading.axes import Admissibility
from admission.reading.context import Intent, QueryContext
from admission.records import Namespace, Record, digest

Station = Literal["stored", "retrieved", "exposed", "disclosed"]
STATIONS: tuple[Station, ...] = ("stored", "retrieved", "exposed", "disclosed")


class MemoryId(Record):
    """A memory by its key. Without a namespace: in the only one there is."""

    namespace: Namespace = ()
    key: str

    def __str__(self) -> str:
        return "/".join((*self.namespace, self.key))


class Retrieved(Record):
    """A memory that a read found: by which route (`search`, `get`, a ranker's name), at which rank (from 1), with which
    score of that route's own; `admissibility` has what the read gate said of it, with the reasons of an exclusion."""

    id: MemoryId
    route: str
    rank: int = Field(ge=1)
    score: float | None = None
    admissibility: Admissibility | None = None


class ReadEvent(Record):
    """One read for a question. `question` is a digest of its words (`records.digest`); `text` are the words themselves,
    where the deployment logs texts."""

    event: Literal["read"] = "read"
    question: str
    text: str | None = None
    principal: str | None = None
    purpose: str | None = None
    intent: Intent | None = None
    asked: str | None = None
    retrieved: tuple[Retrieved, ...]
    exposed: tuple[MemoryId, ...]

    @classmethod
    def of(
        cls, context: QueryContext, retrieved: Iterable[Retrieved], exposed: Iterable[MemoryId], *, log_text: bool
    ) -> ReadEvent:
        """What this read found and let through. Raises `InputError` for a memory that is exposed but not retrieved."""
        event = cls(
            question=digest(context.query),
            text=context.query if log_text else None,
            principal=context.principal,
            purpose=context.purpose,
            intent=context.intent,
            asked=context.time,
            retrieved=tuple(retrieved),
            exposed=tuple(exposed),
        )
        _check_within(event.exposed, "exposed", {found.id for found in event.retrieved}, "retrieved")
        return event


class Disclosed(Record):
    """What a scorer made of one memory and an answer: `score` in [0, 1], None where there was nothing to look for."""

    id: MemoryId
    disclosed: bool
    score: float | None = Field(default=None, ge=0.0, le=1.0)


class AnswerEvent(Record):
    """An answer to the question, scored: which memories' content it discloses, by which scorer. `answer` is a digest of
    its words; `scorer` declares what was looked for and how (`disclosure.Scorer.declaration`)."""

    event: Literal["answer"] = "answer"
    answer: str
    scorer: dict[str, Any]
    scored: tuple[Disclosed, ...]


Event = Annotated[ReadEvent | AnswerEvent, Discriminator("event")]
_EVENT: TypeAdapter[ReadEvent | AnswerEvent] = TypeAdapter(Event)


def event_of(entry: Entry) -> ReadEvent | AnswerEvent:
    """The event that a ledger's `read` entry holds."""
    try:
        return _EVENT.validate_python(entry.body)
    except ValidationError as error:
        problem = f"entry {entry.seq} holds no event of a trace that this version can read"
        raise LedgerError("ledger", problem, "upgrade memory-admission, or run `admission verify`") from error


class QuestionTrace(Record):
    """One question's memories at the four stations: stored (W), retrieved (R), exposed (E), disclosed (Y).

    E within R within W is checked when it is made. Y is not bounded: an answer can tell what it was not shown. Of a
    memory retrieved more than once its best place is kept. `scorer` None: no answer was scored.
    """

    question_id: str
    stored: tuple[MemoryId, ...]
    retrieved: tuple[Retrieved, ...] = ()
    exposed: tuple[MemoryId, ...] = ()
    scored: tuple[Disclosed, ...] = ()
    scorer: dict[str, Any] | None = None

    @classmethod
    def of(
        cls, question_id: str, events: Sequence[ReadEvent | AnswerEvent], stored: Collection[MemoryId]
    ) -> QuestionTrace:
        """From the events of a question, oldest first; of several scored answers the newest counts. Raises `InputError`
        that names the first memory that was exposed but not retrieved, or retrieved but not stored."""
        reads = [event for event in events if isinstance(event, ReadEvent)]
        answers = [event for event in events if isinstance(event, AnswerEvent)]
        exposed = dict.fromkeys(id for read in reads for id in read.exposed)
        best: dict[MemoryId, Retrieved] = {}
        # Places where a memory was exposed come before those where it was not, then lower ranks before higher ones.
        places = [(found.id not in read.exposed, found.rank, found) for read in reads for found in read.retrieved]
        for *_, found in sorted(places, key=lambda place: place[:2]):
            best.setdefault(found.id, found)
        _check_within(exposed, "exposed", best, "retrieved")
        _check_within(best, "retrieved", set(stored), "stored")
        return cls(
            question_id=question_id,
            stored=tuple(stored),
            retrieved=tuple(sorted(best.values(), key=lambda found: found.rank)),
            exposed=tuple(exposed),
            scored=answers[-1].scored if answers else (),
            scorer=answers[-1].scorer if answers else None,
        )

    @property
    def disclosed(self) -> tuple[MemoryId, ...]:
        return tuple(found.id for found in self.scored if found.disclosed)

    @property
    def disclosed_unexposed(self) -> tuple[MemoryId, ...]:
        """What the answer tells though no read showed it: known from elsewhere, or guessed."""
        return tuple(id for id in self.disclosed if id not in set(self.exposed))

    @property
    def exclusions(self) -> dict[str, int]:
        """How many retrieved memories were kept back for each reason's code."""
        shown = set(self.exposed)
        kept = [found for found in self.retrieved if found.id not in shown and found.admissibility is not None]
        codes = [reason.partition(":")[0] for found in kept for reason in _reasons(found)]
        return dict(Counter(codes).most_common())


class Located(Record):
    """Where a required memory was lost on its way into the answer: the first station it did not reach (None: it reached
    all of them, or the last that is known of), and why (`code: detail`)."""

    id: MemoryId
    lost_at: Station | None
    reasons: tuple[str, ...]


def locate(
    trace: QuestionTrace, required: Iterable[MemoryId], absent: Mapping[MemoryId, str] | None = None
) -> tuple[Located, ...]:
    """At which of the four stations an answer went wrong, for each memory it needed.

    `absent` has the reasons (`code: detail`) why memories are not stored, where somebody knows them.
    """
    stored, exposed = set(trace.stored), set(trace.exposed)
    found = {retrieved.id: retrieved for retrieved in trace.retrieved}
    scored = {one.id: one for one in trace.scored}
    routes = ", ".join(sorted({retrieved.route for retrieved in trace.retrieved})) or "no route"

    def located(id: MemoryId) -> tuple[Station | None, tuple[str, ...]]:
        if id not in stored:
            return "stored", ((absent or {}).get(id, "not_stored: no memory has this id"),)
        if id not in found:
            return "retrieved", (f"not_retrieved: not among the {len(found)} memories found ({routes})",)
        if id not in exposed:
            return "exposed", _reasons(found[id]) or ("not_exposed: found, but its place was not asked for",)
        place = f"at rank {found[id].rank} of {found[id].route}"
        if id not in scored:
            return None, (f"exposed: {place}; the answer was not scored for it",)
        if not scored[id].disclosed:
            named = (trace.scorer or {}).get("name", "the scorer")
            return "disclosed", (f"not_disclosed: exposed {place}, but {named} does not find it in the answer",)
        return None, (f"disclosed: exposed {place}",)

    return tuple(Located(id=id, lost_at=at, reasons=why) for id in required for at, why in (located(id),))


def _reasons(found: Retrieved) -> tuple[str, ...]:
    return () if found.admissibility is None else found.admissibility.reasons


def _check_within(
    inner: Iterable[MemoryId], inner_name: Station, outer: Collection[MemoryId], outer_name: Station
) -> None:
    for id in inner:
        if id not in outer:
            remedy = f"report what was {outer_name} in full: only that can be {inner_name}"
            raise InputError("trace", f"memory {id} was {inner_name} but not {outer_name}", remedy)
