"""`admission verify`: recompute a ledger's chain; exit status 1 and the first bad record where it is broken."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import print_json
from admission.reports.safe import one_line

if TYPE_CHECKING:
    from admission.ledger import LedgerHead

BROKEN = 1
_HEAD = re.compile(r"(\d+):([0-9a-f]{64})")


def verify(
    head: Annotated[
        str | None,
        typer.Option(
            envvar="ADMISSION_LEDGER_HEAD",
            help="A head kept elsewhere: SEQ:HASH as `verify` prints it, or a file of what `verify --json` printed.",
        ),
    ] = None,
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check that no record of the ledger was changed, removed or moved."""
    kept = None if head is None else _kept_head(head)
    with existing_ledger(ledger, config) as opened:
        found = opened.verify(kept)
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif found.ok:
        typer.echo(f"ok: {found.entries} records, head {found.head.seq}:{found.head.hash}")
    if not found.ok:
        where = "" if found.first_bad is None else f"record {found.first_bad}: "
        typer.echo(f"admission: {where}{one_line(found.problem)}", err=True)
        raise typer.Exit(BROKEN)


def _kept_head(named: str) -> LedgerHead:
    """The head in `SEQ:HASH`, or in a file: `{"seq": ..., "hash": ...}`, alone or as the `head` of a verification."""
    import json

    from admission.errors import InputError
    from admission.ledger import LedgerHead

    written = _HEAD.fullmatch(named.strip())
    if written is not None:
        return LedgerHead(seq=int(written[1]), hash=written[2])
    remedy = "keep what `admission verify --json` prints and name that file, or give SEQ:HASH"
    try:
        data = json.loads(Path(named).read_text(encoding="utf-8"))
        return LedgerHead.model_validate(data.get("head", data))
    except OSError as error:
        if re.match(r"\d+:", named):
            raise InputError("--head", "the hash after the colon is not 64 hexadecimal digits", remedy) from error
        raise InputError("--head", f"{named} cannot be read ({error.strerror})", remedy) from error
    except (ValueError, AttributeError) as error:
        raise InputError("--head", f"{named} holds no head", remedy) from error
