"""The entailment verifier's weight file: described without torch, written small, read back into the network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from admission.errors import WeightsError
from admission.verifiers import minilm, mpnet

if TYPE_CHECKING:
    from torch import Tensor

    from admission.verifiers.entailment_model import EntailmentNetwork

FORMAT = "entailment-2"
SHIPPED = {
    backbone: Path(__file__).parent.parent / "data" / f"entailment-{backbone}.safetensors"
    for backbone in ("minilm", "mpnet")
}
WEIGHTS = SHIPPED["mpnet"]

BACKBONE_SHA256 = {"minilm": minilm.WEIGHTS_SHA256, "mpnet": mpnet.WEIGHTS_SHA256}

LOW_RANK = (".down", ".up")
"""Endings of the two factors of a matrix's change: `up @ down` is added to the backbone's matrix."""

_LEAST_SCALE = 2.0**-20  # representable in fp16


def describe(path: Path = WEIGHTS) -> dict[str, Any]:
    """The file's metadata, with `sha256` of the file added; torch is not needed.

    Holds at least `calibration` and `thresholds`, each for `support` and for `contradiction`. Raises `WeightsError`
    when the file is missing, unreadable, or not for this version and backbone.
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
    known = BACKBONE_SHA256.get(found.get("backbone", ""))
    if found.get("format") != FORMAT or known is None or found.get("base_sha256") != known:
        raise WeightsError(
            str(path), f"it is not of format {FORMAT} for this backbone", "use the file that came with this version"
        )
    return {**found, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def save(path: Path, backbone: str, trained: Mapping[str, Tensor], metadata: Mapping[str, object]) -> None:
    """Write trained parameters small: matrices as int8 with fp16 row scales, the encoder's as changes to the backbone.

    `trained` holds parameters of the network under their names; a matrix of the encoder may stand there as the two
    factors of its change, under its name with the endings `LOW_RANK`: those are written as fp16. `metadata` holds at
    least what `describe` promises; it is stored as JSON inside the file, with format, backbone and its digest.
    """
    import torch

    from admission.verifiers.entailment_model import BACKBONES

    base = BACKBONES[backbone].encoder().state_dict()
    tensors: dict[str, Tensor] = {}
    for name, value in trained.items():
        value = value.to(torch.float32)
        if name.endswith(LOW_RANK):
            tensors[name] = value.to(torch.float16).contiguous()
            continue
        if name.startswith("encoder."):
            value = value - base[name.removeprefix("encoder.")]
        if value.ndim < 2:
            tensors[name] = value.contiguous()
            continue
        scale = (value.abs().amax(dim=1, keepdim=True) / 127.0).clamp(min=_LEAST_SCALE).to(torch.float16)
        tensors[f"{name}.int8"] = (value / scale.to(torch.float32)).round().clamp(-127, 127).to(torch.int8).contiguous()
        tensors[f"{name}.scale"] = scale.contiguous()
    _write(
        path, tensors, {"format": FORMAT, "backbone": backbone, "base_sha256": BACKBONE_SHA256[backbone], **metadata}
    )


def copy_with(source: Path, path: Path, changes: Mapping[str, object]) -> None:
    """Write the weights of `source`, bit by bit, to `path`, with `changes` made to its metadata."""
    from safetensors.torch import load_file

    described = {name: value for name, value in describe(source).items() if name != "sha256"}
    _write(path, load_file(source), {**described, **changes})


def _write(path: Path, tensors: Mapping[str, Tensor], described: Mapping[str, object]) -> None:
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    save_file(dict(tensors), partial, metadata={"json": json.dumps(described, sort_keys=True)})
    partial.chmod(0o644)  # safetensors writes files that only their owner may read
    partial.replace(path)


def load(path: Path = WEIGHTS) -> EntailmentNetwork:
    """The network in evaluation mode, its encoder in the precision of this machine. Raises `WeightsError`."""
    import torch

    from admission.verifiers.entailment_model import precision

    network = restored(path)
    if precision() == "bf16":
        network.encoder.to(torch.bfloat16)
    network.train(False)
    return network


def restored(path: Path) -> EntailmentNetwork:
    """The network in fp32, as it was trained. Raises `WeightsError`."""
    from safetensors.torch import load_file

    from admission.verifiers.entailment_model import BACKBONES, EntailmentNetwork

    backbone = BACKBONES[describe(path)["backbone"]]
    tensors = load_file(path)
    network = EntailmentNetwork(backbone)
    current = network.state_dict()
    try:
        for name in {stored.removesuffix(".int8").removesuffix(".scale") for stored in tensors}:
            if not name.endswith(LOW_RANK):
                value = _stored(name, tensors)
                current[name] = current[name] + value if name.startswith("encoder.") else value
            elif name.endswith(".down"):
                matrix = name.removesuffix(".down")
                current[matrix] = current[matrix] + tensors[f"{matrix}.up"].float() @ tensors[name].float()
        missing = {name for name in current if not name.startswith("encoder.")} - {
            stored.removesuffix(".int8") for stored in tensors
        }
        if missing:
            raise KeyError(min(missing))
        network.load_state_dict(current)
    except (KeyError, RuntimeError) as error:
        raise WeightsError(
            str(path), f"a tensor is missing or misshapen ({error})", "reinstall memory-admission"
        ) from error
    return network


def _stored(name: str, tensors: Mapping[str, Tensor]) -> Tensor:
    if name in tensors:
        return tensors[name]
    return tensors[f"{name}.int8"].float() * tensors[f"{name}.scale"].float()
