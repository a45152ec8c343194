"""deepagents' memory files: the value that is stored is a whole file, of which an edit changes a line."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import DENIED, NEVER_SAID, SAID, TALK, guarded
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import TALKED

pytest.importorskip("langchain.agents")
deepagents = pytest.importorskip("deepagents")

from agents import THREAD, ScriptedChatModel, answers, calls  # noqa: E402
from deepagents.backends import CompositeBackend, StateBackend, StoreBackend  # noqa: E402
from deepagents.backends.protocol import BackendProtocol  # noqa: E402
from langchain_core.messages import AIMessage  # noqa: E402

from graph_nodes import AdmissionBackend, AdmissionMiddleware, AdmissionStore, conversation  # noqa: E402

PATH = "memory files of deepagents (`StoreBackend.write`, `edit`)"
ANSWER = "over the guard caught, the whole file judged; `AdmissionBackend` judges what is new in it"

FILES = ("files",)
OLD = "- Something from another conversation.\n"


def over(store: BaseStore | None) -> StoreBackend:
    return StoreBackend(store=store, namespace=lambda _: FILES)


def file(backend: BackendProtocol, path: str = "/a.md") -> str | None:
    content: bytes | None = backend.download_files([path])[0].content
    return content.decode() if content is not None else None


def judging(store: AdmissionStore, before: str = OLD) -> AdmissionBackend:
    """A guarded backend over a raw store with one file in it."""
    raw = over(InMemoryStore())
    raw.write("/a.md", before)
    return AdmissionBackend(raw, store, namespace=FILES)


def deep_agent(backend: BackendProtocol, store: BaseStore, *script: AIMessage) -> Any:
    model = ScriptedChatModel(responses=[*script, AIMessage("Done.", id="last")])
    routes = CompositeBackend(default=StateBackend(), routes={"/memories/": backend})
    return deepagents.create_deep_agent(model=model, backend=routes, store=store, middleware=[AdmissionMiddleware()])


WRITES = calls(
    "write_file",
    {"file_path": "/memories/said.md", "content": f"- {SAID}\n"},
    {"file_path": "/memories/never.md", "content": f"- {NEVER_SAID}\n"},
)


def test_over_a_store_of_its_own_it_is_a_way_round() -> None:
    store, raw = guarded(), InMemoryStore()
    agent = deep_agent(over(raw), store, WRITES)
    agent.invoke(TALKED, THREAD)
    assert len(raw.search(FILES)) == 2 and list(store.ledger.reports()) == []
    assert_found_and_refused(agent, "._store", "InMemoryStore of its own")


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_over_the_graphs_guarded_store_whole_files_are_judged(run: str) -> None:
    store = guarded()
    agent = deep_agent(over(None), store, WRITES)
    state = agent.invoke(TALKED, THREAD) if run == "sync" else await agent.ainvoke(TALKED, THREAD)
    assert [item.key for item in store.search(FILES)] == ["/said.md"]
    assert [answer.text.partition(":")[0] for answer in answers(state)] == ["STORED", "NOT STORED"]
    assert_no_way_round(agent)


def test_there_a_line_of_another_conversation_holds_the_next_edit_back() -> None:
    store = guarded(policy=[{"namespace": "*", "unresolved": "persist"}])
    backend = over(store)
    backend.write("/a.md", OLD)
    with conversation("t", TALK):
        backend.edit("/a.md", OLD, f"{OLD}- {SAID}\n")
    assert [report.status for _, report in store.ledger.reports()] == ["unresolved", "unresolved"]


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_of_a_file_only_what_is_new_is_judged(run: str) -> None:
    store = guarded()
    backend = judging(store)
    with conversation("t", TALK):
        for text in (SAID, NEVER_SAID, DENIED):
            if run == "sync":
                result = backend.edit("/a.md", OLD, f"{OLD}- {text}\n")
            else:
                result = await backend.aedit("/a.md", OLD, f"{OLD}- {text}\n")
            assert (result.error is None) == (text == SAID)
    assert file(backend) == f"{OLD}- {SAID}\n"
    assert [(report.memory, report.status) for _, report in store.ledger.reports()] == [
        (SAID, "repaired"),
        (NEVER_SAID, "unresolved"),
        (DENIED, "contradicted"),
    ]
    assert "the file was not changed. Held back: the conversation says otherwise" in str(result.error)
    assert store.ledger.incomplete() == [] and store.ledger.verify().ok


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_in_an_agent_the_model_is_told_and_nothing_goes_round(run: str) -> None:
    store = guarded()
    raw = over(InMemoryStore())
    agent = deep_agent(AdmissionBackend(raw, store, namespace=FILES), store, WRITES)
    state = agent.invoke(TALKED, THREAD) if run == "sync" else await agent.ainvoke(TALKED, THREAD)
    assert file(raw, "/said.md") == f"- {SAID}\n" and file(raw, "/never.md") is None
    assert [answer.text.partition(":")[0] for answer in answers(state)] == ["STORED", "NOT STORED"]
    assert_no_way_round(agent)


@pytest.mark.parametrize("run", ["sync", "async"])
async def test_writes_and_uploads_are_judged_too(run: str) -> None:
    backend = judging(guarded())
    with conversation("t", TALK):
        if run == "sync":
            written = [backend.write("/a.md", f"{OLD}- {text}\n") for text in (SAID, NEVER_SAID)]
            uploaded = backend.upload_files([("/b.md", SAID.encode()), ("/c.md", NEVER_SAID.encode())])
        else:
            written = [await backend.awrite("/a.md", f"{OLD}- {text}\n") for text in (SAID, NEVER_SAID)]
            uploaded = await backend.aupload_files([("/b.md", SAID.encode()), ("/c.md", NEVER_SAID.encode())])
    assert [result.error is None for result in (*written, *uploaded)] == [True, False, True, False]
    assert (file(backend), file(backend, "/b.md"), file(backend, "/c.md")) == (f"{OLD}- {SAID}\n", SAID, None)


def test_half_a_sentence_is_judged_with_the_rest_of_it() -> None:
    store = guarded()
    backend = judging(store, f"- {SAID}\n")
    with conversation("t", TALK):
        assert backend.edit("/a.md", "Lisbon", "Oslo").error is not None
    assert [report.memory for _, report in store.ledger.reports()] == ["Ana moved to Oslo in May."]
    assert file(backend) == f"- {SAID}\n"


async def test_taking_text_away_and_deleting_pass_and_the_delete_is_recorded() -> None:
    store = guarded()
    backend = judging(store, f"{OLD}- {NEVER_SAID}\n")
    assert backend.edit("/a.md", f"- {NEVER_SAID}\n", "").error is None
    assert file(backend) == OLD
    assert (await backend.adelete("/a.md")).error is None
    assert [(entry.kind, entry.namespace, entry.key) for entry in store.ledger.entries()] == [
        ("deleted", FILES, "/a.md")
    ]


@pytest.mark.parametrize(
    ("old", "all_of_them", "said"),
    [("nowhere", False, "to the letter"), ("", False, "to the letter"), ("o", False, "times")],
)
def test_an_edit_that_cannot_be_made_says_so(old: str, all_of_them: bool, said: str) -> None:
    backend = judging(guarded())
    assert said in str(backend.edit("/a.md", old, SAID, all_of_them).error)
    assert "not found" in str(backend.edit("/missing.md", old, SAID, all_of_them).error)


def test_what_is_no_text_is_not_taken() -> None:
    backend = judging(guarded())
    assert "only text files" in str(backend.upload_files([("/x.png", b"\x89PNG\xff")])[0].error)


async def test_reads_pass() -> None:
    backend = judging(guarded())
    assert backend.read("/a.md").file_data == backend.inner.read("/a.md").file_data
    assert (await backend.aread("/a.md")).file_data == backend.inner.read("/a.md").file_data
    assert backend.ls("/") == await backend.als("/") == backend.inner.ls("/")
    assert backend.glob("*.md") == await backend.aglob("*.md") == backend.inner.glob("*.md")
    assert backend.grep("another") == await backend.agrep("another") == backend.inner.grep("another")
    assert await backend.adownload_files(["/a.md"]) == backend.inner.download_files(["/a.md"])


def test_a_backend_that_fails_leaves_the_write_open() -> None:
    class FakeFullBackend(StoreBackend):
        def write(self, file_path: str, content: str) -> Any:
            return type(super().write(file_path, content))(error="disk full")

    store = guarded()
    backend = AdmissionBackend(
        FakeFullBackend(store=InMemoryStore(), namespace=lambda _: FILES), store, namespace=FILES
    )
    with conversation("t", TALK):
        assert backend.write("/a.md", SAID).error == "disk full"
    assert [record.state for record in store.ledger.incomplete()] == ["decided"]
