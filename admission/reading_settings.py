"""What a deployment says about reading: whose memories a question may use, by which rules, for which purposes."""

from __future__ import annotations

import re
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from admission.metadata import RecordMetadata
from admission.records import Namespace

PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")
OWNER = "owner"
SELF = "self"
"""The relation of every principal to itself; no data has to state it."""


def placeholder(component: str) -> str | None:
    """The name in a namespace template's component such as `{user_id}`; None for one that is meant literally."""
    found = PLACEHOLDER.fullmatch(component)
    return found.group(1) if found else None


def pattern_text(namespace: Namespace) -> str:
    """The namespace as patterns see it: joined with "/". A slash within a component does not pass for a joint."""
    return "/".join(part.replace("/", "%2F") for part in namespace)


def _time_text(value: object) -> object:
    """TOML has times and dates of its own: take them as text."""
    return value.isoformat() if isinstance(value, date) else value


def _readable(value: str) -> str:
    datetime.fromisoformat(value)
    return value


Time = Annotated[str, BeforeValidator(_time_text)]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Window(Section):
    """From when until when something holds: ISO 8601, UTC where no offset is given. A date alone stands for the whole
    day, the last one included; a time as `valid_to` is the first moment at which it no longer holds."""

    valid_from: Time | None = None
    valid_to: Time | None = None

    @field_validator("valid_from", "valid_to")
    @classmethod
    def _time_is_iso(cls, value: str | None) -> str | None:
        return value if value is None else _readable(value)


class Relation(Window):
    """`subject` (a principal) has a relation to `object` (a principal, a project, ...).

    `scope`: the tags of the records for which the relation counts; None: all records.
    """

    subject: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    object: str = Field(min_length=1)
    scope: tuple[str, ...] | None = None

    @field_validator("relation")
    @classmethod
    def _not_self(cls, value: str) -> str:
        if value == SELF:
            raise ValueError(f"{SELF!r} is what everybody is to themselves and cannot be stated; take another name")
        return value


class ReadRule(Window):
    """Who may use which records for what (`allow`), or may not (`deny`). `access`: is it about reading records, about
    writing and deleting them, or about both?

    Which records: `namespace` (a shell pattern over the namespace joined with "/") and `tags` (any of the record's).
    Who and what for: `roles` (any), `purposes` (any), `relations` (any, of the principal to what `to` names: the
    record's `owner`, its `writer`, or every X of its tags `KIND:X` for `tag:KIND`). What is left out asks for nothing.
    """

    name: str = Field(min_length=1)
    effect: Literal["allow", "deny"] = "allow"
    access: tuple[Literal["read", "write"], ...] = Field(default=("read",), min_length=1)
    namespace: str = "*"
    tags: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    to: str = OWNER

    @field_validator("to")
    @classmethod
    def _names_something(cls, value: str) -> str:
        if value not in (OWNER, "writer") and not re.fullmatch(r"tag:.+", value):
            raise ValueError(f"say {OWNER!r}, 'writer' or 'tag:KIND'")
        return value

    @model_validator(mode="after")
    def _to_needs_relations(self) -> ReadRule:
        if self.to != OWNER and not self.relations:
            raise ValueError("'to' says what `relations` lead to: name some, or leave it out")
        if self.to == "writer" and "write" in self.access:
            raise ValueError("what is being written has no writer yet: a rule `to` the writer is for reading alone")
        return self


class RecordRule(Section):
    """What the deployment declares of the records in a namespace; the write gate attaches it when it admits one."""

    namespace: str = "*"
    policy_tags: tuple[str, ...] | None = None
    purpose_allow: tuple[str, ...] | None = None


class ReadingSettings(Section):
    """The read gate. `namespace` is where a principal's memories are: components as they stand, or `{name}` for what
    the run's authenticated context has under that name or dotted path; `principal`, `roles`, `purpose` are such names.

    `sub_namespaces`: what lies below the principal's namespace is the principal's too. `owner`: which component of a
    record's namespace names its owner, as a template with one `{owner}` (`*` stands for any component); without it the
    one where `namespace` has the principal. `intent`: who says whether a question is about now or about the past, the
    `caller` alone, or `rules` where the caller does not. `policy_default`: what holds for records of which neither
    rules nor purposes say anything, or which no rule allows. `expose_unresolved`: is a memory shown of which it is not
    known whether it may be used? `trace`: keep what was retrieved and exposed for each question.

    `writes`: are puts and deletes kept within the principal's namespace too, but for what rules with `access` say?
    Where a principal is known (`bounded`), always (`strict`: nobody writes who is not known), or never (`open`).
    """

    namespace: tuple[str, ...] = ("memories", "{user_id}")
    sub_namespaces: bool = False
    owner: tuple[str, ...] | None = None
    principal: str = "user_id"
    roles: str | None = None
    purpose: str | None = None
    intent: Literal["caller", "rules"] = "caller"
    policy_default: Literal["unresolved", "allow", "deny"] = "unresolved"
    expose_unresolved: bool = False
    trace: bool = False
    writes: Literal["bounded", "strict", "open"] = "bounded"
    policy: tuple[ReadRule, ...] = ()
    relations: tuple[Relation, ...] = ()
    records: tuple[RecordRule, ...] = ()

    @field_validator("namespace", "owner")
    @classmethod
    def _a_template(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        if not value or not all(value):
            raise ValueError("name at least one component, none of them empty")
        for component in value:
            if placeholder(component) is None and ("{" in component or "}" in component):
                raise ValueError(f"{component!r} is neither literal nor a whole {{name}}")
        return value

    @field_validator("owner")
    @classmethod
    def _one_owner(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and [placeholder(c) for c in value if placeholder(c)] != [OWNER]:
            raise ValueError(f"has to have {{{OWNER}}} once and no other name")
        return value

    @field_validator("policy")
    @classmethod
    def _names_differ(cls, value: tuple[ReadRule, ...]) -> tuple[ReadRule, ...]:
        names = [rule.name for rule in value]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two rules are named {twice!r}; reasons name rules, so give each its own name")
        return value

    @property
    def owner_template(self) -> tuple[str, ...] | None:
        """`owner`, or what follows for it from `namespace`; None where neither says whose a record is."""
        if self.owner is not None:
            return self.owner
        if f"{{{self.principal}}}" not in self.namespace:
            return None
        return tuple(
            f"{{{OWNER}}}" if c == f"{{{self.principal}}}" else "*" if placeholder(c) else c for c in self.namespace
        )

    def declared(self, namespace: Namespace) -> RecordMetadata:
        """What `records` declare of a record in the namespace: each field by the first matching rule that states it."""
        path = pattern_text(namespace)
        rules = [rule for rule in self.records if fnmatchcase(path, rule.namespace)]
        return RecordMetadata(
            namespace=namespace,
            policy_tags=next((rule.policy_tags for rule in rules if rule.policy_tags is not None), None),
            purpose_allow=next((rule.purpose_allow for rule in rules if rule.purpose_allow is not None), None),
        )
