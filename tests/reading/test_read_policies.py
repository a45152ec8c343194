"""The policy axis: purposes, rules, roles, relations, windows and code, each with what is missing left open."""

from collections.abc import Sequence

import pytest

from admission.metadata import Provenance, RecordMetadata
from admission.reading.axes import AxisReading
from admission.reading.context import QueryContext
from admission.reading.policies import PolicyAxis
from admission.reading_settings import ReadingSettings, ReadRule, Relation

CLINIC = {"namespace": ("clinic",), "sub_namespaces": True, "owner": ("clinic", "{owner}")}
RULES = (
    ReadRule(name="patients", relations=("self",)),
    ReadRule(
        name="care",
        tags=("clinical", "scheduling"),
        roles=("nurse", "clinician"),
        relations=("assigned_clinician", "covering_clinician"),
    ),
    ReadRule(name="pharmacy", tags=("medication",), roles=("pharmacist",)),
    ReadRule(name="family", roles=("family",), relations=("family_member",)),
)
RELATIONS = (
    Relation(subject="dr-shah", relation="assigned_clinician", object="elena"),
    Relation(
        subject="dr-weekend",
        relation="covering_clinician",
        object="elena",
        valid_from="2026-03-07",
        valid_to="2026-03-08",
    ),
    Relation(subject="linda", relation="family_member", object="elena", scope=("scheduling",), valid_to="2026-03-06"),
    Relation(subject="dr-cole", relation="assigned_clinician", object="mina"),
)
THURSDAY, SATURDAY, MONDAY = "2026-03-05T10:00:00Z", "2026-03-07T10:00:00Z", "2026-03-09T10:00:00Z"


def clinic(**settings: object) -> PolicyAxis:
    return PolicyAxis(ReadingSettings(**CLINIC, policy=RULES, relations=RELATIONS, **settings))  # type: ignore[arg-type]


def note(*tags: str, owner: str = "elena") -> RecordMetadata:
    return RecordMetadata(namespace=("clinic", owner), policy_tags=tags)


def by(principal: str | None, *roles: str, time: str | None = THURSDAY, purpose: str | None = None) -> QueryContext:
    return QueryContext(query="?", principal=principal, namespace=("clinic",), roles=roles, time=time, purpose=purpose)


@pytest.mark.parametrize(
    ("tags", "context", "allowed"),
    [
        (("clinical",), by("elena", "patient"), True),
        (("clinical",), by("mina", "patient"), False),
        (("clinical",), by("dr-shah", "clinician"), True),
        (("clinical",), by("dr-cole", "clinician"), False),
        (("clinical",), by("dr-shah", "reception"), False),
        (("billing",), by("dr-shah", "clinician"), False),
        (("clinical",), by("dr-weekend", "clinician", time=THURSDAY), False),
        (("clinical",), by("dr-weekend", "clinician", time=SATURDAY), True),
        (("clinical",), by("dr-weekend", "clinician", time=MONDAY), False),
        (("scheduling",), by("linda", "family"), True),
        (("clinical",), by("linda", "family"), False),
        (("scheduling",), by("linda", "family", time=MONDAY), False),
        (("medication",), by("owens", "pharmacist"), True),
        (("clinical",), by("owens", "pharmacist"), False),
    ],
)
def test_a_clinic_allows_whom_its_rules_and_relations_name_for_what_and_while_they_do(
    tags: tuple[str, ...], context: QueryContext, allowed: bool
) -> None:
    assert clinic(policy_default="deny").read(note(*tags), context).value is allowed
    # Where nothing else is said, what no rule allows is open, not denied.
    assert clinic().read(note(*tags), context).value is (True if allowed else None)


@pytest.mark.parametrize(
    ("record", "context", "missing"),
    [
        (RecordMetadata(namespace=("clinic", "elena")), by("owens", "pharmacist"), "its tags"),
        (note("clinical"), by("dr-shah").model_copy(update={"roles": None}), "the principal's roles"),
        (note("clinical"), by(None, "clinician"), "relations (assigned_clinician, covering_clinician)"),
        (RecordMetadata(policy_tags=("clinical",)), by("dr-shah", "clinician"), "relations"),
        (note("clinical"), by("dr-weekend", "clinician", time=None), "relations"),
    ],
)
def test_what_is_missing_leaves_open_what_turns_on_it_even_where_the_default_denies(
    record: RecordMetadata, context: QueryContext, missing: str
) -> None:
    found = clinic(policy_default="deny").read(record, context)
    assert found.value is None
    assert found.code == "rule_unresolved"
    assert missing in found.reason


def test_what_is_missing_leaves_alone_what_does_not_turn_on_it() -> None:
    untagged = RecordMetadata(namespace=("clinic", "elena"))
    assert clinic().read(untagged, by("elena").model_copy(update={"roles": None})).value is True
    # The directory knows of no relation at all: whose record it is makes no difference.
    assert (
        clinic(policy_default="deny")
        .read(note("clinical").model_copy(update={"namespace": None}), by("stranger", "nurse"))
        .value
        is None
    )
    alone = PolicyAxis(ReadingSettings(policy_default="deny", policy=RULES[1:2], relations=RELATIONS))
    assert alone.read(RecordMetadata(policy_tags=("clinical",)), by("stranger", "nurse")).value is False


@pytest.mark.parametrize(
    ("purposes", "purpose", "value", "code"),
    [
        (("reply", "care"), "care", True, "purpose_allowed"),
        (("reply",), "marketing", False, "purpose_not_allowed"),
        (("reply",), None, None, "purpose_missing"),
        ((), None, False, "purpose_not_allowed"),
        (None, "reply", None, "policy_missing"),
    ],
)
def test_a_record_is_for_the_purposes_it_lists(
    purposes: tuple[str, ...] | None, purpose: str | None, value: bool | None, code: str
) -> None:
    found = PolicyAxis(ReadingSettings()).read(RecordMetadata(purpose_allow=purposes), by("ana", purpose=purpose))
    assert (found.value, found.code) == (value, code)


@pytest.mark.parametrize(("default", "value"), [("unresolved", None), ("allow", True), ("deny", False)])
def test_where_nothing_is_stated_the_deployments_default_decides(default: str, value: bool | None) -> None:
    axis = PolicyAxis(ReadingSettings(policy_default=default))  # type: ignore[arg-type]
    assert axis.read(RecordMetadata(), by("ana")).value is value
    elsewhere = ReadingSettings(policy_default=default, policy=(ReadRule(name="other", namespace="team/*"),))  # type: ignore[arg-type]
    assert PolicyAxis(elsewhere).read(RecordMetadata(namespace=("memories", "ana")), by("ana")).value is value


def test_a_rule_does_not_lift_the_limits_that_a_record_has_of_its_own() -> None:
    axis = PolicyAxis(ReadingSettings(policy=(ReadRule(name="all", roles=("staff",)),)))
    record = RecordMetadata(purpose_allow=("care",))
    assert axis.read(record, by("ana", "staff", purpose="care")).value is True
    assert axis.read(record, by("ana", "staff", purpose="marketing")).value is False
    assert axis.read(record, by("ana", "staff")).value is None


def test_a_purpose_does_not_open_what_rules_about_the_record_leave_closed() -> None:
    axis = PolicyAxis(ReadingSettings(policy=(ReadRule(name="staff", roles=("staff",)),), policy_default="deny"))
    assert axis.read(RecordMetadata(purpose_allow=("care",)), by("ana", "guest", purpose="care")).value is False


def test_a_rule_that_denies_outweighs_all_that_allow_and_one_that_may_leaves_the_matter_open() -> None:
    rules = (
        ReadRule(name="all"),
        ReadRule(name="no health for marketing", effect="deny", tags=("health",), purposes=("marketing",)),
    )
    axis = PolicyAxis(ReadingSettings(policy=rules))
    health, plain, untagged = (RecordMetadata(policy_tags=tags) for tags in (("health", "x"), ("x",), None))
    assert axis.read(health, by("ana", purpose="marketing")).value is False
    assert axis.read(health, by("ana", purpose="marketing")).reason == "denied_by_rule: no health for marketing"
    assert axis.read(plain, by("ana", purpose="marketing")).value is True
    assert axis.read(untagged, by("ana", purpose="marketing")).value is None
    assert axis.read(health, by("ana")).value is None
    assert axis.read(untagged, by("ana", purpose="care")).value is True


def test_a_rule_holds_in_its_window() -> None:
    axis = PolicyAxis(
        ReadingSettings(
            policy=(ReadRule(name="week", valid_from="2026-03-02", valid_to="2026-03-08"),), policy_default="deny"
        )
    )
    times = ("2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", "2026-03-08T23:59:59Z", "2026-03-09T00:00:00Z", None)
    found = [axis.read(RecordMetadata(), by("ana", time=time)).value for time in times]
    assert found == [False, True, True, False, None]


def test_a_revoked_relation_ends_at_its_moment() -> None:
    revoked = Relation(subject="leo", relation="contractor", object="maple", valid_to="2026-03-05T10:00:00Z")
    rule = ReadRule(name="project", relations=("contractor",), to="tag:project")
    axis = PolicyAxis(ReadingSettings(policy=(rule,), relations=(revoked,), policy_default="deny"))
    record = RecordMetadata(policy_tags=("project:maple", "budget"))
    assert axis.read(record, by("leo", time="2026-03-05T09:59:59Z")).value is True
    assert axis.read(record, by("leo", time="2026-03-05T10:00:00Z")).value is False
    assert axis.read(RecordMetadata(policy_tags=("project:maplemark",)), by("leo", time="2026-03-01")).value is False


def test_a_writer_counts_only_where_somebody_vouches_for_who_it_was() -> None:
    axis = PolicyAxis(
        ReadingSettings(policy=(ReadRule(name="own words", relations=("self",), to="writer"),), policy_default="deny")
    )

    def written(authenticated: bool | None) -> RecordMetadata:
        return RecordMetadata(provenance=Provenance(written_by="ana", authenticated=authenticated))

    assert axis.read(written(True), by("ana")).value is True
    assert axis.read(written(True), by("bo")).value is False
    assert axis.read(written(False), by("ana")).value is None
    assert axis.read(written(None), by("bo")).value is None


@pytest.mark.parametrize(
    ("namespace", "owner"),
    [
        (("users", "ana", "notes"), "ana"),
        (("users", "ana"), "ana"),
        (("teams", "ana"), None),
        (("users",), None),
        (None, None),
    ],
)
def test_the_owner_is_the_component_where_the_principals_namespace_has_the_principal(
    namespace: tuple[str, ...] | None, owner: str | None
) -> None:
    settings = ReadingSettings(
        namespace=("users", "{user_id}"), policy=(ReadRule(name="own", relations=("self",)),), policy_default="deny"
    )
    found = PolicyAxis(settings).read(RecordMetadata(namespace=namespace), by("ana"))
    assert found.value is (None if owner is None else True)


def test_nobody_becomes_an_owner_by_taking_the_name_of_another_component() -> None:
    settings = ReadingSettings(
        namespace=("users", "{user_id}"), policy=(ReadRule(name="own", relations=("self",)),), policy_default="deny"
    )
    assert PolicyAxis(settings).read(RecordMetadata(namespace=("users", "ana")), by("users")).value is False


def test_a_slash_in_a_component_does_not_reach_into_another_namespace() -> None:
    axis = PolicyAxis(ReadingSettings(policy=(ReadRule(name="clinic", namespace="clinic/*"),), policy_default="deny"))
    assert axis.read(RecordMetadata(namespace=("clinic", "elena")), by("ana")).value is True
    assert axis.read(RecordMetadata(namespace=("clinic/elena",)), by("ana")).value is False


def test_relations_come_from_a_directory_too_and_its_silence_leaves_open_what_they_would_decide() -> None:
    def directory(principal: str) -> Sequence[Relation] | None:
        if principal == "down":
            return None
        if principal == "broken":
            raise ConnectionError("no directory")
        # What a directory says of others than it was asked for counts for nobody.
        return [Relation(subject="ana", relation="assigned_clinician", object="elena")]

    axis = PolicyAxis(ReadingSettings(**CLINIC, policy=RULES[1:2], policy_default="deny"), relations=directory)  # type: ignore[arg-type]
    values = [axis.read(note("clinical"), by(name, "nurse")).value for name in ("ana", "bo", "down", "broken")]
    assert values == [True, False, None, None]


def test_a_policy_in_code_has_to_hold_beside_the_rules() -> None:
    def office_hours(metadata: RecordMetadata, context: QueryContext) -> AxisReading:
        if context.time is None:
            return AxisReading(value=None, reason="hours_missing: no time")
        within = "09" <= context.time[11:13] < "18"
        return AxisReading(value=within, reason="office_hours: from nine to six")

    alone = PolicyAxis(ReadingSettings(), [office_hours])
    assert alone.read(RecordMetadata(), by("ana", time="2026-03-05T10:00:00Z")).value is True
    beside = PolicyAxis(ReadingSettings(policy=(ReadRule(name="all"),)), [office_hours])
    assert beside.read(RecordMetadata(), by("ana", time="2026-03-05T20:00:00Z")).value is False
    assert beside.read(RecordMetadata(), by("ana", time=None)).reason == "hours_missing: no time"


def test_a_policy_in_code_that_breaks_leaves_the_axis_open_and_says_so() -> None:
    def broken(metadata: RecordMetadata, context: QueryContext) -> AxisReading:
        raise KeyError("consent of elena")

    found = PolicyAxis(ReadingSettings(policy=(ReadRule(name="all"),)), [broken]).read(RecordMetadata(), by("ana"))
    assert found == AxisReading(value=None, reason="policy_failed: KeyError")
    denied = ReadRule(name="nobody", effect="deny")
    assert PolicyAxis(ReadingSettings(policy=(denied,)), [broken]).read(RecordMetadata(), by("ana")).value is False


def test_a_rule_that_may_not_be_about_a_record_denies_nothing_that_its_purposes_allow() -> None:
    axis = PolicyAxis(
        ReadingSettings(policy=(ReadRule(name="x", tags=("x",), roles=("staff",)),), policy_default="deny")
    )
    record = RecordMetadata(purpose_allow=("care",))
    found = axis.read(record, by("ana", "guest", purpose="care"))
    assert (found.value, found.reason) == (None, "rule_unresolved: x turns on its tags")
    assert axis.read(record.model_copy(update={"policy_tags": ()}), by("ana", "guest", purpose="care")).value is True
