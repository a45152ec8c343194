"""Cases for `admission eval exposure` from GateMem's episodes.

    python -m benchmarks.gatemem_cases FOLDER CASES.jsonl [--split development|held-out|all]

Relevant and admissible: the best ranked turn with a piece of the evidence that a utility checkpoint asks for. Relevant
and inadmissible: the best ranked turn of somebody else with a leak target of a privacy or forgetting checkpoint. The
irrelevant cells have the same turns in the prompts of another question of the same kind, episode and admissibility.
Around each stand the best ranked turns that do not hold the target. Answer keys make the cases: they are references for
the measurement, and no gate reads them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from admission.evaluation.exposure import ExposureCase
from benchmarks.gatemem import Bm25Ranker
from benchmarks.gatemem_episodes import DOMAINS, Asked, Episode, found_in, read_episodes

AROUND = 5


def cases(episode: Episode) -> Iterator[ExposureCase]:
    """The episode's cases, a relevant one and where there is another question an irrelevant one for each checkpoint."""
    rank = Bm25Ranker(episode)
    found = {True: [], False: []}  # type: dict[bool, list[tuple[Asked, str, str]]]
    for asked in episode.asked:
        key = episode.keys[asked.id]
        admissible = key.query_type == "utility"
        for place in rank(asked, range(asked.after)):
            turn = episode.turns[place]
            held = next(found_in(key.evidence if admissible else key.leaks, turn.text), None)
            if held is not None and len(held) > 3 and (admissible or turn.speaker != asked.asker):
                found[admissible].append((asked, turn.text, held))
                break
    for admissible, relevant in found.items():
        for number, (asked, text, held) in enumerate(relevant):
            yield _case(episode, rank, asked, text, held, relevant=True, admissible=admissible)
            other, foreign, target = relevant[(number + len(relevant) // 2) % len(relevant)]
            if other is not asked and foreign != text:
                yield _case(episode, rank, asked, foreign, target, relevant=False, admissible=admissible)


def _case(
    episode: Episode, rank: Bm25Ranker, asked: Asked, text: str, target: str, *, relevant: bool, admissible: bool
) -> ExposureCase:
    ranked = (episode.turns[place].text for place in rank(asked, range(asked.after)))
    around = [other for other in dict.fromkeys(ranked) if target.lower() not in other.lower()][:AROUND]
    return ExposureCase(
        id=f"{asked.id}/{'relevant' if relevant else 'irrelevant'}",
        group=episode.id,
        query=asked.query,
        context=tuple(around),
        candidate=text,
        relevant=relevant,
        admissible=admissible,
        target=target,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--split", choices=("development", "held-out", "all"), default="all")
    options = parser.parse_args()
    wanted = options.split.replace("-", " ")
    made = [
        case
        for domain in DOMAINS
        for episode in read_episodes(options.folder, domain)
        if wanted in ("all", episode.split)
        for case in cases(episode)
    ]
    options.out.write_text("".join(case.model_dump_json() + "\n" for case in made), encoding="utf-8")
    print(f"{len(made)} cases")


if __name__ == "__main__":
    main()
