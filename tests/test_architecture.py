"""The house: who may import whom, what stays out of the core, and what must not be loaded before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("admission", "graph_nodes", "prompts")

# From the ground up; a module may import from its own floor or below. The longest prefix of a module's name counts.
FLOORS = {
    "prompts": 0,
    "admission.version": 0,
    "admission.errors": 0,
    "admission.records": 0,
    "admission.metadata": 1,
    "admission.reading_settings": 1,
    "admission.model_settings": 0,
    "admission.local_settings": 0,
    "admission.text": 0,
    "admission.language": 1,
    "admission.bm25": 1,
    "admission.replies": 1,
    "admission.settings": 1,
    "admission.conversation_file": 1,
    "admission.conversations": 1,
    "admission.eligibility": 2,
    "admission.observability": 2,
    "admission.history": 2,
    "admission.obligations": 3,
    "admission.evidence": 3,
    "admission.verifiers": 3,
    "admission.ledger": 3,
    "admission.reports": 3,
    "admission.counterfactual": 4,
    "admission.minimal_evidence": 4,
    "admission.panel": 4,
    "admission.verdict": 4,
    "admission.policy": 4,
    "admission.decomposition": 4,
    "admission.supersession": 4,
    "admission.deliberation": 5,
    "admission.gate": 6,
    "admission.batch": 7,
    "admission": 7,
    "admission.reading": 7,
    "admission.evaluation": 8,
    "admission.eviction": 8,
    "graph_nodes": 8,
    "admission.cli": 9,
}
HEAVY = ("torch", "transformers", "langmem", "langchain", "psycopg")


def modules() -> dict[str, Path]:
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): f for f in files}


def floor(module: str) -> int:
    return FLOORS[max((name for name in FLOORS if f"{module}.".startswith(f"{name}.")), key=len)]


def imports(file: Path, top_level_only: bool = False) -> list[str]:
    tree = ast.parse(file.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    nodes = tree.body if top_level_only else ast.walk(tree)
    found: list[str] = []
    for node in nodes:
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.append(node.module)
    return found


@pytest.mark.parametrize("module", sorted(modules()))
def test_nothing_imports_upward(module: str) -> None:
    ours = [name for name in imports(modules()[module]) if name.split(".")[0] in PACKAGES]
    assert [name for name in ours if floor(name) > floor(module)] == []


def test_the_core_knows_nothing_of_langgraph_and_of_langchain_only_where_chat_models_answer() -> None:
    core = {
        name: file
        for name, file in modules().items()
        if name.startswith("admission") and floor(name) < floor("graph_nodes")
    }
    found = {n for n, f in core.items() for i in imports(f) if i.startswith(("langgraph", "langchain"))}
    chat = {f"admission.verifiers.chat.{name}" for name in ("building", "calls", "unsent", "verifier")}
    assert found == {*chat, "admission.batch.provider_lines"}


def test_verifiers_know_records_and_texts_but_no_histories_ledgers_or_policies() -> None:
    allowed = ("errors", "model_settings", "local_settings", "records", "text", "language", "verifiers", "version")
    for name, file in modules().items():
        if name.startswith("admission.verifiers"):
            ours = [i for i in imports(file) if i.startswith("admission.")]
            assert [i for i in ours if i.split(".")[1] not in allowed] == [], name


def test_importing_the_packages_loads_no_model_library() -> None:
    code = f"import sys, admission.gate, graph_nodes; print([m for m in {HEAVY!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("module", sorted(modules()))
def test_each_file_opens_with_a_line_that_says_what_lives_in_it(module: str) -> None:
    docstring = ast.get_docstring(ast.parse(modules()[module].read_text()))
    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":", "?"))
