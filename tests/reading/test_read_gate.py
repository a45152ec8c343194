"""The read gate: scope as a boundary, exposure as the deployment's choice, and intents by declared classifiers."""

import pytest

from admission.metadata import Lifecycle, RecordMetadata
from admission.reading.context import Intent, QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings

OPEN = ReadingSettings(policy_default="allow")


def asking(
    namespace: tuple[str, ...] | None = ("memories", "ana"), principal: str | None = "ana", query: str = "?"
) -> QueryContext:
    return QueryContext(query=query, principal=principal, namespace=namespace)


def at(namespace: tuple[str, ...] | None, state: str = "current") -> RecordMetadata:
    return RecordMetadata(namespace=namespace, lifecycle=Lifecycle(state=state))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("namespace", "alone", "with_sub_namespaces"),
    [
        (("memories", "ana"), True, True),
        (("memories", "ana", "travel"), False, True),
        (("memories", "anastasia"), False, False),
        (("memories",), False, False),
        (("memories", "Ana"), False, False),
        (("ana", "memories"), False, False),
        (("memories/ana",), False, False),
        ((), None, None),
        (None, None, None),
    ],
)
def test_a_record_is_in_scope_if_it_is_in_the_principals_namespace_or_where_so_declared_below_it(
    namespace: tuple[str, ...] | None, alone: bool | None, with_sub_namespaces: bool | None
) -> None:
    assert ReadGate(OPEN).read(at(namespace), asking()).scope.value is alone
    deep = ReadGate(OPEN.model_copy(update={"sub_namespaces": True}))
    assert deep.read(at(namespace), asking()).scope.value is with_sub_namespaces


@pytest.mark.parametrize("context", [asking(principal=None), asking(namespace=None), asking(namespace=())])
def test_without_a_principal_and_its_namespace_scope_is_open_and_nothing_is_everybodys(context: QueryContext) -> None:
    deep = ReadGate(OPEN.model_copy(update={"sub_namespaces": True}))
    found = deep.read(at(("memories", "ana")), context)
    assert found.scope.value is None
    assert found.scope.code == ("principal_missing" if context.principal is None else "boundary_missing")
    assert not deep.exposes(found)


def test_of_a_memory_that_the_ledger_does_not_know_every_axis_is_open_whatever_the_default() -> None:
    found = ReadGate(OPEN).read(None, asking())
    assert [axis.value for axis in found.axes] == [None, None, None]
    assert {axis.code for axis in found.axes} == {"metadata_missing"}


@pytest.mark.parametrize("shown", [True, False])
def test_what_is_unresolved_is_exposed_only_where_the_deployment_says_so(shown: bool) -> None:
    gate = ReadGate(OPEN.model_copy(update={"expose_unresolved": shown}))
    assert gate.exposes(gate.read(None, asking())) is shown
    assert gate.exposes(gate.read(at(("memories", "ana")), asking())) is True
    assert gate.exposes(gate.read(at(("memories", "bo")), asking())) is False


def test_nothing_is_read_from_a_questions_words_unless_a_classifier_is_declared() -> None:
    old, question = at(("memories", "ana"), "superseded"), asking(query="Where did I use to live?")
    assert ReadGate(OPEN).read(old, question).lifecycle.code == "intent_missing"
    rules = ReadGate(OPEN.model_copy(update={"intent": "rules"}))
    assert rules.intent(question) == "history"
    assert rules.read(old, question).admissible is True
    assert rules.read(old, asking(query="Where do I live?")).admissible is False
    assert rules.read(old, asking(query="Write to my landlord")).admissible is None


def test_the_callers_intent_wins_over_any_classifier_and_a_question_is_classified_once() -> None:
    asked: list[str] = []

    def classifier(question: str) -> Intent | None:
        asked.append(question)
        return "history"

    gate = ReadGate(OPEN, intents=classifier)
    assert gate.intent(asking().model_copy(update={"intent": "current"})) == "current"
    for _ in range(3):
        assert gate.read(at(("memories", "ana"), "stale"), asking()).admissible is True
    assert asked == ["?"]


def test_a_classifier_that_breaks_says_nothing() -> None:
    def broken(question: str) -> Intent | None:
        raise TimeoutError(question)

    found = ReadGate(OPEN, intents=broken).read(at(("memories", "ana"), "stale"), asking())
    assert found.lifecycle.code == "intent_missing"


def test_the_same_record_and_context_get_the_same_judgment() -> None:
    record, context = at(("memories", "ana"), "stale"), asking()
    assert ReadGate(OPEN).read(record, context) == ReadGate(OPEN).read(record, context)
