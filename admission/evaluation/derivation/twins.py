"""Edited twins: memories changed in one point, with the turns, citations and position of the write they are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from admission.errors import InputError
from admission.evaluation.derivation.cases import Case
from admission.evaluation.loaders.foreign import Foreign, checked, text_lines
from admission.evaluation.reading.dataset import json_lines

_STATUS = {"insufficient": "unresolved", "contradicted": "contradicted"}


class _Twin(Foreign):
    id: str = Field(min_length=1)
    of: str = Field(min_length=1)
    conversation: str | None = None
    memory: str = Field(min_length=1)
    edit: str = Field(min_length=1)
    label: Literal["insufficient", "contradicted"]


def read_twins(path: Path, cases: Sequence[Case]) -> list[Case]:
    """The edited memories of a file as cases, in its order, one JSON object a line.

    `of` is the id of the case that was edited; `conversation` says whose, where several conversations have such an id.
    `edit` is the kind of edit, `label` what the history says of the part that was edited. The reference of a twin has
    `of`, `edit` and the status that follows from the label: `unresolved` for `insufficient`, else `contradicted`.

    Raises `InputError` naming line and field: a twin of no case or of several, an id that is taken.
    """
    named: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        named[case.candidate.id].append(case)
    taken = {case.key for case in cases}
    twins: list[Case] = []
    for where, data in json_lines(path, text_lines(path)):
        row = checked(_Twin, data, where=where)
        twin = _twin(row, _original(row, named, where))
        if twin.key in taken:
            raise InputError("id", f"{row.id!r} is used twice", "give each twin its own id", where=where)
        taken.add(twin.key)
        twins.append(twin)
    if not twins:
        raise InputError("file", "holds no twin", "give one JSON object a line (docs/derivation.md)", where=str(path))
    return twins


def _original(row: _Twin, named: Mapping[str, Sequence[Case]], where: str) -> Case:
    found = [case for case in named.get(row.of, ()) if row.conversation in (None, case.candidate.conversation)]
    if not found:
        whose = "" if row.conversation is None else f" of conversation {row.conversation!r}"
        problem = f"names no write of the conversations given: {row.of!r}{whose}"
        raise InputError("of", problem, "give the file with that write as well", where=where)
    if len(found) > 1:
        problem = f"names writes of {len(found)} conversations: {row.of!r}"
        raise InputError("of", problem, "say which with `conversation`", where=where)
    return found[0]


def _twin(row: _Twin, of: Case) -> Case:
    candidate = of.candidate.model_copy(update={"id": row.id, "memory": row.memory})
    return Case(candidate, of.history, {"of": row.of, "edit": row.edit, "status": _STATUS[row.label]})
