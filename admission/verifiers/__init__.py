"""Verifiers: one file a kind. Each measures support and contradiction of obligations on passages."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path

from admission.errors import AdmissionError, SettingsError
from admission.local_settings import LocalModelSettings
from admission.model_settings import ModelSettings
from admission.records import Thresholds
from admission.verifiers.protocol import Verifier
from admission.verifiers.unavailable import UnavailableVerifier

__all__ = ["CASCADE", "CHAT", "KINDS", "LOCAL", "PANEL_FILE", "Verifier", "build_verifier", "check_kind"]

CHAT = "chat:"
"""Before the name of a section of `models`, the kind of the verifier that asks that model."""
LOCAL = "local:"
"""Before the name of a section of `local`, the kind of the verifier that runs that model in this process."""
CASCADE = "cascade:"
"""Before the name of a section of either, the kind of embedded verifiers with that model behind them."""
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


def check_kind(setting: str, kind: str, models: Collection[str] = (), local: Collection[str] = ()) -> None:
    """Raise `SettingsError` naming `setting` if `kind` is no verifier; `models` are the sections that `chat:` can name,
    `local` those that `local:` can; `cascade:` can name either."""
    if kind in KINDS:
        return
    if kind.startswith(CASCADE):
        _check_cascade(setting, kind.removeprefix(CASCADE), models, local)
        return
    for prefix, section, names in ((CHAT, "models", models), (LOCAL, "local", local)):
        name = kind.removeprefix(prefix)
        if name == kind:
            continue
        if name in names:
            return
        known = f"use one of {', '.join(sorted(names))}" if names else "there is none yet"
        remedy = f"add a section [{section}.{name or 'NAME'}] with its model, or {known}"
        raise SettingsError(setting, f"no model is called {name!r}", remedy)
    kinds = ", ".join([*KINDS, *(CHAT + name for name in sorted(models)), *(LOCAL + name for name in sorted(local))])
    remedy = f"use one of {kinds}, or chat:NAME of a [models.NAME], or local:NAME of a [local.NAME]"
    remedy += ", or cascade:NAME of either"
    raise SettingsError(setting, f"no verifier is called {kind!r}", remedy)


def _check_cascade(setting: str, name: str, models: Collection[str], local: Collection[str]) -> None:
    if (name in models) != (name in local):
        return
    if name in models:
        remedy = "give one of the two sections another name"
        raise SettingsError(setting, f"both [models.{name}] and [local.{name}] are there", remedy)
    known = ", ".join(sorted([*models, *local]))
    remedy = f"add a section [models.{name or 'NAME'}] with its model" + (f", or use one of {known}" if known else "")
    raise SettingsError(setting, f"no model is called {name!r}", remedy)


def build_verifier(
    kind: str,
    thresholds: Thresholds | None = None,
    models: Mapping[str, ModelSettings] | None = None,
    local: Mapping[str, LocalModelSettings] | None = None,
    *,
    by_file: bool = False,
) -> Verifier:
    """The verifier of this kind with the thresholds given, or else those fitted for the panel as a whole.

    One that cannot be built (no weights, no library) is one that fails every call: a gate must not go down with it.
    `by_file`: chat models are not set up, for their requests are written to batch files.
    """
    check_kind("verifier", kind, models or (), local or ())
    try:
        if models is not None and kind.startswith(CHAT):
            from admission.verifiers.chat.building import chat_verifier

            return chat_verifier(kind, models[kind.removeprefix(CHAT)], thresholds, by_file=by_file)
        if local is not None and kind.startswith(LOCAL):
            from admission.verifiers.local.building import local_verifier

            return local_verifier(kind, local[kind.removeprefix(LOCAL)], thresholds)
        return KINDS[kind](thresholds or _panel_thresholds().get(kind))
    except (AdmissionError, ImportError, OSError) as error:
        return UnavailableVerifier(kind, error)


@cache
def _panel_thresholds() -> dict[str, Thresholds]:
    fitted = json.loads(PANEL_FILE.read_text(encoding="utf-8"))
    return {kind: Thresholds.model_validate(values) for kind, values in fitted.items()}
