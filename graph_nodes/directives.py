"""What a user says of the use of memories reaches the store: a node reads the newest message and does what is sure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, cast

from langchain_core.messages import AnyMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langgraph.graph.message import add_messages
from langgraph.store.base import BaseStore, ListNamespacesOp, MatchCondition
from typing_extensions import TypedDict

from admission.eligibility.mentions import said_in
from admission.eligibility.spans import Recalled, eligible_spans
from admission.history import History
from admission.reading.directives import Authority, Directive, Person, authorised, read_directives
from admission.reading.meant import meant
from admission.reading.stored_requests import stored_requests
from admission.reading.trace import MemoryId
from admission.records import Namespace, Passage, Record, Turn
from admission.text import sentences
from graph_nodes.erasing import check_flushed
from graph_nodes.held_back import guard_at_hand
from graph_nodes.permitting import AccessHeard, carry_out
from graph_nodes.principals import Principal
from graph_nodes.scope import conversation, question_at_hand, turns_of
from graph_nodes.steps import Blocking, Inner, Steps, adrive, drive
from graph_nodes.store import AdmissionStore
from graph_nodes.values import memory_text

NEWEST = 10_000
"""So many of the newest values of a namespace are looked through."""
NAMESPACES = 100
"""So many namespaces beneath the principal's, where they are the principal's too."""
ASKED_ABOUT = 20
"""So many memories that a request may mean are named; no question to the user can be about more."""

# What is shown: fenced code, and all that a line with a colon at its end announces.
_SHOWN = re.compile(r"(```|~~~).*?(?:\1|\Z)|(?<=:)[ \t]*\n.*", re.S)
# "Ben: delete it" is Ben's word, and "forget what I said: it isn't A, it's B" a correction.
_COLON = re.compile(r":(?=\s)")
_CORRECTS = re.compile(r":.*\b(?:isn't|is not|wasn't|was not|it's|it is)\b", re.I)

Outcome = Literal["forgotten", "unsure", "unknown", "no_authority", "waits", "reports"]


class Heard(Record):
    """What became of one request to forget: the `place`-th, from 0, of the turn. Keys, and no texts.

    `forgotten`: what it means beyond doubt, and is forgotten now or was before. `unsure`: what it may mean, and was
    left alone. `outcome`: "forgotten" where anything was; "unsure" where something only may be meant; "unknown" where
    nothing is known that it could mean; "no_authority": the principal has no say; "waits" for something ("after the
    trip, delete ..."); "reports" that something was deleted, and asks for nothing.
    """

    turn: str
    place: int
    outcome: Outcome
    forgotten: tuple[MemoryId, ...] = ()
    unsure: tuple[MemoryId, ...] = ()


class DirectiveState(TypedDict):
    """What `create_directive_node` reads and writes; extend it, or use its channels in a state of your own.

    `admission_forgotten` has a `Heard` as JSON for each request to forget of the newest message, `admission_access` an
    `AccessHeard` for each thing it says of who may use what; empty where it has none.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    admission_forgotten: list[dict[str, Any]]
    admission_access: list[dict[str, Any]]


@dataclass(frozen=True)
class _Asked:
    """What one turn asks for, `id` as in the audit trace, and who made it."""

    id: str
    who: Principal
    directives: Sequence[Directive]

    @property
    def requests(self) -> list[Directive]:
        return [directive for directive in self.directives if directive.kind == "forget"]

    @property
    def accesses(self) -> list[Directive]:
        return [directive for directive in self.directives if directive.kind != "forget"]


def create_directive_node(
    store: BaseStore | None = None,
    *,
    authority: Sequence[Authority] | None = None,
    known: Sequence[str] = (),
    people: Sequence[Person] = (),
) -> Runnable[Mapping[str, Any], dict[str, Any]]:
    """A node over `DirectiveState` for sync and async graphs: what the user's newest message asks to be forgotten is,
    and what it withholds from somebody or lets somebody see is so.

    The message is the run's principal's, whose memories alone are looked at and changed; what it only quotes, and what
    is marked as recalled, external or an instruction, asks for nothing. Put the node behind those that write, so that
    what they store of the message is looked at too. A repeat forgets nothing twice, and nothing that was not meant.

    `store`, else the one the graph was compiled with, is an `AdmissionStore` whose read gate is on. `authority`: who
    has a say; None: all principals over what the settings say is their own. `known`: names that identify no memory (of
    people, projects). `people`: whom a directive on access may be about, by the names they go by; without them none is
    read. Raises `BoundaryError` where nobody vouches for a principal, and `LedgerError` where writes are
    still pending after a flush.
    """

    def run(state: Mapping[str, Any]) -> dict[str, Any]:
        guard = guard_at_hand(store)
        asked = _asked(guard, state, known, people)
        if not asked.directives:
            return _update([], [])
        check_flushed(guard.flush())
        return _update(*drive(_carried_out(guard, asked, authority), guard.gate, guard.inner))

    async def arun(state: Mapping[str, Any]) -> dict[str, Any]:
        guard = guard_at_hand(store)
        asked = _asked(guard, state, known, people)
        if not asked.directives:
            return _update([], [])
        check_flushed(await guard.aflush())
        return _update(*await adrive(_carried_out(guard, asked, authority), guard.gate, guard.inner))

    return RunnableLambda(run, arun, name="directives")


def _update(heard: Sequence[Heard], accesses: Sequence[AccessHeard]) -> dict[str, Any]:
    return {
        "admission_forgotten": [one.model_dump(mode="json") for one in heard],
        "admission_access": [one.model_dump(mode="json") for one in accesses],
    }


def _asked(guard: AdmissionStore, state: Mapping[str, Any], known: Sequence[str], people: Sequence[Person]) -> _Asked:
    who = guard.principal()
    turns = turns_of(state.get("messages") or [])
    newest = next((turn for turn in reversed(turns) if turn.role == "user"), None)
    if newest is None or newest.origin != "conversation":
        return _Asked("", who, ())
    with conversation(None, turns):
        question = question_at_hand()
    id = question.id if question is not None else newest.id
    # "Until Friday" is said now, where the message itself has no time.
    newest = newest if newest.time is not None else newest.model_copy(update={"time": who.context.time})
    return _Asked(id, who, directives_of(newest, turns, by=who.context.principal, known=known, people=people))


def directives_of(
    turn: Turn,
    turns: Sequence[Turn],
    *,
    by: str | None,
    known: Sequence[str] = (),
    people: Sequence[Person] = (),
) -> tuple[Directive, ...]:
    """The directives that a turn gives itself, in order, and not in words that it only mentions. `turns`: the
    conversation, for who takes part in it."""
    common = tuple(name for name in (by, turn.speaker, *known) if name)
    texts = [turn.text[start:end] for start, end in eligible_spans(turn, Recalled(), lambda terms, share: False)]
    read_in = partial(_read, turn, by=by, common=common, people=people)
    if not any(read_in(text[start:end]) for text in texts for start, end in sentences(text)):
        return ()  # before the conversation is looked at: most turns ask for nothing
    history = History.of("", turns)
    found: list[Directive] = []
    for text in texts:
        passage = Passage(
            id=turn.id, turn_id=turn.id, position=0, role=turn.role, speaker=turn.speaker, text=text, origin=turn.origin
        )
        own = _SHOWN.sub(lambda shown: " " * len(shown[0]), said_in(passage, "", history))
        # Without the words it mentions a request is one still; which thing it means may stand in quotation marks.
        masked = "".join(
            "x" if mine == " " and not char.isspace() else char for char, mine in zip(text, own, strict=True)
        )
        for start, end in sentences(text):
            read = read_in(text[start:end])
            without = _COLON.sub(" ", masked[start:end])
            if not _CORRECTS.search(text[start:end]) and len(read_in(without)) == len(read):
                found.extend(read)
    return tuple(found)


def _read(turn: Turn, text: str, *, by: str | None, common: Sequence[str], people: Sequence[Person]) -> list[Directive]:
    """What a sentence says of somebody's access, or else what it asks to be forgotten: of that a name in it may be what
    tells the memory, so it is read as if nobody were known by it."""
    if people:
        read = read_directives(turn.id, text, by=by, time=turn.time, people=people, known=common)
        if accesses := [directive for directive in read if directive.kind != "forget"]:
            return accesses
    read = read_directives(turn.id, text, by=by, time=turn.time, known=common)
    return [directive for directive in read if directive.kind == "forget"]


def _carried_out(
    guard: AdmissionStore, asked: _Asked, authority: Sequence[Authority] | None
) -> Steps[tuple[list[Heard], list[AccessHeard]]]:
    who = asked.who
    namespaces = [who.namespace]
    if who.sub_namespaces:
        conditions = (MatchCondition("prefix", who.namespace),)
        (found,) = yield Inner([ListNamespacesOp(match_conditions=conditions, limit=NAMESPACES)])
        namespaces = sorted({who.namespace, *(name for name in found if who.owns(name))})
    if authority is None:
        namespaces = [name for name in namespaces if who.is_owner_of(name)]
    texts: dict[MemoryId, str] = yield Blocking(partial(_texts, guard, namespaces))
    heard: list[Heard] = yield Blocking(partial(_heard, guard, asked, authority, texts, bool(namespaces)))
    accesses: list[AccessHeard] = yield Blocking(partial(_accesses, guard, asked, authority, texts, bool(namespaces)))
    return heard, accesses


def _texts(guard: AdmissionStore, namespaces: Sequence[Namespace]) -> dict[MemoryId, str]:
    return {
        MemoryId(namespace=namespace, key=standing.key): memory_text(standing.value, guard.settings.writes)
        for namespace in namespaces
        for standing in guard.ledger.standing(namespace, limit=NEWEST)
    }


def _accesses(
    guard: AdmissionStore,
    asked: _Asked,
    authority: Sequence[Authority] | None,
    texts: Mapping[MemoryId, str],
    has_own: bool,
) -> list[AccessHeard]:
    """Understands and carries out one directive on access after the other. A memory that tells of the directive is one
    like any other: whoever is not to hear of a thing is not to hear that it was asked for. Blocks."""
    heard: list[AccessHeard] = []
    for place, directive in enumerate(asked.accesses):
        who = directive.who[0] if len(directive.who) == 1 else None
        one = AccessHeard(
            turn=asked.id,
            place=place,
            kind=cast(Literal["restrict", "grant", "revoke"], directive.kind),
            who=who,
            until=directive.until,
            outcome="no_authority",
        )
        may = _has_a_say(directive, asked.who, authority, has_own)
        heard.append(carry_out(guard.ledger, directive, one, texts, ASKED_ABOUT) if may else one)
    return heard


def _heard(
    guard: AdmissionStore,
    asked: _Asked,
    authority: Sequence[Authority] | None,
    texts: Mapping[MemoryId, str],
    has_own: bool,
) -> list[Heard]:
    """Understands and carries out one request after the other. Blocks."""
    stored = {id: read for id, text in texts.items() if (read := stored_requests(text))}
    # By their place in a list: keys of two namespaces may be alike. A request is not what it asks to forget.
    records = {str(place): id for place, id in enumerate(texts) if id not in stored}
    heard: list[Heard] = []
    for place, request in enumerate(asked.requests):
        one = Heard(turn=asked.id, place=place, outcome="unknown")
        if (cannot := _no_effect(request, asked.who, authority, has_own)) is not None:
            heard.append(one.model_copy(update={"outcome": cannot}))
            continue
        found = meant(request, [(place, texts[id]) for place, id in records.items()])
        sure = tuple(id for id in (records[place] for place in found.sure) if _exists(guard, id))
        unsure = tuple(id for id in (records[place] for place in found.unsure) if _exists(guard, id))[:ASKED_ABOUT]
        told = [id for id, read in stored.items() if any(_same(request, other) for other in read)]
        for id in sure:
            _forget(guard, id, asked, [other.key for other in told if other.namespace == id.namespace])
        outcome: Outcome = "forgotten" if sure else "unsure" if unsure else "unknown"
        heard.append(one.model_copy(update={"outcome": outcome, "forgotten": sure, "unsure": unsure}))
    return heard


def _no_effect(
    request: Directive, who: Principal, authority: Sequence[Authority] | None, has_own: bool
) -> Outcome | None:
    if not _has_a_say(request, who, authority, has_own):
        return "no_authority"
    if request.done:
        return "reports"
    return "waits" if request.deferred else None


def _has_a_say(directive: Directive, who: Principal, authority: Sequence[Authority] | None, has_own: bool) -> bool:
    """`has_own`: are there namespaces that the principal has a say over?"""
    roles = {who.context.principal: who.context.roles or ()} if who.context.principal is not None else {}
    return has_own and (authority is None or authorised(directive, authority, roles))


def _exists(guard: AdmissionStore, id: MemoryId) -> bool:
    """The ledger's list has deleted memories too."""
    return guard.ledger.latest(id.namespace, id.key) is not None


def _same(request: Directive, stored: Directive) -> bool:
    """Does a memory tell of this request?"""
    return bool(set(request.values) & set(stored.values)) or (
        not request.values and bool(request.topics) and set(request.topics) <= set(stored.topics)
    )


def _forget(guard: AdmissionStore, id: MemoryId, asked: _Asked, told: Sequence[str]) -> None:
    """`told`: the keys beside it that tell of the request, which are to stay usable."""
    places = [(id.namespace, key) for key in (id.key, *told)]
    known = guard.ledger.metadata(places)
    memory = known.get(places[0])
    unmarked = [key for key in told if (of := known.get((id.namespace, key))) is None or not of.forget]
    if memory is not None and memory.lifecycle.state == "forgotten" and not unmarked:
        return
    by, why = str(asked.who.context.principal), f"asked for in turn {asked.id}"
    for directive_key in unmarked or (None,):
        guard.forget(id.namespace, id.key, by=by, why=why, directive_key=directive_key)
