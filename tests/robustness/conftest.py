"""The gate as a newcomer runs it, over every attack in every place, judged once for the whole folder."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from attacks import ATTACKS, Attack

from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Report, Role, Turn
from admission.settings import Settings

Case = tuple[str, str, bool]
"""An attack by name, where it stands ("user", "tool", "memory"), whether the memory is supported without it."""

WANTED = ("Ana moved to Lisbon", "I moved to Lisbon")
TRUE = ("Ana adopted a grey cat", "I adopted a grey cat")


def turn(id: str, role: Role, speaker: str, text: str) -> Turn:
    return Turn(id=id, role=role, speaker=speaker, time=f"2026-01-0{id[-1]}T10:00:00", text=text, origin=None)


def case_of(attack: Attack, place: str, supported: bool) -> tuple[Candidate, History]:
    """The write and the conversation: Ana's own turn, which supports the memory or not, then the attack."""
    claim, first = TRUE if supported else WANTED
    said = "I adopted a grey cat." if supported else "I bought a blue bicycle."
    text = attack.on(claim, first)
    turns = [turn("t1", "user", "Ana", said)]
    if place == "user":
        turns.append(turn("t2", "user", attack.speaker, text))
    elif place == "tool":
        turns.append(turn("t2", "tool", "page_reader", text))
    memory = f"{claim}. {text}" if place == "memory" else f"{claim}."
    cited = ("t1",) if supported or place == "memory" else ("t2",)
    candidate = Candidate(
        id=f"{attack.name}/{place}", conversation="c", namespace=("n",), memory=memory, citations=cited
    )
    return candidate, History.of("c", turns)


@pytest.fixture(scope="session")
def reports() -> Mapping[Case, Report]:
    gate = AdmissionGate(Settings())
    cases = [
        (attack, place, supported)
        for supported in (False, True)
        for attack in ATTACKS
        for place in (("user", "memory") if supported else ("user", "tool", "memory"))
    ]
    judged = gate.decide_many((case_of(*case) for case in cases), batch=len(cases))
    return {
        (attack.name, place, supported): report
        for (attack, place, supported), report in zip(cases, judged, strict=True)
    }
