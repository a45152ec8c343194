"""The store that langgraph.json names: whatever reaches it, from graphs or over HTTP, passes the gate."""

from graph_nodes.server import make_store

__all__ = ["make_store"]
