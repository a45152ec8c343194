"""`admission eval evict` with models: who answers, who marks, what is asked first, and what a stopped run keeps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eviction_chat import FakeChat, FakeJudgingChat, FakeReadingChat
from typer.testing import CliRunner, Result

from admission.cli.app import app
from admission.cli.eval import evict_view as eval_evict_view
from admission.verifiers.chat import building

WORDS = {
    "conv-1": ("tea", "coffee", "running", "chess", "painting", "sailing", "rowing", "baking"),
    "conv-2": ("milk", "cocoa", "skiing", "poker", "drawing", "diving", "surfing", "frying"),
}
FAST = ("--policies", "fifo,random", "--budgets", "50%", "--rankers", "bm25", "--k", "2")
SETTINGS = "".join(
    f'[models.{name}]\nmodel = "openai:{name}"\nmax_concurrency = 1\nretries = 0\n' for name in ("reader", "judge")
)


def sample(name: str) -> dict[str, Any]:
    days = list(enumerate(WORDS[name], 1))
    turns = [{"speaker": "Ana", "dia_id": f"D1:{n}", "text": f"On day {n} I like {word}."} for n, word in days]
    asked = [
        {"question": f"{name}: what on day {n}?", "answer": word, "evidence": [f"D1:{n}"], "category": 4}
        for n, word in days
    ]
    asked.append({"question": f"{name}: what else?", "answer": "golf", "evidence": ["D1:1"], "category": 4})
    return {"sample_id": name, "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns},
            "qa": asked}  # fmt: skip


class Command:
    """The command over two small conversations, with fakes for the models of its settings."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data, self.out, self._settings = folder / "data", folder / "out", folder / "admission.toml"
        self.data.mkdir()
        (self.data / "locomo10.json").write_text(json.dumps([sample("conv-1"), sample("conv-2")]))
        self._settings.write_text(SETTINGS)
        self.models: dict[str, FakeChat] = {"reader": FakeReadingChat(asked=[]), "judge": FakeJudgingChat(asked=[])}
        for plot in ("composition", "shares_by_budget"):  # drawn elsewhere; here they would take most of the time
            monkeypatch.setattr(eval_evict_view, plot, lambda *_: b"")
        monkeypatch.setattr(building, "chat_model", lambda field, *_: self.models[field.removeprefix("models.")])

    def __call__(self, *arguments: object, answer: str = "") -> Result:
        given = ["eval", "evict", self.data, "--out", self.out, "--config", self._settings, *FAST, *arguments]
        return CliRunner().invoke(app, [str(argument) for argument in given], input=answer)

    def figures(self, *arguments: object) -> dict[str, Any]:
        found = self(*arguments, "--json", "--yes")
        assert found.exit_code == 0, found.stderr
        figures: dict[str, Any] = json.loads(found.stdout)
        return figures

    @property
    def asked(self) -> int:
        return sum(len(model.asked) for model in self.models.values())


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path, monkeypatch)


BOTH = ("--reader", "chat:reader", "--judge", "chat:judge")


def test_only_what_the_reader_answers_from_clean_gold_is_counted_and_every_cell_sums(command: Command) -> None:
    figures = command.figures(*BOTH)
    denominator = figures["denominator"]
    assert (denominator["asked"], denominator["not_from_gold"], denominator["counted"]) == (18, 2, 16)
    assert figures["reader"] == "chat:reader, judged by chat:judge"
    assert len(figures["cells"]) == 6
    for cell in figures["cells"]:
        assert sum(cell["figures"]["counts"].values()) == 16
        if cell["cell"]["setting"]["condition"] == "forced":
            assert cell["figures"]["counts"]["recoverable"] == 0
        assert cell["controls"]["agreement"] == {"hits": 16, "n": 16}
        assert cell["controls"]["placebo"]["hits"] == cell["controls"]["harmed"]["hits"] == 0
        lost = cell["memories"]["n"] - cell["memories"]["hits"]  # each memory answers one question
        assert cell["figures"]["counts"]["irreversible"] == lost
        assert cell["controls"]["no_piece"] == {"hits": lost, "n": lost}
        assert cell["controls"]["whole_store"] == {"hits": 0, "n": lost}
    assert {cell["cell"]["policy"] for cell in figures["cells"]} == {"none", "fifo", "random"}


def test_reader_judge_and_their_parameters_stand_in_the_configuration(command: Command) -> None:
    told = command.figures(*BOTH)["configuration"]["reader and judge"]
    assert json.loads(told)["reader"]["model"] == "openai:reader"
    assert "params" in json.loads(told)["judge"]


def test_before_requests_that_cost_money_their_number_is_said_and_no_answer_is_no(command: Command) -> None:
    found = command(*BOTH)
    assert (found.exit_code, found.stdout.strip(), command.asked) == (1, "", 0)
    assert "nothing was asked" in found.stderr
    requests = int(found.stderr.split("about ")[1].split(" requests")[0])
    assert command(*BOTH, answer="y\n").exit_code == 0
    assert 0.8 * command.asked <= requests <= 1.3 * command.asked


def test_nothing_is_paid_twice_and_the_second_run_says_the_same(command: Command) -> None:
    first, asked = command.figures(*BOTH), command.asked
    assert command.figures(*BOTH) == first
    assert command.asked == asked
    assert command(*BOTH).exit_code == 0  # all is known: nothing is asked for


def test_a_run_that_was_stopped_goes_on_from_the_answers_it_has(command: Command, tmp_path: Path) -> None:
    whole, asked = command.figures(*BOTH), command.asked
    for name in ("answers.jsonl", "judgments.jsonl"):
        lines = (command.out / name).read_text().splitlines()
        (command.out / name).write_text("\n".join(lines[:-3]) + '\n{"key": "cut o')
    assert command.figures(*BOTH) == whole
    assert command.asked == asked + 6


def test_the_normalised_judge_needs_no_second_model_and_says_what_it_cannot_see(command: Command) -> None:
    figures = command.figures("--reader", "chat:reader")
    assert figures["denominator"]["counted"] == 16
    assert command.models["judge"].asked == []
    assert "in other words is wrong to it" in figures["limits"][0]


def test_wrong_answers_that_abstain_are_counted_apart_from_other_wrong_ones(command: Command) -> None:
    class FakeCarefulReader(FakeReadingChat):
        def reply(self, prompt: str) -> str:
            day = re.search(r"what (?:else|on (day \d))", prompt)
            said = [line for line in super().reply(prompt).split(".") if day and day[1] and f"{day[1]} " in line]
            return "".join(said) or "I do not know."

    command.models["reader"] = FakeCarefulReader(asked=[])
    figures = command.figures(*BOTH)
    assert (figures["denominator"]["not_from_gold"], figures["denominator"]["abstained_from_gold"]) == (2, 2)
    for cell in figures["cells"]:
        assert cell["figures"]["abstained"] == 16 - cell["figures"]["counts"]["right"]
    assert "Wrong answers that abstain" in (command.out / "report.html").read_text()


def test_what_was_not_answered_or_marked_is_left_out_and_named(command: Command) -> None:
    class FakeMumblingJudge(FakeJudgingChat):
        def reply(self, prompt: str) -> str:
            return "Well." if "day 3?" in prompt else super().reply(prompt)

    class FakeBrokenReader(FakeReadingChat):
        def reply(self, prompt: str) -> str:
            if "day 4?" in prompt:
                raise RuntimeError("out of order")
            return super().reply(prompt)

    command.models = {"reader": FakeBrokenReader(asked=[]), "judge": FakeMumblingJudge(asked=[])}
    figures = command.figures(*BOTH)
    assert (figures["denominator"]["unread"], figures["denominator"]["counted"]) == (4, 12)
    named = {(failed["question"], failed["by"]): failed["problem"] for failed in figures["failures"]}
    assert set(named) == {("conv-1#2", "judge"), ("conv-2#2", "judge"), ("conv-1#3", "reader"), ("conv-2#3", "reader")}
    assert named["conv-1#2", "judge"] == 'no verdict in the asked form: "Well."'
    assert "conv-1#2" in (command.out / "report.html").read_text()
    command.models = {"reader": FakeReadingChat(asked=[]), "judge": FakeJudgingChat(asked=[])}
    again = command.figures(*BOTH)
    assert (again["failures"], again["denominator"]["counted"]) == ([], 16)


def test_a_sample_is_drawn_by_the_seed_and_said_to_be_one(command: Command) -> None:
    first = command.figures(*BOTH, "--sample", 5)
    assert first["denominator"]["asked"] == 5
    assert "A sample: 5 of the 18 questions with evidence, drawn with seed 0." in first["about"]
    other = command.figures(*BOTH, "--sample", 5, "--seed", 3)
    assert other["data_digest"] != first["data_digest"]
    assert command.figures(*BOTH, "--sample", 5) == first
    assert command.figures("--sample", 99)["denominator"]["asked"] == 18


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reader", "oracle"), "no reader is called 'oracle'"),
        (("--reader", "chat:other"), "models.other"),
        (("--reader", "local:other"), "local.other"),
        (("--reader", "chat:reader", "--judge", "local:judge"), "no judge is called 'local:judge'"),
        (("--judge", "chat:judge"), "containment gives no answers to judge"),
    ],
)
def test_a_reader_or_judge_that_there_is_not_is_one_line_that_names_it(
    command: Command, arguments: tuple[str, ...], said: str
) -> None:
    found = command(*arguments)
    assert (found.exit_code, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert said in found.stderr


def test_memories_that_the_importance_model_does_not_score_are_counted_and_what_was_done_is_said(
    command: Command,
) -> None:
    class FakeForgetfulRater(FakeChat):
        def reply(self, prompt: str) -> str:
            return "no number" if "chess" in prompt else "3"

    command.models["judge"] = FakeForgetfulRater(asked=[])
    importance = ("--policies", "importance", "--importance", "chat:judge")
    figures = command.figures(*importance)
    assert figures["unscored"] == 1
    page = (command.out / "report.html").read_text()
    assert "1 memories could not be scored for importance: each was taken for most important (10)" in page
    command.models["judge"] = FakeEvenRater(asked=[])
    assert command.figures(*importance)["unscored"] == 0
    assert len(command.models["judge"].asked) == 1


class FakeEvenRater(FakeChat):
    """Rates everything alike."""

    def reply(self, prompt: str) -> str:
        return "3"
