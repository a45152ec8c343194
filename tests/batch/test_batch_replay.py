"""A gate driven by batch files makes the reports of the direct run, however the answers come back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from scripted_chat import TURNS, Answer, Prompt, Script, ScriptedChat, candidate, honest, memory
from scripted_provider import Line, output_lines, requests_in, write_lines
from scripted_splitting import memory_in, statements

from admission.batch.addressing import BatchFormat, Letter
from admission.batch.answers import Answers
from admission.batch.driver import FileDriver
from admission.batch.provider_lines import RequestRefused
from admission.batch.request_files import RequestFiles
from admission.gate import AdmissionGate
from admission.history import History
from admission.records import Candidate, Report, Turn
from admission.settings import Settings
from admission.verifiers.cascade import CascadeVerifier
from admission.verifiers.chat.building import chat_verifier
from admission.verifiers.protocol import Verifier
from admission.verifiers.scripted import ScriptedVerifier

TELLING = [
    *TURNS,
    Turn(id="t4", role="user", speaker="Ana", text="I sold the piano because of the move.", origin="conversation"),
]
MEMORIES = [
    ("w1", memory(4), ("t1",)),
    ("w2", memory(2), ("t3",)),  # repaired
    ("w3", "Ana owns a yacht.", ("t1",)),
    ("w4", "", ()),
    ("w5", "Ana sold the piano because of the move.", ("t4",)),
    ("w6", "Ana sold the lamp.", ("t1",)),  # `eccentric` has to be asked again
    ("w7", "Ana sold the kettle.", ("t1",)),  # ... and is in vain
    ("w8", "Ana sold the guitar.", ("t1",)),  # declined
    ("w9", "Ana sold the camera.", ("t1",)),  # refused by the server
]
NO_SUCH = RequestRefused("invalid_request_error: that cannot be asked", 400)


def eccentric(prompt: Prompt) -> Answer:
    """Honest but for some words: nonsense once or always, a refusal, an error, and nothing heard of a boat."""
    asked = " ".join(prompt.statements.values())
    if len(prompt.statements) == 1:
        if "guitar" in asked:
            return AIMessage("", additional_kwargs={"refusal": "I would rather not."})
        if "camera" in asked:
            return NO_SUCH
        if "kettle" in asked or ("lamp" in asked and not prompt.repairs):
            return "Certainly! Here are"
    verdicts: list[dict[str, Any]] = honest(prompt)["verdicts"]
    return {"verdicts": [v | {"supported": 0.1} if "boat" in prompt.statements[v["id"]] else v for v in verdicts]}


SCRIPTS: dict[str, Script] = {"plain": honest, "odd": eccentric, "third": honest}


def settings(asking: str = "joint", **more: Any) -> Settings:
    models = {name: {"model": f"scripted:{name}", "asking": asking, "retries": 0, **more} for name in SCRIPTS}
    roles = {"verifier_a": "chat:plain", "verifier_b": "chat:odd", "adjudicator": "chat:third"}
    return Settings(models=models, verification=roles | {"counterfactual": asking == "isolated"})  # type: ignore[arg-type]


def writes() -> list[tuple[Candidate, History]]:
    history = History.of("c", TELLING)
    return [(candidate(text, *cited, id=id), history) for id, text, cited in MEMORIES]


def untimed(reports: Iterator[Report] | list[Report]) -> list[Report]:
    return [report.model_copy(update={"timing_ms": {}}) for report in reports]


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Report]]:
    """The reports of a gate that asks the scripted models itself."""

    def scripted(model: str, **params: Any) -> BaseChatModel:
        name = model.partition(":")[2]
        return ScriptedChat(model=name, script=SCRIPTS[name])

    def reports(settings: Settings, **judges: Callable[[bool], Verifier]) -> list[Report]:
        with monkeypatch.context() as patch:
            patch.setattr("langchain.chat_models.init_chat_model", scripted)
            given: Any = {role: made(False) for role, made in judges.items()}
            return untimed(AdmissionGate(settings, **given).decide_many(writes()))

    return reports


class Batches:
    """Runs of the file-driven gate in one folder, with a provider between them."""

    def __init__(self, folder: Path, settings: Settings, format: BatchFormat | None = None) -> None:
        self.requests, self.answers = folder / "requests", folder / "answers"
        self.settings, self.format = settings, format
        self.answers.mkdir()
        self.sent: list[list[Line]] = []

    def run(self, *, final: bool = False, **judges: Any) -> list[Report]:
        """The reports that are complete; what is open is in the newest of `sent`."""
        files = RequestFiles(self.requests)
        gate = AdmissionGate(self.settings, by_file=True, **judges)
        driver = FileDriver(gate, Answers.read(self.answers, final=final), files.add, format=self.format)
        reports = untimed(driver.decide_many(writes(), batch=4))
        self.sent.append(requests_in(*files.finish().files))
        return reports

    def to_the_end(
        self, coming_back: Callable[[list[Line]], list[list[Line]]] = lambda lines: [lines], **judges: Any
    ) -> list[Report]:
        """All reports, once the provider has answered round after round."""
        reports = self.run(**judges)
        while self.sent[-1]:
            for lines in coming_back(output_lines(self.sent[-1], SCRIPTS)):
                self.receive(lines)
            reports = self.run(**judges)
        return reports

    def receive(self, lines: list[Line], name: str = "") -> None:
        write_lines(self.answers / f"{name or len(list(self.answers.iterdir()))}.jsonl", lines)


def in_order(lines: list[Line], dice: random.Random) -> list[list[Line]]:
    return [lines]


def shuffled_over_files(lines: list[Line], dice: random.Random) -> list[list[Line]]:
    mixed = dice.sample(lines, len(lines))
    return [mixed[start::3] for start in range(3) if mixed[start::3]]


def partly_missing(lines: list[Line], dice: random.Random) -> list[list[Line]]:
    return [dice.sample(lines, (len(lines) + 1) // 2)]


@pytest.mark.parametrize("format", ["openai", "anthropic"])
@pytest.mark.parametrize("asking", ["joint", "isolated", "joint_then_isolated"])
@pytest.mark.parametrize("coming_back", [in_order, shuffled_over_files, partly_missing])
def test_reports_by_file_are_those_of_the_direct_run(
    tmp_path: Path,
    direct: Callable[..., list[Report]],
    format: BatchFormat,
    asking: str,
    coming_back: Callable[[list[Line], random.Random], list[list[Line]]],
) -> None:
    dice = random.Random(7)
    batches = Batches(tmp_path, settings(asking), format)
    reports = batches.to_the_end(lambda lines: coming_back(lines, dice))
    expected = direct(batches.settings)
    assert reports == expected
    assert {report.status for report in reports} == {"admitted", "repaired", "unresolved", "invalid"}
    assert len(reports) == len(MEMORIES)


def test_the_first_round_asks_every_judge_that_can_be_asked_and_completes_what_nobody_is_asked(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    reports = batches.run()
    assert [report.status for report in reports] == ["invalid"]
    roles = [line["custom_id"].rpartition("-")[0] for line in batches.sent[0]]
    assert sorted(set(roles)) == ["verifier_a", "verifier_b"]
    assert len(roles) == 2 * (len(MEMORIES) - 1)


def test_the_same_run_twice_writes_the_same_requests_and_no_second_file(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    before = {path.name: path.read_bytes() for path in batches.requests.iterdir()}
    batches.run()
    assert batches.sent[0] == batches.sent[1]
    assert {path.name: path.read_bytes() for path in batches.requests.iterdir()} == before
    assert set(before) == {"round-001.scripted-odd.jsonl", "round-001.scripted-plain.jsonl"}


def test_what_is_missing_stays_open_and_is_asked_again_while_the_rest_goes_on(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    yacht, *others = sorted(batches.sent[0], key=lambda line: "yacht" not in str(line))
    batches.receive(output_lines(others, SCRIPTS))
    ids = {report.id for report in batches.run()}
    assert "w5" in ids
    assert "w3" not in ids
    assert yacht in batches.sent[1]


def test_a_final_run_turns_what_is_missing_into_typed_failures_and_leaves_nothing_open(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive(output_lines([line for line in batches.sent[0] if "yacht" not in str(line)], SCRIPTS))
    reports = {report.id: report for report in batches.run(final=True)}
    assert len(reports) == len(MEMORIES)
    assert batches.sent[-1] == []
    assert reports["w3"].status == "unresolved"
    assert any("missing_answer: the output files hold no answer" in reason for reason in reports["w3"].reasons)


def test_an_answer_that_cannot_be_used_is_repaired_in_the_next_round_and_then_fails(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive(output_lines(batches.sent[0], SCRIPTS))
    batches.run()
    repairs = [line for line in batches.sent[1] if len(line["body"]["messages"]) > 2]
    assert len(repairs) == 2
    assert all(
        line["body"]["messages"][2] == {"role": "assistant", "content": "Certainly! Here are"} for line in repairs
    )
    reports = {report.id: report for report in batches.to_the_end()}
    assert reports["w6"].status == "admitted"
    assert reports["w7"].status == "unresolved"
    assert any("malformed_answer: after a repair round" in reason for reason in reports["w7"].reasons)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "too late"}}, "timeout"),
        ({"response": None, "error": {"code": "batch_cancelled", "message": "stopped"}}, "missing_answer"),
        ({"response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}}, "rate_limited"),
        ({"response": {"status_code": 503, "body": {}}}, "model_error"),
        ({"result": {"type": "expired"}}, "timeout"),
        ({"result": {"type": "canceled"}}, "missing_answer"),
        (
            {"result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error"}}}},
            "model_error",
        ),
    ],
)
def test_what_the_provider_did_not_come_to_stays_open_until_the_final_run(
    tmp_path: Path, line: Line, code: str
) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive([{"custom_id": request["custom_id"], **line} for request in batches.sent[0]])
    assert [report.id for report in batches.run()] == ["w4"]
    assert batches.sent[1] == batches.sent[0]
    reports = batches.run(final=True)
    judgments = [j for report in reports for finding in report.obligations for j in finding.judgments]
    assert code in {judgment.reason.partition(":")[0] for judgment in judgments}
    assert all(any("verifier_failed" in reason for reason in r.reasons) for r in reports if r.id != "w4")
    assert {report.status for report in reports} == {"unresolved", "invalid"}


def test_an_error_that_no_second_try_would_mend_is_a_failure_at_once(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive(output_lines(batches.sent[0], SCRIPTS))
    batches.run()
    assert not {line["custom_id"] for line in batches.sent[0]} & {line["custom_id"] for line in batches.sent[1]}
    report = next(report for report in batches.to_the_end() if report.id == "w9")
    assert report.status == "unresolved"
    assert any("model_error: RequestRefused: invalid_request_error: that cannot" in reason for reason in report.reasons)


def test_an_answer_that_came_later_counts_before_an_earlier_failure(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive(output_lines(batches.sent[0], SCRIPTS), "z")
    refused = {"response": {"status_code": 400, "body": {"error": {"message": "no"}}}}
    batches.receive([{"custom_id": line["custom_id"], **refused} for line in batches.sent[0]], "a")
    assert next(report for report in batches.run() if report.id == "w5").status == "admitted"


def test_of_two_answers_to_one_request_the_same_is_taken_in_any_order(tmp_path: Path) -> None:
    found = []
    for names in (("a", "b"), ("b", "a")):
        folder = tmp_path / names[0]
        folder.mkdir()
        batches = Batches(folder, settings())
        batches.run()
        for name, script in zip(names, (honest, lambda p: {"verdicts": []}), strict=True):
            batches.receive(output_lines(batches.sent[0], dict.fromkeys(SCRIPTS, script)), name)
        batches.run()
        found.append(batches.sent[1])
    assert found[0] == found[1]


def test_bounds_on_a_write_hold_for_files_as_they_do_for_calls(
    tmp_path: Path, direct: Callable[..., list[Report]]
) -> None:
    bounded = settings("isolated", max_calls_per_write=2)
    reports = Batches(tmp_path, bounded).to_the_end()
    assert reports == direct(bounded)
    assert any("budget" in reason for report in reports for reason in report.reasons)


def test_a_judge_that_computes_is_asked_only_for_writes_whose_answers_are_there(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    counting = ScriptedVerifier("counting", lambda question: (1.0, 0.0))
    batches.run(verifier_b=counting)
    assert counting.asked == []
    batches.receive(output_lines(batches.sent[0], SCRIPTS))
    reports = batches.run(verifier_b=counting)
    assert counting.asked
    assert next(report for report in reports if report.id == "w5").status == "admitted"


def test_a_cascade_sends_by_file_what_its_first_stage_leaves_open(
    tmp_path: Path, direct: Callable[..., list[Report]]
) -> None:
    asked = settings()
    asked = asked.model_copy(
        update={"verification": asked.verification.model_copy(update={"verifier_a": "cascade:plain"})}
    )

    def cascade(by_file: bool) -> CascadeVerifier:
        """A first stage that agrees on a car and on nothing else."""
        sure = ScriptedVerifier("sure", lambda q: (1.0, 0.0))
        other = ScriptedVerifier("other", lambda q: (float("car." in q.obligation.text), 0.0))
        then = chat_verifier("chat:plain", asked.models["plain"], by_file=by_file)
        return CascadeVerifier("cascade:plain", [sure, other], then)

    batches = Batches(tmp_path, asked)
    reports = batches.to_the_end(verifier_a=cascade(by_file=True))
    assert reports == direct(asked, verifier_a=cascade)
    first_round = [line for line in batches.sent[0] if line["custom_id"].startswith("verifier_a")]
    assert first_round
    assert not [line for line in first_round if "Ana sold the car." in line["body"]["messages"][1]["content"]]


def test_a_model_that_splits_memories_is_asked_by_file_before_the_judges(
    tmp_path: Path, direct: Callable[..., list[Report]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def splits(prompt: Prompt) -> Answer:
        """Says of a list what the rules say; once nonsense, and of a yacht always."""
        told = memory_in(prompt)
        if "yacht" in told or ("piano" in told and not prompt.repairs):
            return "Gladly! The statements are"
        return statements(*(f"{part.strip()}." for part in told.rstrip(".").split(".")))

    monkeypatch.setitem(SCRIPTS, "splitter", splits)
    asked = settings()
    asked = asked.model_copy(
        update={"verification": asked.verification.model_copy(update={"decomposer": "chat:splitter"})}
    )
    batches = Batches(tmp_path, asked)
    reports = batches.to_the_end()
    assert reports == direct(asked)
    assert {line["custom_id"].partition("-")[0] for line in batches.sent[0]} == {"decomposer"}
    assert all("obligations" in str(line["body"]["response_format"]) for line in batches.sent[0])
    fallen_back = {report.id for report in reports for reason in report.reasons if "decomposition_fallback" in reason}
    assert fallen_back == {"w3"}


def test_a_request_that_cannot_be_written_ends_the_run_instead_of_deciding_a_write() -> None:
    def full(letter: Letter) -> None:
        raise OSError("no space left")

    driver = FileDriver(AdmissionGate(settings(), by_file=True), Answers(), full)
    with pytest.raises(OSError, match="no space left"):
        list(driver.decide_many(writes()))


def test_ids_are_letters_and_digits_that_no_two_requests_of_a_run_share(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings("isolated"))
    reports = batches.to_the_end()
    ids = [line["custom_id"] for lines in batches.sent for line in lines]
    assert len(ids) == len(set(ids)) == sum(report.usage.calls for report in reports)
    assert all(len(id) <= 64 and id.replace("-", "").replace("_", "").isalnum() for id in ids)


def test_an_answer_to_another_wording_of_the_question_is_not_taken(tmp_path: Path) -> None:
    batches = Batches(tmp_path, settings())
    batches.run()
    batches.receive(output_lines(batches.sent[0], SCRIPTS))
    warmer = Batches.__new__(Batches)
    warmer.__dict__ |= batches.__dict__ | {"settings": settings(params={"temperature": 1.0}), "sent": []}
    assert [report.id for report in warmer.run()] == ["w4"]
    assert {line["body"]["temperature"] for line in warmer.sent[0]} == {1.0}


@pytest.mark.parametrize(
    ("package", "model", "params"),
    [
        ("langchain_openai", "openai:gpt-4.1", {"temperature": 0.0, "max_retries": 0}),
        ("langchain_anthropic", "anthropic:claude-sonnet-4-5", {"max_tokens": 900}),
    ],
)
def test_the_configuration_is_that_of_a_run_which_asks_the_providers_model(
    package: str, model: str, params: dict[str, Any]
) -> None:
    pytest.importorskip(package)
    sections: Any = {"one": {"model": model, "params": params | {"api_key": "k"}}}
    judges: Any = {"verifier_a": "chat:one", "verifier_b": "chat:one", "adjudicator": None}
    asked = Settings(models=sections, verification=judges)
    assert AdmissionGate(asked).config_digest == AdmissionGate(asked, by_file=True).config_digest
