"""The command line's frame: its commands, and how errors become one line on stderr with exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from admission.cli.audit import audit
from admission.cli.calibrate import calibrate
from admission.cli.convert import convert
from admission.cli.demo import demo
from admission.cli.erase import erase
from admission.cli.eval.app import eval_app
from admission.cli.export import export
from admission.cli.list_reports import list_reports
from admission.cli.readjudicate import readjudicate
from admission.cli.review import review
from admission.cli.show import show
from admission.cli.trace import trace
from admission.cli.verify import verify
from admission.errors import AdmissionError
from admission.reports.safe import one_line

BAD_INPUT = 2
# Of click's own classes typer passes on only this one's heirs, and it may have a click of its own.
UsageError: Any = typer.BadParameter.__base__


class OneLineErrors(TyperGroup):
    """Turns errors that a user can mend into one line on stderr and exit status 2; others keep their traceback."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _one_line():
            return super().invoke(ctx)


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of a pipe has gone: the frame below ends quietly
    except AdmissionError as error:
        problem = str(error)
    except OSError as error:
        problem = f"{error.filename or 'file'}: {error.strerror or error}"
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise  # no mistake, and its text is the help
        command = error.ctx.command_path if error.ctx is not None else "admission"
        problem = f"{error.format_message().rstrip('.?')}; `{command} --help` says what it takes"
    else:
        return
    typer.echo(f"admission: {one_line(problem)}", err=True)
    raise typer.Exit(BAD_INPUT)


# Plain help text: rich's takes three times as long to start.
app = typer.Typer(
    name="admission",
    cls=OneLineErrors,
    help="Write-time admission control for the long-term memory of LangGraph agents.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(audit)
app.command()(calibrate)
app.command()(convert)
app.command()(demo)
app.command("list")(list_reports)
app.command()(show)
app.command()(review)
app.command()(readjudicate)
app.command()(verify)
app.command()(trace)
app.command()(erase)
app.command()(export)
app.add_typer(eval_app, name="eval")
