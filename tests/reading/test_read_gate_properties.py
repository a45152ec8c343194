"""What holds for the read gate over random policies, records and questions: ignorance opens, it never decides."""

import random
import tomllib
from pathlib import Path

import pytest

from admission.metadata import Lifecycle, Provenance, RecordMetadata
from admission.reading.context import QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings, ReadRule, Relation
from admission.settings import Settings

PEOPLE, TAGS, ROLES = ("ana", "bo", "cy"), ("health", "travel", "project:maple"), ("nurse", "guest")
PURPOSES, TIMES = ("care", "ads"), ("2026-01-15", "2026-02-15T12:00:00Z", "2026-03-15")
GATES, READINGS = 60, 40


def some(chance: random.Random, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if chance.random() < 0.4)


def gate(chance: random.Random) -> ReadGate:
    def window() -> dict[str, str | None]:
        return {"valid_from": chance.choice((None, "2026-02-01")), "valid_to": chance.choice((None, "2026-02-28"))}

    def rule(number: int) -> ReadRule:
        relations = some(chance, ("self", "knows", "works_on"))
        return ReadRule(
            name=str(number),
            effect=chance.choice(("allow", "allow", "deny")),
            namespace=chance.choice(("*", "m/*", "m/ana")),
            tags=some(chance, TAGS),
            roles=some(chance, ROLES),
            purposes=some(chance, PURPOSES),
            relations=relations,
            to=chance.choice(("owner", "writer", "tag:project")) if relations else "owner",
            **window(),
        )

    def relation() -> Relation:
        return Relation(
            subject=chance.choice(PEOPLE),
            relation=chance.choice(("knows", "works_on")),
            object=chance.choice((*PEOPLE, "maple")),
            scope=chance.choice((None, ("health",))),
            **window(),
        )

    return ReadGate(
        ReadingSettings(
            namespace=("m", "{user_id}"),
            sub_namespaces=chance.random() < 0.5,
            policy_default=chance.choice(("unresolved", "allow", "deny")),
            policy=tuple(rule(number) for number in range(chance.randrange(5))),
            relations=tuple(relation() for _ in range(chance.randrange(6))),
        )
    )


def record(chance: random.Random) -> RecordMetadata:
    return RecordMetadata(
        namespace=("m", chance.choice(PEOPLE)),
        provenance=Provenance(written_by=chance.choice(PEOPLE), authenticated=True),
        policy_tags=some(chance, TAGS),
        purpose_allow=chance.choice((None, some(chance, PURPOSES))),
        lifecycle=Lifecycle(
            state=chance.choice(("current", "current", "stale", "superseded", "forgotten")),
            valid_to=chance.choice((None, "2026-02-20")),
        ),
    )


def question(chance: random.Random) -> QueryContext:
    principal = chance.choice(PEOPLE)
    return QueryContext(
        query="?",
        principal=principal,
        namespace=("m", principal),
        roles=some(chance, ROLES),
        purpose=chance.choice(PURPOSES),
        intent=chance.choice(("current", "history")),
        time=chance.choice(TIMES),
    )


def with_gaps(chance: random.Random, known: RecordMetadata, asked: QueryContext) -> tuple[RecordMetadata, QueryContext]:
    """The same, with some of what is known of either missing."""
    gaps = {"namespace": None, "policy_tags": None, "provenance": Provenance()}
    if chance.random() < 0.3:
        gaps["lifecycle"] = known.lifecycle.model_copy(update={"state": None})
    missing = [
        name for name in ("principal", "namespace", "roles", "purpose", "intent", "time") if chance.random() < 0.3
    ]
    return (
        known.model_copy(update={name: value for name, value in gaps.items() if chance.random() < 0.4}),
        asked.model_copy(update=dict.fromkeys(missing)),
    )


@pytest.mark.parametrize("seed", range(GATES))
def test_what_is_missing_leaves_a_judgment_open_and_never_turns_it_round(seed: int) -> None:
    chance = random.Random(seed)
    judged = gate(chance)
    for _ in range(READINGS):
        known, asked = record(chance), question(chance)
        full, partial = judged.read(known, asked), judged.read(*with_gaps(chance, known, asked))
        for whole, part in zip((*full.axes, full), (*partial.axes, partial), strict=True):
            settled, said = (one.admissible if one in (full, partial) else one.value for one in (part, whole))
            assert settled is None or settled is said, (known, asked, part, whole)


@pytest.mark.parametrize("seed", range(GATES))
def test_nothing_of_another_namespace_is_admissible_under_any_policy(seed: int) -> None:
    chance = random.Random(seed)
    judged = gate(chance)
    for _ in range(READINGS):
        known, asked = record(chance), question(chance)
        found = judged.read(known, asked)
        if known.namespace != asked.namespace:
            assert found.admissible is False
            assert any(reason.startswith("other_namespace") for reason in found.reasons)


def test_the_examples_of_the_docs_are_settings_that_can_be_read() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reading.md").read_text()
    blocks = [part.split("```")[0] for part in text.split("```toml\n")[1:]]
    read = [Settings(**tomllib.loads(block)).reading for block in blocks]
    assert len(read) >= 2
    assert all(read)
    clinic = read[1]
    assert clinic is not None
    linda = QueryContext(
        query="?", principal="linda", namespace=("clinic",), roles=("family",), time="2026-03-06T18:00:00Z"
    )
    for tag, value in (("scheduling", True), ("clinical", False)):
        visit = RecordMetadata(namespace=("clinic", "elena"), policy_tags=(tag,), lifecycle=Lifecycle(state="current"))
        assert ReadGate(clinic).read(visit, linda).admissible is value
        later = linda.model_copy(update={"time": "2026-03-07T00:00:00Z"})
        assert ReadGate(clinic).read(visit, later).admissible is False
