"""Chat verifiers on an OpenAI-compatible endpoint over HTTP: from a settings file to the report."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from scripted_chat import TURNS, Prompt, candidate, decide, honest, memory, verdict, yes
from scripted_openai import (
    KEY,
    MODEL,
    TOKENS,
    Completion,
    Hanging,
    Raw,
    Refused,
    ScriptedOpenAI,
    Served,
    Serving,
    logprobs_of,
)

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Judgment, Report, Usage, canonical_json
from admission.settings import load_settings
from admission.verifiers.chat import calls
from admission.verifiers.scripted import ScriptedVerifier

pytest.importorskip("langchain_openai", reason="needs langchain-openai: install memory-admission[openai]")

WAYS = ("sync", "async")
ROUNDS = 2  # the citations, then the expanded view
BESIDE = 2  # questions a round that the scripted verifier beside the model counts as calls


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy between the client and the loopback, and no pause between attempts."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(calls, "FIRST_WAIT_S", 0.0)


@pytest.fixture
def server() -> Iterator[ScriptedOpenAI]:
    with ScriptedOpenAI(honest) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def judging(server: ScriptedOpenAI, folder: Path, *, model: str = MODEL, options: str = "", params: str = "",
            key: str | None = KEY) -> AdmissionGate:  # fmt: skip
    """A gate from a settings file, with the served model as verifier A; verifier B agrees with everything."""
    file = folder / "gate.toml"
    file.write_text(
        f'[models.served]\nmodel = "openai:{model}"\n{options}\n'
        f'[models.served.params]\nbase_url = "{server.url}"\nmax_retries = 0\ntemperature = 0\n{params}\n'
        + (f'api_key = "{key}"\n' if key else "")
        + '[verification]\nverifier_a = "chat:served"\nadjudicator = "none"\n'
    )
    return AdmissionGate(load_settings(file), verifier_b=ScriptedVerifier("yes", yes))


def reported(gate: AdmissionGate, way: str) -> Report:
    """The report on two facts that t1 supports."""
    if way == "sync":
        return decide(gate, memory(2))
    return asyncio.run(gate.adecide(candidate(memory(2), "t1"), History.of("c", TURNS)))


def served(report: Report) -> list[Judgment]:
    """What the model behind the endpoint was taken to say of each obligation."""
    return [j for f in report.obligations for j in f.judgments if j.verifier == "chat:served"]


@pytest.mark.parametrize("way", WAYS)
def test_one_request_asks_for_all_verdicts_by_a_schema_and_its_tokens_are_counted(
    server: ScriptedOpenAI, folder: Path, way: str
) -> None:
    report = reported(judging(server, folder), way)
    assert report.status == "admitted"
    assert report.usage == Usage(calls=1 + BESIDE, input_tokens=TOKENS[0], output_tokens=TOKENS[1])
    assert [(j.support, j.evidence, j.note) for j in served(report)] == [
        (0.9, ("t1",), 't1: "car"'), (0.9, ("t1",), 't1: "bicycle"'),
    ]  # fmt: skip
    (request,) = server.received
    assert request.authorization == f"Bearer {KEY}"
    assert (request.body["model"], request.body["temperature"]) == (MODEL, 0)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    schema = request.body["response_format"]["json_schema"]
    assert (request.body["response_format"]["type"], schema["name"]) == ("json_schema", "verdicts")
    assert schema["schema"]["required"] == ["verdicts"]
    assert "logprobs" not in request.body


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("output", ["function_calling", "json_mode", "text"])
def test_every_other_form_of_output_gives_the_same_judgments(
    server: ScriptedOpenAI, folder: Path, output: str, way: str
) -> None:
    plain = reported(judging(server, folder), way)
    other = reported(judging(server, folder, options=f'output = "{output}"'), way)
    assert other.obligations == plain.obligations
    body = server.received[-1].body
    asked = {"function_calling": "tools", "json_mode": "response_format"}.get(output)
    assert {name for name in ("tools", "response_format") if name in body} == ({asked} if asked else set())


def test_two_requests_of_a_write_have_nine_tenths_of_their_tokens_in_common_from_the_start_on_the_wire(
    server: ScriptedOpenAI, folder: Path
) -> None:
    """What prompt caches of providers reward: parameters, schema and evidence are the same, and come first."""
    reported(judging(server, folder, options='asking = "isolated"'), "sync")
    first, second = (request.body for request in server.received)
    assert {name: value for name, value in first.items() if name != "messages"} == {
        name: value for name, value in second.items() if name != "messages"
    }
    sent = [re.findall(r"\w+|[^\w\s]", "\n".join(m["content"] for m in body["messages"])) for body in (first, second)]
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*sent, strict=False))))
    assert shared >= 0.9 * max(map(len, sent))


def half(prompt: Prompt) -> str:
    return json.dumps(honest(prompt))[:-40]


FAILURES = [
    pytest.param(lambda p: Refused(429, "slow down", headers={"Retry-After": "0"}), "rate_limited", 2, 0, id="429"),
    pytest.param(lambda p: Refused(500, "out of order"), "model_error", 2, 0, id="500"),
    pytest.param(lambda p: Hanging(), "timeout", 2, 0, id="a hang"),
    pytest.param(half, "malformed_answer", 2, 2, id="half an answer"),
    pytest.param(lambda p: Raw(b'{"id": "x", "choices": [{"mess'), "model_error", 1, 0, id="half a body"),
    pytest.param(lambda p: Raw(b'{"id": "x"}'), "model_error", 1, 0, id="no choices"),
    pytest.param(lambda p: Raw(b"<html>Gateway</html>"), "model_error", 1, 0, id="no JSON"),
    pytest.param(lambda p: Completion("", refusal="I cannot judge people."), "refused", 1, 1, id="a refusal"),
    pytest.param(lambda p: Completion("", finish="content_filter"), "refused", 1, 1, id="a content filter"),
    pytest.param(lambda p: Completion(half(p), finish="length"), "malformed_answer", 1, 1, id="cut off at its length"),
    pytest.param(lambda p: {"verdicts": honest(p)["verdicts"][:1]}, "missing_answer", 2, 2, id="a missing verdict"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("script", "code", "sent", "paid"), FAILURES)
def test_a_failure_of_the_endpoint_leaves_the_write_unresolved_with_its_kind_and_what_it_cost(
    server: ScriptedOpenAI, folder: Path, script: Serving, code: str, sent: int, paid: int, way: str
) -> None:
    server.script = script
    options = f"retries = 1\ntimeout_s = {0.2 if code == 'timeout' else 30.0}"
    report = reported(judging(server, folder, options=options), way)
    assert (report.status, report.action) == ("unresolved", "quarantine")
    assert [r for r in report.reasons if r.startswith(f"verifier_failed: chat:served on o1: {code}: ")]
    assert {j.outcome for j in served(report)} == {"failed"}
    assert report.usage == Usage(
        calls=ROUNDS * (sent + BESIDE),
        input_tokens=ROUNDS * paid * TOKENS[0],
        output_tokens=ROUNDS * paid * TOKENS[1],
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("script", "code"),
    [
        (lambda p: Completion(half(p), finish="length"), "malformed_answer"),
        (lambda p: Completion("", refusal="I cannot judge people."), "refused"),
        (lambda p: Completion("", finish="content_filter"), "refused"),
    ],
)
def test_an_ending_before_its_time_is_the_same_failure_by_tool_calls(
    server: ScriptedOpenAI, folder: Path, script: Serving, code: str, way: str
) -> None:
    server.script = script
    report = reported(judging(server, folder, options='output = "function_calling"'), way)
    assert report.status == "unresolved"
    assert [r for r in report.reasons if r.startswith(f"verifier_failed: chat:served on o1: {code}: ")]


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_the_endpoint_does_not_serve_is_named_and_asked_for_once_a_round(
    server: ScriptedOpenAI, folder: Path, way: str
) -> None:
    report = reported(judging(server, folder, model="another-2"), way)
    assert report.status == "unresolved"
    assert [r for r in report.reasons if "chat:served on o1: model_error" in r and "`another-2` does not exist" in r]
    assert len(server.received) == ROUNDS


@pytest.mark.parametrize("way", WAYS)
def test_after_a_rate_limit_the_request_is_sent_again_when_the_server_says(
    server: ScriptedOpenAI, folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[float] = []
    wait = calls._wait
    monkeypatch.setattr(calls, "_wait", lambda state: named.append(wait(state)) or 0.0)
    answers: list[Serving] = [lambda p: Refused(429, "slow down", headers={"Retry-After": "7"}), honest]
    server.script = lambda prompt: answers.pop(0)(prompt)
    report = reported(judging(server, folder), way)
    assert report.status == "admitted"
    assert (named, len(server.received)) == ([7.0], 2)
    assert report.usage == Usage(calls=2 + BESIDE, input_tokens=TOKENS[0], output_tokens=TOKENS[1])


def test_an_event_loop_of_its_own_for_each_write_does_no_harm(server: ScriptedOpenAI, folder: Path) -> None:
    """The client keeps its connections over loops, and finds one of a loop that has ended when the next write comes."""
    gate = judging(server, folder)
    assert [reported(gate, "async").status for _ in range(3)] == ["admitted"] * 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["params", "environment"])
def test_no_key_reaches_a_report_or_an_identity_even_if_the_server_repeats_it(
    server: ScriptedOpenAI, folder: Path, place: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.script = lambda prompt: Refused(401, f"Incorrect API key provided: {KEY}. Look up {KEY[:4]}.", KEY)
    gate = judging(server, folder, key=KEY if place == "params" else None)
    report = reported(gate, way)
    assert report.status == "unresolved"
    assert [r for r in report.reasons if "model_error" in r and "Incorrect API key provided: (key)" in r]
    assert server.received[0].authorization == f"Bearer {KEY}"
    assert KEY not in report.model_dump_json()
    assert KEY not in canonical_json({role: judge.identity for role, judge in gate.verifiers.items()})


ANSWER = {"verdicts": [verdict("o1", 0.97, ["t1"], "car"), verdict("o2", 0.93, ["t1"], "bicycle")]}
DOUBTS = {"97": {"97": 0.6, "12": 0.4}}
ASKED = "logprobs = true\ntop_logprobs = 5"


def doubting(prompt: Prompt) -> Served:
    """Sure of everything but the first number, which it might have given as .12."""
    return Completion(ANSWER, logprobs=logprobs_of(json.dumps(ANSWER), DOUBTS))


@pytest.mark.parametrize("way", WAYS)
def test_support_is_the_mean_of_what_the_model_might_have_said_and_nothing_else_changes(
    server: ScriptedOpenAI, folder: Path, way: str
) -> None:
    server.script = lambda prompt: ANSWER
    said = served(reported(judging(server, folder), way))
    server.script = doubting
    weighed = served(reported(judging(server, folder, params=ASKED), way))
    assert [j.support for j in said] == [0.97, 0.93]
    assert [j.support for j in weighed] == [pytest.approx(0.6 * 0.97 + 0.4 * 0.12), 0.93]
    assert [j.model_copy(update={"support": 0.0}) for j in weighed] == [
        j.model_copy(update={"support": 0.0}) for j in said
    ]
    assert (server.received[-1].body["logprobs"], server.received[-1].body["top_logprobs"]) == (True, 5)


@pytest.mark.parametrize("way", WAYS)
def test_what_the_model_would_sooner_have_denied_is_not_supported(
    server: ScriptedOpenAI, folder: Path, way: str
) -> None:
    logprobs = logprobs_of(json.dumps(ANSWER), {"97": {"97": 0.4, "03": 0.6}})
    server.script = lambda prompt: Completion(ANSWER, logprobs=logprobs)
    report = reported(judging(server, folder, params=ASKED), way)
    assert report.status == "unresolved"
    assert [finding.label for finding in report.obligations] == ["insufficient", "supported"]


@pytest.mark.parametrize(
    "logprobs",
    [
        pytest.param(None, id="none"),
        pytest.param({"content": None, "refusal": None}, id="none of the content"),
        pytest.param(logprobs_of(json.dumps(ANSWER)[:-1], DOUBTS), id="of a shorter answer"),
        pytest.param(logprobs_of(json.dumps(ANSWER).replace("car", "boat"), DOUBTS), id="of another answer"),
    ],
)
def test_log_probabilities_that_are_not_those_of_the_answer_leave_what_was_said(
    server: ScriptedOpenAI, folder: Path, logprobs: dict[str, Any] | None
) -> None:
    server.script = lambda prompt: Completion(ANSWER, logprobs=logprobs)
    assert [j.support for j in served(reported(judging(server, folder, params=ASKED), "sync"))] == [0.97, 0.93]


def test_the_numbers_of_a_tool_call_are_those_it_says(server: ScriptedOpenAI, folder: Path) -> None:
    server.script = doubting
    gate = judging(server, folder, options='output = "function_calling"', params=ASKED)
    assert [j.support for j in served(reported(gate, "sync"))] == [0.97, 0.93]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_the_endpoint_says_is_streamed_to_the_user_even_if_the_model_is_set_to_stream(
    server: ScriptedOpenAI, folder: Path, way: str
) -> None:
    gate = judging(server, folder, params="streaming = true")

    def write(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(reported(gate, "sync").status)]}

    async def awrite(state: MessagesState) -> dict[str, Any]:
        report = await gate.adecide(candidate(memory(2), "t1"), History.of("c", TURNS))
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
    assert [request.body.get("stream", False) for request in server.received] == [False]
