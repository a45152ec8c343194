"""`admission erase`, and what the other commands show afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from ledger_erasing import OTHER, SECRET, found_in, hold_back, remember
from ledger_places import SqlitePlace
from typer.testing import CliRunner, Result

from admission.cli.app import app

Run = Callable[..., Result]
WHO = ("--by", "Ada", "--why", "asked for it")


@pytest.fixture
def kept(tmp_path: Path) -> SqlitePlace:
    place = SqlitePlace(tmp_path)
    with closing(place.open()) as ledger:
        remember(ledger, SECRET, "k1")
        remember(ledger, OTHER, "k2")
        hold_back(ledger, f"{SECRET} Truly.", "k3")
    return place


@pytest.fixture
def run(kept: SqlitePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADMISSION_LEDGER_HEAD", raising=False)
    return lambda *arguments: CliRunner().invoke(app, [*arguments, "--ledger", kept.url])


def test_it_erases_the_text_and_says_what_is_left_to_do(run: Run, kept: SqlitePlace) -> None:
    result = run("erase", "acme/user-7", "k1", *WHO)
    assert result.exit_code == 0
    assert result.stdout == "erased: 3 records have lost what they said of k1\n"
    assert "delete 'k1' there too" in result.stderr
    assert found_in(kept, SECRET) == []
    again = json.loads(run("erase", "acme/user-7", "k1", *WHO, "--json").stdout)
    assert again == {"namespace": ["acme", "user-7"], "key": "k1", "entries": 0, "keys": ["k1"]}


def test_the_other_commands_show_that_something_was_erased(run: Run, kept: SqlitePlace) -> None:
    run("erase", "acme/user-7", "k1", *WHO)
    assert run("verify").exit_code == 0
    listed = json.loads(run("list", "--json").stdout)["reports"]
    assert [(one["key"], one["memory"]) for one in listed] == [("k1", "[erased]"), ("k2", OTHER), ("k3", "[erased]")]
    assert "[erased]" in run("list").stdout
    shown = run("show", listed[0]["id"])
    assert (shown.exit_code, "erased" in shown.stdout) == (0, True)
    assert run("review").exit_code == 0
    exported = run("export").stdout
    assert (SECRET in exported, OTHER in exported, '"erased"' in exported) == (False, True, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("erase", "", "k1", *WHO), "NAMESPACE: is empty"),
        (("erase", "acme/user-7", "k1", "--by", "Ada", "--why", f"it said {SECRET}"), "quotes what is to be erased"),
        (("erase", "acme/user-7", "k1", "--by", "", "--why", "asked"), "say who erases the memory"),
        (("erase", "acme/user-7", "k1"), "--by"),
    ],
)
def test_bad_input_erases_nothing(run: Run, kept: SqlitePlace, arguments: tuple[str, ...], problem: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert problem in result.stderr
    assert found_in(kept, SECRET) == [SECRET]
