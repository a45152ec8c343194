"""The verifier over an NLI classifier whose answers are set in the test: labels, numbers, abstentions, attacks."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tiny_local_models import TURNS, nli_folder, passage, question, tokenizer
from transformers import BertConfig, RobertaConfig

from admission.errors import SettingsError
from admission.local_settings import LocalModelSettings, Meaning
from admission.records import Judgment, Question, Thresholds
from admission.verifiers.local import LocalModel, NliVerifier, load
from admission.verifiers.local.building import local_verifier

ORDER = ("entailment", "neutral", "contradiction")
SURE = 4.0


def made(folder: Path, **section: Any) -> NliVerifier:
    verifier = local_verifier("local:nli", LocalModelSettings(model=str(folder), kind="nli", device="cpu", **section))
    assert isinstance(verifier, NliVerifier)
    return verifier


def judge(verifier: NliVerifier, asked: Question) -> Judgment:
    (judgment,) = verifier.judge([asked])
    return judgment


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (("entailment", "neutral", "contradiction"), "supported"),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), "contradicted"),
        (("Neutral", "Entails", "Contradicts"), "insufficient"),
    ],
)
def test_outputs_are_known_by_their_names_in_any_order_and_case(
    tmp_path: Path, names: tuple[str, ...], label: str
) -> None:
    verifier = made(nli_folder(tmp_path / "nli", names, (SURE, 0.0, 0.0)))
    judgment = judge(verifier, question("Ana moved to Leeds in March."))
    assert judgment.label == label
    sure, unsure = 1 / (1 + 2 * math.exp(-SURE)), 1 / (2 + math.exp(SURE))
    numbers = {"supported": (sure, unsure), "contradicted": (unsure, sure), "insufficient": (unsure, unsure)}[label]
    assert (judgment.support, judgment.contradiction) == pytest.approx(numbers, abs=1e-3)


def test_labels_of_the_settings_say_what_nameless_outputs_mean(tmp_path: Path) -> None:
    folder = nli_folder(tmp_path / "nli", ("LABEL_0", "LABEL_1", "LABEL_2"), (0.0, 0.0, SURE))
    order: tuple[Meaning, ...] = ("contradiction", "neutral", "entailment")
    verifier = made(folder, labels=order)
    assert judge(verifier, question("Ana moved to Leeds in March.")).label == "supported"
    assert verifier.identity["labels"] == list(order)
    with pytest.raises(SettingsError) as caught:
        made(folder)
    assert caught.value.field == "local.nli.labels"
    assert "LABEL_0, LABEL_1, LABEL_2" in caught.value.problem
    assert "labels = ['entailment', 'neutral', 'contradiction']" in caught.value.remedy


@pytest.mark.parametrize(
    ("names", "labels"), [(("entailment", "not_entailment"), None), (("no", "yes"), ORDER), (("entailment",) * 3, None)]
)
def test_a_model_whose_outputs_are_not_the_three_is_refused(
    tmp_path: Path, names: tuple[str, ...], labels: tuple[Meaning, ...] | None
) -> None:
    folder = nli_folder(tmp_path / "nli", names, (0.0,) * len(names))
    with pytest.raises(SettingsError) as caught:
        made(folder, labels=labels)
    assert caught.value.field == "local.nli.labels"


@pytest.fixture(scope="module")
def entailing(tmp_path_factory: pytest.TempPathFactory) -> NliVerifier:
    return made(nli_folder(tmp_path_factory.mktemp("models") / "nli", ORDER, (SURE, 0.0, 0.0)))


@pytest.fixture(scope="module")
def denying(tmp_path_factory: pytest.TempPathFactory) -> NliVerifier:
    return made(nli_folder(tmp_path_factory.mktemp("models") / "nli", ORDER, (0.0, 0.0, SURE)))


def test_the_turns_of_the_premise_that_counts_are_named(entailing: NliVerifier, denying: NliVerifier) -> None:
    for verifier in (entailing, denying):
        judgment = judge(verifier, question("Ana moved to Leeds in March."))
        assert judgment.evidence == ("t1",)
        assert "t1" in judgment.note


def test_an_unrelated_turn_contradicts_nothing(denying: NliVerifier) -> None:
    rain = passage("t5", "It rained all day.", speaker="Bo")
    assert judge(denying, question("Ana moved to Leeds.", rain)).contradiction == 0.0


def test_no_text_and_a_statement_too_long_are_abstained_on(entailing: NliVerifier) -> None:
    empty, long = entailing.judge([question("Ana moved.", passage("t1", " ")), question("Ana moved far " * 60)])
    assert empty.reason == "empty: there is no text to judge the statement on"
    assert long.reason.startswith("too_long: the statement has ")
    assert long.reason.endswith(" tokens, 64 can be read")


def test_long_passages_are_kept_within_what_can_be_read(entailing: NliVerifier) -> None:
    lengths: list[int] = []
    hook = entailing.local.model.register_forward_pre_hook(
        lambda model, args, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True
    )
    turns = [passage(f"t{n}", f"Ana moved again. {'And so on it went. ' * 30}", n) for n in range(16)]
    judgment = judge(entailing, question("Ana moved to Leeds.", *turns))
    hook.remove()
    assert judgment.outcome == "judged"
    assert 64 < max(lengths) <= 128


def test_a_separator_that_somebody_wrote_is_read_as_words(entailing: NliVerifier) -> None:
    given: list[torch.Tensor] = []
    hook = entailing.local.model.register_forward_pre_hook(
        lambda model, args, inputs: given.append(inputs["input_ids"]), with_kwargs=True
    )
    turn = passage("t1", "Ana stayed.<|im_start|>Ana left.", speaker="Ana<|im_start|>")
    judge(entailing, question("Ana left.<|im_start|>", turn))
    hook.remove()
    control = tokenizer().convert_tokens_to_ids("<|im_start|>")
    assert given and not any((ids == control).any() for ids in given)


def test_numbers_that_are_not_finite_fail(tmp_path: Path) -> None:
    broken = made(nli_folder(tmp_path / "nli", ORDER, (float("nan"), 0.0, 0.0)))
    judgment = judge(broken, question("Ana moved."))
    assert judgment.outcome == "failed"
    assert judgment.reason.startswith("model_error")


def test_thresholds_and_the_bound_are_part_of_the_identity(tmp_path: Path) -> None:
    local = load(LocalModelSettings(model=str(nli_folder(tmp_path / "nli", ORDER, (0.0,) * 3)), kind="nli"))
    plain = NliVerifier(local, "local:nli").identity
    assert plain["max_tokens"] == 128
    assert plain != NliVerifier(local, "local:nli", max_tokens=100).identity
    assert plain != NliVerifier(local, "local:nli", thresholds=Thresholds(support=0.9)).identity
    assert NliVerifier.reads_whole


def test_equal_pairs_are_computed_once(entailing: NliVerifier) -> None:
    rows: list[int] = []
    hook = entailing.local.model.register_forward_pre_hook(
        lambda model, args, given: rows.append(given["input_ids"].shape[0]), with_kwargs=True
    )
    asked = question("Ana moved to Leeds in March.", *TURNS)
    entailing.judge([asked])
    once = sum(rows)
    rows.clear()
    entailing.judge([asked, asked, asked])
    hook.remove()
    assert sum(rows) == once


@pytest.mark.parametrize(("config", "reach"), [(RobertaConfig(max_position_embeddings=514), 512), (BertConfig(), 512)])
def test_the_positions_that_roberta_keeps_for_padding_cannot_be_read(config: Any, reach: int) -> None:
    model: Any = SimpleNamespace(config=config)
    assert LocalModel(model, tokenizer(), "m").reach == reach
