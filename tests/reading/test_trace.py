"""The audit trace of a question: exposed within retrieved within stored, and the station at which a memory was lost."""

from __future__ import annotations

import json
import random

import pytest

from admission.errors import InputError, LedgerError
from admission.ledger import open_ledger
from admission.reading.axes import Admissibility, AxisReading
from admission.reading.context import QueryContext
from admission.reading.trace import (
    AnswerEvent,
    Disclosed,
    MemoryId,
    QuestionTrace,
    ReadEvent,
    Retrieved,
    event_of,
    locate,
)
from admission.records import Namespace

SPACE: Namespace = ("memories", "ana")
CONTEXT = QueryContext(query="Where does Ana live now?", question_id="q1", principal="ana", namespace=SPACE)


def id_of(key: str) -> MemoryId:
    return MemoryId(namespace=SPACE, key=key)


A, B, C, D = (id_of(key) for key in "abcd")


def judged(lifecycle: bool | None) -> Admissibility:
    yes = AxisReading(value=True, reason="own_namespace")
    reason = {True: "current", False: "superseded: by key b", None: "state_missing: nobody said"}[lifecycle]
    return Admissibility.of(yes, yes, AxisReading(value=lifecycle, reason=reason))


def found(id: MemoryId, rank: int, admissible: bool | None = True, route: str = "search") -> Retrieved:
    return Retrieved(id=id, route=route, rank=rank, score=1 / rank, admissibility=judged(admissible))


def read_of(*retrieved: Retrieved, exposed: tuple[MemoryId, ...], log_text: bool = False) -> ReadEvent:
    return ReadEvent.of(CONTEXT, retrieved, exposed, log_text=log_text)


def answered(**disclosed: bool) -> AnswerEvent:
    scored = tuple(Disclosed(id=id_of(key), disclosed=told, score=float(told)) for key, told in disclosed.items())
    return AnswerEvent(answer="0" * 64, scorer={"name": "exact"}, scored=scored)


def test_what_was_exposed_was_retrieved_and_what_was_retrieved_was_stored() -> None:
    with pytest.raises(InputError, match="memories/ana/b was exposed but not retrieved"):
        read_of(found(A, 1), exposed=(A, B))
    event = read_of(found(A, 1), found(B, 2), exposed=(A,))
    with pytest.raises(InputError, match="memories/ana/b was retrieved but not stored"):
        QuestionTrace.of("q1", [event], {A})
    smuggled = event.model_copy(update={"exposed": (A, C)})
    with pytest.raises(InputError, match="memories/ana/c was exposed but not retrieved"):
        QuestionTrace.of("q1", [smuggled], {A, B, C})


def test_over_random_reads_a_trace_holds_exactly_where_the_stations_nest() -> None:
    draw = random.Random(6)
    ids = [id_of(f"k{n}") for n in range(6)]
    held = 0
    for _ in range(300):
        stored, retrieved, exposed = (set(draw.sample(ids, draw.randrange(7))) for _ in range(3))
        event = ReadEvent(
            question="0" * 64,
            retrieved=tuple(found(id, rank) for rank, id in enumerate(sorted(retrieved, key=str), 1)),
            exposed=tuple(sorted(exposed, key=str)),
        )
        nested = exposed <= retrieved <= stored
        held += nested
        try:
            trace = QuestionTrace.of("q1", [event], stored)
        except InputError:
            assert not nested
        else:
            assert nested
            assert set(trace.exposed) <= {one.id for one in trace.retrieved} <= set(trace.stored)
    assert 0 < held < 300


def test_a_trace_has_no_text_but_the_question_where_texts_are_logged() -> None:
    silent = json.dumps(read_of(found(A, 1), exposed=(A,)).model_dump(mode="json"))
    assert "Ana live" not in silent
    spoken = read_of(found(A, 1), exposed=(A,), log_text=True)
    assert spoken.text == CONTEXT.query
    assert spoken.question == read_of(exposed=()).question


def test_a_memory_found_twice_keeps_the_place_at_which_it_was_exposed_and_else_its_best() -> None:
    first = read_of(found(A, 1, False), found(B, 5), found(C, 3, False), exposed=(B,))
    second = read_of(found(A, 4), found(B, 2), found(C, 2, False), exposed=(A, B))
    trace = QuestionTrace.of("q1", [first, second], [A, B, C])
    assert {one.id.key: one.rank for one in trace.retrieved} == {"a": 4, "b": 2, "c": 2}
    assert set(trace.exposed) == {A, B}
    assert trace.exclusions == {"superseded": 1}


def test_each_required_memory_is_lost_at_the_first_station_it_did_not_reach_and_it_says_why() -> None:
    event = read_of(found(A, 1), found(B, 2, False), found(C, 3, None), exposed=(A,))
    trace = QuestionTrace.of("q1", [event, answered(a=False)], [A, B, C, D])
    missing = id_of("e")
    located = locate(trace, [A, B, C, D, missing], {missing: "deleted: yesterday"})
    assert [(one.id.key, one.lost_at) for one in located] == [
        ("a", "disclosed"),
        ("b", "exposed"),
        ("c", "exposed"),
        ("d", "retrieved"),
        ("e", "stored"),
    ]
    (why,) = located[0].reasons
    assert why == "not_disclosed: exposed at rank 1 of search, but exact does not find it in the answer"
    assert located[1].reasons == ("superseded: by key b",)
    assert located[2].reasons == ("state_missing: nobody said",)
    assert located[3].reasons == ("not_retrieved: not among the 3 memories found (search)",)
    assert located[4].reasons == ("deleted: yesterday",)


def test_a_memory_that_reached_the_answer_is_lost_nowhere_and_an_unscored_answer_is_not_guessed_at() -> None:
    event = read_of(found(A, 1), found(B, 2), exposed=(A, B))
    trace = QuestionTrace.of("q1", [event, answered(a=True)], [A, B])
    told, unscored = locate(trace, [A, B])
    assert (told.lost_at, told.reasons) == (None, ("disclosed: exposed at rank 1 of search",))
    assert (unscored.lost_at, unscored.reasons[0].partition(":")[0]) == (None, "exposed")
    assert "not scored" in unscored.reasons[0]


def test_what_the_answer_tells_without_having_been_shown_it_is_told_apart() -> None:
    event = read_of(found(A, 1), found(B, 2, False), exposed=(A,))
    trace = QuestionTrace.of("q1", [event, answered(a=True, b=True)], [A, B])
    assert trace.disclosed == (A, B)
    assert trace.disclosed_unexposed == (B,)


def test_of_several_scored_answers_the_newest_counts() -> None:
    event = read_of(found(A, 1), exposed=(A,))
    trace = QuestionTrace.of("q1", [event, answered(a=True), answered(a=False)], [A])
    assert trace.disclosed == ()


def test_events_come_back_from_a_ledger_as_they_went_in_and_others_are_refused() -> None:
    ledger = open_ledger("sqlite://")
    events = [read_of(found(A, 1), found(B, 2, None), exposed=(A,)), answered(a=True)]
    for event in events:
        ledger.record_read("q1", event.model_dump(mode="json"), namespace=SPACE)
    assert [event_of(entry) for entry in ledger.reads("q1")] == events
    ledger.record_read("q2", {"event": "made up"})
    with pytest.raises(LedgerError, match="holds no event of a trace"):
        event_of(ledger.reads("q2")[0])
    ledger.close()
