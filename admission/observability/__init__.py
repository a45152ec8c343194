"""What a deployment can watch: spans, metrics, LangSmith runs, logs. Without memory text, unless it is allowed."""

from admission.observability.decisions import deciding
from admission.observability.logs import JsonFormatter
from admission.observability.telemetry import ledger_call, watch_queue

__all__ = ["JsonFormatter", "deciding", "ledger_call", "watch_queue"]
