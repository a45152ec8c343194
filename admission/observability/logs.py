"""A log record a decision, with fields rather than prose, and a formatter that writes records as JSON lines."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from admission.observability.fields import Fields

logger = logging.getLogger("admission.decisions")

FIELDS = "admission"


def log_report(fields: Fields) -> None:
    """One record at INFO to the logger `admission.decisions`; the fields are its attribute `admission`, a dict."""
    logger.info("%s %s", fields["status"], fields["id"], extra={FIELDS: fields})


class JsonFormatter(logging.Formatter):
    """A record as one JSON object a line: time (UTC), level, logger, message, and the fields of a decision.

    Give it to a handler of your own. Tracebacks are kept, under `error`.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, FIELDS, {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)
