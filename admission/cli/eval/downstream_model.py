"""The model that `eval downstream` and `eval drift` ask: the price first, a progress bar, and answers that are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from admission.cli.eval.reading import measuring
from admission.cli.eval.trials import agree
from admission.evaluation.derivation.cost import CHARS_A_TOKEN, Cost
from admission.evaluation.readers import Reader
from admission.eviction.answering.asking import Asked, KeptModel

ANSWERS = "answers.jsonl"


class PricedModel:
    """`reader`, asked each prompt once; answers are kept in the folder `out`, where there is one.

    `rounds`: how many times it will be asked for answers. Before the first request that costs money the user is told
    about what all rounds cost, taking later ones to be as long, and is asked once; `yes` agrees beforehand.
    """

    def __init__(self, reader: Reader, templates: tuple[str, ...], out: Path | None, *, rounds: int, yes: bool) -> None:
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
        self.model = KeptModel(reader, templates, None if out is None else out / ANSWERS, advance=self._tell)
        self._stopped = f"answers in {out} are kept: run it again to go on" if out else "with --out it can be resumed"
        self._rounds = rounds
        self._agreed = yes
        self._tick: Callable[[int], None] = lambda _: None

    def answers(self, prompts: Sequence[str]) -> list[str | None]:
        """One answer a prompt, in order; None where asking failed."""
        asked = [Asked(prompt) for prompt in prompts]
        new = [one for one in dict.fromkeys(asked) if self.model.kept(one) is None]
        if new and self.model.paid and not self._agreed:
            tokens = sum(len(one.prompt) for one in new) // CHARS_A_TOKEN
            agree(Cost(len(new) * self._rounds, tokens * self._rounds), agreed=False)
            self._agreed = True
        self._rounds -= 1
        with measuring(self._stopped) as progress:
            task = progress.add_task("asking", total=len(new))
            self._tick = lambda count: progress.advance(task, count)
            return self.model.answers(asked)

    def _tell(self, count: int) -> None:
        self._tick(count)
