"""What may be told of a report: names and numbers; its texts only where the deployment allows them."""

from __future__ import annotations

from admission.records import Report

Fields = dict[str, str | int | float | list[str]]


def report_fields(report: Report, *, log_text: bool) -> Fields:
    """Flat fields of a report. Of its reasons only the codes, for what follows a code quotes the memory."""
    fields: Fields = {
        "id": report.id,
        "conversation": report.conversation,
        "namespace": "/".join(report.namespace),
        "status": report.status,
        "action": report.action,
        "reason_codes": sorted({reason.split(":")[0] for reason in report.reasons}),
        "obligations": len(report.obligations),
        "calls": report.usage.calls,
        "input_tokens": report.usage.input_tokens,
        "output_tokens": report.usage.output_tokens,
        "cache_hits": report.usage.cache_hits,
        "duration_ms": duration_ms(report),
        "config_digest": report.config_digest,
    }
    if log_text:
        fields |= {"memory": report.memory, "reasons": list(report.reasons)}
    return fields


def duration_ms(report: Report) -> float:
    """Milliseconds from the first look at the candidate to its verdict."""
    return report.timing_ms.get("total", 0.0)
