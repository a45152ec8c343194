"""What one write may still cost in one role: calls and tokens, retries and repair rounds included."""

from __future__ import annotations

from collections.abc import Sequence

from admission.model_settings import ChatOptions
from admission.records import Usage


class Budget:
    """Grants attempts before they are made and is told what they cost. Bounds that are None bind nothing."""

    def __init__(self, options: ChatOptions, spent: Usage) -> None:
        self._calls, self._tokens = options.max_calls_per_write, options.max_tokens_per_write
        self._spent = spent

    @property
    def one_by_one(self) -> bool:
        """Whether requests go out one after another: what a request takes in tokens is known only afterwards."""
        return self._tokens is not None

    def charge(self, usage: Usage) -> None:
        self._spent += usage

    def grants(self, wanted: Sequence[int]) -> list[int]:
        """Attempts granted to each of the requests of a round, at most those wanted; 0: it may not be sent.

        Each gets its first attempt before any gets a second: what is left for retries must not starve a later question.
        """
        if self._tokens is not None and self._spent.input_tokens + self._spent.output_tokens >= self._tokens:
            return [0] * len(wanted)
        if self._calls is None:
            return list(wanted)
        left = max(0, self._calls - self._spent.calls)
        granted = [1 if number < left else 0 for number in range(len(wanted))]
        left -= sum(granted)
        for number, wish in enumerate(wanted):
            more = min(left, wish - granted[number]) if granted[number] else 0
            granted[number] += more
            left -= more
        return granted

    def __str__(self) -> str:
        bounds = []
        if self._calls is not None:
            bounds.append(f"{self._spent.calls} of {self._calls} calls")
        if self._tokens is not None:
            bounds.append(f"{self._spent.input_tokens + self._spent.output_tokens} of {self._tokens} tokens")
        return f"{' and '.join(bounds)} for this write are spent"
