"""The section `reading`: read from TOML, its mistakes named, and off where there is none."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from admission.errors import SettingsError
from admission.metadata import RecordMetadata
from admission.reading_settings import ReadingSettings, ReadRule, RecordRule, Relation
from admission.settings import Settings, load_settings

CLINIC = """
[reading]
namespace = ["clinic", "{langgraph_auth_user.tenant}"]
sub_namespaces = true
owner = ["clinic", "*", "{owner}"]
principal = "langgraph_auth_user.identity"
roles = "langgraph_auth_user.permissions"
purpose = "purpose"
policy_default = "deny"
intent = "rules"

[[reading.policy]]
name = "nurses read what they need of their patients until the ward closes"
tags = ["clinical"]
roles = ["nurse"]
relations = ["assigned_nurse"]
valid_to = 2026-12-31

[[reading.relations]]
subject = "nurse-liu"
relation = "assigned_nurse"
object = "elena"
scope = ["clinical"]
valid_from = 2026-03-01T08:00:00Z

[[reading.records]]
namespace = "clinic/*"
policy_tags = ["clinical"]
"""


def test_the_read_gate_is_off_without_its_section(tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("[evidence]\nretrieved = 4\n")
    assert Settings().reading is None
    assert load_settings(tmp_path / "none.toml").reading is None


def test_a_section_is_read_with_its_rules_relations_and_times(tmp_path: Path) -> None:
    (tmp_path / "clinic.toml").write_text(CLINIC)
    reading = load_settings(tmp_path / "clinic.toml").reading
    assert reading is not None
    assert reading.policy[0].valid_to == "2026-12-31"
    assert reading.relations[0].valid_from == "2026-03-01T08:00:00+00:00"
    assert reading.owner_template == ("clinic", "*", "{owner}")
    assert reading.records == (RecordRule(namespace="clinic/*", policy_tags=("clinical",)),)


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("[reading]\nexpose_unresolvd = true", "did you mean 'expose_unresolved'"),
        ('[reading]\nnamespace = ["memories", "user-{id}"]', "neither literal nor a whole"),
        ("[reading]\nnamespace = []", "at least one component"),
        ('[reading]\nowner = ["clinic"]', "has to have {owner} once"),
        ('[[reading.policy]]\nroles = ["nurse"]', "reading.policy.0.name"),
        ('[[reading.policy]]\nname = "a"\n[[reading.policy]]\nname = "a"', "two rules are named 'a'"),
        ('[[reading.policy]]\nname = "a"\nto = "writer"', "name some"),
        ('[[reading.policy]]\nname = "a"\nrelations = ["self"]\nto = "tags"', "'tag:KIND'"),
        ('[[reading.policy]]\nname = "a"\nvalid_to = "Friday"', "valid_to"),
        ('[[reading.relations]]\nsubject = "a"\nrelation = "self"\nobject = "b"', "cannot be stated"),
    ],
)
def test_a_mistake_is_named_with_its_setting_and_a_remedy(tmp_path: Path, written: str, error: str) -> None:
    (tmp_path / "wrong.toml").write_text(written)
    with pytest.raises(SettingsError, match="reading") as raised:
        load_settings(tmp_path / "wrong.toml")
    assert error in str(raised.value)


@pytest.mark.parametrize(
    ("namespace", "owner"),
    [
        (("memories", "{user_id}"), ("memories", "{owner}")),
        (("{org}", "{user_id}", "facts"), ("*", "{owner}", "facts")),
        (("clinic",), None),
    ],
)
def test_the_owners_place_follows_from_where_the_namespace_has_the_principal(
    namespace: tuple[str, ...], owner: tuple[str, ...] | None
) -> None:
    assert ReadingSettings(namespace=namespace).owner_template == owner


def test_what_is_declared_of_records_is_the_first_matching_statement_and_else_missing() -> None:
    settings = ReadingSettings(
        records=(
            RecordRule(namespace="memories/*/health", policy_tags=("health",)),
            RecordRule(namespace="memories/*", policy_tags=("personal",), purpose_allow=("reply",)),
        )
    )
    health, ana = ("memories", "ana", "health"), ("memories", "ana")
    assert settings.declared(health) == RecordMetadata(
        namespace=health, policy_tags=("health",), purpose_allow=("reply",)
    )
    assert settings.declared(ana) == RecordMetadata(namespace=ana, policy_tags=("personal",), purpose_allow=("reply",))
    assert settings.declared(("team",)) == RecordMetadata(namespace=("team",))


def test_the_settings_of_reading_can_be_dumped_and_read_back() -> None:
    settings = ReadingSettings(
        policy=(ReadRule(name="own", relations=("self",), to="writer"), ReadRule(name="all")),
        relations=(Relation(subject="a", relation="knows", object="b", valid_to="2026-01-01"),),
    )
    assert ReadingSettings.model_validate(settings.model_dump(mode="json")) == settings
    with pytest.raises(ValidationError, match="frozen"):
        settings.trace = True  # type: ignore[misc]
