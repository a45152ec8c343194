"""LangChain messages as turns: ids, speakers, times and where the text came from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolCall, ToolMessage

from admission.records import Origin, Role, Turn, digest
from admission.text import content_terms, printable

# Our own recall tool and langmem's search tool, whose answers are recalled memories, and the latter's twin, whose
# answers tell what was stored.
RECALL_TOOLS = frozenset({"recall_memory", "search_memory", "manage_memory"})

# A tool's answer that is for so great a part what the agent passed to it says nothing of its own.
_ECHO_SHARE = 0.5

_TIME_KEYS = ("timestamp", "created_at", "created")
# What a message may say about its own origin: no more than its role already grants.
_LOWERED: dict[Origin, frozenset[Origin]] = {
    "conversation": frozenset({"conversation", "memory", "instruction", "external", "tool"}),
    "tool": frozenset({"tool", "external", "memory", "instruction"}),
    "external": frozenset({"external", "memory", "instruction"}),
    "memory": frozenset({"memory", "instruction"}),
    "instruction": frozenset({"instruction", "memory"}),
}
_CHAT_ROLES: dict[str, Role] = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}


def turns_from_messages(
    messages: Sequence[BaseMessage],
    *,
    times: Mapping[str, str] | None = None,
    speakers: Mapping[str, str] | None = None,
    recall_tools: Collection[str] = RECALL_TOOLS,
) -> list[Turn]:
    """The turns of a message list, in order.

    Roles: human -> user, ai -> assistant, tool and function -> tool, anything else -> system. A message without text
    (an AI message that only calls tools, an image) gives no turn; of content blocks the text blocks count. A missing
    or repeated id is replaced by one made from the content, the same on every call. `speaker` is `speakers[id]`, else
    `speakers[role]`, else the message's name. `time` is `times[id]`, else a timestamp in `additional_kwargs` or
    `response_metadata` (`timestamp`, `created_at`, `created`: ISO 8601 or seconds since 1970), else None.

    Origin: human and ai messages are `conversation`, tool messages `tool`, all others `instruction`; the answers of
    `recall_tools` are `memory`, and so is a tool's answer that mostly repeats what the agent passed to it ("Remembered:
    ..."): the agent's words do not become evidence by a way round. `additional_kwargs["origin"]` may only lower this:
    a human message can be marked as a recalled memory, an instruction, or external text, but nothing a message says
    turns a system or tool message, or a recalled memory, into conversation.
    """
    turns: list[Turn] = []
    times, speakers = times or {}, speakers or {}
    calls = _tool_calls(messages)
    used: set[str] = set()
    for message in messages:
        text = printable(_text(message))
        if not text.strip():
            continue
        role = _role(message)
        call = calls.get(message.tool_call_id) if isinstance(message, ToolMessage) else None
        name = message.name or (call["name"] if call is not None else None)
        recalled = role == "tool" and (name in recall_tools or (call is not None and _repeats(text, call)))
        name = printable(name) if name is not None else None
        turn_id = _free_id(printable(message.id or ""), [role, name, text], used)
        used.add(turn_id)
        turn = Turn.model_validate(
            {
                "id": turn_id,
                "role": role,
                "speaker": speakers.get(turn_id) or speakers.get(role) or name,
                "time": _iso(times.get(turn_id)) or _stamp(message),
                "text": text,
                "origin": "memory" if recalled else None,
            }
        )
        turns.append(turn.model_copy(update={"origin": _lowered(turn.origin, message)}))
    return turns


def _role(message: BaseMessage) -> Role:
    if isinstance(message, HumanMessage):
        return "user"
    if isinstance(message, AIMessage):
        return "assistant"
    if isinstance(message, ToolMessage) or message.type == "function":
        return "tool"
    if isinstance(message, ChatMessage):
        return _CHAT_ROLES.get(message.role.lower(), "system")
    return "system"


def _lowered(origin: Origin, message: BaseMessage) -> Origin:
    given = message.additional_kwargs.get("origin")
    return next((lower for lower in _LOWERED[origin] if lower == given), origin)


def _stamp(message: BaseMessage) -> str | None:
    """The first readable time the message carries."""
    carried = (
        fields.get(key) for fields in (message.additional_kwargs, message.response_metadata) for key in _TIME_KEYS
    )
    return next(filter(None, map(_iso, carried)), None)


def _iso(value: object) -> str | None:
    """ISO 8601 text of a time given as such, as a datetime or in seconds since 1970; None for anything else."""
    try:
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).isoformat()
        if isinstance(value, str):
            datetime.fromisoformat(value)
            return value
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _text(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part for part in map(_block_text, message.content) if part)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    return ""


def _tool_calls(messages: Sequence[BaseMessage]) -> dict[str, ToolCall]:
    """The tool calls by id: a tool message names only the call it answers."""
    return {
        call["id"]: call
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["id"] is not None
    }


def _repeats(text: str, call: ToolCall) -> bool:
    """Is most of what a tool's answer says what the agent passed to the tool?"""
    said = content_terms(text)
    passed = {term for part in _texts(call["args"]) for term in content_terms(part)}
    return bool(said) and sum(term in passed for term in said) >= _ECHO_SHARE * len(said)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _free_id(given: str | None, content: Sequence[object], used: Collection[str]) -> str:
    """The message's own id, or one made from its content and from how many equal messages came before."""
    if given and given not in used:
        return given
    made = (f"m-{digest([*content, nth])[:16]}" for nth in count())
    return next(turn_id for turn_id in made if turn_id not in used)
