"""The read gate on the store: a run reads what is its principal's and may be used, and every refusal says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, Op, PutOp, Result, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from reading_store import ANA, BEN, admitted, asker, become, in_run, reading_store, remember
from scripted_gate import guarded, stored

from admission.errors import BoundaryError, InputError
from admission.metadata import RecordMetadata
from graph_nodes import AdmissionStore, conversation
from graph_nodes.principals import asking_for, reading_as
from graph_nodes.readings import collect_readings


def keys(store: Any, namespace: tuple[str, ...] = ANA, **asked: Any) -> list[str]:
    return [item.key for item in store.search(namespace, **asked)]


def several(store: AdmissionStore, count: int, namespace: tuple[str, ...] = ANA) -> list[str]:
    names = [f"k{number:02}" for number in range(count)]
    for name in names:
        admitted(store, namespace, name, f"Ana keeps {name}.")
    return names


class Person:
    """Who asks, as a deployment's context or authentication has it."""

    def __init__(self, user_id: str) -> None:
        self.user_id = self.identity = user_id


@pytest.mark.parametrize(
    "configurable",
    [{"user_id": "ben"}, {"langgraph_auth_user": Person("ben")}, {"langgraph_auth_user": {"user_id": "ben"}}],
    ids=["configurable", "authenticated user", "authenticated user as a dict"],
)
def test_a_run_reads_the_namespace_of_its_principal_and_no_other(configurable: dict[str, Any]) -> None:
    store = reading_store()
    admitted(store, ANA, "a", "Ana has a cat.")
    admitted(store, BEN, "b", "Ben has a dog.")
    assert in_run(store, lambda s: keys(s, BEN), configurable) == ["b"]
    for refused in (
        lambda s: keys(s, ANA),
        lambda s: s.get(ANA, "a"),
        lambda s: keys(s, ("memories",)),
        lambda s: keys(s, ()),
        lambda s: keys(s, ("memories", "ben", "below")),
    ):
        with pytest.raises(BoundaryError, match="all this run's principal may read"):
            in_run(store, refused, configurable)


def test_the_context_of_the_run_names_the_principal_as_well() -> None:
    store = reading_store()
    admitted(store, BEN, "b", "Ben has a dog.")
    assert in_run(store, lambda s: keys(s, BEN), {}, context={"user_id": "ben"}) == ["b"]


def test_sources_that_disagree_on_the_principal_are_believed_in_nothing() -> None:
    store = reading_store()
    admitted(store, BEN, "b", "Ben has a dog.")
    for configurable, context in (
        ({"user_id": "ben", "langgraph_auth_user": {"user_id": "ana"}}, None),
        ({"user_id": "ben"}, {"user_id": "ana"}),
    ):
        with pytest.raises(BoundaryError, match="different things"):
            in_run(store, lambda s: keys(s, BEN), configurable, context)


def test_a_dotted_path_finds_the_identity_of_the_authenticated_user() -> None:
    name = "langgraph_auth_user.identity"
    store = reading_store(reading={"principal": name, "namespace": ["memories", f"{{{name}}}"]})
    admitted(store, BEN, "b", "Ben has a dog.")
    assert in_run(store, lambda s: keys(s, BEN), {"langgraph_auth_user": Person("ben"), "user_id": "ana"}) == ["b"]


@pytest.mark.parametrize("user", [None, "", True, 1.5, ["ben"], {"id": "ben"}, "ben.x", "*"], ids=repr)
def test_without_a_principal_that_can_be_one_nothing_is_read(user: Any) -> None:
    store = reading_store()
    admitted(store, BEN, "b", "Ben has a dog.")
    with pytest.raises(BoundaryError):
        in_run(store, lambda s: keys(s, BEN), {"user_id": user})
    with pytest.raises(BoundaryError):
        in_run(store, lambda s: s.list_namespaces(), {"user_id": user})


def test_outside_of_a_run_trusted_code_says_who_reads() -> None:
    store = reading_store()
    admitted(store, BEN, "b", "Ben has a dog.")
    with pytest.raises(BoundaryError, match="reading_as"):
        keys(store, BEN)
    with reading_as(asker("ben")):
        assert keys(store, BEN) == ["b"]
        with pytest.raises(BoundaryError):
            keys(store, ANA)
    with reading_as(asker("ben", namespace=None)), pytest.raises(BoundaryError, match="names none"):
        keys(store, BEN)


async def test_async_reads_are_held_to_the_same() -> None:
    store = reading_store()
    admitted(store, BEN, "b", "Ben has a dog.")
    admitted(store, BEN, "old", "Ben had a cat.")
    become(store, "old", "superseded", BEN)
    with reading_as(asker("ben")), collect_readings() as readings:
        assert [item.key for item in await store.asearch(BEN)] == ["b"]
        assert await store.aget(BEN, "old") is None
        with pytest.raises(BoundaryError):
            await store.asearch(ANA)
    assert [(reading.key, reading.exposed) for reading in readings] == [("b", True), ("old", False), ("old", False)]


async def test_two_conversations_at_once_do_not_read_as_each_other() -> None:
    store = reading_store()
    admitted(store, ANA, "a", "Ana has a cat.")
    admitted(store, BEN, "b", "Ben has a dog.")

    async def ask(who: str) -> list[str]:
        with reading_as(asker(who)):
            await asyncio.sleep(0)
            return [item.key for item in await store.asearch(("memories", who))]

    assert await asyncio.gather(*(ask(who) for who in ("ana", "ben") * 5)) == [["a"], ["b"]] * 5


def test_while_the_read_gate_is_off_reads_are_what_they_were() -> None:
    store = guarded()
    remember(store, ANA, "a", "Ana has a cat.")
    with collect_readings() as readings:
        assert keys(store, ()) == ["a"] and store.list_namespaces() == [ANA]
    assert readings == [] and store.ledger.metadata([(ANA, "a")]) == {}


def test_what_is_superseded_stale_or_forgotten_is_read_as_the_question_asks() -> None:
    store = reading_store()
    several(store, 4)
    for key, state in (("k01", "superseded"), ("k02", "stale"), ("k03", "forgotten")):
        become(store, key, state)  # type: ignore[arg-type]
    with reading_as(asker()):
        with asking_for("history"):
            assert keys(store) == ["k00", "k01", "k02"]
        with asking_for("current"), collect_readings() as readings:
            assert keys(store) == ["k00"]
        assert keys(store) == ["k00"]  # nobody says which: what no longer holds is not shown
    assert {reading.key: reading.codes for reading in readings} == {
        "k00": (),
        "k01": ("superseded",),
        "k02": ("stale",),
        "k03": ("forgotten",),
    }


@pytest.mark.parametrize("exposed", [True, False])
def test_a_memory_that_nothing_is_known_of_is_shown_where_the_deployment_says_so(exposed: bool) -> None:
    store = reading_store(reading={"expose_unresolved": exposed})
    store.inner.put(ANA, "planted", {"content": "Ana is rich."})
    with reading_as(asker()), collect_readings() as readings:
        assert (keys(store) == ["planted"]) is exposed and (store.get(ANA, "planted") is not None) is exposed
    assert [reading.exposed for reading in readings] == [exposed] * 2
    assert readings[0].admissibility.admissible is None and readings[0].lifecycle is None


@pytest.mark.parametrize(
    "kept_back", [range(0, 40), range(1, 60, 2), range(3, 60)], ids=["best", "every other", "most"]
)
def test_a_search_returns_as_many_admissible_ones_as_were_asked_for_where_there_are_any(kept_back: range) -> None:
    store = reading_store()
    names = several(store, 60)
    for number in kept_back:
        become(store, names[number], "forgotten")
    admissible = [name for number, name in enumerate(names) if number not in kept_back]
    with reading_as(asker()):
        assert keys(store, limit=10) == admissible[:10]
        assert keys(store, limit=1000) == admissible
        pages = [keys(store, limit=7, offset=offset) for offset in range(0, 60, 7)]
        assert [key for page in pages for key in page] == admissible
        assert keys(store, limit=0) == []


@pytest.mark.parametrize(
    "page", [{"limit": -1}, {"offset": -1}, {"limit": True}, {"limit": "5"}, {"offset": 0.5}], ids=str
)
def test_a_page_that_is_none_is_refused(page: dict[str, Any]) -> None:
    store = reading_store()
    with reading_as(asker()), pytest.raises(InputError):
        store.search(ANA, **page)


def test_a_filter_and_the_stores_ranking_count_as_ever() -> None:
    store = reading_store()
    for key, kind in (("a", "pet"), ("b", "home"), ("c", "pet")):
        remember(store, ANA, key, f"Ana keeps {key}.", kind=kind)
    with reading_as(asker()):
        assert keys(store, filter={"kind": "pet"}) == ["a", "c"]


def test_what_lies_beneath_the_principals_namespace_is_the_principals_where_the_settings_say_so() -> None:
    below, beside = (*ANA, "facts"), ("memories", "anastasia")
    for mine in (True, False):
        store = reading_store(reading={"sub_namespaces": mine})
        for namespace, key in ((ANA, "own"), (below, "below"), (beside, "beside")):
            admitted(store, namespace, key, f"Ana keeps {key}.")
        with reading_as(asker()):
            assert sorted(keys(store)) == (["below", "own"] if mine else ["own"])
            assert sorted(store.list_namespaces()) == ([ANA, below] if mine else [ANA])
            if mine:
                assert keys(store, below) == ["below"]
            else:
                with pytest.raises(BoundaryError, match="sub_namespaces"):
                    keys(store, below)


@pytest.mark.parametrize(
    "asked",
    [{}, {"prefix": ("memories",)}, {"prefix": ("*",)}, {"suffix": ("*",)}, {"max_depth": 1}, {"prefix": BEN}],
    ids=str,
)
def test_a_listing_of_namespaces_names_nobody_else(asked: dict[str, Any]) -> None:
    store = reading_store()
    for who in ("ana", "ben", "anastasia"):
        admitted(store, ("memories", who), "k", f"{who} has a cat.")
    with reading_as(asker()):
        found = store.list_namespaces(**asked)
    assert found == ([] if asked.get("prefix") == BEN else [("memories",)] if "max_depth" in asked else [ANA])


class FakeSloppyStore(InMemoryStore):
    """Takes a prefix for the start of a text, as a store may that keeps namespaces as one."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        ops = [op._replace(namespace_prefix=()) if isinstance(op, SearchOp) else op for op in ops]
        return super().batch(ops)


def test_the_boundary_does_not_rest_on_what_the_store_takes_for_a_prefix() -> None:
    store = reading_store(FakeSloppyStore())
    for number in range(30):
        admitted(store, ("memories", "anastasia"), f"s{number}", f"Anastasia has {number} cats.")
    several(store, 5)
    with reading_as(asker()), collect_readings() as readings:
        assert keys(store, limit=3) == ["k00", "k01", "k02"]
    assert {reading.namespace for reading in readings} == {ANA}


def test_metadata_of_another_namespace_keep_a_memory_back() -> None:
    store = reading_store(reading={"expose_unresolved": True})
    admitted(store, ANA, "a", "Ana has a cat.")
    store.ledger.annotate(ANA, "a", RecordMetadata(namespace=BEN), by="test", why="it is somebody else's")
    with reading_as(asker()), collect_readings() as readings:
        assert keys(store) == []
    assert readings[0].admissibility.scope.value is False


def test_in_a_batch_reads_see_the_state_before_its_writes_and_a_refused_one_leaves_no_write() -> None:
    store = reading_store()
    admitted(store, ANA, "a", "Ana has a cat.")
    with conversation("t", ["Ana has a dog."]), reading_as(asker()):
        put = PutOp(ANA, "a", {"content": "Ana has a dog."})
        with pytest.raises(BoundaryError):
            store.batch([put, GetOp(BEN, "b")])
        before, _, names, found = store.batch([GetOp(ANA, "a"), put, ListNamespacesOp(), SearchOp(ANA)])
        assert [before.value["content"], names] == ["Ana has a cat.", [ANA]]  # type: ignore[union-attr]
        assert [item.value["content"] for item in found] == ["Ana has a cat."]  # type: ignore[union-attr]
    assert stored(store.inner, ANA) == {"a": {"content": "Ana has a dog."}}


def test_labels_that_a_store_would_read_as_another_namespace_are_refused_as_ever() -> None:
    store = reading_store()
    with reading_as(asker()), pytest.raises(InvalidNamespaceError):
        store.batch([SearchOp(("memories.ana",))])


def test_a_memory_changed_behind_the_gate_takes_no_place_on_a_page() -> None:
    store = reading_store(writes={"verify_on_read": "hide"})
    names = several(store, 12)
    store.inner.put(ANA, names[1], {"content": "Ana is rich."})
    with reading_as(asker()):
        assert keys(store, limit=3) == [names[0], names[2], names[3]]
        assert store.get(ANA, names[1]) is None


def test_what_is_kept_back_does_not_live_longer_for_being_found() -> None:
    with SqliteStore.from_conn_string(":memory:", ttl={"refresh_on_read": True, "default_ttl": 60}) as inner:
        inner.setup()
        store = reading_store(inner)
        several(store, 2)
        become(store, "k00", "forgotten")
        inner.conn.execute("UPDATE store SET expires_at = '2000-01-01'")
        with reading_as(asker()):
            assert keys(store) == ["k01"]
        aged = [key for (key,) in inner.conn.execute("SELECT key FROM store WHERE expires_at = '2000-01-01'")]
        assert aged == ["k00"]


def test_reading_hands_out_copies() -> None:
    store = reading_store()
    admitted(store, ANA, "a", "Ana has a cat.")
    with reading_as(asker()):
        store.search(ANA)[0].value["content"] = "Ana is rich."
        assert store.search(ANA)[0].value["content"] == "Ana has a cat."
