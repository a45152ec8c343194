"""Where the helpers are that these tests share with others: stores with scripted gates, and ledgers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in ("graph_nodes", "ledger"))

from ledger_fixtures import place, postgres_place, postgres_server, shared

__all__ = ["place", "postgres_place", "postgres_server", "shared"]
