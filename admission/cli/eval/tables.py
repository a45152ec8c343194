"""A report's table on the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table

from admission.reports.evaluation import ShownTable


def terminal_table(shown: ShownTable) -> Table:
    """The same table as the page has, its note below."""
    view = Table(
        title=shown.title,
        title_justify="left",
        caption=shown.note or None,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for place, column in enumerate(shown.columns):
        view.add_column(column, justify="left" if place < shown.names else "right")
    for row in shown.rows:
        view.add_row(*row)
    return view
