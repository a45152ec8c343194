"""The real command line with verifiers that answer by matching words: no model. Also run as a program by the tests.

In the environment of the program, `SCRIPTED_PAUSE` is how many seconds each call of a verifier takes.
"""

from __future__ import annotations

import os
import time

from admission.gate import AdmissionGate
from admission.records import Question
from admission.settings import Settings
from admission.text import terms
from admission.verifiers.scripted import ScriptedVerifier


def by_words(question: Question) -> tuple[float, float]:
    """Support where one passage has every word of the obligation; contradiction where it then says "Untrue"."""
    wanted = set(terms(question.obligation.text))
    telling = [passage.text for passage in question.passages if wanted <= set(terms(passage.text))]
    untrue = [text for text in telling if "Untrue" in text]
    return (0.9 if len(telling) > len(untrue) else 0.05, 0.9 if untrue else 0.05)


class PausingVerifier(ScriptedVerifier):
    """A fake that takes its time over each call and says on stderr that it was called."""

    def judge(self, questions):  # type: ignore[no-untyped-def]
        time.sleep(float(os.environ.get("SCRIPTED_PAUSE", "0")))
        return super().judge(questions)


def scripted_gate(settings: Settings, *, by_file: bool = False) -> AdmissionGate:
    """What the commands build instead of a gate with models."""
    judges = {name: PausingVerifier(name, by_words) for name in ("verifier_a", "verifier_b", "adjudicator")}
    return AdmissionGate(settings, **judges)


if __name__ == "__main__":
    from admission.cli import audit_run, main

    audit_run.AdmissionGate = scripted_gate  # type: ignore[assignment,misc]
    main()
