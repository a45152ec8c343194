"""Verifiers: one file a kind. Each measures support and contradiction of obligations on passages."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path

from admission.errors import AdmissionError, SettingsError
from admission.model_settings import ModelSettings
from admission.records import Thresholds
from admission.verifiers.protocol import Verifier
from admission.verifiers.unavailable import UnavailableVerifier

__all__ = ["CHAT", "KINDS", "PANEL_FILE", "Verifier", "build_verifier", "check_kind"]

CHAT = "chat:"
"""Before the name of a section of `models`, the kind of the verifier that asks that model."""
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


def check_kind(setting: str, kind: str, models: Collection[str] = ()) -> None:
    """Raise `SettingsError` naming `setting` if `kind` is no verifier; `models` are the sections `chat:` can name."""
    if kind in KINDS or (kind.startswith(CHAT) and kind.removeprefix(CHAT) in models):
        return
    if kind.startswith(CHAT):
        known = f"use one of {', '.join(sorted(models))}" if models else "there is none yet"
        remedy = f"add a section [models.{kind.removeprefix(CHAT) or 'NAME'}] with its model, or {known}"
        raise SettingsError(setting, f"no model is called {kind.removeprefix(CHAT)!r}", remedy)
    kinds = ", ".join([*KINDS, *(CHAT + name for name in sorted(models))])
    raise SettingsError(
        setting, f"no verifier is called {kind!r}", f"use one of {kinds}, or chat:NAME of a [models.NAME]"
    )


def build_verifier(
    kind: str, thresholds: Thresholds | None = None, models: Mapping[str, ModelSettings] | None = None
) -> Verifier:
    """The verifier of this kind with the thresholds given, or else those fitted for the panel as a whole.

    One that cannot be built (no weights, no library) is one that fails every call: a gate must not go down with it.
    """
    check_kind("verifier", kind, models or ())
    try:
        if models is not None and kind.startswith(CHAT):
            from admission.verifiers.chat.building import chat_verifier

            return chat_verifier(kind, models[kind.removeprefix(CHAT)], thresholds)
        return KINDS[kind](thresholds or _panel_thresholds().get(kind))
    except (AdmissionError, ImportError, OSError) as error:
        return UnavailableVerifier(kind, error)


@cache
def _panel_thresholds() -> dict[str, Thresholds]:
    fitted = json.loads(PANEL_FILE.read_text(encoding="utf-8"))
    return {kind: Thresholds.model_validate(values) for kind, values in fitted.items()}
