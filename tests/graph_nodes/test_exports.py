"""What `graph_nodes` offers: everything in `__all__` can be had, and what needs an extra says which."""

from __future__ import annotations

import sys

import pytest

import graph_nodes


@pytest.mark.parametrize("name", [*graph_nodes.__all__, "AdmissionMiddleware"])
def test_everything_that_is_offered_can_be_had(name: str) -> None:
    assert getattr(graph_nodes, name) is not None


@pytest.mark.parametrize(
    ("name", "module", "package", "install"),
    [
        ("AdmissionMiddleware", "graph_nodes.middleware", "langchain", r"pip install 'memory-admission\[agents\]'"),
        ("AdmissionBackend", "graph_nodes.file_memory", "deepagents", "pip install deepagents"),
    ],
)
def test_what_needs_a_package_that_is_missing_says_what_to_install(
    name: str, module: str, package: str, install: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    for loaded in [found for found in sys.modules if found.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=install):
        getattr(graph_nodes, name)


def test_what_is_not_offered_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = graph_nodes.nothing_of_the_kind
