"""Which tools write memory outside the store, and what of a call is the memory: the policy by tool name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admission.errors import InputError

TextOf = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class WatchedTool:
    """A tool that writes memory where no store sees it: a vendor's client, a channel of the state, files.

    `text`: the name of the argument that holds the memory's text (a text, or a list of texts), or a function from the
    call's arguments to it; where the function gives None the call writes no memory and passes. `namespace`: where the
    memory counts as written, for policy and ledger; `{name}` stands for a value of the run's `configurable`, as in
    langmem, and never for an argument: the model is not to choose the policy. A namespace under which the policy says
    `persist_marked` lets the tool run; the mark is in the ledger and in the answer, for the tool takes no mark.
    """

    text: str | TextOf
    namespace: tuple[str, ...]

    def __post_init__(self) -> None:
        if isinstance(self.namespace, str) or not self.namespace or not all(self.namespace):
            raise InputError("namespace", f"is {self.namespace!r}", "give a tuple of one or more texts")

    def memory(self, arguments: Mapping[str, Any]) -> str | None:
        """The memory's text in a call; None where it writes none. Raises `InputError` where it cannot be read."""
        if not isinstance(self.text, str):
            return self.text(arguments)
        found = arguments.get(self.text)
        if isinstance(found, str):
            return found
        if isinstance(found, Sequence) and found and all(isinstance(part, str) for part in found):
            return "\n".join(found)
        raise InputError(self.text, "holds no text to judge", "call the tool with the memory's text there")
