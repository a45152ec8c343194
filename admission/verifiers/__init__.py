"""Verifiers: one file a kind. Each measures support and contradiction of obligations on passages."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from admission.errors import AdmissionError, SettingsError
from admission.records import Thresholds
from admission.verifiers.protocol import Verifier
from admission.verifiers.unavailable import UnavailableVerifier

__all__ = ["KINDS", "PANEL_FILE", "Verifier", "build_verifier", "check_kind"]

PANEL_FILE = Path(__file__).parent.parent / "data" / "panel.json"
"""Thresholds fitted for the embedded judges together, by kind (training/fit_panel.py)."""


def _entailment(thresholds: Thresholds | None) -> Verifier:
    from admission.verifiers.entailment import EntailmentVerifier

    return EntailmentVerifier(thresholds=thresholds)


def _alignment(thresholds: Thresholds | None) -> Verifier:
    from admission.verifiers.alignment import AlignmentVerifier

    return AlignmentVerifier(thresholds=thresholds)


def _adjudicator(thresholds: Thresholds | None) -> Verifier:
    from admission.verifiers.adjudicator import AdjudicatorVerifier

    return AdjudicatorVerifier(thresholds=thresholds)


# Imported when built: each loads torch and its weights.
KINDS: dict[str, Callable[[Thresholds | None], Verifier]] = {
    "entailment": _entailment,
    "alignment": _alignment,
    "adjudicator": _adjudicator,
}


def check_kind(setting: str, kind: str) -> None:
    """Raise `SettingsError` naming `setting` if `kind` is no verifier."""
    if kind not in KINDS:
        raise SettingsError(setting, f"no verifier is called {kind!r}", f"use one of {', '.join(KINDS)}")


def build_verifier(kind: str, thresholds: Thresholds | None = None) -> Verifier:
    """The verifier of this kind with the thresholds given, or else those fitted for the panel as a whole.

    One that cannot be built (no weights, no library) is one that fails every call: a gate must not go down with it.
    """
    check_kind("verifier", kind)
    try:
        return KINDS[kind](thresholds or _panel_thresholds().get(kind))
    except (AdmissionError, ImportError, OSError) as error:
        return UnavailableVerifier(kind, error)


@cache
def _panel_thresholds() -> dict[str, Thresholds]:
    fitted = json.loads(PANEL_FILE.read_text(encoding="utf-8"))
    return {kind: Thresholds.model_validate(values) for kind, values in fitted.items()}
