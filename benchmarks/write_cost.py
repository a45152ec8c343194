"""Calls and input tokens of a whole write with chat judges, from the first look at the citations to minimal evidence.

    python -m benchmarks.write_cost [--json FILE] [--writes FILE]

Writes of 1 to 8 facts go through the gate; their conversation has sixteen turns. The published protocol is counted as
in `chat_cost`, on the same views, and by its own rules for a write: a decomposition, each obligation on the citations,
and on the expanded view each that they leave open. `one view` is the same protocol that looks at the expanded view
alone. What either would spend on minimal evidence, or on what was said later, is not counted to it.

With `--writes`, recorded writes of a conversation file are judged by readers of words (`WordReader`), once as judges
that name what they rely on and once as judges that do not: calls a write, and whether the status is the same.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from admission.conversations import read_conversations
from admission.evidence import citation_view, expanded_view
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.obligations import split
from admission.records import OBLIGATION_TYPES, Candidate, Judgment, Question, Report, Status, Turn, Usage, View
from admission.settings import Settings
from admission.text import content_terms
from admission.verifiers import minilm
from admission.verifiers.scripted import ScriptedVerifier
from benchmarks.chat_cost import ASIDES, OBLIGATIONS, PASSAGES, THINGS, Panel, panel, with_decomposition

Kind = Literal["one turn", "a turn each", "restated", "another turn"]
KINDS: dict[Kind, str] = {
    "one turn": "one cited turn says all, nothing later speaks of it",
    "a turn each": "each fact in a cited turn of its own, a later turn speaks of the matter",
    "restated": "the same, but a later turn says one fact again, and the judges name both turns",
    "another turn": "the facts in a turn each, another turn cited",
}
STATUS: dict[Kind, Status] = {kind: "repaired" if kind == "another turn" else "admitted" for kind in KINDS}
WAYS = ("joint", "isolated", "cascade")
LATER = 12
"""The turn that speaks of the matter again, after all that may be cited."""


@dataclass(frozen=True)
class Cost:
    """Requests sent and the tokens of their prompts."""

    calls: int
    tokens: int

    def beside(self, other: Cost) -> str:
        """Calls and tokens, and their shares of the other's."""
        shares = f"{self.calls / other.calls:.2f} / {self.tokens / other.tokens:.2f}"
        return f"{self.calls} / {self.tokens} ({shares})"


@dataclass(frozen=True)
class Write:
    """A memory of so many facts, where they are said, what its author cites, and how many of them verifier B denies."""

    kind: Kind
    facts: int = OBLIGATIONS
    disputed: int = 0

    @cached_property
    def history(self) -> History:
        """Turn n says the n-th fact, or the first says all; the others are asides."""
        said = [f"I sold the {thing}." for thing in THINGS[: self.facts]]
        said = [" ".join(said)] if self.kind == "one turn" else said
        texts = [*said, *[""] * (PASSAGES - len(said))]
        if self.kind != "one turn":
            again = f" the {THINGS[0]}, as I said" if self.kind == "restated" else " more than I had thought"
            texts[LATER - 1] = f"I sold{again}."
        turns = [
            Turn(id=f"t{n}", role="user", speaker="Ana", time=f"2026-03-{n:02}T10:00:00", origin="conversation",
                 text=f"{text} {ASIDES[n % len(ASIDES)]}".strip())
            for n, text in enumerate(texts, start=1)
        ]  # fmt: skip
        return History.of("c", turns)

    @property
    def candidate(self) -> Candidate:
        cited = {"one turn": ["t1"], "another turn": [f"t{PASSAGES}"]}
        citations = cited.get(self.kind, [f"t{n}" for n in range(1, self.facts + 1)])
        memory = " ".join(f"Ana sold the {thing}." for thing in THINGS[: self.facts])
        return Candidate(id="w", conversation="c", namespace=("n",), memory=memory, citations=tuple(citations))

    def panel(self, way: str) -> Panel:
        with tempfile.TemporaryDirectory() as folder:
            denied = frozenset(THINGS[self.facts - self.disputed : self.facts])
            return panel(way, denied, Path(folder), names_all=self.kind == "restated")


def through_the_gate(way: str, write: Write) -> tuple[Report, Cost]:
    """The gate's report on the write, and what it sent."""
    asked = write.panel(way)
    a, b, third = asked.judges
    report = AdmissionGate(Settings(), verifier_a=a, verifier_b=b, adjudicator=third).decide(
        write.candidate, write.history
    )
    return report, Cost(*asked.cost())


def published(write: Write) -> Cost:
    """By the published protocol's own rules: the citations, then the expanded view for what they leave open."""
    cited, wide = _views(write)
    asked = write.panel("isolated")
    left = asked.ask(_questions(write, cited))
    asked.ask([question.model_copy(update={"view": wide.name, "passages": wide.passages}) for question in left])
    return Cost(*with_decomposition(asked, write.candidate.memory))


def published_on_one_view(write: Write) -> Cost:
    """Two calls an obligation, one a disagreement and the decomposition, all on the expanded view."""
    asked = write.panel("isolated")
    asked.ask(_questions(write, _views(write)[1]))
    return Cost(*with_decomposition(asked, write.candidate.memory))


def _views(write: Write) -> tuple[View, View]:
    cited, _, _ = citation_view(write.history, write.candidate)
    return cited, expanded_view(write.history, write.candidate, split(write.candidate))


def _questions(write: Write, view: View) -> list[Question]:
    memory = write.candidate.memory
    return [
        Question(obligation=obligation, memory=memory, view=view.name, passages=view.passages)
        for obligation in split(write.candidate)
    ]


class WordReader(ScriptedVerifier):
    """Supports an obligation where the passages hold most of its content words, and names the first turns that do.

    A call is what a chat judge asked jointly would be sent: all questions on the same passages.
    """

    def __init__(self, name: str, names: bool) -> None:
        super().__init__(name, self._read)
        self.names_evidence = OBLIGATION_TYPES if names else frozenset()

    def usage(self, questions: Sequence[Question], judgments: Sequence[Judgment]) -> Usage:
        return Usage(calls=len({question.passages for question in questions}))

    def _read(self, question: Question) -> Judgment:
        wanted = set(content_terms(question.obligation.text))
        missing, named = set(wanted), list[str]()
        for passage in question.passages:
            if not missing.isdisjoint(terms := content_terms(passage.text)):
                named.append(passage.turn_id)
                missing.difference_update(terms)
        support = 1 - len(missing) / max(1, len(wanted))
        return self._judgment(question, support, 0.0, named)


def on_recorded(file: Path) -> None:
    """Calls of recorded writes with judges that name what they rely on, and with judges that do not."""
    gates = [AdmissionGate(Settings(), **_readers(names)) for names in (True, False)]
    reports: list[tuple[Report, ...]] = []
    for conversation in read_conversations(file):
        passage_chars = gates[0].settings.evidence.passage_chars
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=passage_chars)
        for write in conversation.writes:
            asked = conversation.candidate(write), timeline.before(write.written_after)
            reports.append(tuple(gate.decide(*asked) for gate in gates))
    naming, trying = (fmean(report.usage.calls for report in found) for found in zip(*reports, strict=True))
    same = sum(one.status == other.status for one, other in reports)
    print(f"{len(reports)} writes: {naming:.1f} calls each where judges name, {trying:.1f} where not; {same} alike")


def _readers(names: bool) -> dict[str, Any]:
    return {role: WordReader(role, names) for role in ("verifier_a", "verifier_b", "adjudicator")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--writes", type=Path)
    arguments = parser.parse_args()
    if arguments.writes is not None:
        on_recorded(arguments.writes)
        return
    minilm.tokenizer()  # loaded before a request is timed
    at_four = [compared(Write(kind, disputed=disputed)) for kind in KINDS for disputed in (0, 1)]
    growth = [compared(Write(kind, facts)) for facts in range(1, len(THINGS) + 1) for kind in KINDS]
    show_ways(at_four)
    show_growth(growth)
    if arguments.json is not None:
        found = {"at_four": at_four, "growth": growth}
        arguments.json.write_text(json.dumps(found, indent=1, default=asdict) + "\n")


@dataclass(frozen=True)
class Row:
    """One write: what the published protocol sends for it, by its rules and on one view, and the gate, by way."""

    write: Write
    published: Cost
    one_view: Cost
    gate: dict[str, Cost]


def compared(write: Write) -> Row:
    gate: dict[str, Cost] = {}
    for way in WAYS:
        report, gate[way] = through_the_gate(way, write)
        if report.status != STATUS[write.kind]:
            raise SystemExit(f"{write}, {way}: {report.status}, {'; '.join(report.reasons)}")
    return Row(write, published(write), published_on_one_view(write), gate)


def show_ways(rows: Sequence[Row]) -> None:
    """A Markdown table: calls / input tokens, and in brackets their share of the published protocol's."""
    _head("write", "disputed", "published", "one view", *WAYS)
    for row in rows:
        costs = [cost.beside(row.published) for cost in (row.one_view, *row.gate.values())]
        _line(row.write.kind, row.write.disputed, f"{row.published.calls} / {row.published.tokens}", *costs)


def show_growth(rows: Sequence[Row]) -> None:
    """A Markdown table of `joint` by facts, each kind of write with its share of the published protocol's."""
    _head("facts", *KINDS)
    for facts in sorted({row.write.facts for row in rows}):
        _line(facts, *(row.gate["joint"].beside(row.published) for row in rows if row.write.facts == facts))


def _head(*names: str) -> None:
    print()
    _line(*names)
    print("|" + "---|" * len(names))


def _line(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    main()
