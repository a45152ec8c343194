"""`admission eval drift`: memories extracted and rewritten round by round, with and without the gate between rounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.eval.options import Files, Out, Seed, Yes
from admission.cli.options import AsJson, Config
from admission.evaluation.seed import SEED

if TYPE_CHECKING:
    from admission.cli.eval.trials import TrialsRun
    from admission.evaluation.derivation.drift_rounds import Admit
    from admission.evaluation.derivation.drift_writers import Source, Writer
    from admission.records import Conversation
    from admission.settings import Settings

SCRIPTED = "scripted"
GATE = "the gate between rounds"
ROUNDS = 4


def eval_drift(
    files: Files,
    writer: Annotated[
        str, typer.Option(help="Who writes: scripted (recorded writes that lose times), or chat:NAME, local:NAME.")
    ] = SCRIPTED,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of consolidation after the extraction.")] = ROUNDS,
    out: Out = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many conversations, drawn with --seed.")] = None,
    seed: Seed = SEED,
    yes: Yes = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Extract memories, rewrite them round by round, and measure how times and modalities drift from their turns."""
    from admission.cli.eval.drift_view import drift_page, drift_tables
    from admission.cli.eval.showing import show
    from admission.cli.eval.trials import TrialsRun
    from admission.evaluation.derivation.drift_rounds import drift_figures, run_rounds, sources_of
    from admission.evaluation.reading.plots import check_plots
    from admission.records import digest
    from admission.settings import load_settings

    if out is not None:
        check_plots()
    settings = load_settings(config)
    conversations = _conversations(files, sample, seed)
    sources = sources_of(conversations, passage_chars=settings.evidence.passage_chars)
    chosen = _writer(writer, settings, sources, rounds, seed, out, yes=yes)
    run = TrialsRun({GATE: settings}, out, yes=yes)
    found = run_rounds(chosen, sources, rounds, _admitting(run, sources))
    figures = drift_figures(chosen, sources, found)
    configuration = {
        "data digest": digest(sorted((one.conversation.id, one.history.digest) for one in sources)),
        "writer": chosen.name,
        "writer digest": digest(chosen.identity),
        "seed": str(seed),
        **run.configuration(),
    }
    show(figures, configuration, partial(drift_page, figures), lambda: drift_tables(figures), out, as_json=as_json)


def _conversations(files: Sequence[Path], sample: int | None, seed: int) -> list[Conversation]:
    """The conversations of the files. Raises `InputError` for one that occurs twice."""
    from admission.errors import InputError
    from admission.evaluation.derivation.cases import drawn
    from admission.evaluation.loaders import load_conversations

    found: dict[str, Conversation] = {}
    for file in files:
        for conversation in load_conversations(file):
            if conversation.id in found:
                problem, remedy = f"{conversation.id!r} is there twice", "give each conversation its own id"
                raise InputError("id", problem, remedy, where=str(file))
            found[conversation.id] = conversation
    return drawn(list(found.values()), sample, seed)


def _writer(
    kind: str, settings: Settings, sources: Sequence[Source], rounds: int, seed: int, out: Path | None, *, yes: bool
) -> Writer:
    """Raises `InputError` for a name that is none, `SettingsError` for a section that is missing."""
    from admission.errors import InputError
    from admission.evaluation.derivation.drift_writers import TEMPLATES, ModelWriter, ScriptedWriter

    if kind == SCRIPTED:
        if not any(source.conversation.writes for source in sources):
            remedy = "give conversations with `writes`, or a --writer that is a model"
            raise InputError("FILE", "holds no recorded write, which the scripted writer begins with", remedy)
        return ScriptedWriter(seed)
    import prompts
    from admission.cli.eval.downstream_model import PricedModel
    from admission.evaluation.readers import reader_of

    reader = reader_of(kind, settings, prompts.load("write_system").template)
    # Once to extract, and each round with the gate and without it.
    model = PricedModel(reader, TEMPLATES, out, rounds=1 + 2 * rounds, yes=yes)
    return ModelWriter(kind, reader.identity, model.answers)


def _admitting(run: TrialsRun, sources: Sequence[Source]) -> Admit:
    """What the gate lets into the next round: what it admits, on the citations or repaired."""
    from admission.evaluation.derivation.drift_rounds import candidate_of
    from admission.evaluation.derivation.drift_writers import Remembered
    from admission.evaluation.derivation.trials import Trial

    by_id = {source.conversation.id: source for source in sources}

    def admit(memories: Sequence[Remembered]) -> list[bool]:
        trials = [
            Trial(GATE, candidate_of(memory, by_id[memory.conversation]), by_id[memory.conversation].history)
            for memory in memories
        ]
        return [report.status in ("admitted", "repaired") for report in run.reports(trials)]

    return admit
