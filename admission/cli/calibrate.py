"""`admission calibrate`: the strictness that keeps unsupported admission under a bound, from labelled writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from admission.cli.options import AsJson, Config
from admission.cli.output import check_output, console, print_json, print_line
from admission.reports.safe import one_line

if TYPE_CHECKING:
    from admission.cli.calibrate_run import CalibrationRun
    from admission.evaluation.calibration import Calibration

REFUSED = 1
INTERRUPTED = 130
# The first line of a snippet: a file that does not begin with it is not ours to replace.
HEADER = "# Written by `admission calibrate`."


def calibrate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Conversation file (JSONL), references on its writes.")],
    max_unsupported: Annotated[
        float, typer.Option(metavar="A", help="The largest rate of admitting unsupported writes, between 0 and 1.")
    ],
    confidence: Annotated[
        float, typer.Option(metavar="C", help="The probability that the bound is kept, between 0 and 1.")
    ] = 0.9,
    config: Config = None,
    out: Annotated[Path | None, typer.Option(help="Write the setting to this file (TOML). Default: stdout.")] = None,
    decisions: Annotated[
        Path | None, typer.Option(help="Keep decisions in this file (JSONL); a stopped run goes on from it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Choose verification.strictness for a stated bound on unsupported admission, from labelled writes."""
    from admission.cli.calibrate_run import CalibrationRun
    from admission.cli.calibrate_view import calibration_view
    from admission.evaluation.calibration import check_request, too_few
    from admission.settings import load_settings

    check_request(max_unsupported, confidence)
    _check_out(out)
    check_output("--decisions", decisions, makes_folder=True)
    run = CalibrationRun(file, load_settings(config), decisions)
    found = too_few(run.unsupported, max_unsupported, confidence) or _measured(run, max_unsupported, confidence)
    toml = _snippet(found, run, file)
    if as_json:
        print_json(_as_json(found, run, toml))
    else:
        console(stderr=True).print(calibration_view(found, run.unsupported, run.conversations, run.skipped))
    if found.refused:
        typer.echo(f"admission: refused: {found.refused}", err=True)
        raise typer.Exit(REFUSED)
    if out is not None:
        out.write_text(toml, encoding="utf-8")
    elif not as_json:
        print_line(toml.rstrip())


def _measured(run: CalibrationRun, max_unsupported: float, confidence: float) -> Calibration:
    import numpy as np

    from admission.evaluation.calibration import calibrate

    try:
        run.go()
    except KeyboardInterrupt:
        again = "run it again to go on" if run.keeps_decisions else "with --decisions a run can be resumed"
        typer.echo(f"admission: stopped with {run.remaining} writes to go; {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    return calibrate(np.array([d.kept for d in run.decisions]), run.valid, max_unsupported, confidence)


def _check_out(out: Path | None) -> None:
    from admission.errors import InputError

    check_output("--out", out)
    if out is not None and out.exists() and not out.read_text(encoding="utf-8", errors="replace").startswith(HEADER):
        raise InputError("--out", f"{out} is not a file this command wrote", "give another one and merge it by hand")


def _snippet(found: Calibration, run: CalibrationRun, file: Path) -> str:
    """The setting as TOML with what it promises, for which configuration; empty where nothing is promised."""
    if found.strictness is None:
        return ""
    return (
        f"{HEADER}\n"
        f"# {found.guarantee}\n"
        f"# Labelled writes: {len(run.writes)} of {one_line(file.name)}, {run.unsupported} of them unsupported, from "
        f"{run.conversations} conversations.\n"
        f"# It holds for what else was configured then ({run.config_digest[:12]}): calibrate again when that changes.\n"
        f"[verification]\nstrictness = {found.strictness}\n"
    )


def _as_json(found: Calibration, run: CalibrationRun, toml: str) -> dict[str, Any]:
    from admission.evaluation.calibration import ASSUMPTION

    return {
        **found.model_dump(mode="json", exclude={"points"}),
        "guarantee": found.guarantee,
        "assumption": ASSUMPTION,
        "writes": {
            "valid": len(run.writes) - run.unsupported,
            "unsupported": run.unsupported,
            "conversations_with_unsupported": run.conversations,
            "skipped": dict(sorted(run.skipped.items())),
        },
        "grid": [point.model_dump(mode="json") for point in found.points],
        **(_figures(found, run) if found.points else {"risk_coverage": [], "judges": {}}),
        "config_digest": run.config_digest,
        "toml": toml,
    }


def _figures(found: Calibration, run: CalibrationRun) -> dict[str, Any]:
    """The risk-coverage curve by strictness, and how far each judge's support is a probability."""
    import numpy as np

    from admission.evaluation.reliability import judge_reliability, risk_coverage

    curve = risk_coverage(np.array([d.kept for d in run.decisions]), run.valid)
    return {
        "risk_coverage": [
            {"strictness": point.strictness, **reached.model_dump(mode="json")}
            for point, reached in zip(found.points, curve, strict=True)
        ],
        "judges": {
            judge: reliable.model_dump(mode="json")
            for judge, reliable in judge_reliability([d.supports for d in run.decisions], run.valid).items()
        },
    }
