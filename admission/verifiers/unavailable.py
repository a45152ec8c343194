"""What stands in for a verifier that could not be built: every question fails with the reason, nothing is admitted."""

from __future__ import annotations

from collections.abc import Sequence

from admission.errors import VerifierError
from admission.records import Judgment, Question, Thresholds
from admission.verifiers.protocol import Verifier


class UnavailableVerifier(Verifier):
    """Fails every call with the error that building the verifier ended in."""

    def __init__(self, kind: str, error: Exception) -> None:
        self.name = kind
        self.thresholds = Thresholds()
        self.error = error

    @property
    def identity(self) -> dict[str, object]:
        return {"kind": self.name, "unavailable": str(self.error)}

    def judge(self, questions: Sequence[Question]) -> list[Judgment]:
        raise VerifierError("unavailable", str(self.error))
