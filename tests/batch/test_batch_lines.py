"""Request lines are those of the providers' batch formats, and their output lines are read for what they are."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from admission.batch.addressing import Addressee, BatchFormat, Letter, check_format, custom_id
from admission.batch.formats import line_of
from admission.batch.provider_lines import Found, found_in
from admission.errors import InputError
from admission.model_settings import ModelSettings
from admission.records import Usage
from admission.verifiers.chat.answers import SCHEMA, Failure, Reply
from admission.verifiers.chat.requests import Message

PROMPT = (Message("system", "Rules."), Message("user", "What of it?"))
REPAIR = (*PROMPT, Message("assistant", "Hm."), Message("user", "Again, please."))


def line(format: BatchFormat | None = None, messages: tuple[Message, ...] = PROMPT, **section: Any) -> dict[str, Any]:
    to = Addressee.of(ModelSettings(**{"model": "openai:gpt-4.1", **section}), format)
    return line_of(Letter("id-1", to, messages, SCHEMA))


def test_an_openai_line_is_a_post_to_chat_completions_with_a_strict_schema() -> None:
    made = line(params={"temperature": 0, "max_tokens": 900})
    assert {name: made[name] for name in ("custom_id", "method", "url")} == {
        "custom_id": "id-1", "method": "POST", "url": "/v1/chat/completions",
    }  # fmt: skip
    body = made["body"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("gpt-4.1", 0, 900)
    assert body["messages"] == [{"role": "system", "content": "Rules."}, {"role": "user", "content": "What of it?"}]
    form = body["response_format"]
    assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == (
        "json_schema", "verdicts", True,
    )  # fmt: skip
    assert form["json_schema"]["schema"]["properties"] == SCHEMA["properties"]


def test_an_anthropic_line_has_system_apart_a_bound_on_tokens_and_a_tool_that_must_be_called() -> None:
    made = line(messages=REPAIR, model="anthropic:claude-sonnet-4-5")
    assert set(made) == {"custom_id", "params"}
    params = made["params"]
    assert (params["model"], params["max_tokens"], params["system"]) == ("claude-sonnet-4-5", 4096, "Rules.")
    assert [message["role"] for message in params["messages"]] == ["user", "assistant", "user"]
    assert params["tools"][0]["input_schema"]["properties"] == SCHEMA["properties"]
    assert params["tool_choice"] == {"type": "tool", "name": "verdicts"}


@pytest.mark.parametrize(
    ("format", "output", "asked"),
    [
        ("openai", "text", {}),
        ("openai", "json_mode", {"response_format": {"type": "json_object"}}),
        ("openai", "function_calling", {"tool_choice": {"type": "function", "function": {"name": "verdicts"}}}),
        ("anthropic", "text", {}),
        ("anthropic", "function_calling", {"tool_choice": {"type": "tool", "name": "verdicts"}}),
    ],
)
def test_the_answer_is_asked_for_as_the_settings_say(format: BatchFormat, output: str, asked: dict[str, Any]) -> None:
    made = line(format, output=output)
    body = made["body"] if format == "openai" else made["params"]
    given = {name: body[name] for name in ("response_format", "tool_choice", "output_config") if name in body}
    assert given == asked


@pytest.mark.parametrize("output", ["json_schema", "json_mode"])
def test_json_from_anthropic_is_json_by_the_schema(output: str) -> None:
    form = line("anthropic", output=output)["params"]["output_config"]["format"]
    assert (form["type"], form["schema"]["required"]) == ("json_schema", ["verdicts"])


def test_a_model_that_thinks_first_is_not_made_to_call_a_tool() -> None:
    params = {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 9000}
    body = line(model="anthropic:claude-sonnet-4-5", params=params)["params"]
    assert (body["thinking"]["type"], body["tool_choice"]) == ("enabled", {"type": "auto"})


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_only_what_belongs_in_a_request_is_written_and_the_rest_is_named(format: BatchFormat) -> None:
    params = {"api_key": "s3cret", "base_url": "http://x", "default_headers": {"k": "s3cret"}, "temperature": 0.5}
    section = ModelSettings(model="openai:gpt-4.1", params=params)
    to = Addressee.of(section, format)
    assert "s3cret" not in json.dumps(line_of(Letter("i", to, PROMPT, SCHEMA))) and to.params["temperature"] == 0.5
    assert to.left_out == ("api_key", "base_url", "default_headers")


@pytest.mark.parametrize(
    ("model", "params", "named", "format"),
    [
        ("openai:ft:gpt-4.1:acme::1", {}, "ft:gpt-4.1:acme::1", "openai"),
        ("anthropic:claude-sonnet-4-5", {}, "claude-sonnet-4-5", "anthropic"),
        ("claude-sonnet-4-5", {}, "claude-sonnet-4-5", "anthropic"),
        ("gpt-4.1", {}, "gpt-4.1", "openai"),
        ("mistral-large:1", {"model_provider": "mistralai"}, "mistral-large:1", "openai"),
    ],
)
def test_a_model_is_named_as_its_provider_names_it(
    model: str, params: dict[str, Any], named: str, format: BatchFormat
) -> None:
    to = Addressee.of(ModelSettings(model=model, params=params))
    assert (to.model, to.format) == (named, format)


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    assert check_format(None) is None
    with pytest.raises(InputError, match="openai or anthropic"):
        check_format("gemini")


def test_an_id_follows_prompt_model_role_and_write() -> None:
    to = Addressee.of(ModelSettings(model="openai:gpt-4.1"))
    other = Addressee.of(ModelSettings(model="openai:gpt-4.1-mini"))
    write = ("c", "w1")
    ids = [
        custom_id(to, "verifier_a", PROMPT, write, 1),
        custom_id(to, "verifier_b", PROMPT, write, 1),
        custom_id(other, "verifier_a", PROMPT, write, 1),
        custom_id(to, "verifier_a", REPAIR, write, 1),
        custom_id(to, "verifier_a", PROMPT, ("c", "w2"), 1),
        custom_id(to, "verifier_a", PROMPT, write, 2),
    ]
    assert len(set(ids)) == len(ids)
    assert ids[0] == custom_id(to, "verifier_a", PROMPT, write, 1)


def openai(message: dict[str, Any], finish: str = "stop", **body: Any) -> Found:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return found_in({"custom_id": "i", "response": {"status_code": 200, "body": {"choices": [choice], **body}}})


def anthropic(*content: dict[str, Any], stop: str = "end_turn", **message: Any) -> Found:
    made = {"content": list(content), "stop_reason": stop, **message}
    return found_in({"custom_id": "i", "result": {"type": "succeeded", "message": made}})


def reply(found: Found) -> Reply:
    return cast(Reply, found.outcome)


def test_a_text_is_the_answer_and_tokens_are_those_that_the_line_counts() -> None:
    expected = Found(Reply("{}", Usage(calls=1, input_tokens=120, output_tokens=7)))
    usage = {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127}
    assert openai({"content": "{}"}, usage=usage) == expected
    counted = {"input_tokens": 20, "output_tokens": 7}
    counted |= {"cache_read_input_tokens": 90, "cache_creation_input_tokens": 10}
    blocks = ({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"})
    assert anthropic(*blocks, usage=counted) == expected
    assert reply(openai({"content": "{}"})).usage == Usage(calls=1)


def test_the_arguments_of_a_tool_call_are_the_answer() -> None:
    called = {"id": "c", "type": "function", "function": {"name": "verdicts", "arguments": '{"verdicts": []}'}}
    assert reply(openai({"content": None, "tool_calls": [called]}, "tool_calls")).answer == {"verdicts": []}
    used = {"type": "tool_use", "id": "u", "name": "verdicts", "input": {"verdicts": []}}
    assert reply(anthropic(used, stop="tool_use")).answer == {"verdicts": []}


def test_half_the_arguments_of_a_tool_call_stay_half() -> None:
    called = {"id": "c", "type": "function", "function": {"name": "verdicts", "arguments": '{"verdicts": ['}}
    assert reply(openai({"content": None, "tool_calls": [called]})).answer == '{"verdicts": ['


def test_a_refusal_and_an_answer_cut_off_are_told_from_answers() -> None:
    assert reply(openai({"content": None, "refusal": "I will not."})).refusal == "I will not."
    assert reply(openai({"content": ""}, "content_filter")).refusal == "content_filter"
    assert reply(openai({"content": '{"verd'}, "length")).cut_off
    assert reply(anthropic({"type": "text", "text": "I will not."}, stop="refusal")).refusal == "I will not."
    assert reply(anthropic({"type": "text", "text": '{"verd'}, stop="max_tokens")).cut_off


def test_log_probabilities_come_with_the_answer() -> None:
    places = {"content": [{"token": "{}", "logprob": -0.1, "top_logprobs": []}]}
    choice = {"message": {"content": "{}"}, "finish_reason": "stop", "logprobs": places}
    found = found_in({"custom_id": "i", "response": {"body": {"choices": [choice]}}})
    assert [token.said for token in reply(found).tokens] == [b"{}"]


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "choices"),
        ({"response": {"status_code": 200, "body": "text"}}, "the provider's line"),
        ({"response": {"status_code": 200, "body": {"choices": [{"message": {"content": 7}}]}}}, "content"),
        ({"result": {"type": "succeeded", "message": None}}, "the provider's line"),
        ({"result": {"type": "won"}}, "result.type"),
        ({"result": {"type": "succeeded", "message": {"content": [{"type": "tool_use", "name": "v"}]}}}, "input"),
    ],
)
def test_a_line_that_holds_no_answer_is_a_malformed_answer(line: dict[str, Any], where: str) -> None:
    found = found_in({"custom_id": "i", **line})
    assert isinstance(found.outcome, Failure) and not found.passing
    assert found.outcome.code == "malformed_answer"
    assert where in found.outcome.detail


def test_arguments_that_are_no_object_are_a_malformed_answer() -> None:
    called = {"id": "c", "type": "function", "function": {"name": "verdicts", "arguments": "[1]"}}
    outcome = openai({"content": None, "tool_calls": [called]}).outcome
    assert isinstance(outcome, Failure) and outcome.code == "malformed_answer"
