"""`find_unguarded_stores`: where it looks, what it names, and that a guarded graph raises no alarm."""

from __future__ import annotations

import functools
import logging
import queue
import sys
import threading
import weakref
from collections import UserList, deque
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import kept_elsewhere  # noqa: F401 - loaded, so that what functions import of it can be looked at
import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from scripted_gate import NAMESPACE, SAID, guarded
from ways_round import assert_found_and_refused, assert_no_way_round
from writing_graphs import node_graph, tool_graph

from admission.errors import AdmissionError, InputError
from graph_nodes import AdmissionState, create_admission_node, find_unguarded_stores, require_guarded
from graph_nodes import reachable as walk

raw_of_the_module = InMemoryStore()
store = InMemoryStore()  # has the name of an attribute that nodes use: `runtime.store`


class Slotted:
    __slots__ = ("kept",)

    def __init__(self, kept: BaseStore) -> None:
        self.kept = kept


@dataclass
class Holder:
    kept: BaseStore

    def node(self, state: Any) -> dict[str, Any]:
        return {}


class FakeOwnTool(BaseTool):
    """A tool by class, with a store as a field."""

    name: str = "own"
    description: str = "Own."
    kept: Any = None

    def _run(self, text: str) -> str:
        return text


def with_store(store: BaseStore, state: Any) -> dict[str, Any]:
    return {}


def names_a_global(state: Any) -> dict[str, Any]:
    raw_of_the_module.put(NAMESPACE, "k", {"content": SAID})
    return {}


def calls_one_that_does(state: Any) -> dict[str, Any]:
    return names_a_global(state)


def by_default(state: Any, kept: BaseStore = raw_of_the_module) -> dict[str, Any]:
    return {}


def in_a_list(raw: BaseStore) -> Any:
    stores = [{"first": raw}]

    def node(state: Any) -> dict[str, Any]:
        return {"stores": len(stores)}

    return node


def deep(raw: BaseStore) -> Any:
    slotted = Slotted(raw)

    def node(state: Any) -> dict[str, Any]:
        return {"kept": slotted.kept}

    return node


RAW = InMemoryStore()


class Called:
    def __call__(self, state: Any) -> dict[str, Any]:
        raw_of_the_module.put(NAMESPACE, "k", {"content": SAID})
        return {}


class ByMethod:
    def save(self) -> None:
        raw_of_the_module.put(NAMESPACE, "k", {"content": SAID})


class ByStaticMethod:
    @staticmethod
    def save() -> None:
        raw_of_the_module.put(NAMESPACE, "k", {"content": SAID})


class ByProperty:
    @property
    def kept(self) -> BaseStore:
        return raw_of_the_module


class ByClassAttribute:
    kept: ClassVar[BaseStore] = raw_of_the_module


class Inheriting(ByClassAttribute):
    pass


class FakeSavingTool(BaseTool):
    """A tool by class, that names a store among the globals."""

    name: str = "saving"
    description: str = "Saves."

    def _run(self, text: str) -> str:
        raw_of_the_module.put(NAMESPACE, "k", {"content": text})
        return text


inheriting, by_property = Inheriting(), ByProperty()
in_a_namespace, in_a_deque = SimpleNamespace(kept=raw_of_the_module), deque([raw_of_the_module])


@functools.cache
def cached() -> BaseStore:
    return raw_of_the_module


def makes_one(state: Any) -> dict[str, Any]:
    ByMethod().save()
    return {}


def calls_a_static_method(state: Any) -> dict[str, Any]:
    ByStaticMethod.save()
    return {}


def reads_a_property(state: Any) -> dict[str, Any]:
    return {"kept": by_property.kept}


def names_a_class(state: Any) -> dict[str, Any]:
    return {"kept": ByClassAttribute.kept}


def names_an_instance(state: Any) -> dict[str, Any]:
    return {"kept": inheriting.kept}


def names_a_namespace(state: Any) -> dict[str, Any]:
    return {"kept": in_a_namespace.kept}


def names_a_deque(state: Any) -> dict[str, Any]:
    return {"kept": in_a_deque[0]}


def calls_a_cached_one(state: Any) -> dict[str, Any]:
    return {"kept": cached()}


@pytest.mark.parametrize(
    ("node", "where"),
    [
        (functools.partial(with_store, RAW), "argument 0"),
        (functools.partial(with_store, store=RAW), "argument 0"),
        (Holder(RAW).node, "__self__.kept"),
        (deep(RAW), "slotted.kept"),
        (in_a_list(RAW), "stores[0]['first']"),
        (names_a_global, "raw_of_the_module"),
        (calls_one_that_does, "names_a_global > raw_of_the_module"),
        (by_default, "default 0"),
        (RunnableLambda(in_a_list(RAW)), "stores[0]['first']"),
    ],
)
def test_a_raw_store_is_found_wherever_a_node_holds_it(node: Any, where: str) -> None:
    assert_found_and_refused(node_graph(node, guarded()), where, "InMemoryStore of its own")


@pytest.mark.parametrize(
    ("node", "where"),
    [
        (Called(), "func.__call__ > raw_of_the_module"),
        (makes_one, "ByMethod.save > raw_of_the_module"),
        (calls_a_static_method, "ByStaticMethod.save > raw_of_the_module"),
        (reads_a_property, "by_property.kept > raw_of_the_module"),
        (names_a_class, "ByClassAttribute.kept"),
        (names_an_instance, "inheriting.kept"),
        (names_a_namespace, "in_a_namespace.kept"),
        (names_a_deque, "in_a_deque[0]"),
        (calls_a_cached_one, "cached > raw_of_the_module"),
    ],
)
def test_and_wherever_the_users_own_classes_and_containers_do(node: Any, where: str) -> None:
    assert_found_and_refused(node_graph(node, guarded()), where, "InMemoryStore of its own")


def imports_one(state: Any) -> dict[str, Any]:
    from kept_elsewhere import raw_elsewhere

    return {"kept": raw_elsewhere}


def imports_its_module(state: Any) -> dict[str, Any]:
    import kept_elsewhere as elsewhere

    return {"kept": elsewhere.raw_elsewhere}


def reads_a_global_by_text(state: Any) -> dict[str, Any]:
    return {"kept": globals()["raw_of_the_module"]}


def reads_an_attribute_by_text(state: Any) -> dict[str, Any]:
    return {"kept": getattr(ByClassAttribute, "kept")}  # noqa: B009 - that it is read by text is the case


def reads_a_context_variable(state: Any) -> dict[str, Any]:
    return {"kept": in_a_variable.get()}


def reads_a_weak_reference(state: Any) -> dict[str, Any]:
    return {"kept": weakly()}


def reads_a_queue(state: Any) -> dict[str, Any]:
    return {"kept": in_a_queue.get()}


def reads_a_list_of_ones_own(state: Any) -> dict[str, Any]:
    return {"kept": in_a_user_list[0]}


def reads_a_threads_own(state: Any) -> dict[str, Any]:
    return {"kept": in_a_local.kept}


in_a_variable: ContextVar[BaseStore] = ContextVar("in_a_variable")
in_a_variable.set(raw_of_the_module)
weakly, in_a_user_list, in_a_local = weakref.ref(raw_of_the_module), UserList([raw_of_the_module]), threading.local()
in_a_queue: queue.Queue[BaseStore] = queue.Queue()
in_a_queue.put(raw_of_the_module)
in_a_local.kept = raw_of_the_module


@pytest.mark.parametrize(
    ("node", "where"),
    [
        (imports_one, "kept_elsewhere.raw_elsewhere"),
        (imports_its_module, "kept_elsewhere.raw_elsewhere"),
        (reads_a_global_by_text, "raw_of_the_module"),
        (reads_an_attribute_by_text, "ByClassAttribute.kept"),
        (reads_a_context_variable, "in_a_variable.get()"),
        (reads_a_weak_reference, "weakly()"),
        (reads_a_queue, "in_a_queue[0]"),
        (reads_a_list_of_ones_own, "in_a_user_list[0]"),
        (reads_a_threads_own, "in_a_local.kept"),
    ],
)
def test_and_where_code_looks_it_up_while_it_runs(node: Any, where: str) -> None:
    in_a_variable.set(raw_of_the_module)  # a test has a context of its own
    assert_found_and_refused(node_graph(node, guarded()), where, "InMemoryStore of its own")


def test_what_a_function_imports_is_not_imported_to_look_at_it() -> None:
    def node(state: Any) -> dict[str, Any]:
        from not_loaded_by_anyone import raw

        return {"kept": raw}

    assert_no_way_round(node_graph(node, guarded()))
    assert "not_loaded_by_anyone" not in sys.modules


def test_in_the_method_of_a_tool_by_class() -> None:
    graph = tool_graph(FakeSavingTool(), {"text": SAID}, store=guarded())
    assert_found_and_refused(graph, "tool saving._run > raw_of_the_module", "InMemoryStore")


def test_a_global_that_only_has_the_name_of_an_attribute_is_not_used() -> None:
    def node(state: Any, runtime: Runtime) -> dict[str, Any]:
        return {"kept": runtime.store}

    assert "store" in globals()
    assert_no_way_round(node_graph(node, guarded()))


class FakeAgent:
    """Has a raw store for a guard to wrap, which its node does not name."""

    beneath: ClassVar[BaseStore] = raw_of_the_module

    def __init__(self) -> None:
        super().__init__()
        self.kept = guarded(raw_of_the_module)

    def build(self) -> Any:
        return node_graph(self.node, guarded(raw_of_the_module))

    def node(self, state: Any) -> dict[str, Any]:
        return {"kept": self.kept}


def test_what_a_class_has_beside_the_node_is_of_no_concern() -> None:
    assert_no_way_round(FakeAgent().build())


def test_a_method_is_looked_through_once_some_code_names_it() -> None:
    class FakeNode:
        def __call__(self, state: Any) -> dict[str, Any]:
            return self.first()

        def second(self) -> dict[str, Any]:
            return {"kept": raw_of_the_module}

        def first(self) -> dict[str, Any]:
            return self.second()

    assert_found_and_refused(node_graph(FakeNode(), guarded()), "second > raw_of_the_module", "InMemoryStore")


def test_the_code_of_installed_packages_classes_is_not_looked_through() -> None:
    from tenacity import Retrying

    def node(state: Any) -> dict[str, Any]:
        return {"attempts": Retrying()}

    walked = [found.where for found in walk.reachable(node_graph(node, guarded()))]
    assert any(where.endswith("> Retrying") for where in walked)
    assert not any("> Retrying." in where for where in walked)


def test_in_a_tool_by_class_in_a_tools_coroutine_and_in_a_subgraph_that_a_tool_runs() -> None:
    async def acall(text: str) -> str:
        return str(raw)

    raw, store = InMemoryStore(), guarded()
    by_class = tool_graph(FakeOwnTool(kept=raw), {"text": SAID}, store=store)
    assert_found_and_refused(by_class, "tool own.kept", "InMemoryStore")
    by_coroutine = StructuredTool.from_function(coroutine=acall, name="later", description="Later.")
    assert_found_and_refused(tool_graph(by_coroutine, {"text": SAID}, store=store), "raw", "InMemoryStore")
    child = node_graph(in_a_list(raw), guarded())

    @tool
    def ask_another(text: str) -> str:
        """Ask another agent."""
        return str(child.invoke({"messages": [text]}))

    found = find_unguarded_stores(tool_graph(ask_another, {"text": SAID}, store=store))
    assert [finding.where.rpartition(" > node ")[2] for finding in found] == ["write.bound.func > stores[0]['first']"]


def test_in_the_function_that_chooses_the_next_node() -> None:
    raw = InMemoryStore()

    def choose(state: Any) -> str:
        raw.put(NAMESPACE, "k", {"content": SAID})
        return END

    graph = StateGraph(MessagesState).add_node("n", by_nothing).add_edge(START, "n").add_conditional_edges("n", choose)
    assert_found_and_refused(graph.compile(store=guarded()), "raw", "InMemoryStore")


def by_nothing(state: Any) -> dict[str, Any]:
    return {}


def test_all_of_them_are_named_at_once() -> None:
    def node(state: Any) -> dict[str, Any]:
        return {"stores": [first, second]}

    first, second = InMemoryStore(), InMemoryStore()
    graph = node_graph(node, first)  # type: ignore[arg-type]
    with pytest.raises(AdmissionError, match=r"graph\.store: .*\(and 2 more: ") as refused:
        require_guarded(graph)
    assert refused.value.field == "graph.store" and refused.value.remedy.startswith("give the graph an AdmissionStore")


def test_what_is_only_reported_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    findings = require_guarded(node_graph(by_nothing, InMemoryStore()), strict=False)  # type: ignore[arg-type]
    assert [record.getMessage() for record in caplog.records] == [str(finding) for finding in findings]


def test_a_guarded_graph_raises_no_alarm() -> None:
    store = guarded()

    def node(state: Any) -> dict[str, Any]:
        store.put(NAMESPACE, "k", {"content": SAID})
        return {}

    graph = StateGraph(AdmissionState).add_node(node).add_node("admission", create_admission_node(store))
    graph.add_edge(START, "node").add_edge("node", "admission")
    assert_no_way_round(graph.compile(store=store, checkpointer=InMemorySaver()))


def test_nor_does_a_raw_store_that_the_admission_node_guards_itself() -> None:
    graph = StateGraph(AdmissionState).add_node("admission", create_admission_node(InMemoryStore()))
    assert_no_way_round(graph.add_edge(START, "admission").compile())


def test_nor_an_agent_with_langmems_tools() -> None:
    pytest.importorskip("langchain.agents")
    langmem = pytest.importorskip("langmem")
    from agents import agent_of, calls

    tools = [langmem.create_manage_memory_tool(NAMESPACE), langmem.create_search_memory_tool(NAMESPACE)]
    assert_no_way_round(agent_of(tools, calls("none"), store=guarded(), checkpointer=InMemorySaver()))


def test_a_graph_too_large_to_look_through_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_MOST_OBJECTS", 10)
    with pytest.raises(InputError, match="graph: holds more than 10 objects"):
        require_guarded(node_graph(in_a_list(RAW), guarded()))
