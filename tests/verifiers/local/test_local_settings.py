"""Local models by configuration: sections of `local`, roles that name them, and what a wrong one is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_local_models import causal_folder, question

from admission.errors import SettingsError
from admission.gate import AdmissionGate
from admission.local_settings import LocalModelSettings
from admission.settings import Settings, load_settings
from admission.verifiers import build_verifier, check_kind
from admission.verifiers.local import CausalVerifier, load
from admission.verifiers.unavailable import UnavailableVerifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return causal_folder(tmp_path_factory.mktemp("models") / "tiny")


def sections(**more: Any) -> dict[str, LocalModelSettings]:
    return {"small": LocalModelSettings(**more)}


def test_a_role_names_a_model_of_the_file(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "gate.toml").write_text(
        f'[local.small]\nmodel = "{folder}"\ndevice = "cpu"\nmax_tokens = 900\n'
        '[verification]\nverifier_a = "local:small"\n[verification.thresholds."local:small"]\nsupport = 0.8\n'
    )
    judge = AdmissionGate(load_settings(tmp_path / "gate.toml")).verifiers["verifier_a"]
    assert isinstance(judge, CausalVerifier)
    assert (judge.name, judge.thresholds.support) == ("local:small", 0.8)
    assert judge.identity["max_tokens"] == 900


@pytest.mark.parametrize(
    ("role", "remedy"), [("local:huge", "small"), ("local:", "[local.NAME]"), ("local", "[local.NAME]")]
)
def test_a_role_that_names_no_model_is_refused_at_the_start(role: str, remedy: str) -> None:
    settings = Settings(local={"small": {"model": "m"}}, verification={"verifier_b": role})  # type: ignore[arg-type, dict-item]
    with pytest.raises(SettingsError) as caught:
        AdmissionGate(settings)
    assert caught.value.field == "verification.verifier_b"
    assert remedy in caught.value.remedy


def test_with_no_model_at_all_the_remedy_is_a_section() -> None:
    with pytest.raises(SettingsError, match=r"add a section \[local.small\]"):
        check_kind("verification.verifier_a", "local:small")


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        ('kind = "causal"\n', "local.a.model"),
        ('model = "m"\nkind = "seq2seq"\n', "local.a.kind"),
        ('model = "m"\ndtype = "int8"\n', "local.a.dtype"),
        ('model = "m"\nbatch_size = 0\n', "local.a.batch_size"),
        ('model = "m"\ntrust_remote_code = true\n', "local.a.trust_remote_code"),
        ('model = "m"\nkind = "nli"\ngguf_file = "m.gguf"\n', "local.a"),
        ('model = "m"\nlabels = ["entailment", "neutral", "contradiction"]\n', "local.a"),
        ('model = "m"\nkind = "nli"\nlabels = ["entailment", "neutral", "neutral"]\n', "local.a"),
    ],
)
def test_a_wrong_setting_of_a_model_is_named(tmp_path: Path, toml: str, field: str) -> None:
    (tmp_path / "gate.toml").write_text(f"[local.a]\n{toml}")
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path / "gate.toml")
    assert caught.value.field == field


def unavailable(section: dict[str, LocalModelSettings]) -> str:
    judge = build_verifier("local:small", None, None, section)
    assert isinstance(judge, UnavailableVerifier)
    return str(judge.error)


def test_a_folder_without_a_model_is_an_unavailable_verifier_with_the_reason(tmp_path: Path) -> None:
    reason = unavailable(sections(model=str(tmp_path)))
    assert reason.startswith("local.small.model: ")
    assert "cannot be loaded" in reason


def test_a_file_a_version_or_a_device_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert unavailable(sections(model=str(folder), gguf_file="x.gguf")).startswith(
        "local.small.gguf_file: no file 'x.gguf'"
    )
    assert unavailable(sections(model=str(folder), revision="main")).startswith("local.small.revision: ")
    assert unavailable(sections(model=str(folder), device="cuda")).startswith(
        "local.small.device: this machine has no cuda"
    )


def test_a_causal_model_asked_for_as_nli_is_refused_for_its_labels(folder: Path) -> None:
    assert unavailable(sections(model=str(folder), kind="nli", device="cpu")).startswith("local.small.labels: ")


def test_code_that_comes_with_a_model_is_never_run(folder: Path, tmp_path: Path) -> None:
    causal_folder(tmp_path / "own")
    ran = tmp_path / "ran"
    (tmp_path / "own" / "own_code.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Own: ...\n")
    config = json.loads((tmp_path / "own" / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own_code.Own", "AutoModelForCausalLM": "own_code.Own"}}
    (tmp_path / "own" / "config.json").write_text(json.dumps(config))
    assert "cannot be loaded" in unavailable(sections(model=str(tmp_path / "own")))
    assert not ran.exists()


def test_a_changed_file_is_another_model(tmp_path: Path) -> None:
    own = causal_folder(tmp_path / "own")
    section = LocalModelSettings(model=str(own), device="cpu")
    before = load(section)
    assert load(section) is before
    causal_folder(own, seed=7)
    after = load(section)
    assert after is not before
    assert after.name != before.name


def test_a_hub_id_is_loaded_from_the_hubs_cache_and_known_by_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--somebody--tiny"
    causal_folder(repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    for place in ("huggingface_hub.constants.HF_HUB_CACHE", "transformers.utils.hub.constants.HF_HUB_CACHE"):
        monkeypatch.setattr(place, str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    local = load(LocalModelSettings(model="somebody/tiny", device="cpu"))
    assert local.identity == {"model": "somebody/tiny", "revision": commit, "sha256": None, "dtype": "float32"}
    (judgment,) = CausalVerifier(local, "local:tiny").judge([question("Ana moved.")])
    assert judgment.outcome == "judged"
