"""Requests as lines of the providers' batch files: OpenAI's batch format and Anthropic's message batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admission.batch.addressing import Letter

OPENAI_URL = "/v1/chat/completions"


def line_of(letter: Letter) -> dict[str, Any]:
    """The request as its provider's batch format has it: one object a line.

    Source: https://platform.openai.com/docs/api-reference/batch/request-input and
    https://platform.claude.com/docs/en/build-with-claude/batch-processing.
    """
    if letter.to.format == "anthropic":
        return {"custom_id": letter.custom_id, "params": _anthropic(letter)}
    return {"custom_id": letter.custom_id, "method": "POST", "url": OPENAI_URL, "body": _openai(letter)}


def _openai(letter: Letter) -> dict[str, Any]:
    messages = [{"role": message.role, "content": message.content} for message in letter.messages]
    return {"model": letter.to.model, "messages": messages, **letter.to.params, **_openai_output(letter)}


def _openai_output(letter: Letter) -> dict[str, Any]:
    """The method of structured output that the settings name; `auto` is a JSON schema, as langchain-openai has it."""
    name, description, schema = _named(letter.schema)
    match letter.to.output:
        case "auto" | "json_schema":
            described = {"name": name, "description": description, "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": described}}
        case "function_calling":
            function = {"name": name, "description": description, "strict": True, "parameters": schema}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": name}},
                "parallel_tool_calls": False,
            }
        case "json_mode":
            return {"response_format": {"type": "json_object"}}
        case "text":
            return {}


def _anthropic(letter: Letter) -> dict[str, Any]:
    system = "\n\n".join(message.content for message in letter.messages if message.role == "system")
    messages = [{"role": m.role, "content": m.content} for m in letter.messages if m.role != "system"]
    body = {"model": letter.to.model, "system": system, "messages": messages}
    return {**body, **letter.to.params, **_anthropic_output(letter)}


def _anthropic_output(letter: Letter) -> dict[str, Any]:
    """As langchain-anthropic has it: `auto` is a tool that has to be called; any JSON is JSON by a schema."""
    name, description, schema = _named(letter.schema)
    match letter.to.output:
        case "auto" | "function_calling":
            thinking = letter.to.params.get("thinking")
            thinks = isinstance(thinking, Mapping) and thinking.get("type") != "disabled"
            # A model that thinks first cannot be made to call a tool.
            choice = {"type": "auto"} if thinks else {"type": "tool", "name": name}
            tool = {"name": name, "description": description, "input_schema": schema}
            return {"tools": [tool], "tool_choice": choice}
        case "json_schema" | "json_mode":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        case "text":
            return {}


def _named(schema: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """A schema's title and description, and the schema without them."""
    bare = {name: value for name, value in schema.items() if name not in ("title", "description")}
    return str(schema["title"]), str(schema["description"]), bare
