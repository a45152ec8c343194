"""The store file of a LangGraph server (`make_store`): what reaches it from graphs or over HTTP passes the gate."""

from __future__ import annotations

import builtins
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, scripted_gate
from writing_graphs import TALKED, assert_only_what_was_said_is_stored

from admission.errors import SettingsError
from admission.settings import Settings
from graph_nodes import AdmissionStore
from graph_nodes.server import make_store, open_store

sys.path.append(str(Path(__file__).parents[1] / "ledger"))
from ledger_postgres import NoServer, postgres_address

PATH = "the server's own store, from its graphs and over HTTP (`PUT /store/items`)"
ANSWER = "caught: `make_store` in langgraph.json puts the guard in its place; over HTTP there is no conversation"


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database with a schema for one test."""
    import psycopg

    try:
        with postgres_address() as address:
            schema = f"admission_store_{uuid.uuid4().hex[:12]}"
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {schema}")
                yield f"{address}?options=-csearch_path%3D{schema}"
                connection.execute(f"DROP SCHEMA {schema} CASCADE")
    except NoServer as error:
        pytest.skip(str(error))


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'memories.db'}"


@pytest.fixture
def deployed(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder and environment a server starts in; the judges are scripted."""
    (tmp_path / "admission.toml").write_text('[ledger]\nurl = "sqlite:///ledger.db"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADMISSION_STORE_URL", url)

    def gate(settings: Settings) -> Any:
        assert settings.ledger.url == "sqlite:///ledger.db"
        return scripted_gate()

    monkeypatch.setattr("graph_nodes.store.AdmissionGate", gate)


def writing(store: BaseStore) -> Any:
    """A graph without a store, as the server runs it: with its own."""

    async def write(state: MessagesState) -> dict[str, Any]:
        await get_store().aput(NAMESPACE, "said", {"content": SAID})
        await get_store().aput(NAMESPACE, "never said", {"content": NEVER_SAID})
        return {}

    graph = StateGraph(MessagesState).add_node(write).add_edge(START, "write").compile()
    return graph.copy({"store": store})


@pytest.mark.usefixtures("deployed")
async def test_a_graph_writes_what_the_conversation_supports() -> None:
    async with make_store() as store:
        await writing(store).ainvoke(TALKED)
        await assert_only_what_was_said_is_stored(store)


@pytest.mark.usefixtures("deployed")
async def test_a_write_over_http_has_no_conversation_and_is_not_readable() -> None:
    async with make_store() as store:
        await store.aput(NAMESPACE, "planted", {"content": SAID})
        assert await store.aget(NAMESPACE, "planted") is None
        assert [record.report.status for record in store.ledger.quarantine() if record.report] == ["unresolved"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("deployed")
async def test_memories_and_ledger_are_there_after_a_restart() -> None:
    async with make_store() as store:
        await writing(store).ainvoke(TALKED)
    async with make_store() as store:
        assert isinstance(store, AdmissionStore)
        await assert_only_what_was_said_is_stored(store)


@pytest.mark.parametrize("url", ["nowhere", "sqlite:///", "mysql://root:secret@host/db"])
async def test_a_url_that_names_no_store_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(SettingsError, match=r"ADMISSION_STORE_URL: .*; give memory://") as refused:
        async with open_store(url):
            pass
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(("url", "extra"), [("sqlite:///x.db", "sqlite"), ("postgresql://host/db", "postgres")])
async def test_a_package_that_is_missing_is_named(url: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith(f"langgraph.store.{extra}"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match=rf"needs the {extra} extra; pip install"):
        async with open_store(url):
            pass
