"""Everything that knows LangGraph: the guarded store, the node form, and how a write finds its conversation."""

from __future__ import annotations

from graph_nodes.nodes import create_admission_node
from graph_nodes.outcome import collect_reports
from graph_nodes.scope import conversation
from graph_nodes.state import AdmissionState, PendingWrite
from graph_nodes.store import AdmissionStore

__all__ = [
    "AdmissionState",
    "AdmissionStore",
    "PendingWrite",
    "collect_reports",
    "conversation",
    "create_admission_node",
]
