"""`admission verify` on both kinds of ledger, with a head kept elsewhere and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from ledger_attacks import TAMPERINGS, fill_and_copy
from ledger_places import Place
from typer.testing import CliRunner, Result

from admission.cli.app import app
from admission.errors import LedgerError
from admission.ledger import open_ledger

Verify = Callable[..., Result]


@pytest.fixture
def verify(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verify:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADMISSION_LEDGER_HEAD", raising=False)
    return lambda *arguments, **how: CliRunner().invoke(app, ["verify", "--ledger", place.url, *arguments], **how)


def test_it_prints_a_head_that_it_takes_back(verify: Verify, place: Place) -> None:
    fill_and_copy(place)
    result = verify()
    assert result.exit_code == 0
    assert result.stdout.startswith("ok: 8 records, head 8:")
    head = result.stdout.split()[-1]
    with closing(place.open()) as ledger:
        assert head == f"8:{ledger.head().hash}"
    Path("head.json").write_text(verify("--json").stdout)
    assert verify("--head", head).exit_code == verify("--head", "head.json").exit_code == 0
    assert verify(env={"ADMISSION_LEDGER_HEAD": head}).exit_code == 0
    place.put_back()
    assert verify().exit_code == 0
    assert verify("--head", head).exit_code == verify("--head", "head.json").exit_code == 1
    assert verify(env={"ADMISSION_LEDGER_HEAD": head}).exit_code == 1


@pytest.mark.parametrize("name", ["content changed", "moved across namespaces", "rolled back"])
def test_it_names_the_first_bad_record_and_the_kind(verify: Verify, place: Place, name: str) -> None:
    tampering = next(one for one in TAMPERINGS if one.name == name)
    head = fill_and_copy(place)
    tampering.commit(place)
    result = verify("--json", "--head", f"{head.seq}:{head.hash}")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["ok"], found["first_bad"], found["kind"]) == (False, tampering.first_bad, tampering.kind)
    assert f"record {tampering.first_bad}: {tampering.kind}: " in result.stderr


def test_a_ledger_that_is_not_there_is_bad_input_and_is_not_begun(verify: Verify, place: Place) -> None:
    result = verify()
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "no ledger at" in result.stderr
    with pytest.raises(LedgerError, match="no ledger at"):
        open_ledger(place.url, must_exist=True)


@pytest.mark.parametrize("head", ["8", "8:abc", "no-such-file"])
def test_a_head_that_is_none_is_bad_input(verify: Verify, place: Place, head: str) -> None:
    place.open().close()
    result = verify("--head", head)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "SEQ:HASH" in result.stderr


def test_a_head_that_is_cut_short_is_told_from_a_file_that_is_missing(verify: Verify, place: Place) -> None:
    fill_and_copy(place)
    short, missing = verify("--head", "3:abc"), verify("--head", "no-such-file")
    assert (short.exit_code, missing.exit_code) == (2, 2)
    assert "64 hexadecimal digits" in str(short.exception) + short.output
    assert "cannot be read" in str(missing.exception) + missing.output
