"""The first use of the embedded models may come from several threads at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST_USE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from admission.verifiers import minilm, mpnet

start = Barrier(4)
def load(tokenizer):
    start.wait()
    return tokenizer().is_fast

with ThreadPoolExecutor(4) as threads:
    print(list(threads.map(load, [minilm.tokenizer, mpnet.tokenizer] * 2)))
"""


@pytest.mark.slow
def test_threads_that_load_a_model_at_once_all_get_it() -> None:
    run = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[-2] == "[True, True, True, True]"
