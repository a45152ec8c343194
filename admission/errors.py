"""Typed errors: every one names the field, what was wrong with it, and what to do."""

from __future__ import annotations


class AdmissionError(Exception):
    """Base of every error this package raises on purpose.

    A verdict is never signalled by an exception; these report bad input, bad configuration or a broken record.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field = field
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{field}: {problem}; {remedy}")


class InputError(AdmissionError):
    """A conversation, memory or argument that cannot be read. `where` is `file:line` when it came from a file."""

    def __init__(self, field: str, problem: str, remedy: str, *, where: str | None = None) -> None:
        super().__init__(field, problem, remedy)
        self.where = where
        if where is not None:
            self.args = (f"{where}: {self.args[0]}",)


class BoundaryError(InputError):
    """A read or write that nobody vouches for: its run names no principal, or it reaches outside of what is the
    principal's."""


class SettingsError(AdmissionError):
    """A deployment setting that is unknown, malformed or inconsistent."""


class LedgerError(AdmissionError):
    """The ledger cannot be opened, read or written."""


class WeightsError(AdmissionError):
    """Weights of an embedded model are missing or are not the ones this version was built for."""


class VerifierError(Exception):
    """One verifier call failed as a whole. Drivers turn it into failed judgments, never into a verdict.

    `code` is one of `records.FailureCode`; `detail` says what happened in a few words.
    """

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(f"{code}: {detail}")
