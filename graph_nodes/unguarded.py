"""Finds what writes memory round the gate: raw stores, memory managers, executors and vendors' clients in a graph."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

from admission.errors import AdmissionError
from graph_nodes.reachable import Found, is_a, names_used, reachable
from graph_nodes.store import AdmissionStore

logger = logging.getLogger(__name__)

# Top packages of memory services whose clients write without any LangGraph store.
VENDORS = frozenset({"mem0", "zep_cloud", "zep_python", "letta_client", "supermemory"})
# Methods by which a vector store is written. One that is only searched is a source of documents, not a memory.
_ADDS = frozenset({"add_texts", "aadd_texts", "add_documents", "aadd_documents"})
# langmem's search tool given a raw store only reads it, and what the guard admits is in the store beneath it too.
_READS_ONLY = frozenset({("langmem.knowledge.tools", "search_memory"), ("langmem.knowledge.tools", "asearch_memory")})

_EXECUTOR = "langmem.reflection.LocalReflectionExecutor"
_VECTOR_STORE = "langchain_core.vectorstores.base.VectorStore"
_REMOTE_EXECUTOR = "langmem.reflection.RemoteReflectionExecutor"


@dataclass(frozen=True)
class Finding:
    """One way round the gate. `where`: the path to it from the graph; `what`: what is there; `remedy`: what to do."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}; {self.remedy}"


class UnguardedError(AdmissionError):
    """Memory could be written round the gate. `findings` are all the ways that were found."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        first = findings[0]
        more = f" (and {len(findings) - 1} more: {'; '.join(f.where for f in findings[1:])})" if findings[1:] else ""
        super().__init__(first.where, first.what, f"{first.remedy}{more}")
        self.findings = tuple(findings)


def require_guarded(graph: Pregel[Any, Any, Any, Any], *, strict: bool = True) -> list[Finding]:
    """Call it where the graph is made. Raises `UnguardedError` if memory can be written round the gate; with
    `strict=False` it logs what it finds, and returns it."""
    findings = find_unguarded_stores(graph)
    if findings and strict:
        raise UnguardedError(findings)
    for finding in findings:
        logger.warning("%s", finding)
    return findings


def find_unguarded_stores(graph: Pregel[Any, Any, Any, Any]) -> list[Finding]:
    """The ways round the gate that a graph (compiled, or an entrypoint) holds; none for a guarded graph.

    Looks at the store it was compiled with, and through nodes, subgraphs, tools and middleware at what their functions
    close over, name or have as defaults, at what their objects hold, and at what this code names of the user's own
    classes. A graph compiled without a store gets one where it runs, from the server (`make_store`) or a parent graph;
    the middleware looks at that one. So does a subgraph: what it was compiled with never counts inside another. Tools
    that `AdmissionMiddleware` watches by name are left out. What code makes only while it runs cannot be found here.
    """
    findings: dict[str, Finding] = {}
    root = unguarded_run(graph.store, "graph.store") if graph.store is not None else None
    if root is not None:
        findings[root.where] = root
    held: list[Found] = []  # vector stores in attributes: who writes to them is known at the end
    writes_vectors = False
    for found in reachable(graph):
        writes_vectors = writes_vectors or not _ADDS.isdisjoint(names_used(found.thing))
        if is_a(found.thing, _VECTOR_STORE) and not found.holder_names:
            held.append(found)
        for finding in _findings(found):
            findings.setdefault(finding.where, finding)
    for found in held if writes_vectors else ():
        findings.setdefault(found.where, _written_to(found))
    return list(findings.values())


def unguarded_run(store: BaseStore | None, where: str = "store") -> Finding | None:
    """What is wrong with the store a graph runs with; None if it is an `AdmissionStore`."""
    if isinstance(store, AdmissionStore):
        return None
    what = "the run has none" if store is None else f"is a {type(store).__name__} without a gate"
    return Finding(where, what, "give the graph an AdmissionStore (compile, create_agent or entrypoint: store=)")


def _findings(found: Found) -> Iterator[Finding]:
    thing, where = found.thing, found.where
    if isinstance(thing, AdmissionStore):
        return
    if isinstance(thing, BaseStore):
        if (found.holder_module, found.holder_name) not in _READS_ONLY:
            yield Finding(where, f"holds a {type(thing).__name__} of its own", "give it the AdmissionStore")
    elif is_a(thing, _EXECUTOR):
        if getattr(thing, "_store", None) is None:
            what = "is a ReflectionExecutor without a store: its jobs fail"
            yield Finding(where, what, "ReflectionExecutor(manager, store=the AdmissionStore)")
    elif is_a(thing, _REMOTE_EXECUTOR):
        what = "is a ReflectionExecutor that writes in another deployment"
        yield Finding(where, what, "guard that server's store (make_store), and keep this executor out of this graph")
    elif type(thing).__module__.partition(".")[0] in VENDORS:
        what = f"is a client of {type(thing).__module__.partition('.')[0]}, which writes where no store sees it"
        yield Finding(where, what, "name the tool that uses it in AdmissionMiddleware(watched=...)")
    elif is_a(thing, _VECTOR_STORE) and found.holder_names & _ADDS:
        yield _written_to(found)


def _written_to(found: Found) -> Finding:
    what = f"is a {type(found.thing).__name__} that is written to"
    return Finding(found.where, what, "name the tool that uses it in AdmissionMiddleware(watched=...)")
