"""`admission convert`: what a store holds and its threads said, as a conversation file to replay, audit or label."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from admission.cli.options import AsJson, Config

if TYPE_CHECKING:
    from admission.records import Namespace
    from graph_nodes.dumps import Recorded, StoreDump


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="DUMP | STORE CHECKPOINTS", help="A JSON dump, or the SQLite files of store and saver."),
    ],
    out: Annotated[Path, typer.Option(help="Conversation file (JSONL) to write.")],
    thread: Annotated[str | None, typer.Option(help="The thread of memories that name none.")] = None,
    threads: Annotated[
        Path | None, typer.Option(help='JSON object, the thread of each namespace: {"memories/ana": "thread-7"}.')
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Make conversations with recorded writes of a store's memories and the threads that they were written in."""
    from admission.cli.output import check_output, print_json
    from admission.errors import InputError
    from admission.reports.safe import one_line
    from admission.settings import load_settings
    from graph_nodes.dumps import recorded

    check_output("--out", out)
    for given in (*files, *((threads,) if threads is not None else ())):
        if out.exists() and given.exists() and out.samefile(given):
            raise InputError("--out", f"{out} is what is read", "give another file: it would be written over")
    settings = load_settings(config)
    found = recorded(_dump(files), settings.writes, thread=thread, threads=_by_namespace(threads))
    _write(out, found)
    writes = sum(len(conversation.writes) for conversation in found.conversations)
    typer.echo(f"wrote {out}: {writes} writes in {len(found.conversations)} conversations", err=True)
    for left in found.left_out:
        typer.echo(one_line(f"left out {'/'.join(left.namespace)} {left.key}: {left.reason}"), err=True)
    if as_json:
        left_out = [{**left._asdict(), "namespace": list(left.namespace)} for left in found.left_out]
        conversations = len(found.conversations)
        print_json({"out": str(out), "conversations": conversations, "writes": writes, "left_out": left_out})


def _dump(files: list[Path]) -> StoreDump:
    from admission.errors import InputError
    from graph_nodes.dump_files import read_dump, read_sqlite

    if len(files) > 2:
        raise InputError("FILE", f"{len(files)} files are given", "give a JSON dump, or a store and its checkpoints")
    return read_dump(files[0]) if len(files) == 1 else read_sqlite(*files)


def _by_namespace(file: Path | None) -> dict[Namespace, str]:
    from admission.errors import InputError
    from admission.evaluation.loaders.foreign import whole_json

    named = {} if file is None else whole_json(file)
    if not isinstance(named, dict) or not all(isinstance(thread, str) for thread in named.values()):
        raise InputError("--threads", f"{file} does not name a thread for each namespace", 'write {"a/b": "thread-7"}')
    return {tuple(namespace.split("/")): thread for namespace, thread in named.items()}


def _write(out: Path, found: Recorded) -> None:
    """Write the file, replacing what was there only when it is complete."""
    partial = out.with_name(out.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(one.model_dump_json(exclude_none=True) + "\n" for one in found.conversations)
    partial.replace(out)
