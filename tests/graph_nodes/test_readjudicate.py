"""Unresolved memories judged again when the conversation goes on: which, on what, how many, and never silently."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from ledger_places import Place
from scripted_gate import (
    DENIED,
    NAMESPACE,
    NEVER_SAID,
    SAID,
    TALK,
    forget_questions,
    guarded,
    stored,
    verifications,
)
from scripted_gate import asked as questions

from admission.errors import InputError
from admission.records import Question
from graph_nodes import AdmissionState, AdmissionStore, conversation
from graph_nodes.readjudicate import (
    Budget,
    Readjudication,
    areadjudicate,
    areadjudicate_every,
    create_readjudication_node,
    readjudicate,
    readjudicate_every,
)
from graph_nodes.review import ReviewState, create_review_node

LATER: list[AnyMessage] = [*TALK, HumanMessage("In the end Ana moved to Oslo in June.", id="m4")]
CONFIG: Any = {"configurable": {"thread_id": "t"}}


def held(store: AdmissionStore, *memories: str, thread: str = "t") -> list[str]:
    """Write memories after TALK; the ids of their reports."""
    with conversation(thread, TALK):
        for number, memory in enumerate(memories):
            store.put(NAMESPACE, f"{thread}-{number}", {"content": memory})
    reports = [store.report_for(NAMESPACE, f"{thread}-{number}") for number in range(len(memories))]
    return [report.id for report in reports if report is not None]


def again(store: AdmissionStore, messages: Any = LATER, **how: Any) -> Readjudication:
    return readjudicate(store, lambda thread: messages, **how)


def ids(result: Readjudication) -> list[str]:
    return [judged.former for judged in result.judged]


@pytest.fixture
def store() -> AdmissionStore:
    return guarded()


# -- What becomes of it ------------------------------------------------------------------------------------------------


def test_what_the_conversation_now_supports_waits_for_a_person(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    ((judged,),) = [again(store).judged]
    assert judged.former == former
    assert (judged.report.status, judged.report.action) == ("repaired", "review")
    assert stored(store) == {}
    (waiting,) = store.ledger.waiting()
    assert waiting.report == judged.report and waiting.intent.value == {"content": NEVER_SAID}
    assert store.report_for(NAMESPACE, "t-0") == judged.report  # the newest verdict


def test_the_new_report_says_which_it_follows_and_that_later_turns_counted(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    (judged,) = again(store).judged
    reason = f"readjudicated: in place of {former}; what was said since turn m3 counts too (m4)"
    assert judged.report.reasons[0] == reason
    assert judged.report.written_after == "m4"
    assert judged.report.citations.final == ("m4",)


def test_old_and_new_report_are_both_in_the_ledger_and_linked(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    (judged,) = again(store).judged
    entries = list(store.ledger.entries())
    assert [entry.kind for entry in entries] == ["report", "review", "report"]
    assert entries[0].body["id"] == former and entries[2].body["id"] == judged.report.id
    assert (entries[1].fingerprint, entries[1].body["successor"]) == (entries[0].fingerprint, entries[2].fingerprint)
    assert (entries[1].body["by"], entries[1].body["why"]) == ("admission", "the conversation has gone on: m4")
    assert store.ledger.verify().ok


def test_where_the_caller_says_so_it_is_stored_after_its_report_is_recorded(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    (judged,) = again(store, readmit="store").judged
    assert (judged.report.action, judged.report.reasons[0].partition(":")[0]) == ("persist", "readjudicated")
    assert stored(store) == {"t-0": {"content": NEVER_SAID}}
    assert [entry.kind for entry in store.ledger.entries()] == ["report", "review", "report", "stored"]
    assert store.ledger.incomplete() == [] and store.ledger.waiting() == []


def test_repaired_citations_are_stored(store: AdmissionStore) -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": NEVER_SAID, "citations": ["m1"]})
    again(store, readmit="store")
    assert stored(store) == {"k": {"content": NEVER_SAID, "citations": ["m4"]}}


def test_what_stays_unresolved_waits_on_with_the_newer_verdict(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    (judged,) = again(store, [*TALK, HumanMessage("Oslo is cold in June.", id="m4")]).judged
    assert (judged.report.status, judged.report.action) == ("unresolved", "quarantine")
    (waiting,) = store.ledger.waiting()
    assert waiting.report == judged.report


def test_what_the_conversation_now_denies_is_contradicted(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    denial = HumanMessage("It is not the case that Ana moved to Oslo in June.", id="m4")
    (judged,) = again(store, [*TALK, denial], readmit="store").judged
    assert (judged.report.status, judged.report.action) == ("contradicted", "quarantine")
    assert stored(store) == {}


def test_a_write_that_was_interrupted_gets_its_verdict(store: AdmissionStore) -> None:
    with conversation("t", TALK):
        decide, store.gate.decide_many = store.gate.decide_many, _killed  # type: ignore[method-assign]
        with pytest.raises(SystemExit):
            store.put(NAMESPACE, "k", {"content": SAID})
        store.gate.decide_many = decide  # type: ignore[method-assign]
    store.recover()
    (judged,) = again(store, TALK, readmit="store").judged
    assert "since the beginning" in judged.report.reasons[0]
    assert stored(store) == {"k": {"content": SAID}}


def _killed(*_: Any, **__: Any) -> Any:
    raise SystemExit


# -- Which are judged again --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        [],
        [HumanMessage("And the weather was fine.", id="m4")],
        [HumanMessage("Ana, are you there?", id="m4", name="Ana")],
    ],
    ids=["nothing new", "something else", "only the name of a participant"],
)
def test_without_new_words_on_what_is_open_nothing_is_asked(store: AdmissionStore, more: list[Any]) -> None:
    held(store, NEVER_SAID)
    forget_questions(store)
    assert again(store, [*TALK, *more]) == Readjudication()
    assert questions(store) == [] and verifications(store) == 1


def test_only_unresolved_memories_are_judged_again(store: AdmissionStore) -> None:
    held(store, DENIED, SAID)
    parrot = HumanMessage("Ana keeps a grey parrot. Ana moved to Lisbon in May.", id="m4")
    assert again(store, [*TALK, parrot]) == Readjudication()


def test_what_a_person_has_decided_on_is_not_judged_again(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    (record,) = store.ledger.waiting()
    store.ledger.reject(record.intent.fingerprint, by="Bo", why="no")
    assert again(store) == Readjudication()


def test_what_was_judged_again_is_not_without_further_turns(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    cold = [*TALK, HumanMessage("Oslo is cold in June.", id="m4")]
    assert len(again(store, cold).judged) == 1
    assert again(store, cold) == Readjudication()
    (judged,) = again(store, [*cold, HumanMessage("Ana moved to Oslo in June.", id="m5")]).judged
    assert judged.report.status == "repaired"


def test_a_memory_whose_key_was_written_since_is_left_alone(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    with conversation("t", TALK):
        store.put(NAMESPACE, "t-0", {"content": SAID})
    assert again(store, readmit="store") == Readjudication()
    assert stored(store) == {"t-0": {"content": SAID}}


def test_a_memory_without_a_conversation_is_left_alone(store: AdmissionStore) -> None:
    store.put(NAMESPACE, "k", {"content": NEVER_SAID})
    held(store, NEVER_SAID)
    assert readjudicate(store, lambda thread: None) == Readjudication()


def test_a_memory_is_judged_on_its_own_conversation(store: AdmissionStore) -> None:
    (first,) = held(store, NEVER_SAID, thread="a")
    held(store, NEVER_SAID, thread="b")
    result = readjudicate(store, {"a": LATER, "b": TALK}.get)
    assert ids(result) == [first]


def test_only_under_the_namespace_asked_for(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    assert again(store, namespace=("memories", "bo")) == Readjudication()
    assert len(again(store, namespace=("memories",)).judged) == 1


# -- Within a budget ---------------------------------------------------------------------------------------------------


def test_the_likeliest_are_judged_first_and_the_rest_is_left(store: AdmissionStore) -> None:
    first, second, third = held(store, "Ana likes jazz in June.", NEVER_SAID, "Ana sold her old boat in June.")
    result = again(store, budget=Budget(writes=1))
    assert (ids(result), result.left) == ([second], (first, third))
    assert ids(again(store, budget=Budget(writes=0))) == []
    assert ids(again(store)) == [first, third]


def test_no_memory_is_begun_when_the_calls_are_spent(store: AdmissionStore) -> None:
    held(store, NEVER_SAID, "Ana moved to Oslo.")
    result = again(store, budget=Budget(calls=1))
    assert len(result.judged) == 1 and len(result.left) == 1
    assert result.calls == result.judged[0].report.usage.calls > 1


@pytest.mark.parametrize("bound", ["writes", "calls"])
def test_a_budget_below_nothing_is_refused(bound: str) -> None:
    with pytest.raises(InputError, match=f"budget.{bound}"):
        Budget(**{bound: -1})


# -- When something goes wrong -----------------------------------------------------------------------------------------


def test_a_verifier_that_fails_leaves_the_former_verdict_to_be_tried_again(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    verifier: Any = store.gate.verifiers["verifier_a"]
    script = verifier._script

    def broken(question: Question) -> tuple[float, float]:
        raise RuntimeError("out of memory")

    verifier._script = broken
    head = store.ledger.head()
    assert again(store) == Readjudication(unanswered=(former,), calls=again(store).calls)
    assert store.ledger.head() == head
    verifier._script = script
    assert ids(again(store)) == [former]


def test_what_a_person_decides_meanwhile_counts(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    (record,) = store.ledger.waiting()
    decide: Callable[..., Any] = store.gate.decide

    def slow(*args: Any) -> Any:
        store.ledger.reject(record.intent.fingerprint, by="Bo", why="no")
        return decide(*args)

    store.gate.decide = slow  # type: ignore[method-assign]
    result = again(store, readmit="store")
    assert (result.judged, result.settled) == ((), (former,))
    assert stored(store) == {} and store.ledger.verify().ok


def test_a_run_that_ends_on_the_way_is_gone_on_with(store: AdmissionStore) -> None:
    both = held(store, NEVER_SAID, "Ana moved to Oslo.")
    supersede: Callable[..., Any] = store.ledger.supersede

    def killed_after(*args: Any, **kwargs: Any) -> Any:
        supersede(*args, **kwargs)
        raise SystemExit

    store.ledger.supersede = killed_after  # type: ignore[method-assign]
    with pytest.raises(SystemExit):
        again(store, readmit="store")
    next_start = guarded(store.inner, ledger=store.ledger)
    store.ledger.supersede = supersede  # type: ignore[method-assign]
    assert len(stored(next_start)) == 1
    assert len(again(next_start, readmit="store").judged) == 1
    assert len(stored(next_start)) == len(both)
    assert verifications(store) == 4 and store.ledger.verify().ok


# -- Where conversations come from -------------------------------------------------------------------------------------


def talk(saver: BaseCheckpointSaver[Any]) -> Any:
    """A graph whose thread is the conversation."""
    graph = StateGraph(MessagesState).add_node("reply", lambda state: {}).add_edge(START, "reply")
    return graph.compile(checkpointer=saver)


def test_a_checkpointer_has_the_conversations(store: AdmissionStore) -> None:
    with SqliteSaver.from_conn_string(":memory:") as saver:
        held(store, NEVER_SAID, thread="unknown")
        (former,) = held(store, NEVER_SAID)
        talk(saver).invoke({"messages": LATER}, CONFIG)
        assert ids(readjudicate(store, saver)) == [former]


async def test_async_with_a_checkpointer_for_async_use_only(store: AdmissionStore) -> None:
    held(store, NEVER_SAID, thread="unknown")
    (former,) = held(store, NEVER_SAID)
    async with AsyncSqliteSaver.from_conn_string(":memory:") as saver:
        await talk(saver).ainvoke({"messages": LATER}, CONFIG)
        result = await areadjudicate(store, saver, readmit="store", budget=Budget(writes=5))
    assert ids(result) == [former]
    assert stored(store) == {"t-0": {"content": NEVER_SAID}}


async def test_async_with_a_function(store: AdmissionStore) -> None:
    (former,) = held(store, NEVER_SAID)
    assert ids(await areadjudicate(store, lambda thread: LATER if thread == "t" else None)) == [former]


# -- As a node ---------------------------------------------------------------------------------------------------------


def noded(store: AdmissionStore, **how: Any) -> Any:
    graph = StateGraph(AdmissionState).add_node("again", create_readjudication_node(**how)).add_edge(START, "again")
    return graph.compile(store=store, checkpointer=InMemorySaver())


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_as_a_node_it_looks_at_its_own_thread(store: AdmissionStore, asynchronous: bool) -> None:
    held(store, NEVER_SAID, thread="another")
    held(store, NEVER_SAID)
    graph = noded(store)
    given = ({"messages": LATER}, CONFIG)
    state = await graph.ainvoke(*given) if asynchronous else graph.invoke(*given)
    (report,) = state["admission_reports"]
    assert (report["memory"], report["action"], report["conversation"]) == (NEVER_SAID, "review", "t")
    assert len(store.ledger.waiting(thread="another")) == 1


def test_a_node_keeps_to_its_budget(store: AdmissionStore) -> None:
    held(store, NEVER_SAID, "Ana moved to Oslo.")
    assert len(noded(store, budget=Budget(writes=1)).invoke({"messages": LATER}, CONFIG)["admission_reports"]) == 1


def test_before_a_review_node_what_it_finds_is_put_to_a_person(store: AdmissionStore) -> None:
    held(store, NEVER_SAID)
    graph = StateGraph(ReviewState).add_node("again", create_readjudication_node())
    graph.add_node("review", create_review_node(actions=("review",)))
    compiled = (
        graph.add_edge(START, "again").add_edge("again", "review").compile(store=store, checkpointer=InMemorySaver())
    )
    compiled.invoke({"messages": LATER}, CONFIG)
    (waiting,) = compiled.get_state(CONFIG).interrupts
    (memory,) = waiting.value["memories"]
    assert (memory["memory"], memory["status"]) == (NEVER_SAID, "repaired")
    decision = {"id": memory["id"], "verdict": "approve", "why": "she said so"}
    compiled.invoke(Command(resume={"by": "Bo", "decisions": [decision]}), CONFIG)
    assert stored(store) == {"t-0": {"content": NEVER_SAID}}  # nothing is overridden, so nothing is marked


# -- Every so often ----------------------------------------------------------------------------------------------------


def test_every_so_often_until_told_to_stop_whatever_a_run_comes_to(caplog: pytest.LogCaptureFixture) -> None:
    stop, runs = threading.Event(), []

    def run() -> None:
        runs.append(1)
        if len(runs) == 3:
            stop.set()
        raise ConnectionError(f"no answer on {SAID}")

    readjudicate_every(0.001, run, stop)
    assert len(runs) == 3
    assert caplog.text.count("re-adjudication failed (ConnectionError)") == 3 and SAID not in caplog.text


async def test_every_so_often_async_until_told_to_stop_or_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    stop, runs = asyncio.Event(), []

    async def run() -> None:
        runs.append(1)
        if len(runs) == 3:
            stop.set()
        raise ConnectionError(f"no answer on {SAID}")

    await areadjudicate_every(0.001, run, stop)
    assert len(runs) == 3
    assert caplog.text.count("re-adjudication failed (ConnectionError)") == 3 and SAID not in caplog.text
    stop.clear()
    task = asyncio.create_task(areadjudicate_every(60, run, stop))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_on_either_ledger(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = guarded(ledger=ledger)
        held(store, NEVER_SAID)
        again(store, readmit="store")
        assert stored(store) == {"t-0": {"content": NEVER_SAID}}
        assert again(store) == Readjudication() and ledger.verify().ok
