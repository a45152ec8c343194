"""From the findings of all obligations to the memory's status, and the reasons a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from admission.records import Finding, Status


class Verdict(NamedTuple):
    """Status and reasons (`code: detail`). `conflicting`: unresolved because evidence speaks both for and against."""

    status: Status
    conflicting: bool
    reasons: tuple[str, ...]


NO_CLAIM = Verdict("invalid", False, ("no_claim: the text states nothing that could be checked",))


def verdict_on(findings: Sequence[Finding]) -> Verdict:
    """A memory is supported only if every obligation is; on the citations alone it is `admitted`, else `repaired`.

    One contradicted obligation makes it `contradicted`; anything else is `unresolved`, which does not say that the
    memory is false. Source: DerivAudit, memory verdict.
    """
    if all(f.label == "supported" for f in findings):
        if all(f.view == "citation_only" for f in findings):
            return Verdict("admitted", False, (f"supported_on_citations: {_turns(findings)} support every obligation",))
        detail = "the author's citations did not suffice; " + _turns(findings) + " support every obligation"
        return Verdict("repaired", False, (f"supported_on_expanded: {detail}",))
    refuted = any(f.label == "contradicted" for f in findings)
    conflicting = not refuted and any(f.label == "conflicting" for f in findings)
    reasons = tuple(reason for finding in sorted(findings, key=_gravity) for reason in _reasons(finding))
    return Verdict("contradicted" if refuted else "unresolved", conflicting, reasons)


def _gravity(finding: Finding) -> int:
    return ("contradicted", "conflicting", "insufficient", "supported").index(finding.label)


def _reasons(finding: Finding) -> Iterator[str]:
    """Why this obligation keeps the memory from being supported; then what kept a verifier from judging it."""
    if finding.label == "supported":
        return
    said = f" ({', '.join(finding.evidence)})" if finding.evidence else ""
    text = {
        "contradicted": f"the conversation says otherwise{said}",
        "conflicting": f"the conversation speaks for and against it{said}",
        "insufficient": "no support was found within the passages looked at",
    }[finding.label]
    if finding.label == "insufficient" and not finding.judgments:
        text = "no passage that could be evidence for it was found"
    yield f"{finding.label}: {finding.id} {finding.text!r}: {text}"
    for judgment in finding.judgments:
        if judgment.outcome != "judged" and judgment.view == finding.view:
            yield f"verifier_{judgment.outcome}: {judgment.verifier} on {finding.id}: {judgment.reason}"


def _turns(findings: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(turn for finding in findings for turn in finding.evidence))
