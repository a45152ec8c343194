"""The method's four published scenes of a right memory in a wrong context, and its two made-up ones, in our words."""

from admission.metadata import Lifecycle, Provenance, RecordMetadata
from admission.reading.axes import Admissibility
from admission.reading.context import Intent, QueryContext
from admission.reading.gate import ReadGate
from admission.reading_settings import ReadingSettings

ANA, BO = ("memories", "ana"), ("memories", "bo")
GATE = ReadGate(ReadingSettings())


def memory(namespace: tuple[str, ...] | None = ANA, **fields: object) -> RecordMetadata:
    fields = {"lifecycle": Lifecycle(state="current"), "purpose_allow": ("assistant_reply",)} | fields
    return RecordMetadata(namespace=namespace, **fields)  # type: ignore[arg-type]


def asked(query: str, intent: Intent = "current", purpose: str | None = "assistant_reply") -> QueryContext:
    return QueryContext(
        query=query, principal="ana", namespace=ANA, purpose=purpose, intent=intent, time="2026-03-01T09:00:00Z"
    )


def values(found: Admissibility) -> tuple[bool | None, bool | None, bool | None]:
    return (found.scope.value, found.policy.value, found.lifecycle.value)


def test_another_persons_memory_is_kept_out_however_well_it_fits_and_ones_own_is_used() -> None:
    question = asked("Which berries did I buy at the market?")
    bos = GATE.read(memory(BO), question)
    assert values(bos) == (False, True, True)
    assert bos.reasons == ("other_namespace: memories/bo is not memories/ana",)
    assert not GATE.exposes(bos)
    assert GATE.read(memory(), question).admissible is True


def test_a_value_that_was_replaced_does_not_answer_a_question_about_now() -> None:
    question = asked("What day do I leave for Porto?")
    old = memory(lifecycle=Lifecycle(state="superseded", superseded_by="leave-on-the-ninth"))
    assert values(GATE.read(old, question)) == (True, True, False)
    assert GATE.read(old, question).reasons == ("superseded: leave-on-the-ninth took its place",)
    assert GATE.read(memory(), question).admissible is True


def test_what_was_forgotten_is_used_for_nothing_and_the_request_to_forget_it_is() -> None:
    detail = memory(lifecycle=Lifecycle(state="forgotten"))
    request = memory(forget=True)
    for intent in ("current", "history"):
        question = asked("What may you still use of my phone?", intent)
        assert GATE.read(detail, question).admissible is False
        assert GATE.read(request, question).admissible is True


def test_a_question_about_the_past_has_all_values_that_ever_held() -> None:
    question = asked("How has the time I take my pills changed?", "history")
    states = ("superseded", "stale", "current")
    found = [GATE.read(memory(lifecycle=Lifecycle(state=state)), question) for state in states]
    assert [one.admissible for one in found] == [True, True, True]


def test_a_memory_without_provenance_is_neither_allowed_nor_excluded_but_counted_as_open() -> None:
    nobodys = memory(None, provenance=Provenance())
    found = GATE.read(nobodys, asked("What is my blood type?"))
    assert values(found) == (None, True, True)
    assert found.admissible is None
    assert found.reasons == ("namespace_missing: whose memory it is is not known",)
    assert not GATE.exposes(found)
    assert ReadGate(ReadingSettings(expose_unresolved=True)).exposes(found)


def test_a_memory_used_against_its_purpose_is_excluded_whatever_else_holds() -> None:
    health = memory(policy_tags=("health",), purpose_allow=("care",))
    found = GATE.read(health, asked("Which offers might I like?", purpose="marketing"))
    assert values(found) == (True, False, True)
    assert found.reasons == ("purpose_not_allowed: marketing is none of the record's purposes",)
    # A certain no outweighs what is not known.
    assert (
        GATE.read(health.model_copy(update={"namespace": None}), asked("Offers?", purpose="marketing")).admissible
        is False
    )
