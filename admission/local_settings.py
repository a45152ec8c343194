"""What a deployment says about a model that runs in this process through transformers."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Kind = Literal["causal", "nli"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Meaning = Literal["entailment", "neutral", "contradiction"]


class LocalModelSettings(BaseModel):
    """A section `[local.NAME]`, used by a role as `local:NAME`.

    `model`: a folder of this machine, or else the id of a model on the Hugging Face hub, of which `revision` names the
    version. `kind`: a `causal` language model, or `nli`, a sequence classifier over premise and statement; the latter
    may need `labels`, what its outputs mean, in their order. `gguf_file`: the file in `model` that holds the weights.
    `dtype`: the arithmetic (`auto`: as the weights are stored). `batch_size`: prompts or pairs computed at a time.
    `max_tokens`: the longest prompt or pair, and never more than the model can read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1)
    kind: Kind = "causal"
    revision: str | None = Field(default=None, min_length=1)
    gguf_file: str | None = Field(default=None, min_length=1)
    labels: tuple[Meaning, Meaning, Meaning] | None = None
    device: Device = "auto"
    dtype: Dtype = "float32"
    batch_size: int = Field(default=8, ge=1)
    max_tokens: int = Field(default=8192, ge=64)

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        if self.kind == "nli" and self.gguf_file is not None:
            raise ValueError("gguf_file is for causal models: leave it out, or set kind to causal")
        if self.kind == "causal" and self.labels is not None:
            raise ValueError("labels are for nli models: leave them out, or set kind to nli")
        if self.labels is not None and len(set(self.labels)) != len(self.labels):
            raise ValueError("labels names one meaning twice: give entailment, neutral and contradiction in order")
        return self
