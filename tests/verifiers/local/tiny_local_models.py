"""Tiny models with random weights in folders as transformers saves them, and questions to put to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
)

import prompts
from admission.records import Obligation, ObligationType, Passage, Question

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTROL = ("<|im_start|>", "<|im_end|>")
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "initializer_range": 0.3,  # so that answers differ from prompt to prompt
}


def tokenizer(chat_template: str | None = CHAT) -> PreTrainedTokenizerFast:
    """A byte-level BPE tokenizer trained on our own prompts."""
    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=800,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|unk|>", *CONTROL],
        show_progress=False,
    )
    texts = [prompts.load(name).template for name in prompts.NAMES] + ["Yes No yes no Yes No yes no"] * 20
    plain.train_from_iterator(texts, trainer)
    made = PreTrainedTokenizerFast(
        tokenizer_object=plain, unk_token="<|unk|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    made.chat_template = chat_template
    return made


def causal(architecture: str = "llama", seed: int = 0, **config: Any) -> Any:
    """A causal model of this architecture with random weights, in evaluation mode."""
    torch.manual_seed(seed)
    settings = AutoConfig.for_model(architecture, **{"vocab_size": 900, **SIZES, **config})
    model = AutoModelForCausalLM.from_config(settings)
    model.train(False)
    return model


def causal_folder(folder: Path, chat_template: str | None = CHAT, seed: int = 0, **config: Any) -> Path:
    """A folder with a tiny Llama and its tokenizer."""
    causal(seed=seed, **config).save_pretrained(folder)
    tokenizer(chat_template).save_pretrained(folder)
    return folder


def nli_folder(folder: Path, names: tuple[str, ...], odds: tuple[float, ...], limit: int = 128) -> Path:
    """A folder with a tiny BERT classifier that gives every pair the same logits, its outputs called `names`."""
    sizes = {name: SIZES[name] for name in ("hidden_size", "intermediate_size", "num_attention_heads")}
    config = BertConfig(
        vocab_size=900,
        num_hidden_layers=1,
        max_position_embeddings=limit,
        id2label=dict(enumerate(names)),
        label2id={name: n for n, name in enumerate(names)},
        **sizes,
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor(odds))
    model.save_pretrained(folder)
    tokenizer(None).save_pretrained(folder)
    return folder


def passage(id: str, text: str, position: int = 0, **more: Any) -> Passage:
    fields = {"turn_id": id, "role": "user", "speaker": "Ana", "origin": "conversation"} | more
    return Passage(id=id, position=position, text=text, **fields)


TURNS = (
    passage("t1", "I moved to Leeds in March.", 0, time="2026-04-02T18:20:00"),
    passage("t2", "My sister had a baby, so I am an aunt now!", 1),
)


def question(text: str, *passages: Passage, id: str = "o1", type: ObligationType = "fact") -> Question:
    obligation = Obligation(id=id, text=text, type=type)
    return Question(obligation=obligation, memory="memory", view="citation_only", passages=passages or TURNS)
