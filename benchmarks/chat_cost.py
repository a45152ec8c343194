"""Calls and input tokens of one judging by chat judges, beside the published protocol: what each way of asking saves.

    python -m benchmarks.chat_cost [--json FILE] [--writes FILE]

The published protocol asks two verifiers about each obligation in a call of its own, a third about each disagreement,
and a model for the decomposition; each call carries the whole evidence. It is counted with this package's own prompts.
A scripted model counts what it is sent (tokens: the MiniLM tokenizer), so that only the asking differs. Of each four
obligations two are facts, one is a qualification and one a relation; all are supported, each by a turn of its own.
Verifier B denies a share of them, and so does one embedded verifier of the cascade. For the cascade the memory itself
is asked as well, as the gate does with embedded verifiers. What a whole write costs is in `write_cost`.

With `--writes`, recorded writes of a conversation file go through a cascade of the real embedded verifiers: how much of
them reaches the model.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

import prompts
from admission.conversations import read_conversations
from admission.gate import AdmissionGate
from admission.history import Timeline
from admission.model_settings import ChatOptions
from admission.panel import adjudicate, blind, settle
from admission.records import Obligation, ObligationType, Passage, Question
from admission.settings import load_settings
from admission.verifiers import build_verifier, minilm
from admission.verifiers.assembly import FIRST_STAGE
from admission.verifiers.cached import CachedVerifier
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.chat import ChatVerifier
from admission.verifiers.chat.decomposer import messages_for as decomposition_of
from admission.verifiers.protocol import Verifier
from admission.verifiers.relay import Part
from admission.verifiers.result_cache import ResultCache
from admission.verifiers.scripted import ScriptedVerifier

THINGS = ("car", "bicycle", "boat", "lamp", "table", "guitar", "camera", "kettle")
REASONS = ("noise", "rent", "damp", "cost", "dust", "weight", "colour", "smell")
ASIDES = (
    "It took the whole afternoon, and in the evening we had soup on the balcony with the people from downstairs.",
    "Anyway, the trains were late again, so there was plenty of time to think it over on the platform.",
    "You would have laughed at the state of the hallway, there were boxes right up to the ceiling light.",
    "I wrote it all down somewhere, probably in the green notebook that has been missing since Tuesday.",
)
PASSAGES, OBLIGATIONS, RATE = 16, 4, 0.25
WAYS = ("joint", "joint_then_isolated", "isolated", "cascade", "joint, second run with cache")


class CountedChat(BaseChatModel):
    """Finds a statement supported where a turn has its last word, but for the words in `denied`; keeps every prompt.

    It names the first such turn, or all of them with `names_all`.
    """

    model: str
    denied: frozenset[str] = frozenset()
    names_all: bool = False
    heard: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "counted"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        rules, asked = (str(message.content) for message in messages)
        prompt = f"{rules}\n{asked}"
        self.heard.append(prompt)
        _, evidence, statements = asked.split(asked.splitlines()[0])
        turns = re.findall(r'^turn ("[^"]+").*\n\| (.*)$', evidence, re.MULTILINE)
        verdicts = [
            self._verdict(id, json.loads(text), [(json.loads(turn), said) for turn, said in turns])
            for id, text in re.findall(r'id "([^"]+)"[^"\n]*("(?:[^"\\]|\\.)*")', statements)
        ]
        message = AIMessage(json.dumps({"verdicts": verdicts}))
        message.usage_metadata = {"input_tokens": tokens(prompt), "output_tokens": 0, "total_tokens": 0}
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _verdict(self, id: str, statement: str, turns: list[tuple[str, str]]) -> dict[str, Any]:
        word = statement.rstrip(".").split()[-1]
        found = [] if word in self.denied else [turn for turn, said in turns if word in said]
        quote = word if found else ""
        named = found if self.names_all else found[:1]
        return {"id": id, "supported": 0.9 if found else 0.0, "contradicted": 0.0, "turns": named, "quote": quote}


@cache
def ids_of(text: str) -> tuple[int, ...]:
    return tuple(minilm.tokenizer()(text, add_special_tokens=False, verbose=False)["input_ids"])


def tokens(text: str) -> int:
    return len(ids_of(text))


def shared_prefix(first: str, second: str) -> int:
    """Tokens that two prompts begin with alike."""
    pairs = zip(ids_of(first), ids_of(second), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(tokens(first), tokens(second)))


@dataclass
class Case:
    """Obligations on one view, and which of their last words verifier B (and one embedded verifier) denies."""

    obligations: int = OBLIGATIONS
    passages: int = PASSAGES
    rate: float = RATE
    questions: list[Question] = field(init=False)
    whole: list[Question] = field(init=False)
    denied: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        memory = " ".join(obligation(number).text for number in range(self.obligations))
        shown = tuple(passage(number) for number in range(self.passages))
        self.questions = [
            Question(obligation=obligation(number), memory=memory, view="expanded", passages=shown)
            for number in range(self.obligations)
        ]
        whole = Obligation(id=f"o{self.obligations + 1}", text=memory, type="relation")
        asked = Question(obligation=whole, memory=memory, view="expanded", passages=shown)
        self.whole = [asked] if self.obligations > 1 else []
        words = [last_word(question.obligation.text) for question in self.questions]
        # The last are denied: relations and qualifications stand there, so that the cascade gains nothing by it.
        self.denied = frozenset(words[len(words) - round(self.rate * len(words)) :])


def last_word(text: str) -> str:
    return text.rstrip(".").split()[-1]


def obligation(number: int) -> Obligation:
    thing, reason = THINGS[number], REASONS[number]
    kind: ObligationType = "relation" if number % 4 == 3 else "qualification" if number % 4 == 2 else "fact"
    text = {
        "fact": f"Ana sold the {thing}.",
        "relation": f"Ana sold the {thing} because of the {reason}.",
        "qualification": f"Ana twice offered the {thing}.",
    }[kind]
    return Obligation(id=f"o{number + 1}", text=text, type=kind)


def said(number: int) -> str:
    """One turn of about thirty words; the first eight state an obligation each."""
    about = f"{obligation(number).text.replace('Ana', 'I')} " if number < len(THINGS) else ""
    return about + ASIDES[number % len(ASIDES)]


def passage(number: int) -> Passage:
    return Passage(
        id=f"t{number + 1}", turn_id=f"t{number + 1}", position=number, role="user", speaker="Ana",
        time=f"2026-03-{number + 1:02}T10:00:00", text=said(number), origin="conversation",
    )  # fmt: skip


@dataclass
class Panel:
    """The models of one way of asking, and the judges over them: A, B and the adjudicator."""

    models: list[CountedChat]
    judges: list[Verifier]

    @property
    def heard(self) -> list[str]:
        return [prompt for model in self.models for prompt in model.heard]

    def ask(self, questions: Sequence[Question]) -> list[Question]:
        """One round: both verifiers on every question, the third on what they see differently. What stays open."""
        a, b, third = self.judges
        pairs = list(zip(questions, a.judge(questions), b.judge(questions), strict=True))
        disputed = [question for question, *both in pairs if settle(*both) is None]
        thirds = iter(third.judge([blind(question) for question in disputed]))
        settled = [(question, settle(*both) or adjudicate(*both, next(thirds))) for question, *both in pairs]
        return [question for question, found in settled if found.label != "supported"]

    def cost(self) -> tuple[int, int]:
        return len(self.heard), sum(map(tokens, self.heard))


def panel(way: str, denied: frozenset[str], folder: Path, names_all: bool = False) -> Panel:
    models = [
        CountedChat(model=name, denied=denied if name == "b" else frozenset(), names_all=names_all) for name in "abc"
    ]
    asking: Any = way if way in ("isolated", "joint_then_isolated") else "joint"
    options = ChatOptions(asking=asking, retries=0)  # a slow machine must not show as a second call
    judges: list[Verifier] = [
        ChatVerifier(model, f"chat:{model.model}", options=options).seated(role, "obligations")
        for model, role in zip(models, ("verifier_a", "verifier_b", "adjudicator"), strict=True)
    ]
    if way == "cascade":
        first = [ScriptedVerifier("one", embedded(frozenset())), ScriptedVerifier("other", embedded(denied))]
        first[0].reads_whole = True
        judges[:2] = [CascadeVerifier(judge.name, first, judge) for judge in judges[:2]]
    if way.endswith("cache"):
        judges = [CachedVerifier(judge, ResultCache(folder, 64)) for judge in judges]
    return Panel(models, judges)


def embedded(denied: frozenset[str]) -> Callable[[Question], tuple[float, float]]:
    def script(question: Question) -> tuple[float, float]:
        word = last_word(question.obligation.text)
        return (0.9 if word not in denied and any(word in p.text for p in question.passages) else 0.0), 0.0

    return script


def one_view(way: str, case: Case) -> Panel:
    """The way's panel after one round on the case; of the cache, after the second of two runs."""
    with tempfile.TemporaryDirectory() as folder:
        if way.endswith("cache"):
            panel(way, case.denied, Path(folder)).ask(case.questions)
        asked = panel(way, case.denied, Path(folder))
        asked.ask(case.questions + (case.whole if way == "cascade" else []))
        return asked


def published(case: Case) -> tuple[int, int]:
    """Each obligation and each disagreement in a call of its own, and the decomposition."""
    return with_decomposition(one_view("isolated", case), case.questions[0].memory)


def with_decomposition(asked: Panel, memory: str) -> tuple[int, int]:
    """The panel's cost and that of one call to split the memory."""
    calls, spent = asked.cost()
    return calls + 1, spent + tokens("\n".join(message.content for message in decomposition_of(memory)))


def compared(cases: Sequence[tuple[Any, Case]]) -> list[dict[str, Any]]:
    rows = []
    for value, case in cases:
        costs = {"published": published(case)} | {way: one_view(way, case).cost() for way in WAYS}
        rows.append({"value": value, **costs})
    return rows


class Watched(CascadeVerifier):
    """Notes of each obligation whether the model was asked when it was first judged, and whether it ever was."""

    def __init__(self, first: Sequence[Verifier], then: Verifier) -> None:
        super().__init__("cascade:model", first, then)
        self.at_first, self.ever = dict[str, bool](), dict[str, bool]()

    def _begin(self, questions: Sequence[Question]) -> Part:
        part = super()._begin(questions)
        asked = {question.obligation.id for question in part.asked}
        for id in dict.fromkeys(question.obligation.id for question in questions):
            self.at_first.setdefault(id, id in asked)
            self.ever[id] = self.ever.get(id, False) or id in asked
        return part


def reaches_the_model(file: Path) -> None:
    """Of recorded writes and their obligations, those the embedded verifiers of a cascade settle between them.

    The model supports whatever it is asked, so that nothing is asked again on the expanded view for its sake.
    """
    judge = Watched([build_verifier(kind) for kind in FIRST_STAGE], ScriptedVerifier("model", lambda q: (1.0, 0.0)))
    settings = load_settings(None, {"verification": {"adjudicator": "none"}})
    gate = AdmissionGate(settings, verifier_a=judge, verifier_b=judge)
    found: dict[str, Counter[str]] = {}
    for conversation in read_conversations(file):
        timeline = Timeline(conversation.id, conversation.turns, passage_chars=gate.settings.evidence.passage_chars)
        for write in conversation.writes:
            judge.at_first.clear()
            judge.ever.clear()
            report = gate.decide(conversation.candidate(write), timeline.before(write.written_after))
            for finding in report.obligations:
                if finding.id in judge.ever:
                    kinds = found.setdefault(finding.type, Counter())
                    kinds.update(all=1, first=judge.at_first[finding.id], ever=judge.ever[finding.id])
            writes = found.setdefault("writes", Counter())
            writes.update(all=1, first=any(judge.at_first.values()), ever=any(judge.ever.values()))
    for kind, count in found.items():
        print(f"{kind:<14} {count['all']:>5}; the model is asked at first {count['first']:>5}, ever {count['ever']:>5}")


def prefixes() -> dict[str, float]:
    """Share of a request that the one before it of the same write, judge and view began with."""
    shares = {}
    for way in ("isolated", "joint_then_isolated"):
        heard = one_view(way, Case(rate=0.0)).models[0].heard
        shares[way] = fmean(shared_prefix(*pair) / tokens(pair[1]) for pair in pairwise(heard))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--writes", type=Path)
    arguments = parser.parse_args()
    if arguments.writes is not None:
        reaches_the_model(arguments.writes)
        return
    minilm.tokenizer()  # loaded before a request is timed
    found = {
        "obligations": compared([(k, Case(obligations=k)) for k in range(1, 9)]),
        "passages": compared([(p, Case(passages=p)) for p in (4, 8, 12, 16)]),
        "disagreements": compared([(rate, Case(rate=rate)) for rate in (0.0, 0.25, 0.5, 1.0)]),
    }
    for name, rows in found.items():
        show(name, rows)
    four = Case()
    rules = tokens(prompts.load("system").template)
    joint, one_by_one = (one_view(way, four).cost() for way in ("joint", "isolated"))
    part = (joint[1] - joint[0] * rules) / (one_by_one[1] - one_by_one[0] * rules)
    print(
        f"rules: {rules} tokens a request; without them joint costs {part:.2f} of isolated at {OBLIGATIONS} obligations"
    )
    shared = prefixes()
    print("shared prefix of successive requests: " + ", ".join(f"{way} {part:.2f}" for way, part in shared.items()))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({**found, "prefix": shared}, indent=1) + "\n")


def show(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """A Markdown table: calls / input tokens, and in brackets their share of the published protocol's."""
    print(f"\n| {name} | published | " + " | ".join(WAYS) + " |\n|" + "---|" * (len(WAYS) + 2))
    for row in rows:
        calls, spent = row["published"]
        cells = [
            f"{row[way][0]} / {row[way][1]} ({row[way][0] / calls:.2f} / {row[way][1] / spent:.2f})" for way in WAYS
        ]
        print(f"| {row['value']} | {calls} / {spent} | " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
