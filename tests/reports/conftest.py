"""Reports that several tests look at, one of a kind."""

from __future__ import annotations

import pytest
from report_examples import A, B, C, finding, judgment, report

from admission.records import Citations, Report, Views


@pytest.fixture
def repaired() -> Report:
    citations = Citations(author=("t1",), final=("t3", "t5"))
    return report("repaired", "persist", finding("supported", evidence=("t3", "t5")), citations=citations)


@pytest.fixture
def contradicted() -> Report:
    third = (judgment(A, 0.7, 0.2, "supported"), judgment(B, 0.1, 0.9, "contradicted"))
    disputed = finding(
        "contradicted",
        text="The boat is called Heron.",
        evidence=("t3",),
        resolved_by="adjudication",
        judgments=(*third, judgment(C, 0.05, 0.97, "contradicted")),
    )
    return report("contradicted", "quarantine", disputed, memory="The boat is called Heron.")


@pytest.fixture
def invalid() -> Report:
    return report("invalid", "drop", memory="", passages=(), views=Views(), citations=Citations())
