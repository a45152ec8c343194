"""Small hand-made intents and reports for ledger tests."""

from __future__ import annotations

from typing import Any

from admission.ledger import WriteIntent, fingerprint_of
from admission.records import Action, Namespace, Report, Status

SPACE: Namespace = ("acme", "user-7")
TEA = {"content": "Ines drinks green tea.", "tags": ["drink", "habit"]}
MARKED = {**TEA, "provenance": "repaired"}


def an_intent(
    value: dict[str, Any] = TEA,
    *,
    key: str = "k1",
    namespace: Namespace = SPACE,
    thread: str | None = "thread-1",
    task: str | None = "task-1",
    occurrence: int = 0,
    options: dict[str, Any] | None = None,
) -> WriteIntent:
    fingerprint = fingerprint_of(thread, task, namespace, value, occurrence, key=key)
    return WriteIntent(
        fingerprint=fingerprint,
        namespace=namespace,
        key=key,
        value=value,
        options=options or {},
        thread=thread,
        task=task,
    )


def a_report(
    id: str = "report-1",
    *,
    status: Status = "admitted",
    action: Action = "persist",
    namespace: Namespace = SPACE,
    memory: str = "Ines drinks green tea.",
    input_digest: str = "input-1",
    config_digest: str = "config-1",
) -> Report:
    return Report(
        id=id,
        conversation="conv-1",
        namespace=namespace,
        memory=memory,
        status=status,
        action=action,
        reasons=(f"{status}: as the test wants it",),
        timing_ms={"total": 1.25},
        config_digest=config_digest,
        input_digest=input_digest,
    )


HELD = a_report("report-held", status="unresolved", action="quarantine")
DROPPED = a_report("report-dropped", status="invalid", action="drop")
