"""The documentation names every setting, with the default it really has."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from admission.local_settings import LocalModelSettings
from admission.model_settings import ModelSettings
from admission.reading_settings import ReadingSettings, ReadRule, RecordRule, Relation
from admission.settings import (
    CacheSettings,
    EvidenceSettings,
    LedgerSettings,
    ObservabilitySettings,
    PolicyRule,
    Settings,
    VerificationSettings,
    WriteSettings,
)

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("evidence", EvidenceSettings),
        ("verification", VerificationSettings),
        ("models", ModelSettings),
        ("local", LocalModelSettings),
        ("cache", CacheSettings),
        ("policy", PolicyRule),
        ("ledger", LedgerSettings),
        ("writes", WriteSettings),
        ("observability", ObservabilitySettings),
        ("reading", ReadingSettings),
        ("reading", ReadRule),
        ("reading", Relation),
        ("reading", RecordRule),
    ],
)
def test_every_setting_is_documented_under_its_section(section: str, model: type[BaseModel]) -> None:
    text = (DOCS / "settings.md").read_text()
    part = text.split(f"\n## `{section}`\n")[1].split("\n## ")[0]
    assert [name for name in model.model_fields if f"`{name}`" not in part] == []


def test_every_section_is_documented() -> None:
    text = (DOCS / "settings.md").read_text()
    assert [name for name in Settings.model_fields if f"\n## `{name}`\n" not in text] == []
