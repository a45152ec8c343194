"""The adjudicator's trained head: token states of obligation and passages, aligned late. Imports torch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from admission.verifiers.minilm import HIDDEN

CLASSES = ("entailment", "neutral", "contradiction")


class Compare(nn.Module):
    """Each obligation token attends to the premise tokens in several ways and is compared with what it found.

    Attend and compare as in Parikh et al. 2016 (decomposable attention), with several attention heads and the enhanced
    comparison [a, b, a - b, a * b] of Chen et al. 2017 (ESIM). Every head starts from the cosines of the frozen states,
    scaled by a learnt sharpness, so that words are aligned from the first step on.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.sharpness = nn.Parameter(torch.linspace(4.0, 20.0, heads))
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.mlp = nn.Sequential(
            nn.Linear(4 * width + 1, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, width)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor, right_padding: Tensor, cosines: Tensor) -> Tensor:
        keys, values = self.key_value(right).chunk(2, dim=-1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.query(left), keys, values))
        bias = cosines.unsqueeze(1) * self.sharpness[None, :, None, None]
        bias = bias.masked_fill(right_padding[:, None, None, :], float("-inf"))
        found = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)
        closest = cosines.masked_fill(right_padding[:, None, :], -1.0).amax(-1, keepdim=True)
        compared = self.mlp(torch.cat([left, found, left - found, left * found, closest], dim=-1))
        out: Tensor = self.norm(left + compared)
        return out


class AdjudicatorHead(nn.Module):
    """(premise tokens, obligation tokens) -> logits over `CLASSES`.

    Both sides are encoded apart by the frozen encoder, so a passage is encoded once whatever is asked of it. A premise
    of several passages is the passages' tokens one after another. The last 384 numbers of a token are the encoder's
    last layer: cosines are taken there.
    """

    def __init__(
        self, input_width: int, width: int = 128, heads: int = 4, blocks: int = 2, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.project = nn.Sequential(nn.LayerNorm(input_width), nn.Linear(input_width, width), nn.Dropout(dropout))
        self.blocks = nn.ModuleList(Compare(width, heads, dropout) for _ in range(blocks))
        self.weigh = nn.Linear(width, 1)
        self.classify = nn.Sequential(
            nn.Linear(6 * width, width), nn.GELU(), nn.Dropout(dropout), nn.Linear(width, len(CLASSES))
        )

    def forward(self, premise: Tensor, premise_padding: Tensor, claim: Tensor, claim_padding: Tensor) -> Tensor:
        """`premise` (b, p, input), `claim` (b, c, input); paddings are True where there is no token. Returns (b, 3)."""
        cosines = unit(claim[..., -HIDDEN:]) @ unit(premise[..., -HIDDEN:]).transpose(1, 2)
        passages, tokens = self.project(premise), self.project(claim)
        absent, kept = claim_padding.unsqueeze(-1), (~claim_padding).unsqueeze(-1).float()
        shown = (~premise_padding).unsqueeze(-1).float()
        left, right = (tokens * kept).sum(1) / kept.sum(1), (passages * shown).sum(1) / shown.sum(1)
        for block in self.blocks:
            tokens = block(tokens, passages, premise_padding, cosines)
        weights = self.weigh(tokens).masked_fill(absent, float("-inf")).softmax(dim=1)
        pooled = [
            (tokens * weights).sum(1),
            (tokens * kept).sum(1) / kept.sum(1),
            tokens.masked_fill(absent, -1e4).amax(1),
            tokens.masked_fill(absent, 1e4).amin(1),
            (left - right).abs(),
            left * right,
        ]
        logits: Tensor = self.classify(torch.cat(pooled, dim=-1))
        return logits


def unit(states: Tensor) -> Tensor:
    return nn.functional.normalize(states, dim=-1)


def pad(rows: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Token rows (n_i, width) as one (batch, longest, width) float tensor and its padding mask (True = no token)."""
    longest = max(row.shape[0] for row in rows)
    out = torch.zeros(len(rows), longest, rows[0].shape[1])
    padding = torch.ones(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        out[i, : row.shape[0]] = row
        padding[i, : row.shape[0]] = False
    return out, padding
