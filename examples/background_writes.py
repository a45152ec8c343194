"""Background mode: the turn goes on while its memories are judged; they are invisible until that is done.

    pip install memory-admission
    python examples/background_writes.py

The same is set for a deployment by `mode = "background"` under `[writes]` in admission.toml.
"""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

from admission.records import Report
from admission.settings import Settings, WriteSettings
from graph_nodes import AdmissionStore, conversation

SAID = "The user takes a pottery class on Tuesdays."
MADE_UP = "The user takes a pottery class with a friend."


def main(store: AdmissionStore | None = None) -> list[Report]:
    if store is None:
        store = AdmissionStore(InMemoryStore(), settings=Settings(writes=WriteSettings(mode="background")))
    talk = [HumanMessage("I started a pottery class. I go every Tuesday.", id="question")]
    with store:  # leaving the block waits for what is still being judged
        with conversation("thread-1", talk):
            for key, memory in (("said", SAID), ("made-up", MADE_UP)):
                store.put(("notes",), key, {"content": memory, "citations": ["question"]})
        print("the turn is over; waiting for a verdict:", [write.intent.key for write in store.pending()])
        store.flush()
        reports = [report for key in ("said", "made-up") if (report := store.report_for(("notes",), key)) is not None]
        for report in reports:
            print(f"{report.action:10} {report.status:12} {report.memory}\n{'':10} {report.reasons[0]}")
        print("stored:", [item.value for item in store.search(("notes",))])
    return reports


if __name__ == "__main__":
    main()
