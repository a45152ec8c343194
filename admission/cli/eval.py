"""`admission eval`: the measurements, one command each."""

from __future__ import annotations

import typer

from admission.cli.eval_corruption import eval_corruption
from admission.cli.eval_evict import eval_evict
from admission.cli.eval_exposure import eval_exposure
from admission.cli.eval_read import eval_read

eval_app = typer.Typer(
    name="eval",
    help="Measure: compare retrieval routes, corrupt metadata, expose and withhold memories, audit eviction.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
eval_app.command("read")(eval_read)
eval_app.command("corruption")(eval_corruption)
eval_app.command("exposure")(eval_exposure)
eval_app.command("evict")(eval_evict)
