"""Human review by interrupt: what is asked, what each answer does, and that an answer counts once."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command
from ledger_places import Place
from scripted_gate import DENIED, NAMESPACE, NEVER_SAID, SAID, TALK, asked, guarded, stored, verifications

from admission.errors import InputError
from admission.ledger import SqliteLedger
from graph_nodes import AdmissionStore, conversation
from graph_nodes.review import ReviewAnswer, ReviewDecision, ReviewState, create_review_node

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}
LISBON = "Ana moved to Lisbon."


def writing(*memories: str | dict[str, Any]) -> Any:
    """A node that puts each memory under a fresh key, as memory tools do."""

    def write(state: ReviewState) -> dict[str, Any]:
        for memory in memories:
            value = memory if isinstance(memory, dict) else {"content": memory}
            get_store().put(NAMESPACE, str(uuid.uuid4()), value)
        return {}

    return write


def review_graph(store: AdmissionStore, *memories: str | dict[str, Any], **how: Any) -> CompiledStateGraph:
    """A node that writes the memories, then the review node. `how`: node, saver."""
    node, saver = how.get("node") or create_review_node(), how.get("saver") or InMemorySaver()
    graph = StateGraph(ReviewState).add_node("write", writing(*memories)).add_node("review", node)
    return graph.add_edge(START, "write").add_edge("write", "review").compile(store=store, checkpointer=saver)


def begin(graph: CompiledStateGraph) -> list[dict[str, Any]]:
    """Run until the interrupt; the memories asked about."""
    graph.invoke({"messages": TALK}, CONFIG)
    return question_of(graph)


def question_of(graph: CompiledStateGraph) -> list[dict[str, Any]]:
    (waiting,) = graph.get_state(CONFIG).interrupts
    memories: list[dict[str, Any]] = waiting.value["memories"]
    return memories


def answer(*decisions: tuple[dict[str, Any], str] | tuple[dict[str, Any], str, str], by: str = "Bo") -> Command[Any]:
    """A decision for each (memory asked about, verdict[, new text])."""
    made = [
        ReviewDecision(id=memory["id"], verdict=verdict, why="I asked her", text=text[0] if text else None)  # type: ignore[arg-type]
        for memory, verdict, *text in decisions
    ]
    return Command(resume=ReviewAnswer(by=by, decisions=made).model_dump())


def contents(store: AdmissionStore) -> list[str]:
    return sorted(value["content"] for value in stored(store).values())


@pytest.fixture
def store() -> AdmissionStore:
    return guarded()


# -- What is asked -----------------------------------------------------------------------------------------------------


def test_a_person_is_told_what_is_needed_to_decide(store: AdmissionStore) -> None:
    (memory,) = begin(review_graph(store, SAID, DENIED))
    assert (memory["memory"], memory["status"], memory["action"]) == (DENIED, "contradicted", "quarantine")
    assert memory["namespace"] == list(NAMESPACE) and memory["key"]
    assert memory["reasons"][0].startswith("contradicted: ")
    assert memory["obligations"] == [{"text": DENIED, "label": "contradicted"}]
    quoted = {evidence["turn"]: evidence for evidence in memory["evidence"]}
    assert quoted["m3"]["text"] == TALK[2].content and quoted["m3"]["said_by"] == "user"
    assert "contradicts" in quoted["m3"]["marks"]
    assert memory["key_changed"] is False
    report = store.ledger.report(memory["id"])
    assert report is not None and report[1].memory == DENIED


def test_the_answers_schema_comes_with_the_question(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID)
    begin(graph)
    (waiting,) = graph.get_state(CONFIG).interrupts
    assert waiting.response_schema == ReviewAnswer.model_json_schema()


def test_where_nothing_waits_nobody_is_asked(store: AdmissionStore) -> None:
    state = review_graph(store, SAID).invoke({"messages": TALK}, CONFIG)
    assert "__interrupt__" not in state and state["admission_reviews"] == []


def test_only_memories_of_this_thread_are_asked_about(store: AdmissionStore) -> None:
    with conversation("another", TALK):
        store.put(NAMESPACE, "k", {"content": DENIED})
    assert [memory["memory"] for memory in begin(review_graph(store, NEVER_SAID))] == [NEVER_SAID]


def test_only_memories_with_the_chosen_actions_are_asked_about() -> None:
    store = guarded(policy=({"contradicted": "review"},))
    node = create_review_node(actions=("review",))
    assert [memory["memory"] for memory in begin(review_graph(store, NEVER_SAID, DENIED, node=node))] == [DENIED]


def test_that_a_key_was_written_since_is_told(store: AdmissionStore) -> None:
    def write(state: ReviewState) -> dict[str, Any]:
        get_store().put(NAMESPACE, "k", {"content": NEVER_SAID})
        get_store().put(NAMESPACE, "k", {"content": SAID})
        return {}

    graph = StateGraph(ReviewState).add_node(write).add_node("review", create_review_node())
    graph.add_edge(START, "write").add_edge("write", "review")
    (memory,) = begin(graph.compile(store=store, checkpointer=InMemorySaver()))
    assert memory["key_changed"] is True


# -- What the answers do -----------------------------------------------------------------------------------------------


def test_an_approved_memory_is_stored_with_a_mark_that_it_overrides_the_verdict(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID, DENIED)
    first, second = begin(graph)
    state = graph.invoke(answer((first, "approve"), (second, "approve")), CONFIG)
    assert stored(store) == {
        first["key"]: {"content": NEVER_SAID, "admission": "approved_over_unresolved"},
        second["key"]: {"content": DENIED, "admission": "approved_over_contradicted"},
    }
    assert [(r["outcome"], r["by"], r["why"], r["stored"]) for r in state["admission_reviews"]] == [
        ("approved", "Bo", "I asked her", True)
    ] * 2
    restored = [entry for entry in store.ledger.entries() if entry.kind == "restored"]
    assert [entry.body for entry in restored] == [{"by": "Bo", "why": "I asked her"}] * 2
    assert store.ledger.incomplete() == [] and store.ledger.verify().ok


def test_what_the_verifiers_support_and_policy_had_reviewed_is_stored_as_the_gate_would() -> None:
    store = guarded(policy=({"repaired": "review"},))
    graph = review_graph(store, {"content": SAID, "citations": ["m2"]})
    (memory,) = begin(graph)
    assert stored(store) == {}
    graph.invoke(answer((memory, "approve")), CONFIG)
    assert stored(store) == {memory["key"]: {"content": SAID, "citations": ["m1"]}}


def test_a_rejected_memory_stays_out_and_is_not_asked_about_again(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID)
    (memory,) = begin(graph)
    state = graph.invoke(answer((memory, "reject")), CONFIG)
    assert stored(store) == {} and store.ledger.waiting() == []
    assert [review["outcome"] for review in state["admission_reviews"]] == ["rejected"]
    (entry,) = [entry for entry in store.ledger.entries() if entry.kind == "review"]
    assert (entry.body["verdict"], entry.body["by"], entry.body["why"]) == ("rejected", "Bo", "I asked her")


def test_an_edited_text_is_judged_and_stored_where_it_holds(store: AdmissionStore) -> None:
    graph = review_graph(store, {"content": NEVER_SAID, "topic": "home"})
    (memory,) = begin(graph)
    state = graph.invoke(answer((memory, "edit", SAID)), CONFIG)
    assert stored(store) == {memory["key"]: {"content": SAID, "topic": "home"}}
    (review,), (report,) = state["admission_reviews"], state["admission_reports"]
    assert (review["outcome"], review["report"], review["stored"]) == ("edited", report["id"], True)
    assert (report["memory"], report["status"], report["written_after"]) == (SAID, "repaired", "m3")
    assert f"edited: in place of {memory['id']}, by Bo" in report["reasons"]
    assert store.ledger.waiting() == [] and store.ledger.verify().ok


def test_an_edited_text_that_does_not_hold_is_held_back_and_waits_in_turn(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID)
    (memory,) = begin(graph)
    state = graph.invoke(answer((memory, "edit", DENIED)), CONFIG)
    assert stored(store) == {}
    (review,) = state["admission_reviews"]
    assert (review["outcome"], review["to_be_stored"]) == ("edited", False)
    (waiting,) = store.ledger.waiting()
    assert waiting.report is not None and waiting.report.id == review["report"]
    assert waiting.report.status == "contradicted"


def test_an_edited_text_is_judged_on_the_turns_before_the_first_and_no_later_ones(store: AdmissionStore) -> None:
    def talk_on(state: ReviewState) -> dict[str, Any]:
        return {"messages": [HumanMessage("Ana moved to Porto in July.", id="m4")]}

    graph = StateGraph(ReviewState).add_node("write", writing(NEVER_SAID)).add_node(talk_on)
    graph.add_node("review", create_review_node())
    graph.add_edge(START, "write").add_edge("write", "talk_on").add_edge("talk_on", "review")
    compiled = graph.compile(store=store, checkpointer=InMemorySaver())
    (memory,) = begin(compiled)
    state = compiled.invoke(answer((memory, "edit", "Ana moved to Porto in July.")), CONFIG)
    assert [report["status"] for report in state["admission_reports"]] == ["unresolved"]
    assert {p.turn_id for question in asked(store) for p in question.passages} <= {"m1", "m2", "m3"}


def test_where_the_conversation_is_gone_an_edited_text_stays_unresolved(store: AdmissionStore) -> None:
    with conversation("thread-1", [HumanMessage(SAID, id="elsewhere")]):
        store.put(NAMESPACE, "k", {"content": NEVER_SAID})
    graph = review_graph(store)
    (memory,) = begin(graph)
    state = graph.invoke(answer((memory, "edit", SAID)), CONFIG)
    (report,) = state["admission_reports"]
    assert report["status"] == "unresolved" and report["views"] == {"citation_only": [], "expanded": []}


def test_a_text_within_a_nested_value_is_edited_in_its_place(store: AdmissionStore) -> None:
    graph = review_graph(store, {"kind": "Memory", "content": {"content": NEVER_SAID}})
    (memory,) = begin(graph)
    graph.invoke(answer((memory, "edit", SAID)), CONFIG)
    assert list(stored(store).values()) == [{"kind": "Memory", "content": {"content": SAID}}]


def test_each_of_several_memories_gets_its_own_decision(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID, DENIED, "Ana likes jazz.")
    first, second, third = begin(graph)
    state = graph.invoke(answer((third, "edit", LISBON), (first, "reject"), (second, "approve")), CONFIG)
    assert contents(store) == [DENIED, LISBON]
    assert [review["outcome"] for review in state["admission_reviews"]] == ["edited", "rejected", "approved"]


async def test_async() -> None:
    store = guarded()
    graph = review_graph(store, NEVER_SAID, DENIED, "Ana likes jazz.")
    await graph.ainvoke({"messages": TALK}, CONFIG)
    first, second, third = question_of(graph)
    with pytest.raises(InputError, match="no decision"):
        await graph.ainvoke(answer((first, "approve")), CONFIG)
    state = await graph.ainvoke(answer((first, "approve"), (second, "edit", LISBON), (third, "reject")), CONFIG)
    assert contents(store) == [LISBON, NEVER_SAID]
    assert [review["outcome"] for review in state["admission_reviews"]] == ["approved", "edited", "rejected"]
    assert all(review["stored"] == (review["outcome"] != "rejected") for review in state["admission_reviews"])


# -- Answers that are refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda one, two: answer((one, "approve")), r"decisions.id: there is no decision on"),
        (
            lambda one, two: answer((one, "approve"), (two, "reject"), ({"id": "x"}, "reject")),
            r"'x' was not asked about",
        ),
        (lambda one, two: answer((one, "approve"), (one, "reject"), (two, "reject")), r"is decided on twice"),
        (lambda one, two: Command(resume={"by": "Bo"}), r"decisions: Field required"),
        (lambda one, two: Command(resume={"by": " ", "decisions": []}), r"by: String should have at least 1"),
        (lambda one, two: Command(resume="yes"), r"answer: "),
        (
            lambda one, two: Command(
                resume={"by": "Bo", "decisions": [{"id": one["id"], "verdict": "edit", "why": "because"}]}
            ),
            r"decisions.0: .*text goes with the verdict edit",
        ),
        (lambda one, two: answer((one, "edit", SAID), (two, "edit", SAID)), r"text: replaces no single text"),
    ],
)
def test_a_wrong_answer_changes_nothing_and_the_question_can_be_answered_again(
    store: AdmissionStore, wrong: Any, problem: str
) -> None:
    graph = review_graph(store, NEVER_SAID, {"name": "Ana", "pet": "a grey parrot"})
    one, two = begin(graph)
    head = store.ledger.head()
    with pytest.raises(InputError, match=problem):
        graph.invoke(wrong(one, two), CONFIG)
    assert store.ledger.head() == head and stored(store) == {}
    graph.invoke(answer((one, "approve"), (two, "reject")), CONFIG)
    assert contents(store) == [NEVER_SAID]


def test_a_store_without_a_quarantine_is_refused() -> None:
    graph = StateGraph(ReviewState).add_node("review", create_review_node()).add_edge(START, "review")
    with pytest.raises(InputError, match="store: is a InMemoryStore"):
        graph.compile(store=InMemoryStore(), checkpointer=InMemorySaver()).invoke({"messages": TALK}, CONFIG)


def test_a_graph_without_a_thread_is_told_so(store: AdmissionStore) -> None:
    graph = StateGraph(ReviewState).add_node("review", create_review_node()).add_edge(START, "review")
    with pytest.raises(InputError, match="thread_id"):
        graph.compile(store=store).invoke({"messages": TALK})


# -- Once, whatever happens --------------------------------------------------------------------------------------------


def test_what_was_settled_elsewhere_meanwhile_is_left_as_it_is(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID, DENIED, "Ana likes jazz.")
    first, second, third = begin(graph)
    fingerprints = [record.intent.fingerprint for record in store.ledger.waiting()]
    store.ledger.restore(fingerprints[0], by="Cy", why="by phone")
    store.ledger.reject(fingerprints[1], by="Cy", why="by phone")
    store.ledger.reject(fingerprints[2], by="Cy", why="by phone")
    state = graph.invoke(answer((first, "reject"), (second, "edit", SAID), (third, "approve")), CONFIG)
    outcomes = [(review["outcome"], review["detail"].partition(" at ")[0]) for review in state["admission_reviews"]]
    assert outcomes == [("settled_before", f"{how} by Cy") for how in ("approved", "rejected", "rejected")]
    assert contents(guarded(store.inner, ledger=store.ledger)) == [NEVER_SAID]


def test_what_comes_in_after_the_question_waits_for_the_next_one(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID)
    (memory,) = begin(graph)
    with conversation("thread-1", TALK):
        store.put(NAMESPACE, "late", {"content": DENIED})
    state = graph.invoke(answer((memory, "approve")), CONFIG)
    assert [review["id"] for review in state["admission_reviews"]] == [memory["id"]]
    assert [record.intent.key for record in store.ledger.waiting()] == ["late"]


def test_a_finished_review_resumed_once_more_changes_nothing(store: AdmissionStore) -> None:
    graph = review_graph(store, NEVER_SAID, DENIED)
    first, second = begin(graph)
    again = answer((first, "approve"), (second, "edit", LISBON))
    graph.invoke(again, CONFIG)
    head, held = store.ledger.head(), contents(store)
    graph.invoke(again, CONFIG)
    assert (store.ledger.head(), contents(store)) == (head, held)


class Killed(BaseException):
    """Ends a run where a process would be killed."""


STEPS = ("restore", "supersede", "reject", "put", "complete")


def opened(folder: Path) -> tuple[AdmissionStore, SqliteSaver]:
    """Store, ledger and checkpoints as another process finds them."""

    def connect(name: str) -> sqlite3.Connection:
        return sqlite3.connect(folder / name, check_same_thread=False, isolation_level=None)

    inner = SqliteStore(connect("store.db"))
    inner.setup()
    return guarded(inner, ledger=SqliteLedger(str(folder / "ledger.db"))), SqliteSaver(connect("checkpoints.db"))


def killed_at(store: AdmissionStore, step: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, `store` ends the run at its first such step."""
    target: Any = store.inner if step == "put" else store.ledger
    name = "batch" if step == "put" else step
    call = getattr(target, name)

    def killing(*args: Any, **kwargs: Any) -> Any:
        if when == "after":
            call(*args, **kwargs)
        raise Killed

    monkeypatch.setattr(target, name, killing)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_review_killed_at_any_step_is_finished_once(
    tmp_path: Path, step: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, saver = opened(tmp_path)
    graph = review_graph(store, NEVER_SAID, DENIED, "Ana likes jazz.", saver=saver)
    first, second, third = begin(graph)
    resume = answer((first, "approve"), (second, "edit", LISBON), (third, "reject"))
    killed_at(store, step, when, monkeypatch)
    with pytest.raises(Killed):
        graph.invoke(resume, CONFIG)
    store.ledger.close()

    store, saver = opened(tmp_path)
    state = review_graph(store, saver=saver).invoke(resume, CONFIG)
    assert [review["outcome"] for review in state["admission_reviews"]] == ["approved", "edited", "rejected"]
    assert [review["stored"] for review in state["admission_reviews"]] == [True, True, False]
    assert contents(store) == [LISBON, NEVER_SAID]
    kinds = [entry.kind for entry in store.ledger.entries()]
    assert sorted(kinds) == sorted(["report"] * 4 + ["restored"] + ["review"] * 2 + ["stored"] * 2)
    assert verifications(store) == 4
    assert store.ledger.incomplete() == [] and store.ledger.waiting() == [] and store.ledger.verify().ok


class Failing(InMemoryStore):
    """Refuses puts while `broken`."""

    broken = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = list(ops)
        if self.broken and any(isinstance(op, PutOp) for op in ops):
            raise ConnectionError("the store is away")
        return super().batch(ops)


def test_a_store_that_fails_gets_an_approved_memory_at_its_next_start() -> None:
    inner = Failing()
    store = guarded(inner)
    graph = review_graph(store, NEVER_SAID)
    (memory,) = begin(graph)
    inner.broken = True
    state = graph.invoke(answer((memory, "approve")), CONFIG)
    (review,) = state["admission_reviews"]
    assert (review["outcome"], review["to_be_stored"], review["stored"]) == ("approved", True, False)
    inner.broken = False
    assert contents(guarded(inner, ledger=store.ledger)) == [NEVER_SAID]


def test_on_either_ledger(place: Place) -> None:
    with closing(place.open()) as ledger:
        store = guarded(ledger=ledger)
        graph = review_graph(store, NEVER_SAID, DENIED, "Ana likes jazz.")
        first, second, third = begin(graph)
        graph.invoke(answer((first, "approve"), (second, "edit", LISBON), (third, "reject")), CONFIG)
        assert contents(store) == [LISBON, NEVER_SAID]
        assert ledger.waiting() == [] and ledger.incomplete() == [] and ledger.verify().ok
