"""A pending write that somebody planted in the ledger's database is not judged by the conversation they made up."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from ledger_places import Place
from scripted_gate import NAMESPACE, NEVER_SAID, SAID, TALK, asked, guarded, stored

from admission.records import Turn, canonical_json, digest
from graph_nodes import conversation

KEY = b"a secret"
MADE_UP = Turn(id="m1", role="user", text=NEVER_SAID, origin="conversation")


def plant(place: Place) -> None:
    value = {"content": NEVER_SAID}
    place.attack(
        "INSERT INTO writes"
        " (fingerprint, namespace, key, value, value_digest, options, conversation, pending_after)"
        " VALUES ('planted', :namespace, 'k9', :value, :digest, '{\"store\": \"store\"}', :turns, 0)",
        namespace=canonical_json(NAMESPACE),
        value=json.dumps(value),
        digest=digest(value),
        turns=json.dumps([MADE_UP.model_dump(mode="json")]),
    )


@pytest.mark.parametrize("mode", ["blocking", "background"])
def test_a_planted_write_is_refused_and_named_and_the_others_go_on(place: Place, mode: str) -> None:
    place.open(KEY).close()
    plant(place)
    with (
        closing(place.open(KEY)) as ledger,
        guarded(ledger=ledger, writes={"mode": mode}) as store,
    ):
        recovery = store.recover()
        assert [name for name, problem in recovery.refused if problem.startswith("forged:")] == ["planted"]
        assert asked(store) == [] and list(ledger.reports()) == []
        with conversation("t", TALK):
            store.put(NAMESPACE, "k", {"content": SAID})
        assert store.flush()
        assert stored(store) == {"k": {"content": SAID}}
        assert store.pending() == []
        found = ledger.verify()
        assert found.kind == "forged" and "planted" in found.problem
