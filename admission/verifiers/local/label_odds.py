"""Log-odds of Yes against No as a prompt's next word, what prompts have in common at their start read only once."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from admission.verifiers.local.loading import LocalModel
from admission.verifiers.local.prompting import Ids, common_start

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache


class LabelScorer:
    """Scores prompts with one causal model; `yes` and `no` are the token ids that count for either.

    `opening`, the ids all prompts begin with, is read once and its cache kept. `batch_size`: ends of prompts computed
    at a time. Source: the keys and values of a common prefix do not depend on what follows it (Vaswani et al. 2017).
    """

    def __init__(self, local: LocalModel, yes: Ids, no: Ids, *, opening: Ids, batch_size: int) -> None:
        self._local = local
        self._model: Any = local.model
        self._yes, self._no = yes, no
        self._opening, self._batch_size = opening, batch_size
        self._read_opening: DynamicCache | None = None
        takes = inspect.signature(self._model.forward).parameters
        self._cache_name = "cache" if "cache" in takes else "past_key_values"  # transformers is renaming it
        self._keeps_logits = "logits_to_keep" in takes

    def odds(self, prompts: Sequence[Ids]) -> list[float]:
        """Log-odds of prompts that share their evidence, in order: its keys and values are computed once for all."""
        import torch

        with self._local.lock, torch.inference_mode():
            start = shared_start(prompts)
            cache = self._read(start)
            if cache is None:
                return [self._alone(ids) for ids in prompts]
            # The order depends on the prompts alone, so that the same questions make the same batches.
            order = sorted(range(len(prompts)), key=lambda n: (len(prompts[n]), prompts[n]))
            found: dict[int, float] = {}
            for begin in range(0, len(order), self._batch_size):
                batch = order[begin : begin + self._batch_size]
                ends = [prompts[n][len(start) :] for n in batch]
                found.update(zip(batch, self._after(cache, ends), strict=True))
            return [found[n] for n in range(len(prompts))]

    def odds_alone(self, ids: Ids) -> float:
        """The log-odds of one prompt read as a whole, with nothing shared: what `odds` has to equal."""
        import torch

        with self._local.lock, torch.inference_mode():
            return self._alone(ids)

    def _alone(self, ids: Ids) -> float:
        logits = self._forward([ids], None, [len(ids) - 1])
        return self._odds(logits)[0]

    def _read(self, start: Ids) -> DynamicCache | None:
        """The cache of `start`; None where this model's state is not one of keys and values, which cannot be shared."""
        opening = self._opening
        if not opening or start[: len(opening)] != opening or len(start) == len(opening):
            return self._extended(None, start)
        if self._read_opening is None:
            self._read_opening = self._extended(None, opening)
        if self._read_opening is None:
            return None
        return self._extended(_copied(self._read_opening, 1), start[len(opening) :])

    def _extended(self, cache: DynamicCache | None, ids: Ids) -> DynamicCache | None:
        from transformers import DynamicCache
        from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

        if not ids:
            return None
        read = DynamicCache(config=self._model.config) if cache is None else cache
        if any(type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) for layer in read.layers):
            return None
        self._forward([ids], read, [len(ids) - 1])
        return read

    def _after(self, cache: DynamicCache, ends: Sequence[Ids]) -> list[float]:
        """Log-odds after what was read, for each of `ends`. The shorter ones are filled up behind their last token,
        where nothing that counts can see it."""
        width = max(map(len, ends))
        rows = [[*end, *[0] * (width - len(end))] for end in ends]
        return self._odds(self._forward(rows, _copied(cache, len(rows)), [len(end) - 1 for end in ends]))

    def _forward(self, rows: Sequence[Ids], cache: DynamicCache | None, last: Sequence[int]) -> torch.Tensor:
        """Logits (rows, vocabulary) in fp32 at the place `last` of each row; `cache` grows by what was read."""
        import torch

        device = self._model.device
        kept = sorted(set(last))
        more: dict[str, Any] = {self._cache_name: cache} if cache is not None else {}
        if self._keeps_logits:
            more["logits_to_keep"] = torch.tensor(kept, device=device)
        out = self._model(input_ids=torch.tensor(rows, device=device), use_cache=cache is not None, **more)
        places = [kept.index(place) for place in last] if self._keeps_logits else list(last)
        logits: torch.Tensor = out.logits[torch.arange(len(rows)), places].float()
        return logits

    def _odds(self, logits: torch.Tensor) -> list[float]:
        odds = logits[:, self._yes].logsumexp(1) - logits[:, self._no].logsumexp(1)
        return [float(value) for value in odds]


def shared_start(prompts: Sequence[Ids]) -> Ids:
    """What the prompts share at their start, short of the last token of the shortest: each has to end by itself."""
    return common_start(list(prompts))[: min(map(len, prompts)) - 1]


def tokens_read(prompts: Sequence[Ids]) -> int:
    """Tokens that reading these prompts together takes: their common start once."""
    shared = len(shared_start(prompts))
    return shared + sum(len(ids) - shared for ids in prompts)


def _copied(cache: DynamicCache, rows: int) -> DynamicCache:
    """The cache for so many rows; the one given stays as it is when the copy grows."""
    twin = copy.copy(cache)
    twin.layers = [copy.copy(layer) for layer in cache.layers]
    twin.batch_repeat_interleave(rows)
    return twin
