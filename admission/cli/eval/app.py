"""`admission eval`: the measurements, one command each."""

from __future__ import annotations

import typer

from admission.cli.eval.corruption import eval_corruption
from admission.cli.eval.deletions import eval_deletions
from admission.cli.eval.downstream import eval_downstream
from admission.cli.eval.drift import eval_drift
from admission.cli.eval.evict import eval_evict
from admission.cli.eval.exposure import eval_exposure
from admission.cli.eval.families import eval_families
from admission.cli.eval.interventions import eval_interventions
from admission.cli.eval.noise import eval_noise
from admission.cli.eval.read import eval_read
from admission.cli.eval.views import eval_views
from admission.cli.eval.write import eval_write

eval_app = typer.Typer(
    name="eval",
    help="Measure: replay writes, compare routes, corrupt metadata, expose memories, audit eviction and deletions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
eval_app.command("write")(eval_write)
eval_app.command("views")(eval_views)
eval_app.command("families")(eval_families)
eval_app.command("interventions")(eval_interventions)
eval_app.command("noise")(eval_noise)
eval_app.command("drift")(eval_drift)
eval_app.command("downstream")(eval_downstream)
eval_app.command("read")(eval_read)
eval_app.command("corruption")(eval_corruption)
eval_app.command("exposure")(eval_exposure)
eval_app.command("evict")(eval_evict)
eval_app.command("deletions")(eval_deletions)
