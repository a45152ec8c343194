"""Settings: where they come from, which source wins, and what a wrong one is told."""

from pathlib import Path

import pytest

from admission.errors import SettingsError
from admission.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_defaults_are_the_methods_bounds_and_the_embedded_verifiers() -> None:
    settings = load_settings()
    assert (settings.evidence.retrieved, settings.evidence.total) == (12, 16)
    assert (settings.verification.verifier_a, settings.verification.verifier_b) == ("entailment", "alignment")


def test_arguments_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(
        '[evidence]\nretrieved = 3\ntotal = 5\npassage_chars = 500\n[ledger]\nurl = "sqlite:///from-file.db"\n'
    )
    monkeypatch.setenv("ADMISSION_EVIDENCE__RETRIEVED", "4")
    monkeypatch.setenv("ADMISSION_EVIDENCE__TOTAL", "6")
    settings = load_settings(file, {"evidence": {"retrieved": 7}})
    assert settings.evidence.retrieved == 7
    assert settings.evidence.total == 6
    assert settings.evidence.passage_chars == 500
    assert settings.ledger.url == "sqlite:///from-file.db"


def test_a_file_called_admission_toml_in_the_working_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "admission.toml").write_text("[evidence]\nretrieved = 2\n")
    assert load_settings().evidence.retrieved == 2


@pytest.mark.parametrize(
    ("toml", "field", "remedy"),
    [
        ("[evidence]\nretreived = 3\n", "evidence.retreived", "did you mean 'retrieved'"),
        ("[evidence]\nretrieved = 13\n", "evidence.retrieved", "docs/settings.md"),
        ('[[policy]]\nnamespace = "a/*"\nunresolved = "keep"\n', "policy.0.unresolved", "docs/settings.md"),
        ("[verification.thresholds.entailment]\nsupport = 1.5\n", "verification.thresholds.entailment.support", "docs"),
        ("[writes]\ntext_fields = []\n", "writes.text_fields", "docs/settings.md"),
        ("evidence = \n", "config", "correct"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_do(tmp_path: Path, toml: str, field: str, remedy: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(toml)
    with pytest.raises(SettingsError) as caught:
        load_settings(file)
    assert caught.value.field == field
    assert remedy in caught.value.remedy


def test_a_file_can_say_that_there_is_no_adjudicator(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text('[verification]\nadjudicator = "none"\n')
    assert load_settings(file).verification.adjudicator is None


def test_a_missing_file_is_an_error_only_when_it_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no file"):
        load_settings(tmp_path / "absent.toml")


def test_the_ledger_key_comes_from_the_environment_and_is_no_part_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADMISSION_LEDGER_KEY", "s3cret")
    settings = Settings()
    assert settings.ledger.key == b"s3cret"
    assert "s3cret" not in settings.model_dump_json()
