"""A recovery in one process, at the very moment another process claims a write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from ledger_places import Place
from scripted_gate import NAMESPACE, SAID, TALK, guarded, stored, verifications

from admission.ledger import Ledger
from graph_nodes import AdmissionStore, conversation
from graph_nodes.recovery import Recovery


def after_the_first_claim(ledger: Ledger, meanwhile: Callable[[], object]) -> None:
    """Do something as soon as the transaction of a claim is committed: others can see the write from then on."""
    commit = ledger._write  # type: ignore[attr-defined]

    def watched(work: Any, *, appends: bool = True) -> Any:
        result = commit(work, appends=appends)
        if not appends:
            ledger._write = commit  # type: ignore[attr-defined]
            meanwhile()
        return result

    ledger._write = watched  # type: ignore[attr-defined]


def put(store: AdmissionStore) -> None:
    with conversation("t", TALK):
        store.put(NAMESPACE, "k", {"content": SAID})


@pytest.mark.parametrize("mode", ["blocking", "background"])
def test_a_recovery_between_claim_and_verdict_takes_no_write_from_its_writer(shared: Place, mode: str) -> None:
    with closing(shared.open()) as ledger, closing(shared.open()) as elsewhere:
        recoveries: list[Recovery] = []
        other = guarded(ledger=elsewhere)
        after_the_first_claim(ledger, lambda: recoveries.append(other.recover()))
        with guarded(ledger=ledger, writes={"mode": mode}) as store:
            put(store)
            store.flush()
            assert stored(store) == {"k": {"content": SAID}}
            assert recoveries == [Recovery()]
            assert verifications(store) == 1  # no record of an interruption that never was
            assert ledger.incomplete() == [] and ledger.verify().ok


def test_the_claim_of_a_write_that_somebody_holds_does_not_hold_it(shared: Place) -> None:
    with closing(shared.open()) as ledger, closing(shared.open()) as elsewhere:
        store = guarded(ledger=ledger)
        heard: list[bool] = []
        judge = store.gate.decide_many

        def meanwhile(writes: Any) -> Any:
            (record,) = ledger.incomplete()
            heard.append(elsewhere.claim_and_hold(record.intent)[1])
            return judge(writes)

        store.gate.decide_many = meanwhile  # type: ignore[method-assign]
        put(store)
        assert heard == [False] and verifications(store) == 1


def test_a_write_that_fails_after_its_claim_is_held_by_nobody(shared: Place) -> None:
    with closing(shared.open()) as ledger, closing(shared.open()) as elsewhere:

        def fail() -> None:
            raise ConnectionError("gone")

        after_the_first_claim(ledger, fail)
        with pytest.raises(ConnectionError):
            put(guarded(ledger=ledger))
        (record,) = elsewhere.incomplete()
        assert elsewhere.hold(record.intent.fingerprint)
