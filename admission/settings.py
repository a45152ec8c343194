"""Per-deployment configuration from a TOML file, the environment and arguments; validated, with a digest."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import (
    SettingsError as PydanticSettingsError,
)

from admission.errors import SettingsError
from admission.local_settings import LocalModelSettings
from admission.model_settings import ModelSettings
from admission.reading_settings import ReadingSettings, ReadRule, RecordRule, Relation
from admission.records import Action, Thresholds, VerificationView

DEFAULT_FILE = "admission.toml"
ENV_PREFIX = "ADMISSION_"


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceSettings(Section):
    """What a verifier may be shown. The method's bounds (12 retrieved, 16 in all) can be lowered, never raised.

    `passage_chars`: a longer turn is cut into windows of at most so many characters.
    """

    setting: Literal["citation_only", "expanded"] = "expanded"
    retrieved: int = Field(default=12, ge=0, le=12)
    total: int = Field(default=16, ge=1, le=16)
    passage_chars: int = Field(default=1200, ge=200, le=20_000)


class VerificationSettings(Section):
    """Who judges and how. Names are verifier kinds of `admission.verifiers`, `chat:NAME` for a section of `models`,
    `local:NAME` for one of `local`, or `cascade:NAME` for one of either, asked after the embedded verifiers;
    `timeout_s` bounds one call for one write. `decomposer` splits memories: `rules`, or `chat:NAME`.

    `thresholds` override a verifier's own, by its name. `strictness`, in log-odds, is added to the logit of every
    judge's support threshold, whatever its kind; `admission calibrate` finds it for a bound on unsupported admission.
    `counterfactual`: support has to fall without its evidence and on unrelated passages, or it does not count.
    """

    view: VerificationView = "obligations"
    verifier_a: str = "entailment"
    verifier_b: str = "alignment"
    adjudicator: str | None = "adjudicator"
    decomposer: str = "rules"
    timeout_s: float = Field(default=120.0, gt=0)
    thresholds: dict[str, Thresholds] = Field(default_factory=dict)
    strictness: float = Field(default=0.0, ge=-10.0, le=10.0)
    counterfactual: bool = False

    @field_validator("adjudicator")
    @classmethod
    def _none_by_name(cls, value: str | None) -> str | None:
        return None if value == "none" else value  # TOML and the environment have no null

    @field_validator("thresholds")
    @classmethod
    def _none_of_a_cascade(cls, value: dict[str, Thresholds]) -> dict[str, Thresholds]:
        if cascades := [name for name in value if name.startswith("cascade:")]:
            raise ValueError(f"{cascades[0]} has none of its own: set those of entailment, alignment and the model")
        return value


class PolicyRule(Section):
    """What to do with each status in the namespaces a pattern matches.

    `namespace` is a shell pattern over the namespace joined with "/": `acme/*`, `*/shared`, `*`. `conflicting` is for
    an unresolved memory whose evidence conflicts. A status the rule leaves out takes the default action.
    """

    namespace: str = "*"
    admitted: Action | None = None
    repaired: Action | None = None
    unresolved: Action | None = None
    conflicting: Action | None = None
    contradicted: Action | None = None
    invalid: Action | None = None


class CacheSettings(Section):
    """Where answers of chat models are kept between runs (docs/cost.md); off without a folder. `size_mb`: beyond so
    many megabytes the oldest make room."""

    folder: Path | None = None
    size_mb: int = Field(default=256, ge=1)


class LedgerSettings(Section):
    """Where reports and quarantine are kept, and the environment variable that holds the key of the hash chain."""

    url: str = "sqlite:///admission.db"
    key_env: str = "ADMISSION_LEDGER_KEY"

    @property
    def key(self) -> bytes | None:
        value = os.environ.get(self.key_env)
        return value.encode() if value else None


# Fields that say of a memory how it is kept, not what it says. Their names alone never make a value a label.
METADATA_FIELDS = (
    *("id", "ids", "uuid", "key", "hash", "checksum", "version", "schema", "kind", "type", "format", "encoding"),
    *("category", "categories", "tag", "tags", "label", "labels", "topic", "topics", "keywords", "memory_type"),
    *("language", "lang", "source", "source_id", "document_id", "doc_id", "chunk_id", "page", "archived", "pinned"),
    *("user_id", "agent_id", "app_id", "run_id", "session_id", "thread_id", "conversation_id", "actor_id", "role"),
    *("message_id", "message_ids", "turn_id", "turn_ids", "memory_id", "parent_id", "namespace"),
    *("created_at", "updated_at", "modified_at", "saved_at", "stored_at", "last_updated", "last_modified"),
    *("last_accessed", "accessed_at", "expires_at", "timestamp", "ttl"),
    *("confidence", "score", "importance", "priority", "relevance", "weight", "access_count", "embedding", "model"),
    *("embedding_model", "vector", "index", "position", "rank", "seq", "number", "n"),
)


class WriteSettings(Section):
    """How a stored value is read: the fields that hold the memory's text (the first present wins; none present: every
    text in the value), the fields that hold the author's citations (turn ids), and those whose bare tokens, numbers and
    moments are labels, which are stored unjudged. Whatever else a value holds is judged with the memory
    (docs/writing.md).

    `mode`: a put returns when its memory is judged and stored (`blocking`), or at once, and a thread judges it
    (`background`, docs/writing.md); then at most `queue` writes wait, and a put beyond that waits for room.
    `verify_on_read`: memories that the store has otherwise than the ledger are named (`flag`), or also kept from
    readers (`hide`).
    `supersede`: a memory that takes the place of an older one marks it superseded (docs/supersession.md).
    """

    text_fields: tuple[str, ...] = ("content", "memory", "text", "fact", "data")
    citation_fields: tuple[str, ...] = ("citations", "sources")
    metadata_fields: tuple[str, ...] = METADATA_FIELDS
    mode: Literal["blocking", "background"] = "blocking"
    queue: int = Field(default=64, ge=1)
    verify_on_read: Literal["off", "flag", "hide"] = "off"
    supersede: bool = True

    @field_validator("text_fields")
    @classmethod
    def _some_field(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("name at least one field")
        return value


class ObservabilitySettings(Section):
    """What logs, spans and traces may say (docs/observability.md). `log_text`: also memories and the reasons that quote
    them; else only names, numbers and codes."""

    log_text: bool = False


class Settings(BaseSettings):
    """Everything a deployment configures. Arguments win over the environment, that over the file, that over defaults.

    The environment is read with the prefix `ADMISSION_` and `__` between levels: `ADMISSION_EVIDENCE__RETRIEVED=8`.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", validate_default=True
    )

    evidence: EvidenceSettings = EvidenceSettings()
    verification: VerificationSettings = VerificationSettings()
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    local: dict[str, LocalModelSettings] = Field(default_factory=dict)
    policy: tuple[PolicyRule, ...] = ()
    cache: CacheSettings = CacheSettings()
    ledger: LedgerSettings = LedgerSettings()
    writes: WriteSettings = WriteSettings()
    observability: ObservabilitySettings = ObservabilitySettings()
    reading: ReadingSettings | None = None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls))


def load_settings(path: str | Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Settings from `path` (default: `admission.toml` in the working folder if there is one), environment, overrides.

    `overrides` is nested like the file: `{"evidence": {"retrieved": 8}}`. Raises `SettingsError` naming the setting.
    """
    file = Path(path if path is not None else DEFAULT_FILE)
    if path is not None and not file.is_file():
        raise SettingsError(
            "config", f"no file {file}", "give the path of a TOML file, or leave it out for the defaults"
        )

    class FileSettings(Settings):
        model_config = SettingsConfigDict(toml_file=file if file.is_file() else None)

    try:
        return FileSettings(**(overrides or {}))
    except ValidationError as error:
        raise _explained(error) from error
    except (PydanticSettingsError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            "config", f"cannot be read: {error}", f"correct {file} or the {ENV_PREFIX}* variables"
        ) from error


def _explained(error: ValidationError) -> SettingsError:
    """The first problem pydantic found, as the setting's dotted name, what was wrong and what to do."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    if first["type"] == "extra_forbidden":
        close = get_close_matches(str(first["loc"][-1]), _names(), n=1)
        remedy = f"did you mean {close[0]!r}?" if close else "remove it; the settings are listed in docs/settings.md"
        return SettingsError(name, "is not a setting", remedy)
    return SettingsError(name, f"{first['msg']} (got {first.get('input')!r})", "see docs/settings.md for what it takes")


def _names() -> list[str]:
    sections = (
        EvidenceSettings,
        VerificationSettings,
        ModelSettings,
        LocalModelSettings,
        PolicyRule,
        CacheSettings,
        LedgerSettings,
        WriteSettings,
        ObservabilitySettings,
        ReadingSettings,
        ReadRule,
        RecordRule,
        Relation,
        Thresholds,
    )
    return [*Settings.model_fields, *(name for section in sections for name in section.model_fields)]
