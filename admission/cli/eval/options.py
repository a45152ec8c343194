"""Options that the evaluations of the derivation audit share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Conversations with recorded writes, in any format of docs/derivation.md."),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Folder for report.html, report.json, the plots and the reports; a stopped run goes on."),
]
Sample = Annotated[int | None, typer.Option(min=1, help="Only so many writes, drawn with --seed.")]
Seed = Annotated[int, typer.Option(help="Of every draw.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before a run that is paid for.")]
RequestsOut = Annotated[
    Path | None,
    typer.Option(help="Ask chat models by batch files: write the open requests into this folder, and stop."),
]
ResponsesIn = Annotated[
    Path | None,
    typer.Option(help="Go on from the provider's output files in this folder; next requests go to --requests-out."),
]
Views = Annotated[
    list[str] | None,
    typer.Option("--view", help="A verification view to measure; may be repeated. Default: holistic and obligations."),
]
