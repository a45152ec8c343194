"""A calibration for a terminal: one row for each outcome, the choice, the promise and what would be needed for more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from admission.evaluation.calibration import ASSUMPTION, Calibration, GridPoint


def calibration_view(
    found: Calibration, unsupported: int, conversations: int, skipped: Mapping[str, int]
) -> RenderableType:
    """`unsupported` writes are labelled so, from so many `conversations`; `skipped` writes by what their label is."""
    lines = [Text(line) for line in _lines(found, unsupported, conversations, skipped)]
    return Group(*([_table(found)] if found.points else []), *lines)


def _table(found: Calibration) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        caption=f"upper bound: Clopper-Pearson one-sided, confidence {found.confidence:g}",
        caption_justify="left",
    )
    for heading in ("strictness", "valid kept", "unsupported admitted", "upper bound"):
        table.add_column(heading, justify="right")
    table.add_column()
    for _, alike in groupby(found.points, key=lambda point: (point.valid_kept, point.unsupported_admitted)):
        points = list(alike)
        chosen = found.chosen in points
        mark = f"← chosen: {found.strictness:g}" if chosen else ""
        table.add_row(_range(points), *_cells(points[0], found.max_unsupported), mark, style="bold" if chosen else "")
    return table


def _range(points: Sequence[GridPoint]) -> str:
    """The strictness of points at which the same was decided."""
    ends = [f"{point.strictness:g}" for point in (points[0], points[-1])]
    return " to ".join(dict.fromkeys(ends))


def _cells(point: GridPoint, max_unsupported: float) -> Iterator[str]:
    for hits, n in ((point.valid_kept, point.valid), (point.unsupported_admitted, point.unsupported)):
        yield f"{hits}/{n} = {hits / n:.3f}" if n else "-"
    yield f"{point.upper_bound:.3f} {'≤' if point.holds else '>'} {max_unsupported:g}"


def _lines(found: Calibration, unsupported: int, conversations: int, skipped: Mapping[str, int]) -> Iterator[str]:
    yield f"{unsupported} unsupported writes from {conversations} conversations; at least {found.at_least} are needed."
    if skipped:
        yield "Left out, by reference: " + ", ".join(f"{name} {n}" for name, n in sorted(skipped.items())) + "."
    chosen = found.chosen
    if chosen is not None:
        yield f"Chosen: strictness {chosen.strictness:g}. {found.guarantee}"
        yield ASSUMPTION
        if chosen.valid_kept == 0:
            yield "It keeps none of the labelled valid writes."
    wanting = found.wanting
    if chosen is not None and wanting is not None:
        number = f"about {wanting.writes_needed}" if wanting.writes_needed else "no number up to 100,000"
        yield (
            f"At strictness {wanting.strictness:g} the rate seen is {wanting.rate:.3f}: if it stayed so, {number} "
            "unsupported writes would show the bound there."
        )
