"""How a page of HTML is made: templates of this package, every text in them escaped and shown as what it is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from admission.reports.safe import printable

if TYPE_CHECKING:
    from jinja2 import Template


@cache
def template(name: str) -> Template:
    """The template with this file name in `templates/`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("admission.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _shown(value: object) -> object:
    """Every text the template prints passes here before it is escaped: what steers rather than shows is spelled out."""
    return printable(value) if type(value) is str else value
