"""The `admission` command: one file a command, heavy imports only inside the commands that need them."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    from admission.cli.app import app

    app()
