"""Batch tests share the scripted chat models of the chat verifiers' tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "verifiers" / "chat"))  # scripted_chat
