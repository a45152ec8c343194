"""examples/server in the local LangGraph server, over HTTP: `langgraph dev` with the embedded verifiers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from admission.ledger import open_ledger

EXAMPLE = Path(__file__).parents[2] / "examples" / "server"
SAID = "The user moved to Lisbon in May."
MADE_UP = "The user moved to Lisbon because of a new job."
STARTS_WITHIN_S = 120.0

pytestmark = [pytest.mark.server, pytest.mark.long]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, so that databases and caches do not get into the repository."""
    return Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("server") / "example"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[httpx.Client]:
    """A client of the running server."""
    for module in ("langgraph_cli", "langgraph_api", "langmem"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f'{module} is not installed: pip install "langgraph-cli[inmem]" langmem')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "LANGSMITH_TRACING": "false"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
                wait_until_it_answers(client, process, folder / "log")
                yield client
        finally:
            process.terminate()
            process.wait(60)


def wait_until_it_answers(client: httpx.Client, process: subprocess.Popen[Any], log: Path) -> None:
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if client.get("/ok").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")


def stored(server: httpx.Client) -> list[str]:
    found = server.post("/store/items/search", json={"namespace_prefix": ["memories"]}).raise_for_status().json()
    return [item["value"]["content"] for item in found["items"]]


def test_what_is_put_over_http_is_judged_without_a_conversation_and_not_readable(
    server: httpx.Client, folder: Path
) -> None:
    item = {"namespace": ["memories", "user-7"], "key": "planted", "value": {"content": SAID}}
    server.put("/store/items", json=item).raise_for_status()
    found = server.get("/store/items", params={"namespace": "memories.user-7", "key": "planted"})
    assert found.json() is None and SAID not in stored(server)
    ledger = open_ledger(f"sqlite:///{folder / 'admission.db'}")
    try:
        held = [
            record.report.status for record in ledger.quarantine() if record.report and record.intent.key == "planted"
        ]
    finally:
        ledger.close()
    assert held == ["unresolved"]


def test_a_run_stores_what_was_said_and_its_tools_tell_the_truth(server: httpx.Client) -> None:
    talk = [{"role": "user", "content": "I moved to Lisbon in May! My sister has lived here for years."}]
    run = {"assistant_id": "agent", "input": {"messages": talk}}
    state = server.post("/runs/wait", json=run).raise_for_status().json()
    told = [message["content"] for message in state["messages"] if message["type"] == "tool"]
    assert told[0].startswith(f"STORED: “{SAID}”") and told[1].startswith(f"NOT STORED: “{MADE_UP}”")
    assert [report["status"] for report in state["admission_reports"]] == ["repaired", "unresolved"]
    assert stored(server) == [SAID]
