"""Figures as text, and the colours of plots: the same on every page."""

from __future__ import annotations

from admission.evaluation.paired import Interval
from admission.reports.summary import Proportion

NONE = "-"
# Okabe and Ito's colours, told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")


def share(found: Proportion) -> str:
    """A share with its n."""
    return NONE if found.value is None else f"{found.value:.3f} of {found.n}"


def count(found: Proportion) -> str:
    """A share as `33 / 40`."""
    return NONE if found.value is None else f"{round(found.value * found.n)} / {found.n}"


def with_interval(found: Proportion) -> str:
    """A share with its interval."""
    return NONE if found.value is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def difference(found: Interval) -> str:
    """A difference with its interval."""
    return NONE if found.value is None else f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def p_value(value: float | None) -> str:
    return NONE if value is None else f"{value:.2g}"


def published(value: float | None) -> str:
    """A share as published."""
    return NONE if value is None else f"{value:.3f}"
