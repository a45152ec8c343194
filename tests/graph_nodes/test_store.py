"""The guarded store: what reaches the store beneath, what a caller learns, and that batches mean what they meant."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from scripted_gate import (
    DENIED,
    NAMESPACE,
    NEVER_SAID,
    SAID,
    TALK,
    asked,
    guarded,
    scripted_gate,
    stored,
    verifications,
)

from admission.errors import InputError, LedgerError
from admission.ledger import SqliteLedger
from admission.records import Report
from admission.settings import load_settings
from graph_nodes import AdmissionStore, collect_reports, conversation


def test_a_memory_the_conversation_supports_is_stored_as_it_was_given() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID, "category": "home"})
    assert stored(store) == {"k": {"content": SAID, "category": "home"}}


@pytest.mark.parametrize("memory", [NEVER_SAID, DENIED, ""])
def test_what_it_does_not_support_is_invisible_to_every_read(memory: str) -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": memory})
    assert store.list_namespaces() == []
    assert store.search(()) == []
    assert store.get(NAMESPACE, "k") is None
    assert store.inner.search(()) == []


def test_quarantine_keeps_what_was_held_back_and_drop_does_not() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "held", {"content": NEVER_SAID})
        store.put(NAMESPACE, "dropped", {"content": ""})
    assert [record.intent.value for record in store.ledger.quarantine()] == [{"content": NEVER_SAID}]
    report = store.report_for(NAMESPACE, "dropped")
    assert report is not None and (report.status, report.action) == ("invalid", "drop")


def test_a_write_without_a_conversation_is_unresolved_for_want_of_evidence() -> None:
    store = guarded()
    store.put(NAMESPACE, "k", {"content": SAID})
    report = store.report_for(NAMESPACE, "k")
    assert report is not None and report.status == "unresolved"
    assert any(reason.startswith("no_history") for reason in report.reasons)
    assert asked(store) == []


def test_the_citations_of_a_repaired_memory_become_those_that_support_it() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID, "citations": ["m2"]})
        store.put(NAMESPACE, "good", {"content": SAID, "sources": ["m1", "m2"]})
    assert stored(store)["k"]["citations"] == ["m1"]
    assert stored(store)["good"]["sources"] == ["m1", "m2"]


def test_a_policy_may_store_marked_and_the_mark_is_one_flat_key_to_filter_on() -> None:
    store = guarded(policy=[{"namespace": "*", "unresolved": "persist_marked"}])
    with conversation("t", TALK):
        store.put(NAMESPACE, "unsure", {"content": NEVER_SAID})
        store.put(NAMESPACE, "sure", {"content": SAID})
    assert stored(store)["unsure"] == {"content": NEVER_SAID, "admission": "unresolved"}
    assert [item.key for item in store.search(NAMESPACE, filter={"admission": "unresolved"})] == ["unsure"]


def test_a_mark_is_not_indexed() -> None:
    embedded: list[str] = []

    def embed(texts: Iterable[str]) -> list[list[float]]:
        embedded.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    store = guarded(
        InMemoryStore(index={"dims": 2, "embed": embed}), policy=[{"namespace": "*", "unresolved": "persist_marked"}]
    )
    store.put(NAMESPACE, "k", {"content": NEVER_SAID})
    store.put(NAMESPACE, "unindexed", {"content": SAID}, index=False)
    assert embedded == [NEVER_SAID]


def test_what_is_held_back_is_never_embedded() -> None:
    embedded: list[str] = []

    def embed(texts: Iterable[str]) -> list[list[float]]:
        embedded.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    store = guarded(InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["content"]}))
    with conversation("t", TALK):
        store.put(NAMESPACE, "held", {"content": NEVER_SAID})
        store.put(NAMESPACE, "k", {"content": SAID})
    assert embedded == [SAID]


def test_a_held_back_write_does_not_replace_what_is_stored() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
        store.put(NAMESPACE, "k", {"content": NEVER_SAID})
    assert stored(store) == {"k": {"content": SAID}}


def test_deletes_pass_and_are_in_the_ledger() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
        store.delete(NAMESPACE, "k")
    assert stored(store) == {}
    assert [(entry.kind, entry.key) for entry in store.ledger.entries()][-1] == ("deleted", "k")
    assert store.ledger.verify().ok


def test_a_value_set_again_after_a_delete_or_another_value_is_stored_again() -> None:
    store = guarded()
    other = {"content": "Ana moved to Lisbon."}
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
        store.put(NAMESPACE, "k", other)
        store.put(NAMESPACE, "k", {"content": SAID})
        assert stored(store) == {"k": {"content": SAID}}
        store.delete(NAMESPACE, "k")
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}


def test_equal_values_under_two_keys_are_two_memories() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "one", {"content": SAID})
        store.batch([PutOp(NAMESPACE, "two", {"content": SAID}), PutOp(NAMESPACE, "three", {"content": SAID})])
    assert set(stored(store)) == {"one", "two", "three"}


def test_a_conversation_that_has_grown_gives_the_same_memory_another_chance() -> None:
    store = guarded()
    with conversation("t", TALK[1:]):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {}
    with conversation("t", [*TALK[1:], TALK[0]]):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}


async def test_async_writes_are_judged_alike_and_side_by_side() -> None:
    store = guarded()
    with conversation("t", TALK), collect_reports() as reports:
        await asyncio.gather(
            store.aput(NAMESPACE, "k", {"content": SAID}), store.aput(NAMESPACE, "held", {"content": NEVER_SAID})
        )
    assert sorted(report.status for report in reports) == ["repaired", "unresolved"]
    assert [item.key for item in await store.asearch(NAMESPACE)] == ["k"]
    report = await store.areport_for(NAMESPACE, "held")
    assert report is not None and report.action == "quarantine"


def test_many_threads_write_at_once_and_nothing_is_lost() -> None:
    store = guarded()

    def write(number: int) -> None:
        with conversation(f"thread {number % 3}", TALK):
            store.put(NAMESPACE, str(number), {"content": SAID, "number": number})
            store.put(NAMESPACE, f"held {number}", {"content": NEVER_SAID, "number": number})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert set(stored(store)) == {str(number) for number in range(40)}
    assert len(store.ledger.quarantine()) == 40
    assert store.ledger.verify().ok


def test_a_value_changed_by_the_caller_afterwards_is_not_what_is_stored() -> None:
    store = guarded()
    value = {"content": SAID, "tags": ["move"]}
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", value)
    value["tags"] = [NEVER_SAID]
    assert stored(store)["k"]["tags"] == ["move"]


@pytest.mark.parametrize("use", ["get", "recover", "put"])
def test_at_the_first_use_synchronous_and_async_callers_on_one_loop_do_not_wait_for_each_other(use: str) -> None:
    store = guarded()

    async def synchronously() -> None:
        await asyncio.sleep(0)  # the async first use has begun, and its ledger call is under way
        if use == "get":
            store.get(NAMESPACE, "k")
        elif use == "recover":
            store.recover()
        else:
            with conversation("t", TALK):
                store.put(NAMESPACE, "k", {"content": SAID})

    async def both() -> None:
        await asyncio.gather(store.aget(NAMESPACE, "k"), synchronously())

    loop = threading.Thread(target=lambda: asyncio.run(both()), daemon=True)
    loop.start()
    loop.join(10)
    assert not loop.is_alive()
    assert stored(store) == ({"k": {"content": SAID}} if use == "put" else {})
    assert store.pending() == [] and store.ledger.verify().ok


def test_a_guard_is_not_put_around_a_guard() -> None:
    with pytest.raises(InputError, match="inner"):
        AdmissionStore(guarded())


def test_by_default_settings_give_gate_and_ledger(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = AdmissionStore(InMemoryStore())
    assert (tmp_path / "admission.db").exists()
    assert store.gate.settings.model_dump() == load_settings().model_dump()
    store.ledger.close()


# --- Batches ----------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "c"])
SPACES = st.sampled_from([("m",), ("m", "x"), ("n",)])
VALUES = st.sampled_from([{"content": SAID}, {"content": "Ana moved."}, None])
OPS: st.SearchStrategy[Op] = st.one_of(
    st.tuples(SPACES, KEYS, VALUES).map(lambda args: PutOp(*args)),
    st.tuples(SPACES, KEYS).map(lambda args: GetOp(*args)),
    SPACES.map(lambda prefix: SearchOp(prefix, limit=50)),
    st.just(ListNamespacesOp(limit=50)),
)


def plain(results: list[Result]) -> list[Any]:
    """Results without times."""

    def one(result: Any) -> Any:
        if isinstance(result, list):
            return sorted(map(one, result), key=repr)
        return result if isinstance(result, tuple) or result is None else (result.namespace, result.key, result.value)

    return [one(result) for result in results]


@settings(deadline=None)
@given(st.lists(st.lists(OPS, max_size=6), max_size=4))
def test_where_all_is_admitted_batches_mean_what_they_mean_without_the_guard(batches: list[list[Op]]) -> None:
    raw, store = InMemoryStore(), guarded()
    with conversation("t", TALK):
        for ops in batches:
            assert plain(store.batch(ops)) == plain(raw.batch(ops))
    everything = SearchOp((), None, 100)
    assert plain(store.batch([everything])) == plain(raw.batch([everything]))
    assert store.ledger.verify().ok


async def test_a_batch_reads_the_state_before_its_puts_and_stores_in_one_inner_batch() -> None:
    batches: list[list[Op]] = []

    class Counting(InMemoryStore):
        async def abatch(self, ops: Iterable[Op]) -> list[Result]:
            batches.append(list(ops))
            return await super().abatch(batches[-1])

    store = guarded(Counting())
    with conversation("t", TALK):
        results = await store.abatch(
            [
                PutOp(NAMESPACE, "a", {"content": SAID}),
                GetOp(NAMESPACE, "a"),
                PutOp(NAMESPACE, "b", {"content": NEVER_SAID}),
                PutOp(NAMESPACE, "c", {"content": NEVER_SAID}),
                PutOp(NAMESPACE, "c", {"content": "Ana moved to Lisbon."}),
            ]
        )
    assert results == [None] * 5
    assert [[type(op).__name__ for op in ops] for ops in batches] == [["PutOp", "GetOp", "PutOp"]]
    assert {item.key for item in await store.asearch(NAMESPACE)} == {"a", "c"}
    assert verifications(store) == 3  # what the same batch overwrites is never written


@pytest.mark.parametrize("namespace", [(), ("langgraph", "x"), ("a.b",), ("",), (1,)])
def test_raw_batches_are_held_to_the_namespaces_put_allows(namespace: tuple[Any, ...]) -> None:
    store = guarded()
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(NAMESPACE, "k", {"content": SAID}), PutOp(namespace, "k", {"content": SAID})])
    assert list(store.ledger.entries()) == []


def test_ttl_is_what_the_store_beneath_makes_of_it() -> None:
    assert not guarded().supports_ttl
    with pytest.raises(NotImplementedError):
        guarded().put(NAMESPACE, "k", {"content": SAID}, ttl=5)
    with SqliteStore.from_conn_string(":memory:") as inner:
        inner.setup()
        inner.ttl_config = {"default_ttl": 7}
        store = guarded(inner)
        with conversation("t", TALK):
            store.put(NAMESPACE, "default", {"content": SAID})
            store.put(NAMESPACE, "given", {"content": SAID}, ttl=3)
        rows = dict(inner.conn.execute("SELECT key, ttl_minutes FROM store").fetchall())
    assert store.supports_ttl and store.ttl_config == {"default_ttl": 7}
    assert rows == {"default": 7, "given": 3}


async def test_an_async_graph_may_stand_on_a_store_for_synchronous_use() -> None:
    with SqliteStore.from_conn_string(":memory:") as inner:
        inner.setup()
        store = guarded(inner)
        with conversation("t", TALK):
            await store.aput(NAMESPACE, "k", {"content": SAID})
        assert (await store.aget(NAMESPACE, "k")).value == {"content": SAID}  # type: ignore[union-attr]


# --- Failures ---------------------------------------------------------------------------------------------------------


def test_a_ledger_that_fails_keeps_the_memory_out_of_the_store() -> None:
    class Full(SqliteLedger):
        def decide(self, *args: Any, **kwargs: Any) -> Any:
            raise LedgerError("ledger", "the disk is full", "free some space")

    store = guarded(ledger=Full())
    with conversation("t", TALK), pytest.raises(LedgerError):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {}


def test_a_verifier_that_fails_leaves_the_memory_unresolved_and_raises_nothing() -> None:
    def broken(question: Any) -> tuple[float, float]:
        raise RuntimeError("out of memory")

    store = guarded()
    store.gate.verifiers["verifier_a"]._script = broken  # type: ignore[attr-defined]
    with conversation("t", TALK), collect_reports() as reports:
        store.put(NAMESPACE, "k", {"content": SAID})
    assert [report.status for report in reports] == ["unresolved"]
    assert stored(store) == {}


def test_a_value_json_cannot_say_is_refused_with_what_to_do() -> None:
    store = guarded()
    with pytest.raises(LedgerError, match="value"):
        store.put(NAMESPACE, "k", {"content": object()})
    assert stored(store) == {}


def test_a_put_that_is_held_back_does_not_take_an_earlier_good_one_of_its_batch_with_it() -> None:
    store = guarded()
    good, bad = PutOp(NAMESPACE, "k", {"content": SAID}), PutOp(NAMESPACE, "k", {"content": NEVER_SAID})
    with conversation("t", TALK), collect_reports() as reports:
        store.batch([good, bad])
    assert stored(store) == {"k": {"content": SAID}}
    assert sorted(report.status for report in reports) == ["repaired", "unresolved"]
    assert store.recover().stored == ()


def test_a_delete_between_two_puts_of_a_batch_counts() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
        store.batch([PutOp(NAMESPACE, "k", None), PutOp(NAMESPACE, "k", {"content": NEVER_SAID})])
    assert stored(store) == {}


def test_half_a_surrogate_pair_is_made_readable_and_never_blocks_the_store() -> None:
    store = guarded()
    with conversation("t", [("user", "I moved to Lisbon in May \ud83d.")]):
        store.put(NAMESPACE, "k", {"content": SAID + " \ud83d", "note\ud83d": "x"})
    assert store.get(NAMESPACE, "other") is None
    assert store.recover().failed == ()
    report = store.report_for(NAMESPACE, "k")
    assert report is not None and "\ufffd" in report.memory


def test_an_empty_text_field_does_not_hide_what_another_says() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": " ", "memory": NEVER_SAID})
    assert store.report_for(NAMESPACE, "k").status == "unresolved"  # type: ignore[union-attr]


def test_what_is_stored_beside_the_judged_text_is_named_in_the_report() -> None:
    store = guarded()
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID, "category": "home", "citations": ["t1"]})
    report = store.report_for(NAMESPACE, "k")
    assert report is not None
    assert report.reasons[-1].startswith("fields_not_judged: category ")


def test_the_error_of_an_audience_is_logged_without_the_memory_it_may_quote(caplog: pytest.LogCaptureFixture) -> None:
    def fail(report: Report) -> None:
        raise KeyError(report.memory)

    store = AdmissionStore(InMemoryStore(), gate=scripted_gate(), ledger=SqliteLedger(), on_report=fail)
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})
    assert stored(store) == {"k": {"content": SAID}}
    assert "on_report failed" in caplog.text and "KeyError" in caplog.text and SAID not in caplog.text
