"""Chat models behind a cascade and a result cache: by configuration, by exchange without I/O, and what they cost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from scripted_chat import ScriptedChat, ToolChat, decide, honest, memory, passage, question

from admission.errors import SettingsError
from admission.gate import AdmissionGate
from admission.model_settings import ChatOptions
from admission.records import Judgment, Question, Usage
from admission.settings import load_settings
from admission.verifiers import KINDS
from admission.verifiers.cached import CachedVerifier
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.chat.answers import Reply
from admission.verifiers.chat.calls import Caller
from admission.verifiers.protocol import Verifier
from admission.verifiers.result_cache import ResultCache
from admission.verifiers.scripted import ScriptedVerifier

DIARY = passage("t1", "I moved to Boston. I got a new job. I moved to Boston because of the job.")
MOVE = [
    question("Ana moved to Boston.", DIARY, id="o1"),
    question("Ana got a new job.", DIARY, id="o2"),
    question("Ana moved because of the job.", DIARY, id="o3", type="relation"),
]
FILE = """
[models.large]
model = "scripted:large"
max_calls_per_write = 1
[models.small]
model = "scripted:small"
[cache]
folder = "answers"
[verification]
verifier_a = "cascade:large"
verifier_b = "cascade:small"
adjudicator = "chat:large"
"""


def first_stage(second: float = 0.9) -> list[ScriptedVerifier]:
    return [
        ScriptedVerifier("entailment", lambda q: (0.9, 0.0)),
        ScriptedVerifier("alignment", lambda q: (second if "job" in q.obligation.text else 0.9, 0.0)),
    ]


def chat(model: ScriptedChat, **options: Any) -> ChatVerifier:
    return ChatVerifier(model, "chat:large", options=ChatOptions(**options))


def played(judge: Verifier, model: ScriptedChat, questions: list[Question]) -> list[Judgment]:
    """The judgments of the exchange, with the model's answers brought to it from outside."""
    exchange = judge.exchange(questions)
    assert exchange is not None
    sender = Caller(model, ChatOptions())
    try:
        requests = next(exchange)
        while True:
            requests = exchange.send(sender.send(requests))
    except StopIteration as stop:
        return list(stop.value)


@pytest.mark.parametrize("asking", ["joint", "isolated", "joint_then_isolated"])
def test_a_cascade_judges_alike_called_awaited_and_by_exchange(asking: str) -> None:
    model = ScriptedChat(script=honest)
    judge = CascadeVerifier("cascade:large", first_stage(0.1), chat(model, asking=asking))
    judgments = judge.judge(MOVE)
    assert [j.label for j in judgments] == ["supported"] * 3
    assert [list(prompt.statements) for prompt in model.prompts if "o1" in prompt.statements] == []
    assert asyncio.run(judge.ajudge(MOVE)) == judgments == played(judge, model, MOVE)
    assert [j.cost for j in played(judge, model, MOVE)] == [j.cost for j in judgments]


def test_a_cascade_with_nothing_open_asks_for_no_round() -> None:
    exchange = CascadeVerifier("cascade:large", first_stage(), chat(ScriptedChat(script=honest))).exchange(MOVE[:2])
    assert exchange is not None
    with pytest.raises(StopIteration) as ended:
        next(exchange)
    assert [j.label for j in ended.value.value] == ["supported", "supported"]


def test_what_computes_has_no_exchange_and_neither_has_what_stands_before_it(tmp_path: Path) -> None:
    computing = ScriptedVerifier("local:small", lambda q: (0.9, 0.0))
    assert computing.exchange(MOVE) is None
    assert CascadeVerifier("cascade:small", first_stage(), computing).exchange(MOVE) is None
    assert CachedVerifier(computing, ResultCache(tmp_path, 8)).exchange(MOVE) is None


@pytest.mark.parametrize("asking", ["joint", "isolated", "joint_then_isolated"])
def test_a_cached_verifier_sends_nothing_for_what_an_exchange_was_told(tmp_path: Path, asking: str) -> None:
    model = ScriptedChat(script=honest)
    told = CachedVerifier(chat(model, asking=asking), ResultCache(tmp_path, 8))
    first = played(told, model, MOVE)
    sent = len(model.heard)
    for again in (told.judge(MOVE), asyncio.run(told.ajudge(MOVE)), played(told, model, MOVE)):
        assert [j.model_dump() for j in again] == [j.model_dump() for j in first]
        assert told.usage(MOVE, again) == Usage(cache_hits=3)
    assert len(model.heard) == sent


def test_a_budget_is_spent_on_requests_and_not_on_hits_or_embedded_answers(tmp_path: Path) -> None:
    model = ScriptedChat(script=honest)
    cache = ResultCache(tmp_path, 8)
    judge = CascadeVerifier(
        "cascade:large", first_stage(0.1), CachedVerifier(chat(model, max_calls_per_write=1), cache)
    )
    for usage in (Usage(calls=1, input_tokens=100, output_tokens=10), Usage(cache_hits=2)):
        judgments = judge.judge(MOVE)
        assert {j.outcome for j in judgments} == {"judged"}
        assert judge.usage(MOVE, judgments) == usage


def test_an_answer_that_is_no_use_is_not_kept(tmp_path: Path) -> None:
    model = ScriptedChat(script=lambda prompt: "nonsense")
    judge = CachedVerifier(chat(model), ResultCache(tmp_path, 8))
    for sent in (2, 4):  # each time the request and its repair
        assert {j.outcome for j in judge.judge(MOVE)} == {"failed"}
        assert len(model.heard) == sent


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedChat]:
    """Scripted models by name, and scripted embedded verifiers that differ on what has "boat" in it."""
    made: dict[str, ScriptedChat] = {}

    def scripted(model: str, **params: Any) -> BaseChatModel:
        name = model.partition(":")[2]
        return made.setdefault(name, ToolChat(model=name, script=honest))

    def differs(kind: str, high: float) -> Any:
        return lambda thresholds: ScriptedVerifier(kind, lambda q: (high if "boat" in q.obligation.text else 0.9, 0.0))

    monkeypatch.setattr("langchain.chat_models.init_chat_model", scripted)
    monkeypatch.setitem(KINDS, "entailment", differs("entailment", 0.9))
    monkeypatch.setitem(KINDS, "alignment", differs("alignment", 0.1))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.toml").write_text(FILE)
    return made


def test_by_configuration_only_what_is_open_is_sent_and_only_once(models: dict[str, ScriptedChat]) -> None:
    reports = [decide(AdmissionGate(load_settings("gate.toml")), memory(4)) for _ in range(2)]
    assert [r.status for r in reports] == ["admitted", "admitted"]
    asked = [list(prompt.statements.values()) for name in ("large", "small") for prompt in models[name].prompts]
    assert len(asked) == 2
    assert all("boat" in line for lines in asked for line in lines)
    assert [r.usage for r in reports] == [Usage(calls=2, input_tokens=200, output_tokens=20), Usage(cache_hits=2)]
    assert reports[0].config_digest == reports[1].config_digest
    assert len({j.verifier for r in reports for f in r.obligations for j in f.judgments}) == 2


def test_a_model_behind_a_cascade_and_in_a_role_of_its_own_is_one_model(models: dict[str, ScriptedChat]) -> None:
    report = decide(AdmissionGate(load_settings("gate.toml")), memory(1))
    warnings = [reason for reason in report.reasons if reason.startswith("same_model")]
    assert len(warnings) == 1
    assert "verifier_a and adjudicator" in warnings[0]


def test_a_cascade_of_no_model_is_refused_at_the_start(models: dict[str, ScriptedChat]) -> None:
    with pytest.raises(SettingsError) as caught:
        AdmissionGate(load_settings("gate.toml", {"verification": {"verifier_a": "cascade:huge"}}))
    assert caught.value.field == "verification.verifier_a"
    assert "large, small" in caught.value.remedy


def test_a_model_that_cannot_be_set_up_leaves_open_only_what_is_asked_of_it(
    models: dict[str, ScriptedChat], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(model: str, **params: Any) -> BaseChatModel:
        raise ImportError("no package for this provider")

    monkeypatch.setattr("langchain.chat_models.init_chat_model", missing)
    gate = AdmissionGate(load_settings("gate.toml", {"verification": {"adjudicator": "none"}}))
    assert decide(gate, memory(1)).status == "admitted"
    report = decide(gate, memory(4))
    assert report.status == "unresolved"
    assert [reason for reason in report.reasons if "unavailable" in reason and "models.large" in reason]


def test_a_reply_from_elsewhere_is_read_as_any_other() -> None:
    judge = CascadeVerifier("cascade:large", first_stage(0.1), chat(ScriptedChat(script=honest)))
    exchange = judge.exchange(MOVE)
    assert exchange is not None
    (request,) = next(exchange)
    assert request.role == "verifier"
    with pytest.raises(StopIteration) as ended:
        exchange.send([Reply({"verdicts": []}, Usage(calls=1))])
        exchange.send([Reply("still nothing", Usage(calls=1))])
    assert [j.outcome for j in ended.value.value] == ["judged", "failed", "failed"]
