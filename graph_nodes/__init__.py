"""Everything that knows LangGraph: the guarded store, the node form, and how a write finds its conversation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graph_nodes.causes import deleting_for
from graph_nodes.directives import DirectiveState, create_directive_node
from graph_nodes.erasing import Erased
from graph_nodes.eviction import Evicted, aevict, evict
from graph_nodes.nodes import create_admission_node
from graph_nodes.outcome import ReadProblem, collect_read_problems, collect_reports
from graph_nodes.permitting import apermit, awithdraw, permit, withdraw
from graph_nodes.principals import asking_for, reading_as
from graph_nodes.read_trace import arecord_answer, record_answer
from graph_nodes.readings import Reading, collect_readings
from graph_nodes.recall import Recall, RecallState, create_recall_node, recalled_message
from graph_nodes.recall_tool import create_recall_tool
from graph_nodes.scope import conversation
from graph_nodes.state import AdmissionState, PendingWrite
from graph_nodes.store import AdmissionStore
from graph_nodes.unguarded import Finding, UnguardedError, find_unguarded_stores, require_guarded
from graph_nodes.watched import WatchedTool

if TYPE_CHECKING:
    from graph_nodes.file_memory import AdmissionBackend as AdmissionBackend
    from graph_nodes.middleware import AdmissionMiddleware as AdmissionMiddleware

__all__ = [
    "AdmissionState",
    "AdmissionStore",
    "DirectiveState",
    "Erased",
    "Evicted",
    "Finding",
    "PendingWrite",
    "ReadProblem",
    "Reading",
    "Recall",
    "RecallState",
    "UnguardedError",
    "WatchedTool",
    "aevict",
    "apermit",
    "arecord_answer",
    "asking_for",
    "awithdraw",
    "collect_read_problems",
    "collect_readings",
    "collect_reports",
    "conversation",
    "create_admission_node",
    "create_directive_node",
    "create_recall_node",
    "create_recall_tool",
    "deleting_for",
    "evict",
    "find_unguarded_stores",
    "permit",
    "reading_as",
    "recalled_message",
    "record_answer",
    "require_guarded",
    "withdraw",
]


# Where they are, and what to install for them, which is not among the requirements: so they are not in `__all__`.
_LAZY = {
    "AdmissionBackend": ("graph_nodes.file_memory", "deepagents"),
    "AdmissionMiddleware": ("graph_nodes.middleware", "'memory-admission[agents]'"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, needed = _LAZY[name]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"{name} needs {error.name}: pip install {needed}", name=error.name) from error
