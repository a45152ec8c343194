"""Reports made by hand from one small conversation."""

from __future__ import annotations

from admission.records import Citations, Finding, Judgment, Passage, Report, Usage, Views

A, B, C = "entailment", "alignment", "adjudicator"
PASSAGES = (
    Passage(id="t1", turn_id="t1", position=0, role="user", speaker="Ines", time="2026-03-02T09:00:00",
            text="We finally chose a name for the boat.", origin="conversation"),
    Passage(id="t3", turn_id="t3", position=1, role="user", speaker="Ines", time="2026-03-02T09:04:00",
            text="She is called Pelican, and she is moored in Lisse.", origin="conversation"),
    Passage(id="t5", turn_id="t5", position=2, role="tool", text="berth 14, Lisse", origin="tool"),
    Passage(id="t7", turn_id="t7", position=3, role="user", speaker="Ines", text="Lunch was fine.",
            origin="conversation"),
)  # fmt: skip


def judgment(verifier: str, support: float, contradiction: float, label: str, view: str = "expanded") -> Judgment:
    return Judgment(verifier=verifier, view=view, support=support, contradiction=contradiction, label=label)


def finding(label: str, *, text: str = "The boat Pelican is moored at berth 14.", **more: object) -> Finding:
    pair = (judgment(A, 0.9, 0.05, label), judgment(B, 0.8, 0.1, label))
    fields = {"id": "o1", "type": "fact", "view": "expanded", "resolved_by": "agreement", "judgments": pair}
    return Finding(text=text, label=label, **fields | more)


def report(status: str, action: str, *findings: Finding, **more: object) -> Report:
    fields = {
        "id": "w1",
        "conversation": "c1",
        "namespace": ("harbour", "ines"),
        "memory": "The boat Pelican is moored at berth 14.",
        "citations": Citations(author=("t1",), final=("t1",)),
        "views": Views(citation_only=("t1",), expanded=("t1", "t3", "t5", "t7")),
        "passages": PASSAGES,
        "obligations": findings,
        "usage": Usage(calls=8),
        "timing_ms": {"total": 12.5, "evidence": 2.5, "verifiers": 10.0},
        "config_digest": "c" * 64,
        "input_digest": "d" * 64,
    }
    return Report(status=status, action=action, **fields | more)
