"""What is trained of each backbone: MiniLM's upper layers, or low-rank adapters in MPNet; and how it is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from admission.verifiers import entailment_weights
from admission.verifiers.entailment_model import BACKBONES, EntailmentNetwork, precision

RANK = 32
SCALING = 2.0
"""What an adapter's product is multiplied by."""
_ADAPTED = (".q", ".k", ".v", ".o", ".intermediate.dense", ".output.dense")


class Adapted(nn.Module):
    """A frozen linear layer with a trained change of low rank, `SCALING * up @ down` (LoRA, Hu et al. 2021).

    The frozen part may be bf16; the change is kept in fp32 and used in the precision of the input.
    """

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.empty(RANK, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))
        nn.init.kaiming_uniform_(self.down, a=5**0.5)

    def forward(self, states: Tensor) -> Tensor:
        flat = states.reshape(-1, states.shape[-1])
        low = functional.linear(flat, self.down.to(flat.dtype))
        found = torch.addmm(self.base(flat), low, self.up.to(flat.dtype).t(), alpha=SCALING)
        return found.reshape(*states.shape[:-1], -1)


@dataclass(frozen=True)
class Recipe:
    """`frozen` lowest layers stay as published; learning rates of encoder and head at their peak."""

    frozen: int
    encoder_rate: float
    head_rate: float


# The lowest layers change least in fine-tuning; leaving them saves a quarter of the training and of the file.
RECIPES = {"minilm": Recipe(2, 1.2e-4, 6e-4), "mpnet": Recipe(2, 4e-4, 5e-4)}


def trainable(backbone: str) -> EntailmentNetwork:
    """A fresh network in which what is to be trained, and nothing else, requires a gradient."""
    network = EntailmentNetwork(BACKBONES[backbone], dropout=0.1)
    encoder, frozen = network.encoder, RECIPES[backbone].frozen
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    if backbone == "minilm":
        still = ("embeddings.", *(f"encoder.layer.{layer}." for layer in range(frozen)))
        for name, parameter in encoder.named_parameters():
            parameter.requires_grad_(not name.startswith(still))
        return network
    encoder.requires_grad_(False)
    if precision() == "bf16":
        encoder.to(torch.bfloat16)
    for number, layer in enumerate(encoder.encoder.layer):
        for name, module in list(layer.named_modules()):
            if number >= frozen and isinstance(module, nn.Linear) and f".{name}".endswith(_ADAPTED):
                owner, _, last = name.rpartition(".")
                setattr(layer.get_submodule(owner), last, Adapted(module))
    return network


def start_from(network: EntailmentNetwork, path: Path) -> None:
    """Give a fresh `trainable` network the trained weights of a shipped file: a later run goes on from there."""
    whole, tensors = entailment_weights.restored(path).state_dict(), load_file(path)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            module, _, part = name.rpartition(".")
            if part in ("down", "up"):
                factor = SCALING if part == "up" else 1.0
                parameter.copy_(tensors[f"{module}.weight.{part}"].float() / factor)
            elif parameter.requires_grad:
                parameter.copy_(whole[name])


def logits(network: EntailmentNetwork, encoded: Mapping[str, Tensor]) -> Tensor:
    """Class logits (pairs, 3), the encoder in bf16 where the processor can, the head in fp32."""
    # MPNet's own weights are bf16 already; MiniLM's are trained, and kept in fp32.
    with torch.autocast("cpu", torch.bfloat16, enabled=precision() == "bf16" and network.backbone.typed):
        states = network.encoded(**encoded)
    return network.compared(states, encoded["token_type_ids"], encoded["attention_mask"])


def shipped(trained: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Trained parameters named as `entailment_weights.save` wants them, the scaling in the second factor."""
    found = {}
    for name, value in trained.items():
        module, _, part = name.rpartition(".")
        if part in ("down", "up"):
            found[f"{module}.weight.{part}"] = value * SCALING if part == "up" else value
        else:
            found[name] = value
    return found
