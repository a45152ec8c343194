"""A raw store in a module that functions import while they run."""

from langgraph.store.memory import InMemoryStore

raw_elsewhere = InMemoryStore()
