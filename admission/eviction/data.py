"""Which of the data sets a folder holds, and reading it."""

from __future__ import annotations

from pathlib import Path

from admission.errors import InputError
from admission.evaluation.reading import rhelm
from admission.evaluation.reading.dataset import QUESTIONS
from admission.eviction import locomo
from admission.eviction.records import AuditData, checked
from admission.eviction.rhelm import load_rhelm


def load(folder: Path) -> AuditData:
    """LoCoMo or RHELM, told apart by their files. Raises `InputError` for other folders and files of another shape."""
    if (folder / locomo.FILE).is_file():
        return checked(locomo.load_locomo(folder / locomo.FILE))
    if rhelm.is_there(folder):
        return checked(load_rhelm(folder))
    problem = f"{folder} has neither {locomo.FILE} nor {rhelm.TURNS} and {QUESTIONS}"
    raise InputError("FOLDER", problem, "see docs/eviction.md for the files")
