"""Writes kept within what is the principal's: all puts and deletes of a batch are looked at before any is made."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from langgraph.store.base import Op, PutOp

from admission.errors import BoundaryError
from admission.reading.gate import ReadGate
from graph_nodes.principals import writer_at_hand

logger = logging.getLogger(__name__)


def check_writes(ops: Sequence[Op], gate: ReadGate | None) -> None:
    """Raises `BoundaryError` where the run's principal may not put or delete what one of these operations names; never
    while the read gate is off, which is what knows of principals.

    Where the write is made, before the ledger hears of it: so also in background mode, and so that what is recovered
    later, in whatever run, is what was let through.
    """
    writes = [op for op in ops if isinstance(op, PutOp)]
    if gate is None or not writes:
        return
    who = writer_at_hand(gate.settings)
    if who is None:
        return
    for op in writes:
        inside = who.owns(op.namespace)
        found = gate.may_write(op.namespace, who.context, inside=inside)
        if not found.value:
            logger.warning("a %s was refused: %s", "delete" if op.value is None else "put", found.code)
            asked, own = list(op.namespace), list(who.namespace)
            problem = f"{asked} is not {own}, which is where this run's principal may write"
            remedy = "write there, have trusted code do it outside of the run, or let a [[reading.policy]] rule open it"
            if inside:
                problem = f"this run's principal may not write in {asked} ({found.reason})"
            elif op.namespace[: len(own)] == who.namespace:
                remedy = "set [reading] sub_namespaces = true, if what lies beneath a principal's namespace is its own"
            raise BoundaryError("namespace", problem, remedy)
