"""Whether judges that should be independent are one and the same model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TypeVar

from admission.verifiers.protocol import Verifier

Role = TypeVar("Role", bound=str)


def same_models(judges: Mapping[Role, Verifier]) -> tuple[str, ...]:
    """A warning (`same_model: detail`) for each two roles whose judges' identities name the same `model`.

    Embedded verifiers name none: they are different models by kind.
    """
    models = {role: judge.identity.get("model") for role, judge in judges.items()}
    return tuple(
        f"same_model: {first} and {second} are both {model}, so their agreement is worth less"
        for (first, model), (second, other) in combinations(models.items(), 2)
        if model is not None and model == other
    )
