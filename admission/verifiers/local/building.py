"""A local verifier from a section of the settings; transformers and the model load here."""

from __future__ import annotations

from admission.errors import SettingsError
from admission.local_settings import LocalModelSettings
from admission.records import Thresholds
from admission.verifiers.local.causal import CausalVerifier
from admission.verifiers.local.loading import load
from admission.verifiers.local.nli import NliVerifier
from admission.verifiers.protocol import Verifier


def local_verifier(kind: str, section: LocalModelSettings, thresholds: Thresholds | None = None) -> Verifier:
    """The verifier for `[local.NAME]`, called `kind` (`local:NAME`) in reports.

    Raises `SettingsError` naming the section and setting where the model cannot be loaded or is not of the kind said.
    """
    try:
        local = load(section)
        size = {"batch_size": section.batch_size, "max_tokens": section.max_tokens}
        if section.kind == "nli":
            return NliVerifier(local, kind, labels=section.labels, thresholds=thresholds, **size)
        return CausalVerifier(local, kind, thresholds=thresholds, **size)
    except SettingsError as error:
        field = f"local.{kind.partition(':')[2]}.{error.field}"
        raise SettingsError(field, error.problem, error.remedy) from error
