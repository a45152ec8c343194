"""The entailment verifier's weight file: described without torch, written small, read back into the network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from admission.errors import WeightsError
from admission.verifiers import minilm

if TYPE_CHECKING:
    from torch import Tensor

    from admission.verifiers.entailment_model import EntailmentNetwork

FORMAT = "entailment-1"
WEIGHTS = Path(__file__).parent.parent / "data" / "entailment.safetensors"

_LEAST_SCALE = 2.0**-20  # representable in fp16


def describe(path: Path = WEIGHTS) -> dict[str, Any]:
    """The file's metadata, with `sha256` of the file added; torch is not needed.

    Holds at least `temperature`, `support` and `contradiction` (the thresholds). Raises `WeightsError` when the file is
    missing, unreadable, or not for this version and backbone.
    """
    if not path.is_file():
        raise WeightsError(
            str(path), "the file is missing", "reinstall memory-admission, or train it (training/README.md)"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            found: dict[str, Any] = json.loads((file.metadata() or {}).get("json", "{}"))
    except (SafetensorError, OSError, ValueError) as error:
        raise WeightsError(str(path), f"it cannot be read ({error})", "reinstall memory-admission") from error
    if found.get("format") != FORMAT or found.get("base_sha256") != minilm.WEIGHTS_SHA256:
        raise WeightsError(
            str(path), f"it is not of format {FORMAT} for this backbone", "use the file that came with this version"
        )
    return {**found, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def save(path: Path, tuned: Mapping[str, Tensor], metadata: Mapping[str, object]) -> None:
    """Write trained parameters small: matrices as int8 with fp16 row scales, the encoder's as changes to MiniLM.

    `tuned` holds every parameter for which `entailment_model.is_tuned` is true. `metadata` holds at least what
    `describe` promises; it is stored as JSON inside the file, with the format and the backbone's digest.
    """
    import torch
    from safetensors.torch import save_file

    base = minilm.encoder().state_dict()
    tensors: dict[str, Tensor] = {}
    for name, value in tuned.items():
        value = value.to(torch.float32)
        if value.ndim < 2:
            tensors[name] = value.contiguous()
            continue
        if name.startswith("encoder."):
            value = value - base[name.removeprefix("encoder.")]
        scale = (value.abs().amax(dim=1, keepdim=True) / 127.0).clamp(min=_LEAST_SCALE).to(torch.float16)
        tensors[f"{name}.int8"] = (value / scale.to(torch.float32)).round().clamp(-127, 127).to(torch.int8).contiguous()
        tensors[f"{name}.scale"] = scale.contiguous()
    described = {"format": FORMAT, "base_sha256": minilm.WEIGHTS_SHA256, **metadata}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    save_file(tensors, partial, metadata={"json": json.dumps(described, sort_keys=True)})
    partial.chmod(0o644)  # safetensors writes files that only their owner may read
    partial.replace(path)


def load(path: Path = WEIGHTS) -> EntailmentNetwork:
    """The network in evaluation mode, fp32. Raises `WeightsError`."""
    from safetensors.torch import load_file

    from admission.verifiers.entailment_model import EntailmentNetwork, is_tuned

    describe(path)
    tensors = load_file(path)
    network = EntailmentNetwork(minilm.encoder())
    current = network.state_dict()
    try:
        for name in filter(is_tuned, list(current)):
            current[name] = _restored(name, tensors, current)
        network.load_state_dict(current)
    except (KeyError, RuntimeError) as error:
        raise WeightsError(
            str(path), f"a tensor is missing or misshapen ({error})", "reinstall memory-admission"
        ) from error
    network.train(False)
    return network


def _restored(name: str, tensors: Mapping[str, Tensor], current: Mapping[str, Tensor]) -> Tensor:
    if name in tensors:
        return tensors[name]
    value = tensors[f"{name}.int8"].float() * tensors[f"{name}.scale"].float()
    return value + current[name] if name.startswith("encoder.") else value
