"""Questions to token ids: the rules, the fenced evidence, then one statement and one question answered Yes or No."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import prompts
from admission.errors import SettingsError
from admission.records import Question
from admission.verifiers.chat.requests import evidence_of, fence_of, quoted

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Ids = list[int]

ASKED = ("label_support", "label_contradiction")
"""The two questions put for each obligation, by template."""
YES = ("Yes", " Yes", "yes", " yes")
NO = ("No", " No", "no", " no")

# For templates that know them: answer at once instead of thinking aloud first, and no date but a fixed one, for the
# same question has to make the same prompt tomorrow.
_TEMPLATE = {"enable_thinking": False, "date_string": "26 Jul 2024"}


class Prompter:
    """Makes prompts for one tokenizer, by its chat template where it has one.

    Raises `SettingsError` where the tokenizer does not tell Yes from No by their first tokens.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer: Any = tokenizer
        self._defuse = defuser(tokenizer)
        self._takes_system = tokenizer.chat_template is not None and self._renders_system()
        self.yes, self.no = answer_tokens(tokenizer)

    def ids(self, question: Question) -> tuple[Ids, ...]:
        """The prompts of a question, one for each of `ASKED`. Those on the same passages begin alike."""
        evidence = self._defuse(evidence_of(question.passages))
        statement = f"({question.obligation.type}) {quoted(self._defuse(question.obligation.text))}"
        return tuple(self._encoded(name, evidence, statement) for name in ASKED)

    def opening(self) -> Ids:
        """What all prompts begin with: the rules."""
        return common_start([self._encoded(name, word, word) for name in ASKED for word in ("", "a", "b")])

    def _encoded(self, name: str, evidence: str, statement: str) -> Ids:
        system = prompts.load("label_system").template
        user = prompts.load(name).substitute(fence=fence_of(evidence), evidence=evidence, statement=statement)
        if self._tokenizer.chat_template is None:
            return list(self._tokenizer(f"{system}\n\n{user}\nAnswer:", verbose=False)["input_ids"])
        text = self._rendered(system, user) if self._takes_system else self._rendered(None, f"{system}\n\n{user}")
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def _rendered(self, system: str | None, user: str) -> str:
        messages = [{"role": "system", "content": system}] if system is not None else []
        messages.append({"role": "user", "content": user})
        return str(
            self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **_TEMPLATE)
        )

    def _renders_system(self) -> bool:
        """Whether the chat template takes a system message: some raise at one."""
        from jinja2 import TemplateError

        try:
            return "system rules" in self._rendered("system rules", "question")
        except TemplateError:
            return False


def defuser(tokenizer: PreTrainedTokenizerBase) -> Callable[[str], str]:
    """What breaks up, in texts of others, whatever the tokenizer would read as a control token: an end of turn that
    somebody wrote must stay words."""
    special = {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special} | set(tokenizer.all_special_tokens)
    if not special:
        return lambda text: text
    pattern = re.compile("|".join(map(re.escape, sorted(special, key=lambda token: (-len(token), token)))))
    return lambda text: pattern.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", text)


def answer_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[Ids, Ids]:
    """The first tokens of the ways to say Yes, and of those to say No; what both begin with tells nothing."""
    encode: Any = tokenizer
    yes, no = ({encode(word, add_special_tokens=False)["input_ids"][0] for word in words} for words in (YES, NO))
    worthless = (yes & no) | {tokenizer.unk_token_id}
    if not yes - worthless or not no - worthless:
        problem = "its tokenizer does not tell Yes from No by their first tokens"
        raise SettingsError("model", problem, "use a model with a vocabulary of English words")
    return sorted(yes - worthless), sorted(no - worthless)


def common_start(sequences: list[Ids]) -> Ids:
    """The longest beginning that all the sequences share."""
    first, last = min(sequences), max(sequences)  # the two that differ earliest
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]
