"""The command itself: its help, and what it does not load to print it."""

from __future__ import annotations

import subprocess
import sys

from recorded_writes import Run


def test_help_names_every_command(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert all(
        f"  {name}" in result.stdout for name in ("audit", "calibrate", "demo", "list", "show", "verify", "export")
    )


def test_help_loads_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "langgraph", "langchain_core", "scipy", "numpy", "nltk", "pydantic"}
    code = f"import sys; import admission.cli.app; print({heavy!r} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "set()"
