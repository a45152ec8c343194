"""`admission erase`: erase a memory's text from a ledger for good."""

from __future__ import annotations

from typing import Annotated

import typer

from admission.cli.options import AsJson, Config, LedgerUrl, existing_ledger
from admission.cli.output import print_json
from admission.reports.safe import one_line

STORE = "the memory store is not touched: delete {keys} there too, or erase with AdmissionStore.erase, which does both"


def erase(
    namespace: Annotated[str, typer.Argument(metavar="NAMESPACE", help="The memory's namespace: a/b.")],
    key: Annotated[str, typer.Argument(metavar="KEY", help="The memory's key in it.")],
    by: Annotated[str, typer.Option(help="Who erases it. Is kept.")],
    why: Annotated[str, typer.Option(help="Why. Is kept, so it must not quote the memory.")],
    ledger: LedgerUrl = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Erase a memory from the ledger: reports, quarantine, versions, and whatever else in its namespace has its text.

    This cannot be undone. The ledger still verifies, and shows that something was erased, by whom and why.
    """
    from admission.errors import InputError

    place = tuple(part for part in namespace.split("/") if part)
    if not place:
        raise InputError("NAMESPACE", "is empty", "write it as a/b")
    with existing_ledger(ledger, config) as opened:
        erased = opened.erase(place, key, by=by, why=why)
    if as_json:
        print_json(erased.model_dump(mode="json"))
    elif erased.entries:
        typer.echo(f"erased: {erased.entries} records have lost what they said of {one_line(key)}")
    else:
        typer.echo(f"nothing to erase: the ledger has no text of {one_line(key)}")
    keys = ", ".join(repr(one) for one in erased.keys)
    typer.echo(f"admission: {one_line(STORE.format(keys=keys))}", err=True)
