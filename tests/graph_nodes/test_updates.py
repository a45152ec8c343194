"""Updates: judged as new memories, and what they replace is kept as superseded. Deletes pass and are recorded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from scripted_gate import DENIED, NAMESPACE, NEVER_SAID, SAID, TALK, guarded, stored, verifications

from graph_nodes import AdmissionStore, collect_reports, conversation

OTHER = "Ana moved to Lisbon."


@pytest.fixture(params=["blocking", "background"])
def store(request: pytest.FixtureRequest) -> AdmissionStore:
    return guarded(writes={"mode": request.param})


def put(store: AdmissionStore, memory: str, **fields: Any) -> None:
    put_under(store, "k", memory, **fields)


def put_under(store: AdmissionStore, key: str, memory: str, **fields: Any) -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, key, {"content": memory, **fields})
    assert store.flush()


def test_an_update_names_what_it_supersedes_and_the_old_value_is_kept(store: AdmissionStore) -> None:
    with collect_reports() as reports:
        put(store, SAID)
        put(store, OTHER)
        put(store, OTHER, category="home")
    first, second, third = reports
    assert [report.supersedes for report in reports] == [None, first.id, second.id]
    assert stored(store) == {"k": {"content": OTHER, "category": "home"}}
    versions = store.versions(NAMESPACE, "k")
    assert [version.value for version in versions] == [
        {"content": SAID},
        {"content": OTHER},
        {"content": OTHER, "category": "home"},
    ]
    assert [version.report_id for version in versions] == [first.id, second.id, third.id]
    following = [version.fingerprint for version in versions[1:]]
    assert [version.superseded_by for version in versions] == [*following, None]
    assert versions[-1].ended is None and store.ledger.verify().ok


@pytest.mark.parametrize("memory", [NEVER_SAID, DENIED, ""])
def test_an_update_that_is_held_back_supersedes_nothing(store: AdmissionStore, memory: str) -> None:
    with collect_reports() as reports:
        put(store, SAID)
        put(store, memory)
    assert reports[1].supersedes is None
    assert stored(store) == {"k": {"content": SAID}}
    (version,) = store.versions(NAMESPACE, "k")
    assert (version.value, version.ended) == ({"content": SAID}, None)


def test_an_update_is_judged_from_its_own_conversation() -> None:
    store = guarded()
    put(store, SAID)
    with conversation("t", TALK[1:]), collect_reports() as reports:
        store.put(NAMESPACE, "k", {"content": OTHER})
    assert [report.status for report in reports] == ["unresolved"]
    assert stored(store) == {"k": {"content": SAID}}


def test_the_same_value_again_is_no_update(store: AdmissionStore) -> None:
    put(store, SAID)
    put(store, SAID)
    assert verifications(store) == 1
    assert len(store.versions(NAMESPACE, "k")) == 1


def test_an_earlier_value_put_again_is_an_update_too(store: AdmissionStore) -> None:
    for memory in (SAID, OTHER, SAID):
        put(store, memory)
    assert stored(store) == {"k": {"content": SAID}}
    assert [version.value["content"] for version in store.versions(NAMESPACE, "k")] == [SAID, OTHER, SAID]
    latest = store.ledger.latest(NAMESPACE, "k")
    assert latest is not None and latest.stored_value == {"content": SAID}


def test_a_deleted_memory_stays_among_the_versions_and_a_new_one_supersedes_nothing(store: AdmissionStore) -> None:
    put(store, SAID)
    store.delete(NAMESPACE, "k")
    assert stored(store) == {}
    with collect_reports() as reports:
        put(store, SAID)
    assert [report.supersedes for report in reports] == [None]
    deleted, current = store.versions(NAMESPACE, "k")
    assert (deleted.value, deleted.superseded_by) == ({"content": SAID}, None)
    assert deleted.ended is not None and current.ended is None
    assert [entry.kind for entry in store.ledger.entries()] == ["report", "stored", "deleted", "report", "stored"]


def test_a_value_whose_key_was_deleted_is_stored_under_another(store: AdmissionStore) -> None:
    put(store, SAID)
    store.delete(NAMESPACE, "k")
    put_under(store, "k2", SAID)
    assert stored(store) == {"k2": {"content": SAID}}


def test_a_value_whose_key_was_updated_is_stored_under_another_and_the_update_stays(store: AdmissionStore) -> None:
    put(store, SAID)
    put(store, OTHER)
    for _ in range(2):
        put_under(store, "k2", SAID)
    assert stored(store) == {"k": {"content": OTHER}, "k2": {"content": SAID}}
    assert verifications(store) == 3


def test_a_value_that_another_key_has_is_an_update_of_a_key_that_has_a_different_one(store: AdmissionStore) -> None:
    put_under(store, "k2", SAID)
    put(store, OTHER)
    for _ in range(2):
        put(store, SAID)
    assert stored(store) == {"k": {"content": SAID}, "k2": {"content": SAID}}
    assert verifications(store) == 3


async def test_versions_are_read_without_holding_up_the_loop() -> None:
    store = guarded()
    with conversation("t", TALK):
        await store.aput(NAMESPACE, "k", {"content": SAID})
    versions, nothing = await asyncio.gather(store.aversions(NAMESPACE, "k"), store.aversions(NAMESPACE, "none"))
    assert [version.value for version in versions] == [{"content": SAID}] and nothing == []


def test_an_update_in_one_batch_with_what_it_replaces_is_what_is_stored() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.batch([PutOp(NAMESPACE, "k", {"content": SAID}), PutOp(NAMESPACE, "k", {"content": OTHER})])
    assert [version.value for version in store.versions(NAMESPACE, "k")] == [{"content": OTHER}]


async def test_the_update_of_langmems_tool_keeps_what_it_replaces() -> None:
    langmem = pytest.importorskip("langmem")
    store = guarded(InMemoryStore())
    tool = langmem.create_manage_memory_tool(NAMESPACE, store=store)
    with conversation("t", TALK), collect_reports() as reports:
        await tool.ainvoke({"content": SAID})
        (item,) = await store.asearch(NAMESPACE)
        await tool.ainvoke({"content": OTHER, "action": "update", "id": item.key})
        await tool.ainvoke({"content": NEVER_SAID, "action": "update", "id": item.key})
    assert [report.status for report in reports] == ["repaired", "repaired", "unresolved"]
    assert stored(store) == {item.key: {"content": OTHER}}
    old, new = store.versions(NAMESPACE, item.key)
    assert (old.value, old.superseded_by) == ({"content": SAID}, new.fingerprint)
    assert reports[1].supersedes == reports[0].id
