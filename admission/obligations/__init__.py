"""Candidate to obligations by rule (`split`), and the coverage check on any decomposition (`cover`)."""

from admission.obligations.coverage import cover
from admission.obligations.splitting import split

__all__ = ["cover", "split"]
