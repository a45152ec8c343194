"""What both backbones have in common: a published model's folder, its weights checked, its tokenizer loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from admission.errors import WeightsError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_importing = Lock()


def checked(folder: Path, sha256: str, *, if_missing: str, if_other: str) -> Path:
    """`folder`, after its model.safetensors was found to have the publisher's SHA-256.

    Raises `WeightsError` otherwise, with the remedy given for a file that is missing or is another.
    """
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise WeightsError(str(weights), "the file is missing", if_missing)
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise WeightsError(str(weights), f"SHA-256 is {found}, not the publisher's {sha256}", if_other)
    return folder


def import_transformers() -> None:
    """Call it before the first `from transformers import` of a thread. The package replaces itself when its import
    ends, and a thread that asks for it just then gets the one without content."""
    with _importing:
        import transformers  # noqa: F401


def fast_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The fast tokenizer in `folder`."""
    import_transformers()
    from transformers import AutoTokenizer

    loaded: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, local_files_only=True, use_fast=True)
    return loaded
