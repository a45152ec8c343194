"""Where the ledgers of several processes are kept."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "ledger"))

from ledger_fixtures import place, postgres_place, postgres_server

__all__ = ["place", "postgres_place", "postgres_server"]
