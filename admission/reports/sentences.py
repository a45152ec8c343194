"""From a report to plain sentences: what happened to a memory, and why, for a person who knows none of our codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from admission.records import STORED_ACTIONS, Action, Check, Finding, Judgment, Report
from admission.reports.safe import one_line

_LEAD: dict[Action, str] = {
    "persist": "Kept",
    "persist_marked": "Kept and marked",
    "quarantine": "Held back",
    "review": "Waiting for a person",
    "drop": "Not kept",
}
_AFTERWARDS: dict[Action, str] = {
    "persist": "It is stored.",
    "persist_marked": "It is stored with a mark that shows its status.",
    "quarantine": "It is in quarantine: no search finds it, and it can be restored.",
    "review": "It is stored only if a reviewer approves.",
    "drop": "It is not stored; the ledger keeps this report.",
}
_SUPPORTED = ("admitted", "repaired")
_QUOTED_CHARS = 160
_WITHOUT: dict[Check, str] = {"removed": "without its evidence", "unrelated": "by unrelated passages"}


def headline(report: Report) -> str:
    """One sentence: what was done with the memory and the main reason."""
    lead, why = _LEAD[report.action], _why(report)
    if report.status == "invalid" or (report.status in _SUPPORTED) == (report.action in STORED_ACTIONS):
        corrected = ", with its source corrected" if report.status == "repaired" else ""
        return f"{lead}{corrected}: {why}."
    return f"{lead} by policy, although {why}."


def explanation(report: Report) -> list[str]:
    """The headline, then one sentence for each further thing a person should know, the action's meaning last."""
    main = _decisive(report)
    sentences = [headline(report)]
    sentences += [f"Also: {_open(f, report)}." for f in report.obligations if _is_open(f) and f is not main]
    kept = [f for f in report.obligations if f.label == "supported"]
    if kept and report.status in ("unresolved", "contradicted"):
        sentences += [f"Its part {_quote(f.text)} is supported by {turns(f.evidence)}." for f in kept if f.evidence]
    if report.citations.invalid:
        cited = report.citations.invalid
        verb = "is no turn" if len(cited) == 1 else "are no turns"
        sentences.append(f"The author also cited {turns(cited)}, which {verb} before this write.")
    sentences += [
        f"A citation does not count: {one_line(reason.partition(': ')[2], _QUOTED_CHARS)}."
        for reason in report.reasons
        if reason.startswith("citation_ineligible: ")
    ]
    sentences += [
        f"It takes the place of the memory {one_line(reason.partition(': ')[2], _QUOTED_CHARS)}, which was so before."
        for reason in report.reasons
        if reason.startswith("supersedes_memory: ")
    ]
    return [*sentences, _AFTERWARDS[report.action]]


def finding_sentence(finding: Finding) -> str:
    """How one obligation came to its label, for example "Supported by t3 and t5; both verifiers agree."."""
    named = turns(finding.evidence)
    by, within = (f" by {named}", f" in {named}") if finding.evidence else ("", "")
    what = {
        "supported": f"Supported{by}",
        "contradicted": f"Contradicted{by}",
        "conflicting": f"Conflicting evidence{within}",
        "insufficient": "Not shown by the passages",
    }[finding.label]
    return f"{what}; {_settled(finding)}."


def seen(judgment: Judgment) -> str:
    """What a judgment was made on: its view, or the counterfactual of it."""
    if judgment.check is None:
        return judgment.view
    return f"{judgment.view}, {'evidence removed' if judgment.check == 'removed' else 'unrelated passages'}"


def turns(ids: Iterable[str]) -> str:
    """Turn ids as people list them: "t1", "t1 and t3", "t1, t3 and t5"; "no turn" for none."""
    names = [one_line(i, 60) for i in ids]
    if len(names) < 2:
        return names[0] if names else "no turn"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _why(report: Report) -> str:
    if report.status == "invalid":
        return "the memory is empty" if not report.memory.strip() else "the memory states nothing that could be checked"
    if report.status in _SUPPORTED:
        evidence = _evidence(report)
        said = f"{turns(evidence)} {'say' if len(evidence) > 1 else 'says'} it"
        return f"{said}; {_author(report.citations.author)}" if report.status == "repaired" else said
    main = _decisive(report)
    if main is not None:
        return _open(main, report)
    return f"it could not be checked ({one_line('; '.join(report.reasons), _QUOTED_CHARS) or 'no reason given'})"


def _evidence(report: Report) -> Sequence[str]:
    """What the memory rests on: a repaired one on its new citations, another on what its obligations needed."""
    needed = tuple(dict.fromkeys(turn for f in report.obligations for turn in f.evidence))
    return needed if needed and report.status != "repaired" else report.citations.final


def _author(cited: Sequence[str]) -> str:
    return f"the author cited {turns(cited)} only" if cited else "the author cited nothing"


def _is_open(finding: Finding) -> bool:
    return finding.label != "supported"


def _decisive(report: Report) -> Finding | None:
    """The finding that explains the status best: a contradiction, then a conflict, then what is not shown."""
    order = {"contradicted": 0, "conflicting": 1, "insufficient": 2}
    return min((f for f in report.obligations if _is_open(f)), key=lambda f: order[f.label], default=None)


def _open(finding: Finding, report: Report) -> str:
    quote = _quote(finding.text)
    if finding.label == "contradicted":
        where = turns(finding.evidence) + " says" if len(finding.evidence) == 1 else "the conversation says"
        cited = f" ({turns(finding.evidence)})" if len(finding.evidence) > 1 else ""
        return f"{where} otherwise{cited} about {quote}"
    if finding.label == "conflicting":
        where = f" ({turns(finding.evidence)})" if finding.evidence else ""
        return f"the conversation speaks both for and against {quote}{where}"
    silent = [j for j in finding.judgments if j.outcome == "failed"] or _all_abstained(finding)
    if silent:
        verb = "failed on" if silent[0].outcome == "failed" else "could not judge"
        return f"a verifier {verb} {quote} ({one_line(silent[0].reason, 120) or 'no reason given'})"
    if (unmoved := _unmoved(finding)) is not None:
        return f"a verifier finds {quote} supported {_WITHOUT[unmoved]} too, so that support does not count"
    if not report.views.citation_only and not report.views.expanded:
        return f"there was no earlier conversation to check {quote} against"
    if finding.view == "citation_only" and not report.views.expanded:
        return f"the turns the author cited do not show {quote}"
    return f"nothing found in the conversation before the write shows {quote}"


def _all_abstained(finding: Finding) -> list[Judgment]:
    return list(finding.judgments) if all(j.outcome == "abstained" for j in finding.judgments) else []


def _unmoved(finding: Finding) -> Check | None:
    """The counterfactual in which support stood that the evidence does not carry, if one did."""
    return next((j.check for j in finding.judgments if j.unmoved), None)


def _settled(finding: Finding) -> str:
    if (unmoved := _unmoved(finding)) is not None:
        return f"a verifier finds it supported {_WITHOUT[unmoved]} too, so that support does not count"
    if any(j.check is not None and j.outcome == "failed" for j in finding.judgments):
        return "a verifier failed while its support was checked, and what is not checked is not kept"
    if finding.resolved_by == "agreement":
        return "both verifiers agree"
    if finding.resolved_by == "adjudication":
        return "the verifiers differed and the adjudicator, blind to both, decided"
    if finding.resolved_by == "single":
        return "only one verifier could judge it"
    if not finding.judgments:
        return "there was no passage to judge it on"
    if any(j.outcome == "failed" for j in finding.judgments):
        return "a verifier failed, and what is not checked is not kept"
    if all(j.outcome == "abstained" for j in finding.judgments):
        return "no verifier could judge it"
    return "the verifiers did not settle it"


def _quote(text: str) -> str:
    return f"“{one_line(text, _QUOTED_CHARS).rstrip('.')}”"
