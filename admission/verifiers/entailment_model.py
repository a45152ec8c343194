"""The entailment network: a sentence encoder over premise and claim together, and a head that compares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from admission.verifiers import minilm, mpnet

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CLASSES = ("entailment", "neutral", "contradiction")
MAX_TOKENS = 192
"""Premise and claim together, with the special tokens."""
LENGTH_STEP = 32
"""Batches are padded to a multiple of this, so that a pair's numbers hardly depend on its company."""
ALIGNED = 192
"""Width of a claim token's comparison with what it found in the premise."""
INPUTS = ("input_ids", "token_type_ids", "attention_mask")


@dataclass(frozen=True)
class Backbone:
    """A published encoder the network can stand on. `typed`: it reads token types (premise 0, claim 1) itself."""

    name: str
    sha256: str
    width: int
    special_tokens: int
    typed: bool
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    encoder: Callable[[], nn.Module]


BACKBONES = {
    backbone.name: backbone
    for backbone in (
        Backbone("minilm", minilm.WEIGHTS_SHA256, minilm.HIDDEN, 3, True, minilm.tokenizer, minilm.encoder),
        Backbone("mpnet", mpnet.WEIGHTS_SHA256, mpnet.HIDDEN, 4, False, mpnet.tokenizer, mpnet.encoder),
    )
}


class EntailmentNetwork(nn.Module):
    """Class logits (pairs, 3) for tokenised (premise, claim) pairs.

    Joint encoding; then segment means u (premise) and v (claim) as [u, v, |u - v|, u * v], the first token, and a soft
    alignment: each claim token attends to the premise's tokens and is compared with what it found (decomposable
    attention, Parikh et al. 2016); comparisons are pooled by mean and by maximum.
    """

    def __init__(self, backbone: Backbone, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder = backbone.encoder()
        self.backbone = backbone
        width = backbone.width
        self.match = nn.Linear(width, width, bias=False)
        self.compare = nn.Linear(4 * width, ALIGNED)
        self.mix = nn.Linear(5 * width + 2 * ALIGNED, 256)
        self.classify = nn.Linear(256, len(CLASSES))
        self.dropout = nn.Dropout(dropout)
        with torch.no_grad():
            self.match.weight.copy_(torch.eye(width))

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states = self.encoded(input_ids, token_type_ids, attention_mask)
        return self.compared(states, token_type_ids, attention_mask)

    def encoded(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """The encoder's last hidden state (pairs, tokens, width), in fp32 whatever it was computed in."""
        types = {"token_type_ids": token_type_ids} if self.backbone.typed else {}
        states: Tensor = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **types).last_hidden_state
        return states.float()

    def compared(self, states: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """The head: class logits (pairs, 3) of encoded pairs (pairs, tokens, width)."""
        claim = attention_mask * token_type_ids
        premise = attention_mask * (1 - token_type_ids)
        u, v = _mean(states, premise), _mean(states, claim)
        # Only the claim's tokens are compared: they are gathered, since they are a small part of a padded row.
        lengths = claim.sum(1)
        offsets = torch.arange(int(lengths.max()))
        places = (claim.argmax(1)[:, None] + offsets).clamp(max=states.shape[1] - 1)
        real = offsets < lengths[:, None]
        said = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        scores = self.match(said) @ states.transpose(1, 2) / states.shape[2] ** 0.5
        attended = scores.masked_fill(premise[:, None, :] == 0, -1e4).softmax(-1) @ states
        compared = F.gelu(self.compare(torch.cat([said, attended, (said - attended).abs(), said * attended], dim=-1)))
        highest = compared.masked_fill(~real[:, :, None], -1e4).amax(1)
        features = torch.cat([states[:, 0], u, v, (u - v).abs(), u * v, _mean(compared, real), highest], dim=-1)
        logits: Tensor = self.classify(self.dropout(F.gelu(self.mix(self.dropout(features)))))
        return logits


def precision() -> str:
    """`bf16` where the processor multiplies such numbers itself, twice as fast; else `fp32`. The head is always fp32.

    A pair's numbers depend on it in the second decimal, so it is part of a verifier's identity.
    """
    return "bf16" if torch.cpu._is_avx512_bf16_supported() else "fp32"


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def encode_pairs(backbone: Backbone, pairs: Sequence[tuple[str, str]], step: int = LENGTH_STEP) -> dict[str, Tensor]:
    """Tensors (pairs, tokens) of (premise, claim) texts, padded to a multiple of `step`.

    Token types are 1 in the claim, 0 elsewhere. A pair longer than `MAX_TOKENS` loses the end of its longer text;
    callers cut premises beforehand.
    """
    encoded = backbone.tokenizer()(
        [premise for premise, _ in pairs],
        [claim for _, claim in pairs],
        truncation="longest_first",
        max_length=MAX_TOKENS,
        padding=True,
        pad_to_multiple_of=step,
        return_tensors="pt",
    )
    if not backbone.typed:
        segments = [[int(segment == 1) for segment in encoded.sequence_ids(row)] for row in range(len(pairs))]
        encoded["token_type_ids"] = torch.tensor(segments)
    return {name: encoded[name] for name in INPUTS}
