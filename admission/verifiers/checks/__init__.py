"""Explicit checks of an obligation against aligned sentences: one small pure function a kind. No model, no weights."""

from __future__ import annotations

from datetime import datetime

from admission.verifiers.checks.dates import check_clock, check_dates, dates, spans
from admission.verifiers.checks.links import LINKS, Covers, check_link
from admission.verifiers.checks.names import check_names
from admission.verifiers.checks.numbers import check_numbers
from admission.verifiers.checks.polarity import check_modality, check_negation
from admission.verifiers.checks.quotation import check_quotation, check_taken_back
from admission.verifiers.checks.reading import Check, Evidence, Sentence, Text, gather, overlap, read, read_passages
from admission.verifiers.checks.scope import SCOPES, check_scope
from admission.verifiers.checks.speaker import check_speaker

KINDS = (
    "names", "numbers", "dates", "clock", "negation", "modality", "speaker", *LINKS, *SCOPES, "quotation", "taken_back",
)  # fmt: skip
"""Every kind a check can have, in a fixed order."""


def run_checks(statement: Text, evidence: Evidence, covers: Covers = overlap) -> tuple[Check, ...]:
    """Every check that applies. `covers` says how much of a part of the obligation a sentence says.

    Relative dates of the obligation are read at the time of the turn it aligns with best.
    """
    told: datetime | None = evidence.anchor.when
    when = dates(statement.text, told)
    dated = {s.index: spans(dates(s.body.text, s.when)) for s in evidence.ordered}
    found = [
        check_names(statement, evidence),
        check_numbers(statement, evidence, spans(when), dated),
        check_dates(when, evidence),
        check_clock(when, evidence),
        check_negation(statement, evidence),
        check_modality(statement, evidence),
        check_speaker(statement, evidence),
        check_link(statement, evidence, covers),
        *(check_scope(kind, statement, evidence) for kind in SCOPES),
        check_quotation(statement, evidence),
        check_taken_back(evidence),
    ]
    return tuple(check for check in found if check is not None)


__all__ = [
    "KINDS", "Check", "Evidence", "Sentence", "Text", "check_clock", "check_dates", "check_link", "check_modality",
    "check_names", "check_negation", "check_numbers", "check_quotation", "check_scope", "check_speaker",
    "check_taken_back", "dates", "gather", "read", "read_passages", "run_checks",
]  # fmt: skip
