"""What others publish, read: lines of text, and JSON checked against a model; faults are named by line and field."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from admission.errors import InputError

FORMATS = "see docs/derivation.md, 'Your data'"


class Foreign(BaseModel):
    """Base of what is read of a data set. Fields it has beyond those that are used are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


M = TypeVar("M", bound=Foreign)


def checked(model: type[M], data: object, *, where: str) -> M:
    """The data as the model. Raises `InputError` that names the first field that is not as the format has it."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "line"
        raise InputError(field, first["msg"], FORMATS, where=where) from error


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, one at a time, without a byte order mark. Raises `InputError`."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError("file", f"cannot read {path}: {error.strerror}", "give a readable file") from error
    with file:
        for number, raw in enumerate(file, start=1):
            try:
                yield raw.decode("utf-8").removeprefix("\ufeff")
            except UnicodeDecodeError as error:
                problem = f"is not UTF-8 (byte {error.start + 1} of the line)"
                raise InputError("line", problem, "save the file as UTF-8", where=f"{path}:{number}") from error


def whole_json(path: Path) -> Any:
    """What a file of one JSON value holds. Raises `InputError`."""
    try:
        return json.loads("".join(text_lines(path)))
    except (ValueError, RecursionError) as error:
        raise InputError("file", f"is not JSON ({error})", FORMATS, where=str(path)) from error


def each_once(ids: Iterable[Hashable], field: str, *, where: str) -> None:
    """Raises `InputError` for the first id that is there twice."""
    seen: set[Hashable] = set()
    for name in ids:
        if name in seen:
            raise InputError(field, f"{name!r} is used twice", "give each its own", where=where)
        seen.add(name)
