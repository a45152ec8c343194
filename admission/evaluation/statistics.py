"""Statistics the measurements share, by scipy."""

from __future__ import annotations

from admission.reports.summary import Proportion


def proportion(hits: int, n: int) -> Proportion:
    """`hits` of `n` with its 95 % Clopper-Pearson interval (exact: it covers the true rate in at least 95 % of cases).

    Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, 1934.
    """
    if n == 0:
        return Proportion(value=None, n=0, low=None, high=None)
    from scipy.stats import binomtest

    interval = binomtest(hits, n).proportion_ci(confidence_level=0.95, method="exact")
    return Proportion(value=hits / n, n=n, low=float(interval.low), high=float(interval.high))
