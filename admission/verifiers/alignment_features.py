"""What the alignment verifier's calibration reads: numbers in [0, 1] from a soft alignment and the explicit checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from admission.verifiers.alignment_links import linked
from admission.verifiers.alignment_structure import ASPECTS, Structure
from admission.verifiers.checks import KINDS, Check
from admission.verifiers.checks.links import link_of
from admission.verifiers.checks.reading import Evidence
from admission.verifiers.checks.speaker import speaker_named, tells_about
from admission.verifiers.soft_match import Alignment

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOW_MATCH = 0.55
"""Below this a word counts as not said."""
_MOST_TURNS = 3
_WORTH_ADDING = 0.06

ALIGNED_CONFLICTS = ("numbers", "dates", "clock", "negation", "modality", "names", "quantifier", "frequency", "degree")
FEATURES = (
    "sentence", "turn", "turns", "window", "everywhere", "exact_turn", "exact_everywhere", "weakest", "second_weakest",
    "weakest_in_turns", "unmatched", "unmatched_in_turns", "cosine", "second_cosine", "mean_cosine", "sentence_cosine",
    "linked_parts", "own", "own_lead", "named_subject", "length", "spread",
    *(f"{kind}_{state}" for kind in KINDS for state in ("ok", "missing", "conflict")),
    *(f"{kind}_conflict_aligned" for kind in ALIGNED_CONFLICTS),
    "fit", "fit_turn", "fit_lead", "displaced",
    *(f"{aspect}_{what}" for aspect in ASPECTS for what in ("lost", "lost_in_turn", "lead")),
    "reason_strong", "reason_loose", "reason_lacks", "reason_reversed", "reason_elsewhere",
    "course_strong", "course_loose", "course_lacks", "course_reversed", "course_elsewhere",
)  # fmt: skip
"""Names of the features, in the order of the vector."""


def features(
    alignment: Alignment, evidence: Evidence, checks: Sequence[Check], structured: Structure
) -> NDArray[np.float64]:
    """(len(FEATURES),) numbers in [0, 1]. `evidence` is ranked by the alignment's sentence coverage."""
    said = float(alignment.by_sentence().max(initial=0.0))
    sentence = float((alignment.share @ alignment.matches).max(initial=0.0))
    chosen = best_turns(alignment)
    first = alignment.passage_of == chosen[0]
    best = alignment.matches.max(axis=1, initial=0.0)
    within = alignment.by_passage[:, chosen].max(axis=1)
    weights = alignment.share
    cosines = np.sort(alignment.cosines)[::-1]
    own, lead, named = _by_subject(alignment, evidence)
    # A conflict tells most where the same sentence says nearly all of the rest.
    steep = float(np.clip((said - 0.5) / 0.3, 0.0, 1.0))
    values = {
        "sentence": sentence,
        "turn": float(weights @ alignment.by_passage[:, chosen[0]]),
        "turns": float(weights @ within),
        "window": _window(alignment),
        "everywhere": float(weights @ best),
        "exact_turn": float((alignment.exact[:, first].any(axis=1) * weights).sum()),
        "exact_everywhere": float((alignment.exact.any(axis=1) * weights).sum()),
        "weakest": _lowest(best, alignment.weights, 0),
        "second_weakest": _lowest(best, alignment.weights, 1),
        "weakest_in_turns": _lowest(within, alignment.weights, 0),
        "unmatched": float(((best < LOW_MATCH) * weights).sum()),
        "unmatched_in_turns": float(((within < LOW_MATCH) * weights).sum()),
        "cosine": max(0.0, float(cosines[0])),
        "second_cosine": max(0.0, float(cosines[1])) if len(cosines) > 1 else 0.0,
        "mean_cosine": max(0.0, float(cosines.mean())),
        "sentence_cosine": max(0.0, float(alignment.sentence_cosines.max(initial=0.0))),
        "linked_parts": _linked_parts(alignment),
        "own": own,
        "own_lead": lead,
        "named_subject": named,
        "length": min(1.0, len(alignment.content) / 16),
        "spread": (len(chosen) - 1) / (_MOST_TURNS - 1),
    }
    for check in checks:
        values[f"{check.kind}_{check.state}"] = check.strength
        if check.state == "conflict" and check.kind in ALIGNED_CONFLICTS:
            values[f"{check.kind}_conflict_aligned"] = check.strength * steep
    values.update(_structured(structured))
    return np.array([values.get(name, 0.0) for name in FEATURES])


def _structured(found: Structure) -> dict[str, float]:
    """How much of the alignment is left where clauses have to agree, and how the parts of a link stand joined."""
    plain, turns = found.coverage(), found.by_turn()
    values = {"displaced": max(0.0, plain - float(turns.max(initial=0.0)))}
    for aspect in ASPECTS:
        fitted = found.by_turn(aspect)
        lost = turns - fitted
        best = int(np.argmax(turns)) if len(turns) else 0
        values[f"{aspect}_lost"] = max(0.0, plain - found.coverage(aspect))
        values[f"{aspect}_lost_in_turn"] = float(lost[best]) if len(turns) else 0.0
        values[f"{aspect}_lead"] = float(np.clip(0.5 + fitted.max(initial=0.0) - lost.max(initial=0.0), 0.0, 1.0))
    values["fit"], values["fit_turn"] = found.coverage("all"), float(found.by_turn("all").max(initial=0.0))
    values["fit_lead"] = values["fit_turn"] / max(0.05, float(turns.max(initial=0.0)))
    link = linked(found)
    if link.kind:
        group = "reason" if link.kind in ("cause", "purpose") else "course"
        values[f"{group}_strong"], values[f"{group}_loose"] = link.strong, link.loose
        values[f"{group}_lacks"] = 1.0 - link.strong
        values[f"{group}_reversed"], values[f"{group}_elsewhere"] = link.reversed, link.elsewhere
    return values


def best_turns(alignment: Alignment) -> list[int]:
    """Passages that carry the alignment, the strongest first: each further one adds a worthwhile share of coverage."""
    within = alignment.by_passage
    chosen = [int(np.argmax(alignment.share @ within + 0.2 * alignment.cosines))]
    reached = within[:, chosen[0]]
    while len(chosen) < _MOST_TURNS:
        gains = alignment.share @ (np.maximum(within, reached[:, None]) - reached[:, None])
        if gains.max() < _WORTH_ADDING:
            break
        chosen.append(int(np.argmax(gains)))
        reached = np.maximum(reached, within[:, chosen[-1]])
    return chosen


def unmatched_words(alignment: Alignment, chosen: Sequence[int]) -> tuple[str, ...]:
    """The obligation's words that are matched nowhere in the chosen passages, the rarest first."""
    within = alignment.by_passage[:, list(chosen)].max(axis=1)
    low = [i for i in np.argsort(-alignment.weights, kind="stable") if within[i] < LOW_MATCH]
    return tuple(dict.fromkeys(alignment.content[i].text for i in low))


def _window(alignment: Alignment) -> float:
    """The best coverage by a passage with the one before and the one after it."""
    within = np.pad(alignment.by_passage, ((0, 0), (1, 1)))
    return float((alignment.share @ np.maximum.reduce([within[:, :-2], within[:, 1:-1], within[:, 2:]])).max())


def _linked_parts(alignment: Alignment) -> float:
    """For an obligation with a link: how well its worse part is covered by one sentence; 1 without a link."""
    link = link_of(alignment.statement)
    if link is None:
        return 1.0
    return min(max(alignment.part(part, s) for s in alignment.sentences) for part in (link.main, link.other))


def _lowest(matches: NDArray[np.float64], weights: NDArray[np.float64], place: int) -> float:
    """The lowest (0) or second lowest (1) match among the words rare enough to matter."""
    telling = np.sort(matches[weights >= 0.4])
    return float(telling[place]) if len(telling) > place else 1.0


def _by_subject(alignment: Alignment, evidence: Evidence) -> tuple[float, float, float]:
    """Coverage by what can be about the participant named, its lead over the rest's, and whether one is named."""
    subject = speaker_named(alignment.statement, evidence)
    if subject is None:
        return 0.0, 0.5, 0.0
    about = np.array([tells_about(s, subject) for s in alignment.sentences], dtype=bool)
    by = alignment.by_sentence()
    own, others = by[about].max(initial=0.0), by[~about].max(initial=0.0)
    return float(own), float(np.clip(0.5 + own - others, 0.0, 1.0)), 1.0
