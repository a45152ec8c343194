"""`admission trace` on a ledger: what it shows of a question, and what it says of memories that were not found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ledger_erasing import hold_back, remember
from ledger_records import SPACE
from test_trace import answered, found
from typer.testing import CliRunner, Result

from admission.cli.app import app
from admission.ledger import Ledger, open_ledger
from admission.reading.context import QueryContext
from admission.reading.trace import MemoryId, ReadEvent

Trace = Callable[..., Result]
TEXTS = {
    "shown": "Zoë lives in Lisbon since May.",
    "old": "Zoë lives in Porto.",
    "unfound": "Zoë has two cats.",
    "gone": "Zoë sings in a choir.",
    "erased": "Zoë once lived in a castle.",
}


def id_of(key: str) -> MemoryId:
    return MemoryId(namespace=SPACE, key=key)


def read(ledger: Ledger, question_id: str, exposed: list[str], **kept_back: bool | None) -> None:
    retrieved = [found(id_of(key), rank) for rank, key in enumerate(exposed, 1)]
    kept = enumerate(kept_back.items(), len(exposed) + 1)
    retrieved += [found(id_of(key), rank, admissible) for rank, (key, admissible) in kept]
    context = QueryContext(query="Where does Zoë live now?", question_id=question_id, principal="zoe")
    event = ReadEvent.of(context, retrieved, [id_of(key) for key in exposed], log_text=False)
    ledger.record_read(question_id, event.model_dump(mode="json"), namespace=SPACE)


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("sqlite:///ledger.db")
    for key, text in TEXTS.items():
        remember(ledger, text, key)
    hold_back(ledger, "Zoë lives on the moon.", "held")
    ledger.record_delete(SPACE, "gone", thread=None, task=None)
    ledger.erase(SPACE, "erased", by="Ada", why="asked for it")
    read(ledger, "q1", ["shown", "outside"], old=False)
    answer = answered(shown=True).model_dump(mode="json")
    answer["scored"][0]["id"] = id_of("shown").model_dump(mode="json")
    ledger.record_read("q1", answer, namespace=SPACE)
    remember(ledger, "Zoë moved to Faro.", "late")
    ledger.close()
    return lambda *arguments: CliRunner().invoke(app, ["trace", *arguments, "--ledger", "sqlite:///ledger.db"])


def located(trace: Trace, *keys: str) -> dict[str, tuple[str | None, str]]:
    result = trace("q1", "--json", *(part for key in keys for part in ("--required", key)))
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["located"]
    return {one["id"]["key"]: (one["lost_at"], one["reasons"][0].partition(":")[0]) for one in found}


def test_it_says_where_each_required_memory_was_lost_and_why(trace: Trace) -> None:
    assert located(trace, "shown", "old", "unfound", "held", "gone", "erased", "late", "nowhere") == {
        "shown": (None, "disclosed"),
        "old": ("exposed", "superseded"),
        "unfound": ("retrieved", "not_retrieved"),
        "held": ("stored", "quarantined"),
        "gone": ("stored", "deleted"),
        "erased": ("stored", "erased"),
        "late": ("stored", "not_stored_yet"),
        "nowhere": ("stored", "not_stored"),
    }


def test_a_required_memory_is_named_by_its_key_or_with_its_namespace(trace: Trace) -> None:
    assert located(trace, "acme/user-7/old", "acme/user-7/nowhere") == {
        "old": ("exposed", "superseded"),
        "nowhere": ("stored", "not_stored"),
    }


def test_json_has_the_four_stations_and_what_went_round_the_gate(trace: Trace) -> None:
    shown: dict[str, Any] = json.loads(trace("q1", "--json").stdout)
    keys = {name: [one.get("id", one)["key"] for one in shown[name]] for name in ("stored", "retrieved", "exposed")}
    assert keys == {
        "stored": ["shown", "outside", "old"],
        "retrieved": ["shown", "outside", "old"],
        "exposed": ["shown", "outside"],
    }
    assert [one["key"] for one in shown["disclosed"]] == ["shown"]
    assert [one["key"] for one in shown["outside"]] == ["outside"]
    assert shown["exclusions"] == {"superseded": 1}
    assert shown["retrieved"][2]["admissibility"]["lifecycle"]["value"] == 0
    assert (shown["scorer"], [event["event"] for event in shown["events"]]) == ({"name": "exact"}, ["read", "answer"])


def test_neither_table_nor_json_has_a_text(trace: Trace) -> None:
    told = trace("q1", "--required", "held").output + trace("q1", "--json", "--required", "held").output
    assert not [text for text in (*TEXTS.values(), "moon", "Where does") if text in told]


def test_the_table_has_a_line_a_memory(trace: Trace) -> None:
    result = trace("q1", "--required", "old")
    assert result.exit_code == 0
    assert "3 retrieved, 2 exposed, 1 disclosed; kept back for superseded: 1; 1 not known" in result.stdout
    assert "superseded: by key b" in result.stdout


def test_a_question_nobody_traced_is_bad_input(trace: Trace) -> None:
    result = trace("q9")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "no reads for 'q9'" in result.stderr
