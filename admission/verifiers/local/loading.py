"""Loading a model of a local folder or the hub through transformers, once a process, and saying which one it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from admission.errors import SettingsError
from admission.local_settings import Dtype, Kind, LocalModelSettings
from admission.verifiers.published import import_transformers

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# What a model's answers depend on in its folder: weights, configuration, tokenizer, chat template.
_PARTS = frozenset({".safetensors", ".bin", ".gguf", ".json", ".model", ".txt", ".jinja"})
_NO_BOUND = 1_000_000  # a tokenizer that knows no bound says 1e30
_SHOWN = 12


@dataclass(frozen=True)
class LocalModel:
    """A loaded model in evaluation mode and its tokenizer.

    `name`: the hub id, or the folder's or GGUF file's name with the beginning of `sha256`, which is the digest over the
    files of a local folder. `revision`: the commit of a hub id. One computation at a time holds `lock`.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    name: str
    revision: str | None = None
    sha256: str | None = None
    lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def identity(self) -> dict[str, object]:
        """Which model this is, for the identity of a verifier."""
        dtype = str(self.model.dtype).removeprefix("torch.")
        return {"model": self.name, "revision": self.revision, "sha256": self.sha256, "dtype": dtype}

    @property
    def reach(self) -> int | None:
        """Tokens the model can read at once; None where neither its configuration nor its tokenizer says."""
        config: Any = self.model.config.get_text_config(decoder=True)
        positions = getattr(config, "max_position_embeddings", None)
        if positions is not None and "roberta" in config.model_type:
            positions -= config.pad_token_id + 1  # its positions begin after the padding id
        said = [n for n in (positions, self.tokenizer.model_max_length) if n is not None and 0 < n < _NO_BOUND]
        return int(min(said)) if said else None


def load(section: LocalModelSettings) -> LocalModel:
    """The model of a section. The hub is asked only where `model` is no local folder; code of a model's is never run.

    Raises `SettingsError` naming the setting where it cannot be loaded.
    """
    folder = Path(section.model).expanduser()
    local = folder.is_dir()
    if local and section.revision is not None:
        raise SettingsError("revision", f"{section.model!r} is a local folder, which has none", "leave it out")
    if local and section.gguf_file is not None and not (folder / section.gguf_file).is_file():
        raise SettingsError(
            "gguf_file", f"no file {section.gguf_file!r} in {section.model!r}", "name one that is there"
        )
    return _loaded(
        _Source(
            model=str(folder) if local else section.model,
            kind=section.kind,
            revision=section.revision,
            gguf_file=section.gguf_file,
            dtype=section.dtype,
            device=_device(section.device),
            sha256=_digest(folder, section.gguf_file) if local else None,
        )
    )


class _Source(NamedTuple):
    """What makes two sections one loaded model; `sha256` makes a folder whose files were changed another."""

    model: str
    kind: Kind
    revision: str | None
    gguf_file: str | None
    dtype: Dtype
    device: str
    sha256: str | None


@lru_cache(maxsize=4)
def _loaded(source: _Source) -> LocalModel:
    try:
        with _quietly():
            tokenizer, model = _from_transformers(source)
            model = model.to(source.device)
    except Exception as error:  # transformers and what it loads with raise whatever they like
        remedy = "give a folder with a transformers model or a hub id; a GGUF file needs memory-admission[local]"
        raise SettingsError("model", f"{source.model!r} cannot be loaded ({_why(error)})", remedy) from error
    model.train(False)
    return LocalModel(
        model=model,
        tokenizer=tokenizer,
        name=_name(source),
        revision=_commit(source),
        sha256=source.sha256,
    )


def _from_transformers(source: _Source) -> tuple[PreTrainedTokenizerBase, Any]:
    import torch

    import_transformers()
    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

    # False, not left out: without it transformers asks at the terminal whether to run a model's own code.
    where: dict[str, Any] = {"local_files_only": source.sha256 is not None, "trust_remote_code": False}
    if source.revision is not None:
        where["revision"] = source.revision
    if source.gguf_file is not None:
        where["gguf_file"] = source.gguf_file
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(source.model, **where)
    kind: Any = AutoModelForCausalLM if source.kind == "causal" else AutoModelForSequenceClassification
    dtype = "auto" if source.dtype == "auto" else getattr(torch, source.dtype)
    return tokenizer, kind.from_pretrained(source.model, dtype=dtype, **where)


def _device(wanted: str) -> str:
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(device for device, usable in there.items() if usable)
    if not there[wanted]:
        usable = ", ".join(device for device, is_there in there.items() if is_there)
        raise SettingsError("device", f"this machine has no {wanted}", f"use auto or one of {usable}")
    return wanted


def _digest(folder: Path, gguf_file: str | None) -> str:
    """SHA-256 over names and digests of the files that the model is made of."""
    files = [folder / gguf_file] if gguf_file else sorted(f for f in folder.iterdir() if f.suffix in _PARTS)
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()


def _name(source: _Source) -> str:
    if source.sha256 is None:
        return source.model
    return f"{source.gguf_file or Path(source.model).resolve().name}@{source.sha256[:_SHOWN]}"


def _commit(source: _Source) -> str | None:
    """The commit that a hub id was loaded at, as the hub's cache has it: a branch moves."""
    from huggingface_hub import try_to_load_from_cache

    if source.sha256 is not None:
        return None
    found = try_to_load_from_cache(source.model, source.gguf_file or "config.json", revision=source.revision)
    parts = Path(found).parts if isinstance(found, str) else ()
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts else source.revision


def _why(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextmanager
def _quietly() -> Iterator[None]:
    """None of the progress bars of transformers on stderr; unpacking a GGUF file, which takes longer, shows one."""
    from transformers.utils import logging

    bars: Any = logging  # its functions have no annotations
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()
