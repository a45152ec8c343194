"""The entailment network: MiniLM over premise and claim together, and a head that compares them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from admission.verifiers import minilm

CLASSES = ("entailment", "neutral", "contradiction")
MAX_TOKENS = 192
"""Premise and claim together, with the three special tokens."""
LENGTH_STEP = 32
"""Batches are padded to a multiple of this, so that a pair's numbers hardly depend on its company."""
ALIGNED = 192
"""Width of a claim token's comparison with what it found in the premise."""

# The lowest layers change least in fine-tuning; leaving them saves a quarter of the training and a third of the file.
_FROZEN = ("encoder.embeddings.", "encoder.encoder.layer.0.", "encoder.encoder.layer.1.")


class EntailmentNetwork(nn.Module):
    """Class logits (pairs, 3) for tokenised (premise, claim) pairs.

    Joint encoding with token types; then segment means u (premise) and v (claim) as [u, v, |u - v|, u * v], the first
    token, and a soft alignment: each claim token attends to the premise's tokens and is compared with what it found
    (decomposable attention, Parikh et al. 2016); comparisons are pooled by mean and by maximum. The
    embeddings and the two lowest layers stay those of the package; everything else is trained.
    """

    def __init__(self, encoder: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder = encoder
        width = minilm.HIDDEN
        self.match = nn.Linear(width, width, bias=False)
        self.compare = nn.Linear(4 * width, ALIGNED)
        self.mix = nn.Linear(5 * width + 2 * ALIGNED, 256)
        self.classify = nn.Linear(256, len(CLASSES))
        self.dropout = nn.Dropout(dropout)
        with torch.no_grad():
            self.match.weight.copy_(torch.eye(width))

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states = self.encoder(
            input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask
        ).last_hidden_state
        claim = attention_mask * token_type_ids
        premise = attention_mask * (1 - token_type_ids)
        u, v = _mean(states, premise), _mean(states, claim)
        # Only the claim's tokens are compared: they are gathered, since they are a small part of a padded row.
        lengths = claim.sum(1)
        offsets = torch.arange(int(lengths.max()))
        places = (claim.argmax(1)[:, None] + offsets).clamp(max=states.shape[1] - 1)
        real = offsets < lengths[:, None]
        said = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        scores = self.match(said) @ states.transpose(1, 2) / minilm.HIDDEN**0.5
        attended = scores.masked_fill(premise[:, None, :] == 0, -1e4).softmax(-1) @ states
        compared = F.gelu(self.compare(torch.cat([said, attended, (said - attended).abs(), said * attended], dim=-1)))
        highest = compared.masked_fill(~real[:, :, None], -1e4).amax(1)
        features = torch.cat([states[:, 0], u, v, (u - v).abs(), u * v, _mean(compared, real), highest], dim=-1)
        logits: Tensor = self.classify(self.dropout(F.gelu(self.mix(self.dropout(features)))))
        return logits


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def is_tuned(name: str) -> bool:
    """Whether the parameter `name` is trained and shipped, rather than taken from the package."""
    return not name.startswith(_FROZEN)


def encode_pairs(pairs: Sequence[tuple[str, str]], step: int = LENGTH_STEP) -> dict[str, Tensor]:
    """Tensors (pairs, tokens) of (premise, claim) texts, padded to a multiple of `step`.

    A pair longer than `MAX_TOKENS` loses the end of its longer text; callers cut premises beforehand.
    """
    encoded = minilm.tokenizer()(
        [premise for premise, _ in pairs],
        [claim for _, claim in pairs],
        truncation="longest_first",
        max_length=MAX_TOKENS,
        padding=True,
        pad_to_multiple_of=step,
        return_tensors="pt",
    )
    return {name: encoded[name] for name in ("input_ids", "token_type_ids", "attention_mask")}
