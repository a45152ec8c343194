"""What a user says of who may use what reaches the store: what is sure is withheld or granted, the rest is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import START, StateGraph
from reading_store import admitted, in_run, reading_store, remember

from admission.errors import BoundaryError
from admission.metadata import Permission
from admission.reading.directives import Authority, Person
from graph_nodes import AdmissionStore, DirectiveState, create_directive_node
from graph_nodes.permitting import apermit, awithdraw, permit, withdraw

ANA, BEN = ("clinic", "ana"), ("clinic", "ben")
CLINIC = {"namespace": ["clinic"], "sub_namespaces": True, "owner": ["clinic", "{owner}"]}
PEOPLE = (
    Person(principal="petra", names=("Petra", "Petra Lang", "aunt")),
    Person(principal="tom_a", names=("Tom",)),
    Person(principal="tom_b", names=("Tom",)),
    Person(principal="ana", names=("Ana",)),
)
TEXTS = {
    "diagnosis": "Ana's diagnosis is asthma.",
    "ride": "Ana's ride time on Monday is 9.",
    "logs": "Ana keeps the kestrel audit logs of April in the blue folder.",
    "logs-may": "Ana keeps audit logs of May.",
    "parrot": "Ana keeps a grey parrot.",
}
BEFORE, AFTER = "2026-02-05T12:00:00Z", "2026-02-07T12:00:00Z"
MONDAY = "2026-02-02T09:30:00+00:00"


def clinic(**reading: Any) -> AdmissionStore:
    store = reading_store(reading={**CLINIC, **reading})
    for key, text in TEXTS.items():
        admitted(store, ANA, key, text)
    admitted(store, BEN, "diagnosis", "Ben's diagnosis is asthma.")
    return store


@pytest.fixture
def store() -> AdmissionStore:
    """Everybody of the clinic reads everything, but for what directives say."""
    return clinic()


@pytest.fixture
def closed() -> AdmissionStore:
    """Nobody reads anything but the own, but for what directives say."""
    own = [{"name": "own", "relations": ["self"]}]
    return clinic(policy_default="deny", policy=own)


def say(
    store: AdmissionStore, said: str | Sequence[AnyMessage], user: str = "ana", **made: Any
) -> list[dict[str, Any]]:
    node = create_directive_node(**{"people": PEOPLE, **made})
    graph = StateGraph(DirectiveState).add_node("directives", node).add_edge(START, "directives").compile(store=store)
    message = HumanMessage(said, id="u1", additional_kwargs={"timestamp": MONDAY}) if isinstance(said, str) else None
    messages = [message] if message is not None else said
    state = graph.invoke({"messages": messages}, {"configurable": {"user_id": user, "thread_id": "t"}})  # type: ignore[arg-type]
    heard: list[dict[str, Any]] = state["admission_access"]
    return heard


def keys(heard: dict[str, Any], field: str = "changed") -> list[str]:
    return sorted(memory["key"] for memory in heard[field])


def seen(store: AdmissionStore, user: str, namespace: tuple[str, ...] = ANA) -> set[str]:
    """The keys that somebody's run gets there now."""
    found = in_run(store, lambda guard: guard.search(namespace, limit=50), {"user_id": user})
    return {item.key for item in found}


def changes(store: AdmissionStore) -> int:
    return sum(1 for entry in store.ledger.entries() if entry.kind == "metadata" and entry.body["by"])


def test_what_is_not_to_be_told_somebody_is_withheld_from_that_person_and_from_nobody_else(
    store: AdmissionStore,
) -> None:
    (heard,) = say(store, "Please don't tell Petra about my diagnosis.")
    assert (heard["outcome"], heard["kind"], heard["who"], keys(heard)) == (
        "changed",
        "restrict",
        "petra",
        ["diagnosis"],
    )
    assert seen(store, "petra") == set(TEXTS) - {"diagnosis"}
    assert seen(store, "ana") == seen(store, "tom_a") == set(TEXTS)
    assert seen(store, "petra", BEN) == {"diagnosis"}  # Ben's is not Ana's to withhold
    change = [entry for entry in store.ledger.entries() if entry.kind == "metadata"][-1]
    assert (change.body["by"], change.body["why"]) == ("ana", "asked for in turn t/u1")
    assert "diagnosis" not in str(heard["turn"]) and "asthma" not in str(heard)


def test_the_reader_is_told_why_it_is_kept_back(store: AdmissionStore) -> None:
    say(store, "Please don't tell Petra about my diagnosis.")
    known = store.ledger.metadata([(ANA, "diagnosis")])[ANA, "diagnosis"]
    assert known.permissions == (Permission(principal="petra", effect="deny", source="t/u1"),)


def test_the_memory_that_tells_of_it_stays_usable_but_not_to_whom_it_is_about(store: AdmissionStore) -> None:
    admitted(store, ANA, "told", "Ana asked not to tell Petra about her diagnosis.")
    say(store, "Please don't tell Petra about my diagnosis.")
    assert "told" in seen(store, "ana") and "told" not in seen(store, "petra")


def test_a_grant_lets_somebody_see_what_the_description_surely_means_until_its_end(closed: AdmissionStore) -> None:
    assert seen(closed, "petra") == set()
    (heard,) = say(closed, "Petra may see the kestrel audit logs until 2999-03-01.")
    assert (heard["outcome"], keys(heard), keys(heard, "unsure")) == ("changed", ["logs"], [])
    assert heard["until"] == "2999-03-02T00:00:00+00:00"
    assert seen(closed, "petra") == {"logs"} and seen(closed, "tom_a") == set()


def test_a_grant_ends_at_its_time_and_what_was_said_before_holds_again(store: AdmissionStore) -> None:
    say(store, "Please don't tell Petra about the kestrel audit logs.")
    say(store, "Petra may see the kestrel audit logs until 2026-02-06.")
    known = store.ledger.metadata([(ANA, "logs")])[ANA, "logs"]
    assert [permission.effect for permission in known.permissions] == ["deny", "allow"]
    assert "logs" not in seen(store, "petra")  # that day is long over


def test_a_weekday_counts_from_when_it_is_said(closed: AdmissionStore) -> None:
    (heard,) = say(closed, [HumanMessage("Petra may see the kestrel audit logs until tomorrow.", id="u1")])
    assert heard["until"] is not None and seen(closed, "petra") == {"logs"}


@pytest.mark.parametrize(
    ("said", "maybe"),
    [
        ("Petra can see the audit logs.", ["logs", "logs-may"]),
        ("Petra can hear the diagnosis.", ["diagnosis"]),
        ("Petra can see the kestrel audit logs of May.", ["logs", "logs-may"]),
        ("Petra can see the audit logs of the red folder.", ["logs"]),
        ("Petra can see the harbour boat permits.", []),
    ],
    ids=["too short a description", "a word", "another month", "most of it", "no memory has any of it"],
)
def test_a_grant_that_is_not_sure_opens_nothing_and_names_what_it_may_mean(
    closed: AdmissionStore, said: str, maybe: list[str]
) -> None:
    (heard,) = say(closed, said)
    assert heard["outcome"] == ("unsure" if maybe else "unknown") and keys(heard, "unsure") == maybe
    assert changes(closed) == 0 and seen(closed, "petra") == set()


def test_a_restriction_to_a_month_does_not_withhold_another(store: AdmissionStore) -> None:
    (heard,) = say(store, "Please don't tell Petra about the audit logs of May.")
    assert (keys(heard), keys(heard, "unsure")) == (["logs-may"], ["logs"])


def test_a_revocation_takes_back_what_was_granted_and_what_rules_give(store: AdmissionStore) -> None:
    say(store, "Petra may see the kestrel audit logs.")
    (heard,) = say(store, "Please revoke Petra's access entirely.")
    assert heard["outcome"] == "changed" and set(keys(heard)) == set(TEXTS)
    assert seen(store, "petra") == set() and seen(store, "ana") == set(TEXTS)
    assert seen(store, "petra", BEN) == {"diagnosis"}


def test_a_revocation_of_a_thing_takes_back_that_thing(store: AdmissionStore) -> None:
    say(store, "Please revoke my aunt's diagnosis access.")
    assert seen(store, "petra") == set(TEXTS) - {"diagnosis"}


def test_nothing_but_that_withholds_all_the_rest(store: AdmissionStore) -> None:
    (heard,) = say(store, "Petra may receive ride times only.")
    assert heard["outcome"] == "changed" and seen(store, "petra") == {"ride"}


def test_what_was_withheld_is_granted_again_and_the_other_way_round(store: AdmissionStore) -> None:
    for said, shown in (
        ("Don't tell Petra about the kestrel audit logs.", False),
        ("Petra may see the kestrel audit logs.", True),
        ("Don't share the kestrel audit logs with Petra.", False),
    ):
        say(store, said)
        assert ("logs" in seen(store, "petra")) is shown
    assert len(store.ledger.metadata([(ANA, "logs")])[ANA, "logs"].permissions) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Do not share my diagnosis with Tom.",
        "She should not hear my diagnosis.",
        "Please don't tell Ana about the diagnosis.",
        "Petra may see the kestrel audit logs until the party.",
        "Petra may see the kestrel audit logs if I agree.",
        "Petra may see the kestrel audit logs for two weeks.",
        "Nobody told you that Petra may see the kestrel audit logs.",
        "I never said Petra can see the kestrel audit logs.",
    ],
    ids=["two Toms", "she", "oneself", "until an event", "if", "for a while", "denied", "denied otherwise"],
)
def test_what_is_not_clear_changes_nothing_and_says_so(store: AdmissionStore, said: str) -> None:
    heard = say(store, said)
    assert [one["outcome"] for one in heard] in ([], ["unclear"]) and changes(store) == 0


@pytest.mark.parametrize(
    "messages",
    [
        [HumanMessage('Petra said: "Don\'t tell Petra about the diagnosis." Odd, no?', id="u1")],
        [HumanMessage("> Don't tell Petra about the diagnosis.\nWhat is that?", id="u1")],
        [HumanMessage("Ben: don't tell Petra about the diagnosis.", id="u1")],
        [HumanMessage("Don't tell Petra about the diagnosis.", id="u1", additional_kwargs={"origin": "external"})],
        [HumanMessage("Hello.", id="u1"), AIMessage("Don't tell Petra about the diagnosis.", id="a1")],
        [HumanMessage("Should Petra not hear the diagnosis?", id="u1")],
    ],
    ids=["quoted", "quoted line", "told by another", "external", "assistant", "question"],
)
def test_what_the_newest_message_does_not_say_itself_does_nothing(
    store: AdmissionStore, messages: list[AnyMessage]
) -> None:
    assert say(store, messages) == [] and changes(store) == 0


def test_nobody_has_a_say_over_what_is_not_their_own(store: AdmissionStore) -> None:
    say(store, "Please don't tell Petra about my diagnosis.", user="ben")
    assert seen(store, "petra", BEN) == set() and seen(store, "petra") == set(TEXTS)


def test_with_authority_only_those_named_have_a_say(store: AdmissionStore) -> None:
    forgets = (Authority(kinds=("forget",), principals=("ana",)),)
    (heard,) = say(store, "Please don't tell Petra about my diagnosis.", authority=forgets)
    assert heard["outcome"] == "no_authority" and changes(store) == 0
    restricts = (Authority(kinds=("restrict",), principals=("ana",)),)
    (heard,) = say(store, "Please don't tell Petra about my diagnosis.", authority=restricts)
    assert heard["outcome"] == "changed"


def test_without_people_nobody_is_meant(store: AdmissionStore) -> None:
    assert say(store, "Please don't tell Petra about my diagnosis.", people=()) == []


def test_a_repeat_changes_nothing_twice(store: AdmissionStore) -> None:
    first = say(store, "Please don't tell Petra about my diagnosis.")
    assert say(store, "Please don't tell Petra about my diagnosis.") == first and changes(store) == 1


def test_a_message_may_ask_for_both_forgetting_and_withholding(store: AdmissionStore) -> None:
    node = create_directive_node(people=PEOPLE)
    graph = StateGraph(DirectiveState).add_node("directives", node).add_edge(START, "directives").compile(store=store)
    said = HumanMessage("Forget that I keep a grey parrot. And don't tell Petra about my diagnosis.", id="u1")
    state = graph.invoke({"messages": [said]}, {"configurable": {"user_id": "ana", "thread_id": "t"}})
    assert [keys(one, "forgotten") for one in state["admission_forgotten"]] == [["parrot"]]
    assert [keys(one) for one in state["admission_access"]] == [["diagnosis"]]


def test_an_update_of_what_is_withheld_is_withheld_too(store: AdmissionStore) -> None:
    say(store, "Please don't tell Petra about my diagnosis.")
    remember(store, ANA, "diagnosis", "Ana's diagnosis is mild asthma.")
    remember(store, ANA, "other", "Ana's diagnosis is an old one.")
    assert seen(store, "petra") == set(TEXTS) - {"diagnosis"} | {"other"}  # a new memory is none that was meant


def test_a_deleted_memory_is_none_that_is_meant(store: AdmissionStore) -> None:
    store.delete(ANA, "diagnosis")
    (heard,) = say(store, "Please don't tell Petra about my diagnosis.")
    assert heard["outcome"] == "unknown"


def test_more_memories_than_can_be_changed_one_by_one_ask_for_a_rule(
    store: AdmissionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_nodes.permitting.AT_ONCE", 3)
    (heard,) = say(store, "Please revoke Petra's access entirely.")
    assert heard["outcome"] == "too_many" and changes(store) == 0


async def test_async_graphs_do_the_same(store: AdmissionStore) -> None:
    node = create_directive_node(people=PEOPLE)
    graph = StateGraph(DirectiveState).add_node("directives", node).add_edge(START, "directives").compile(store=store)
    said = HumanMessage("Don't tell Petra about my diagnosis.", id="u1")
    state = await graph.ainvoke({"messages": [said]}, {"configurable": {"user_id": "ana", "thread_id": "t"}})
    assert [keys(one) for one in state["admission_access"]] == [["diagnosis"]]
    assert seen(store, "petra") == set(TEXTS) - {"diagnosis"}


async def test_trusted_code_permits_and_takes_back(closed: AdmissionStore) -> None:
    allow = Permission(principal="petra", effect="allow", source="form 7")
    permit(closed, ANA, "ride", allow, by="clerk", why="signed")
    await apermit(closed, ANA, "logs", allow, by="clerk", why="signed")
    assert seen(closed, "petra") == {"ride", "logs"}
    withdraw(closed, ANA, "ride", "petra", by="clerk", why="taken back")
    await awithdraw(closed, ANA, "logs", "petra", by="clerk", why="taken back")
    assert seen(closed, "petra") == set()
    assert [entry.body["why"] for entry in closed.ledger.entries() if entry.kind == "metadata"][-4:] == [
        "signed",
        "signed",
        "taken back",
        "taken back",
    ]


def test_a_grant_does_not_reach_beyond_the_boundary_of_reads() -> None:
    store = reading_store()
    remember(store, ("memories", "ana"), "logs", TEXTS["logs"])
    (heard,) = say(store, "Petra may see the kestrel audit logs.")
    assert heard["outcome"] == "changed"
    with pytest.raises(BoundaryError):
        seen(store, "petra", ("memories", "ana"))
