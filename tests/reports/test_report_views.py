"""Reports for people: the terminal view, the table, the summary and the HTML page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_examples import PASSAGES, finding, report
from rich.console import Console, RenderableType

from admission.evaluation.statistics import proportion
from admission.records import Judgment, Report
from admission.reports.html import page, write_page
from admission.reports.marks import marked_passages, told_by
from admission.reports.summary import summarise
from admission.reports.text import report_view, reports_table, summary_view

HOSTILE = "<script>alert(1)</script> [bold red]x[/] {{ 7*7 }} \x1b[2J \u202eevil"


def shown(view: RenderableType) -> str:
    console = Console(width=160, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(view)
    return captured.get()


class Page(HTMLParser):
    """What a browser would find: tags, ids, links, and the text outside of the style sheet."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self._style = False
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        self._style = False

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.words += f"{data} "


def hostile() -> Report:
    note = Judgment(verifier=HOSTILE, view="expanded", support=0, contradiction=0, label="insufficient", note=HOSTILE)
    passage = PASSAGES[0].model_copy(update={"text": HOSTILE, "speaker": HOSTILE})
    return report(
        "unresolved",
        "quarantine",
        finding("insufficient", text=HOSTILE, judgments=(note,)),
        id=HOSTILE,
        memory=HOSTILE,
        namespace=(HOSTILE,),
        reasons=(f"insufficient: {HOSTILE}",),
        passages=(passage,),
    )


def test_passages_are_marked_with_what_they_were_for(repaired: Report, contradicted: Report) -> None:
    assert [(p.id, marks) for p, marks in marked_passages(repaired)] == [
        ("t1", ("cited",)),
        ("t3", ("supports",)),
        ("t5", ("supports",)),
        ("t7", ()),
    ]
    assert dict((p.id, marks) for p, marks in marked_passages(contradicted))["t3"] == ("contradicts",)


def test_a_passage_says_who_when_and_what_it_is() -> None:
    assert told_by(PASSAGES[0]) == "Ines (user), 2026-03-02 09:00:00"
    assert told_by(PASSAGES[2]) == "tool"
    assert told_by(PASSAGES[2].model_copy(update={"origin": "external", "speaker": "Tool"})) == "tool [external]"
    proposal = PASSAGES[0].model_copy(update={"role": "assistant", "speaker": None, "time": None, "confirmed_by": "t3"})
    assert told_by(proposal) == "assistant; confirmed by t3"


def test_the_table_tells_status_action_and_reason_without_colour(repaired: Report, invalid: Report) -> None:
    text = " ".join(shown(reports_table([repaired, invalid])).split())
    assert "✎ repaired persist w1" in text
    assert "∅ invalid drop w1" in text
    assert "Not kept: the memory is empty." in text


def test_the_terminal_view_shows_the_whole_report(contradicted: Report) -> None:
    text = shown(report_view(contradicted))
    for part in ("✗ contradicted → quarantine", "The boat is called Heron.", "adjudicator", "0.97", "contradicts",
                 "She is called Pelican", "Ines (user), 2026-03-02 09:04:00", "total 12.5 ms", "c" * 64):  # fmt: skip
        assert part in text


def test_a_verifier_that_did_not_judge_shows_no_numbers() -> None:
    failed = Judgment.failed("chat", "expanded", "timeout", "too slow")
    view = shown(report_view(report("unresolved", "quarantine", finding("insufficient", judgments=(failed,)))))
    row = next(line for line in view.splitlines() if line.strip().startswith("chat"))
    assert row.split() == ["chat", "expanded", "-", "-", "failed", "timeout:", "too", "slow"]


def test_the_terminal_shows_data_as_data() -> None:
    text = shown(report_view(hostile()))
    assert "[bold red]x[/]" in text
    assert "\\x1b[2J \\u202eevil" in text
    assert "\x1b" not in text and "\u202e" not in text


def test_the_summary_lists_every_status_and_the_metrics(repaired: Report, invalid: Report) -> None:
    summary = summarise([repaired, invalid])
    assert summary.counts == {"admitted": 0, "repaired": 1, "unresolved": 0, "contradicted": 0, "invalid": 1}
    assert (summary.reports, summary.usage.calls, summary.actions) == (2, 16, {"drop": 1, "persist": 1})
    text = shown(summary_view(summary.model_copy(update={"metrics": {"valid_retention": proportion(8, 10)}})))
    assert re.search(r"valid retention +0\.800 +0\.444 to 0\.975 +10", text)


def test_the_page_loads_nothing_and_runs_nothing(repaired: Report) -> None:
    source = page([repaired], title="Run")
    found = Page(source)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(found.tags)
    assert all(link.startswith("#") for link in found.links)
    assert "url(" not in source and "@import" not in source
    assert "default-src 'none'" in source


def test_the_page_shows_data_as_data() -> None:
    source = page([hostile()], title=HOSTILE)
    found = Page(source)
    assert "script" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in found.words
    assert "\x1b" not in source and "\u202e" not in source


def test_the_page_filters_by_status_and_names_every_memory(repaired: Report, contradicted: Report) -> None:
    found = Page(page([repaired, contradicted], title="Run"))
    assert {f"#only-{s}" for s in ("admitted", "repaired", "unresolved", "contradicted", "invalid")} <= set(found.links)
    assert all(link[1:] in found.ids for link in found.links)
    assert len(found.ids) == len(set(found.ids))
    assert {"m1", "m2"} <= set(found.ids)


def test_the_page_shows_the_whole_report(contradicted: Report) -> None:
    words = " ".join(Page(page([contradicted], title="Run")).words.split())
    for part in ("Held back: t3 says otherwise", "✗ contradicted fact The boat is called Heron.", "adjudicator",
                 "0.97", "She is called Pelican", "✗ contradicts", "❝ cited",
                 "2 more looked at, none of them used"):  # fmt: skip
        assert part in words


def test_metrics_are_on_the_page_when_there_are_any(repaired: Report) -> None:
    words = " ".join(Page(page([repaired], title="Run", metrics={"valid_retention": proportion(8, 10)})).words.split())
    assert "valid retention 0.800 0.444 to 0.975 10" in words


def test_the_same_reports_give_the_same_page(repaired: Report, invalid: Report) -> None:
    assert page([repaired, invalid], title="Run") == page([repaired, invalid], title="Run")


def test_a_page_of_no_memory_says_so(tmp_path: Path) -> None:
    write_page(tmp_path / "out" / "p.html", [], title="Run")
    assert "No memory was judged" in (tmp_path / "out" / "p.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["عربي", "日本語", "naïve — “quotes”", "👩‍👩‍👧"])
def test_other_scripts_stay_what_they_are(text: str) -> None:
    one = report("invalid", "drop", memory=text)
    assert text in Page(page([one], title="Run")).words
    assert text in shown(report_view(one))
