"""Chat models by configuration: sections of `models`, roles that name them, and what a wrong one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from scripted_chat import ScriptedChat, ToolChat, decide, gate, honest

from admission.errors import SettingsError
from admission.gate import AdmissionGate
from admission.model_settings import ChatOptions
from admission.settings import Settings, load_settings
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.sameness import same_models
from admission.verifiers.scripted import ScriptedVerifier

FILE = """
[models.large]
model = "scripted:large"
params = { temperature = 0.0, api_key = "s3cret" }
asking = "joint_then_isolated"
max_calls_per_write = 20

[models.small]
model = "scripted:small"

[verification]
verifier_a = "chat:large"
verifier_b = "chat:small"
adjudicator = "chat:large"
[verification.thresholds."chat:large"]
support = 0.8
"""


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AdmissionGate:
    """A gate from a file, whose models are scripted ones."""

    def scripted(model: str, **params: Any) -> BaseChatModel:
        return ToolChat(model=model.partition(":")[2], script=honest)

    monkeypatch.setattr("langchain.chat_models.init_chat_model", scripted)
    (tmp_path / "gate.toml").write_text(FILE)
    return AdmissionGate(load_settings(tmp_path / "gate.toml"))


def test_roles_name_models_of_the_settings(configured: AdmissionGate) -> None:
    judges = configured.verifiers
    assert {role: judge.name for role, judge in judges.items()} == {
        "verifier_a": "chat:large", "verifier_b": "chat:small", "adjudicator": "chat:large",
    }  # fmt: skip
    assert isinstance(judges["verifier_a"], ChatVerifier)
    assert judges["verifier_a"].options == ChatOptions(asking="joint_then_isolated", max_calls_per_write=20)
    assert judges["verifier_a"].thresholds.support == 0.8
    assert decide(configured).status == "admitted"


def test_a_report_warns_where_two_roles_are_the_same_model(configured: AdmissionGate) -> None:
    warnings = [r for r in decide(configured).reasons if r.startswith("same_model")]
    assert len(warnings) == 1
    assert "verifier_a and adjudicator" in warnings[0]


def test_models_given_in_code_are_compared_too_and_embedded_kinds_never_collide() -> None:
    one, other = ScriptedChat(model="one", script=honest), ScriptedChat(model="other", script=honest)
    assert [r for r in decide(gate(one, one)).reasons if r.startswith("same_model: verifier_a and verifier_b")]
    assert not [r for r in decide(gate(one, other)).reasons if r.startswith("same_model")]
    twins = {role: ScriptedVerifier("twin", lambda question: (1.0, 0.0)) for role in ("verifier_a", "verifier_b")}
    assert same_models(twins) == ()


def test_the_identity_follows_model_parameters_prompts_and_options_and_holds_no_secret(
    configured: AdmissionGate,
) -> None:
    identity = configured.verifiers["verifier_a"].identity
    assert str(identity["model"]).endswith(":large")
    assert identity["params"] == {"temperature": 0.0}
    assert "s3cret" not in str(identity)
    model = ScriptedChat(script=honest)
    plain = ChatVerifier(model, "judge").identity
    assert plain != ChatVerifier(model, "judge", options=ChatOptions(asking="isolated")).identity
    assert plain != ChatVerifier(ScriptedChat(model="other", script=honest), "judge").identity
    assert plain == ChatVerifier(model, "judge", options=ChatOptions(max_concurrency=1)).identity


def test_secrets_deep_in_the_parameters_and_in_addresses_stay_out_of_the_identity() -> None:
    params = {
        "base_url": "https://ana:s3cret@models.example/v1",
        "model_kwargs": {"extra_headers": {"Authorization": "s3cret"}, "seed": 7},
        "default_query": [{"api-key": "s3cret", "version": "2"}],
    }
    identity = ChatVerifier(ScriptedChat(script=honest), "judge", params=params).identity
    assert identity["params"] == {
        "base_url": "https://models.example/v1",
        "model_kwargs": {"seed": 7},
        "default_query": [{"version": "2"}],
    }


@pytest.mark.parametrize(
    ("role", "remedy"), [("chat:huge", "large"), ("chat:", "[models.NAME]"), ("chat", "chat:NAME of a [models.NAME]")]
)
def test_a_role_that_names_no_model_is_refused_at_the_start(role: str, remedy: str) -> None:
    settings = Settings(models={"large": {"model": "openai:gpt"}}, verification={"adjudicator": role})  # type: ignore[arg-type, dict-item]
    with pytest.raises(SettingsError) as caught:
        AdmissionGate(settings)
    assert caught.value.field == "verification.adjudicator"
    assert remedy in caught.value.remedy


def test_with_no_model_at_all_the_remedy_is_a_section() -> None:
    with pytest.raises(SettingsError, match=r"add a section \[models.large\]"):
        AdmissionGate(Settings(verification={"verifier_a": "chat:large"}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        ('[models.a]\nasking = "joint"\n', "models.a.model"),
        ('[models.a]\nmodel = "openai:gpt"\nasking = "both"\n', "models.a.asking"),
        ('[models.a]\nmodel = "openai:gpt"\nmax_concurrency = 0\n', "models.a.max_concurrency"),
        ('[models.a]\nmodel = "openai:gpt"\ntimeout = 3\n', "models.a.timeout"),
        ('[verification]\nview = "graph"\n', "verification.view"),
    ],
)
def test_a_wrong_setting_of_a_model_is_named(tmp_path: Path, toml: str, field: str) -> None:
    (tmp_path / "gate.toml").write_text(toml)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path / "gate.toml")
    assert caught.value.field == field


def test_a_model_that_cannot_be_set_up_leaves_writes_unresolved_and_names_its_section() -> None:
    settings = Settings(
        models={"a": {"model": "nowhere:gpt", "params": {"api_key": "s3cret"}}},  # type: ignore[dict-item]
        verification={"verifier_a": "chat:a", "verifier_b": "chat:a", "adjudicator": None},  # type: ignore[arg-type]
    )
    report = decide(AdmissionGate(settings))
    assert report.status == "unresolved"
    assert [r for r in report.reasons if "unavailable" in r and "models.a" in r]
    assert "s3cret" not in report.model_dump_json()


def test_structured_output_that_the_model_lacks_is_an_error_unless_it_may_fall_back_to_text() -> None:
    with pytest.raises(SettingsError, match="json_schema"):
        ChatVerifier(ScriptedChat(script=honest), "judge", options=ChatOptions(output="json_schema"))
    for output in ("auto", "text"):
        assert decide(gate(ScriptedChat(script=honest), output=output)).status == "admitted"
    for output in ("auto", "function_calling", "text"):
        assert decide(gate(ToolChat(script=honest), output=output)).status == "admitted"
