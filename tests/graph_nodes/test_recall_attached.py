"""The metadata that the write gate attaches: what the run vouches for, what is declared, and nothing of the value."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from reading_store import ANA, BEN, asker, in_run, reading_store
from scripted_gate import SAID, guarded

from admission.metadata import RecordMetadata
from admission.records import Turn
from graph_nodes import AdmissionStore, conversation
from graph_nodes.principals import reading_as

# Fields beside the text, of kinds that nobody judges.
FORGED = {"content": SAID, "user_id": "root", "namespace": "ben", "created_at": "2001-01-01T00:00:00+00:00"}


def metadata(store: AdmissionStore, key: str = "k", namespace: tuple[str, ...] = ANA) -> RecordMetadata:
    return store.ledger.metadata([(namespace, key)])[namespace, key]


def write(store: Any, namespace: tuple[str, ...] = ANA, **when: str) -> None:
    with conversation("talk", [Turn(id="m1", role="user", text=SAID, origin="conversation", **when)]):
        store.put(namespace, "k", FORGED)


@pytest.mark.parametrize(
    ("configurable", "authenticated"),
    [({"user_id": "ana"}, False), ({"langgraph_auth_user": {"user_id": "ana"}}, True)],
    ids=["as configured", "as authenticated"],
)
def test_a_writer_is_authenticated_only_where_the_deployments_authentication_names_it(
    configurable: dict[str, Any], authenticated: bool
) -> None:
    store = reading_store()
    in_run(store, write, {**configurable, "thread_id": "t1"})
    known = metadata(store)
    assert known.namespace == ANA and known.provenance.written_by == "ana"
    assert known.provenance.authenticated is authenticated
    assert known.provenance.channel == "langgraph:node" and known.provenance.session == "talk"
    assert known.purpose_allow is None and known.lifecycle.state == "current" and known.created_at is not None


def test_outside_of_a_run_nobody_is_known_to_have_written_it_unless_trusted_code_says_who() -> None:
    store = reading_store()
    write(store)
    assert metadata(store).provenance.written_by is None and metadata(store).provenance.authenticated is None
    with reading_as(asker("ben")):
        write(store, BEN)
    assert metadata(store, namespace=BEN).provenance.written_by == "ben"


def test_sources_that_disagree_name_no_writer_and_cost_no_memory_where_writes_are_open() -> None:
    store = reading_store(reading={"writes": "open"})
    in_run(store, write, {"user_id": "ana", "langgraph_auth_user": {"user_id": "ben"}})
    assert metadata(store).provenance.written_by is None and store.inner.get(ANA, "k") is not None


def test_what_the_deployment_declares_of_a_namespace_is_attached() -> None:
    rules = [{"namespace": "memories/*", "policy_tags": ["private"], "purpose_allow": ["support"]}]
    store = reading_store(reading={"records": rules})
    write(store)
    assert (metadata(store).policy_tags, metadata(store).purpose_allow) == (("private",), ("support",))


@pytest.mark.parametrize(
    ("said", "since"),
    [
        ("2026-03-01T09:00:00+02:00", "2026-03-01T07:00:00+00:00"),
        ("2026-03-01T09:00:00", None),
        ("2999-03-01T09:00:00+00:00", None),
    ],
    ids=["with an offset", "without one", "in the future"],
)
def test_a_memory_holds_since_its_evidence_was_said_or_since_it_was_written(said: str, since: str | None) -> None:
    store = reading_store()
    write(store, time=said)
    known = metadata(store)
    assert known.lifecycle.valid_from == (since or known.created_at)
    with reading_as(asker()):
        assert store.get(ANA, "k") is not None


def test_in_background_mode_the_moment_of_the_put_counts() -> None:
    with reading_store(writes={"mode": "background"}) as store:
        in_run(store, write, {"user_id": "ana"})
        assert store.flush() and metadata(store).provenance.written_by == "ana"


def test_a_memory_that_is_held_back_has_metadata_too_and_keeps_them_when_it_is_restored() -> None:
    store = reading_store()
    with conversation("talk", [HumanMessage("Hello.")]):
        store.put(ANA, "k", {"content": SAID})
    (held,) = store.ledger.quarantine()
    store.ledger.restore(held.intent.fingerprint, by="reviewer", why="it is true")
    store.recover()
    with reading_as(asker()):
        assert store.get(ANA, "k") is not None
    assert metadata(store).lifecycle.state == "current"


def test_while_the_read_gate_is_off_nothing_is_attached() -> None:
    store = guarded(writes={"supersede": False})
    in_run(store, write, {"user_id": "ana"})
    assert store.ledger.metadata([(ANA, "k")]) == {} and store.inner.get(ANA, "k") is not None
