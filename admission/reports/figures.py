"""What every plot of a report is drawn on, and the PNG that is made of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def empty_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that needs no display. Needs the extra `eval`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def png(drawn: Figure) -> bytes:
    """The figure as PNG; the same figure makes the same bytes."""
    made = io.BytesIO()
    drawn.savefig(made, format="png", dpi=110, metadata={"Software": None})
    return made.getvalue()
