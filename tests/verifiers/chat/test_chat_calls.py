"""What chat verifiers cost and how they call: one call for all obligations, budgets, bounds, traces, and no stream."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from scripted_chat import (
    THINGS,
    TURNS,
    Answer,
    Prompt,
    ScriptedChat,
    ToolChat,
    candidate,
    decide,
    gate,
    honest,
    memory,
    passage,
    question,
    verdict,
)  # fmt: skip

from admission.history import History
from admission.model_settings import ChatOptions
from admission.records import Judgment, Report, Usage
from admission.verifiers.chat import ChatVerifier

HISTORY = History.of("c", TURNS)
DIARY = passage("t1", "I moved to Boston. I got a new job. I moved to Boston because of the job.")
MOVE = [
    question("Ana moved to Boston.", DIARY, id="o1"),
    question("Ana got a new job.", DIARY, id="o2"),
    question("Ana moved because of the job.", DIARY, id="o3", type="relation"),
]


def verifier(model: ScriptedChat, **options: Any) -> ChatVerifier:
    return ChatVerifier(model, "judge", options=ChatOptions(**options))


def reasons(report: Report, code: str) -> list[str]:
    return [reason for reason in report.reasons if code in reason]


@pytest.mark.parametrize("count", range(1, len(THINGS) + 1))
def test_joint_is_one_call_a_verifier_and_view_however_many_obligations(count: int) -> None:
    first, second = ScriptedChat(script=honest), ToolChat(script=honest)
    report = decide(gate(first, second), memory(count))
    assert (report.status, len(report.obligations)) == ("admitted", count)
    assert (len(first.heard), len(second.heard)) == (1, 1)
    assert report.usage == Usage(calls=2, input_tokens=200, output_tokens=20)


def test_isolated_is_one_call_an_obligation() -> None:
    first, second = ScriptedChat(script=honest), ScriptedChat(script=honest)
    report = decide(gate(first, second, asking="isolated"), memory(4))
    assert (report.status, report.usage.calls) == ("admitted", 8)
    assert [len(prompt.statements) for prompt in first.prompts] == [1, 1, 1, 1]


def test_only_what_is_still_open_is_asked_on_the_expanded_view() -> None:
    chat = ScriptedChat(script=honest)
    report = decide(gate(chat, ScriptedChat(script=honest)), f"{memory(2)} Ana owns a yacht.")
    assert report.status == "unresolved"
    assert [len(prompt.statements) for prompt in chat.prompts] == [3, 1]


def test_the_adjudicator_is_asked_all_disputes_at_once_in_its_own_words() -> None:
    never = ScriptedChat(script=lambda p: {"verdicts": [verdict(id, 0.0) for id in p.statements]})
    third = ScriptedChat(script=honest)
    report = decide(gate(ScriptedChat(script=honest), never, third), memory(3))
    assert report.status == "admitted"
    assert {f.resolved_by for f in report.obligations} == {"adjudication"}
    assert len(third.heard) == 1
    assert "afresh" in third.prompts[0].user


@pytest.mark.parametrize(
    "view", ["holistic", "atomic_claims", "predicate_argument_qa", "compact_relation", "composition_graph"]
)
def test_every_view_gets_its_verdicts_by_the_obligations_ids(view: str) -> None:
    chat = ScriptedChat(script=honest)
    report = decide(gate(chat, view=view), memory(2))
    assert report.status == "admitted"
    assert list(chat.prompts[0].statements) == [finding.id for finding in report.obligations]
    assert len(report.obligations) == (1 if view == "holistic" else 2)


def test_atomic_claims_asks_facts_only_and_a_lone_relation_as_a_claim() -> None:
    texts = [
        f.type for f in decide(gate(ScriptedChat(script=honest)), "Ana sold the car because it broke.").obligations
    ]
    assert "relation" in texts
    for text in ("Ana sold the car because it broke.", "Ana sold the car."):
        report = decide(gate(ScriptedChat(script=honest), view="atomic_claims"), text)
        assert {f.type for f in report.obligations} == {"fact"}


def wavering(prompt: Prompt) -> Answer:
    """Believes a relation among other statements, and not alone."""
    support = 0.9 if len(prompt.statements) > 1 else 0.2
    return {"verdicts": [verdict(id, support, ["t1"], "because of the job") for id in prompt.statements]}


def test_joint_then_isolated_asks_supported_relations_alone_and_the_stricter_answer_counts() -> None:
    chat = ScriptedChat(script=wavering)
    judge = verifier(chat, asking="joint_then_isolated")
    judgments = judge.judge(MOVE)
    assert [j.support for j in judgments] == [0.9, 0.9, 0.2]
    assert [list(prompt.statements) for prompt in chat.prompts] == [["o1", "o2", "o3"], ["o3"]]
    assert judge.usage(MOVE, judgments) == Usage(calls=2, input_tokens=200, output_tokens=20)
    assert [j.support for j in asyncio.run(judge.ajudge(MOVE))] == [0.9, 0.9, 0.2]


def test_a_relation_that_was_alone_already_is_not_asked_again() -> None:
    chat = ScriptedChat(script=honest)
    verifier(chat, asking="joint_then_isolated").judge(MOVE[2:])
    assert len(chat.heard) == 1


def test_a_failed_second_question_is_a_failure_not_the_first_answer() -> None:
    chat = ScriptedChat(script=lambda p: wavering(p) if len(p.statements) > 1 else RuntimeError("gone"))
    assert [j.outcome for j in verifier(chat, asking="joint_then_isolated").judge(MOVE)] == [
        "judged",
        "judged",
        "failed",
    ]


def test_a_question_without_passages_costs_no_call() -> None:
    chat = ScriptedChat(script=honest)
    (judgment,) = verifier(chat).judge([question("Ana sold it.", passage("t1", "  "))])
    assert (judgment.outcome, judgment.cost, chat.heard) == ("abstained", Usage(), [])


def test_the_same_obligation_on_the_same_passages_twice_is_answered_twice() -> None:
    chat = ScriptedChat(script=honest)
    assert [j.outcome for j in verifier(chat).judge([MOVE[0], MOVE[0]])] == ["judged", "judged"]
    assert len(chat.heard) == 2


def test_over_its_calls_the_rest_of_a_write_fails_and_the_count_is_exact() -> None:
    chat = ScriptedChat(script=honest)
    report = decide(gate(chat, ScriptedChat(script=honest), asking="isolated", max_calls_per_write=2), memory(3))
    assert report.status == "unresolved"
    assert reasons(report, "budget: 2 of 2 calls for this write are spent")
    assert len(chat.heard) == 2


def test_repairs_and_retries_are_within_the_budget() -> None:
    for script in (lambda p: "nonsense", lambda p: TimeoutError()):
        chat = ScriptedChat(script=script)
        report = decide(gate(chat, max_calls_per_write=1, retries=5))
        assert (report.status, len(chat.heard)) == ("unresolved", 1)
        assert reasons(report, "budget")


def test_over_its_tokens_a_write_sends_nothing_more() -> None:
    chat = ScriptedChat(script=honest)
    judgments = verifier(chat, asking="isolated", max_tokens_per_write=150).judge(MOVE)
    assert [(j.outcome, j.reason.partition(":")[0]) for j in judgments] == [
        ("judged", ""), ("judged", ""), ("failed", "budget"),
    ]  # fmt: skip


def test_each_write_of_a_batch_has_its_own_budget_and_usage_even_under_one_id() -> None:
    writes = [(candidate(memory(2), "t1"), HISTORY), (candidate(memory(3), "t1"), HISTORY)]
    reports = list(gate(ScriptedChat(script=honest), asking="isolated", max_calls_per_write=3).decide_many(writes))
    assert [r.status for r in reports] == ["admitted", "admitted"]
    assert [r.usage.input_tokens for r in reports] == [200, 300]


def test_batched_single_and_awaited_reports_are_the_same() -> None:
    judging = gate(ToolChat(script=honest), ScriptedChat(script=honest))
    writes = [(candidate(memory(n), "t1", id=f"w{n}"), HISTORY) for n in (1, 2, 3)]
    batched = list(judging.decide_many(writes))
    single = [judging.decide(*write) for write in writes]
    awaited = [asyncio.run(judging.adecide(*write)) for write in writes]
    timeless = [[r.model_copy(update={"timing_ms": {}}) for r in reports] for reports in (batched, single, awaited)]
    assert timeless[0] == timeless[1] == timeless[2]


def test_a_report_is_read_back_as_it_was_with_no_trace_of_what_a_judgment_cost() -> None:
    report = decide(gate(ScriptedChat(script=honest)))
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert "cost" not in report.model_dump_json()


def test_a_model_that_counts_no_tokens_costs_calls_only() -> None:
    assert decide(gate(ScriptedChat(script=honest, tokens=None), ScriptedChat(script=honest))).usage == Usage(
        calls=2, input_tokens=100, output_tokens=10
    )


@pytest.mark.parametrize("way", ["threads", "async"])
def test_no_more_requests_run_at_once_than_allowed_over_all_seats_and_calls(way: str) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def counting(prompt: Prompt) -> Answer:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return honest(prompt)

    judge = verifier(ScriptedChat(script=counting), asking="isolated", max_concurrency=2)
    seats = [judge.seated(role, "obligations") for role in ("verifier_a", "verifier_b", "adjudicator")]
    asked = [question("Ana got a job.", DIARY, id=f"o{n}") for n in range(4)]

    async def together() -> list[list[Judgment]]:
        return await asyncio.gather(*(seat.ajudge(asked) for seat in seats))

    with ThreadPoolExecutor() as pool:
        answers = asyncio.run(together()) if way == "async" else list(pool.map(lambda seat: seat.judge(asked), seats))
    assert {j.label for judgments in answers for j in judgments} == {"supported"}
    assert most == 2


def test_requests_keep_to_their_rate() -> None:
    judge = verifier(ScriptedChat(script=honest), asking="isolated", requests_per_second=5)
    began = time.perf_counter()
    judge.judge(MOVE)
    assert time.perf_counter() - began >= 0.4  # three requests, two of which wait a fifth of a second


class Seen(BaseCallbackHandler):
    """Keeps the name, tags and metadata of every model run, and any token."""

    def __init__(self) -> None:
        self.runs: list[tuple[Any, ...]] = []
        self.names: list[Any] = []
        self.tokens: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.names.append(kwargs.get("name"))

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self.names.append(kwargs.get("name"))
        self.runs.append((set(kwargs["tags"]), kwargs["metadata"].get("admission_candidate")))

    def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
        self.tokens.append(token)


@pytest.mark.parametrize("model", [ScriptedChat, ToolChat])
def test_traces_of_the_users_run_carry_role_and_candidate(model: type[ScriptedChat]) -> None:
    seen, judging = Seen(), gate(model(script=honest), model(script=honest))
    RunnableLambda(lambda _: decide(judging).status).invoke("go", {"callbacks": [seen]})
    assert {"admission:verifier_a", "admission:verifier_b"} <= set(seen.names)
    assert len(seen.runs) == 2
    for tags, candidate_id in seen.runs:
        assert {"nostream", "admission"} <= tags
        assert candidate_id == "w1"


class StreamingChat(ScriptedChat):
    """A model that streams where a callback of the run asks for tokens."""

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        raise AssertionError("the judge's words must not be streamed")
        yield


@pytest.mark.parametrize("way", ["sync", "async"])
def test_nothing_a_judge_says_appears_in_the_users_stream(way: str) -> None:
    judging = gate(StreamingChat(script=honest), StreamingChat(script=honest))

    def write(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(decide(judging).status)]}

    async def awrite(state: MessagesState) -> dict[str, Any]:
        report = await judging.adecide(candidate(memory(), "t1"), HISTORY)
        return {"messages": [AIMessage(report.status)]}

    node = write if way == "sync" else awrite
    graph = StateGraph(MessagesState).add_node("write", node).add_edge(START, "write").compile()
    start: Any = {"messages": [HumanMessage("hello")]}

    async def collected() -> list[Any]:
        return [message async for message, _ in graph.astream(start, stream_mode="messages")]

    if way == "sync":
        messages = [message for message, _ in graph.stream(start, stream_mode="messages")]
    else:
        messages = asyncio.run(collected())
    assert [message.content for message in messages] == ["admitted"]
