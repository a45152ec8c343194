"""What has to be true of a graph that holds a way round the gate, and of one that holds none."""

from __future__ import annotations

from typing import Any

import pytest

from graph_nodes import UnguardedError, find_unguarded_stores, require_guarded


def assert_found_and_refused(graph: Any, where: str, what: str) -> None:
    """There is one way round, at the end of this path; a graph with it is refused at start, or reported."""
    (finding,) = find_unguarded_stores(graph)
    assert finding.where.endswith(where) and what in finding.what and finding.remedy
    with pytest.raises(UnguardedError) as refused:
        require_guarded(graph)
    assert refused.value.findings == (finding,)
    assert require_guarded(graph, strict=False) == [finding]


def assert_no_way_round(graph: Any) -> None:
    assert require_guarded(graph) == []
