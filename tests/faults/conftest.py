"""Where the faults happen: a ledger of each kind, and a memory store on disk."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "ledger"))
sys.path.append(str(Path(__file__).parents[1] / "graph_nodes"))

from ledger_fixtures import postgres_place, postgres_server

__all__ = ["postgres_place", "postgres_server"]
