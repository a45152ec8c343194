"""The two evidence views of a candidate within the retrieval budget, and the subsets tried as minimal evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from admission.bm25 import top
from admission.history import History
from admission.records import Candidate, Obligation, Passage, View
from admission.text import content_terms, content_words, index_terms, words

MAX_RETRIEVED = 12
MAX_PASSAGES = 16
_FUSION_K = 60
_FUSION_DEPTH = 48
_RECENT = 32
_RECENT_FAVOUR = 1.75
# Hits shown before the neighbours of what is already there; the places left go to further hits.
_FIRST_HITS = 8


def citation_view(
    history: History, candidate: Candidate, limit: int = MAX_PASSAGES
) -> tuple[View, tuple[str, ...], tuple[str, ...]]:
    """The cited passages in conversation order, at most `limit` (never more than 16).

    Beside the view: the citations that name no turn before the write, and those whose turn may not count as evidence
    (recalled memory, instructions, an echo). Over the limit, the passages that match the memory best by BM25 stay.
    """
    cited, invalid, ineligible = _cited(history, candidate)
    kept = _best(history, candidate.memory, cited, min(limit, MAX_PASSAGES))
    return View(name="citation_only", passages=_in_order(history, kept)), invalid, ineligible


def expanded_view(
    history: History,
    candidate: Candidate,
    obligations: Sequence[Obligation] = (),
    *,
    retrieved: int = MAX_RETRIEVED,
    total: int = MAX_PASSAGES,
) -> View:
    """Citations plus at most `retrieved` passages found in the history (never more than 12), at most `total` in all
    (never more than 16), in conversation order.

    The memory and each obligation are BM25 queries, fused by reciprocal rank (Cormack et al. 2009, k = 60). Places are
    filled in this order: what is cited, the turns to be read with it (an answer, or what it answers), the passages
    before and after it; the best hits with their answers, then their neighbours; further hits; the latest passages.
    Every passage counts, however it came in.
    """
    total = max(0, min(total, MAX_PASSAGES))
    retrieved = max(0, min(retrieved, MAX_RETRIEVED))
    cited, _, _ = _cited(history, candidate)
    kept = _cited_for_expansion(history, candidate.memory, cited, total, retrieved)
    chosen = dict.fromkeys(kept)
    budget = min(total, len(kept) + retrieved)
    hits = fused_hits(history, candidate.memory, [obligation.text for obligation in obligations])
    for position in _by_preference(history, kept, hits):
        if len(chosen) >= budget:
            break
        chosen[position] = None
    return View(name="expanded", passages=_in_order(history, chosen))


def later_mentions(view: View, cited: View, statement: str) -> tuple[Passage, ...]:
    """The passages of `view` that come after all of `cited` and share a content word with the statement: where a
    conversation would correct what the cited passages say."""
    last = max((passage.position for passage in cited.passages), default=-1)
    wanted = set(content_terms(statement))
    return tuple(
        passage
        for passage in view.passages
        if passage.position > last and not wanted.isdisjoint(content_terms(passage.text))
    )


def with_later_mentions(cited: View, view: View, statements: Sequence[str], limit: int) -> View | None:
    """The cited passages and, of `view`, the later mentions of any of the statements, in conversation order.

    None where nothing is cited or mentioned later, and where they would be more than `limit` passages.
    """
    if not cited.passages:
        return None
    later = {p.id: p for statement in statements for p in later_mentions(view, cited, statement)}
    together = sorted((*cited.passages, *later.values()), key=lambda p: (p.position, p.start))
    return View(name="expanded", passages=tuple(together)) if later and len(together) <= limit else None


def read_together(passages: Iterable[Passage], turn_ids: Sequence[str]) -> tuple[str, ...]:
    """`turn_ids`, then those of `passages` without which they are not understood: an answer's question, and the answer
    without which an assistant's turn counts for nothing."""
    shown = list(passages)
    turns = {passage.turn_id for passage in shown}
    answers = _answers(shown)
    questions = {p.turn_id: p.reply_to for p in shown if p.reply_to in turns}
    beside = (others[turn] for turn in turn_ids for others in (answers, questions) if turn in others)
    return tuple(dict.fromkeys((*turn_ids, *filter(None, beside))))


def fused_hits(history: History, memory: str, obligations: Iterable[str]) -> list[int]:
    """Positions of the passages that the memory or an obligation finds, the best first.

    Reciprocal ranks are summed over the queries; the memory counts twice what its obligations count together. In each
    ranking the latest passages are favoured, for what is stored is mostly what was just said.
    """
    others = [text for text in dict.fromkeys(obligations) if text != memory]
    fused: dict[int, float] = defaultdict(float)
    for query, weight in [(memory, max(1, 2 * len(others))), *((text, 1) for text in others)]:
        scores = history.scores(query_terms(query))
        scores[-_RECENT:] *= _RECENT_FAVOUR
        for rank, (position, _) in enumerate(top(scores, _FUSION_DEPTH), start=1):
            fused[position] += weight / (_FUSION_K + rank)
    return sorted(fused, key=lambda position: (-fused[position], -position))


def query_terms(text: str) -> list[str]:
    """Index terms of a query: those of its content words, or of all words where it has no other."""
    return index_terms(content_words(text) or words(text))


def support_subsets(view: View, turn_ids: Sequence[str], limit: int) -> list[tuple[Passage, ...]]:
    """Sets of passages to try as the minimal evidence, at most `limit`, the most promising first.

    `turn_ids` are the turns a verifier relied on, the strongest first. First each alone, then pairs, then ever longer
    heads of the list. An assistant's turn that a user confirmed or answered never comes without that answer. All of
    a turn's passages in the view go together; each set is in conversation order.
    """
    by_turn: dict[str, list[Passage]] = defaultdict(list)
    for passage in view.passages:
        by_turn[passage.turn_id].append(passage)
    ranked = [turn_id for turn_id in dict.fromkeys(turn_ids) if turn_id in by_turn]
    answers = _answers(view.passages)
    found: dict[frozenset[str], None] = {}
    for picked in _picks(ranked, by_turn):
        if len(found) >= limit:
            break
        found[frozenset(picked).union(answers[turn_id] for turn_id in picked if turn_id in answers)] = None
    return [tuple(passage for passage in view.passages if passage.turn_id in turns) for turns in found]


def _answers(passages: Sequence[Passage]) -> dict[str, str]:
    """Of the assistant's turns that a user among the passages confirmed or answered: the turn that does."""
    replies = {p.reply_to: p.turn_id for p in passages if p.reply_to is not None and p.role == "user"}
    return {p.turn_id: replies[p.turn_id] for p in passages if p.role == "assistant" and p.turn_id in replies}


def _picks(ranked: Sequence[str], by_turn: dict[str, list[Passage]]) -> Iterator[tuple[str, ...]]:
    """Turn sets in the order to try them, before each is closed under question and answer."""
    yield from ((turn_id,) for turn_id in ranked)
    for turn_id in ranked:
        partner = by_turn[turn_id][0].reply_to
        if partner is not None and partner in by_turn:
            yield (turn_id, partner)
    # Pairs by the sum of ranks: the two strongest first.
    pairs = [(i, j) for i in range(len(ranked)) for j in range(i + 1, len(ranked))]
    yield from ((ranked[i], ranked[j]) for i, j in sorted(pairs, key=lambda pair: (sum(pair), pair)))
    yield from (tuple(ranked[:size]) for size in range(3, len(ranked) + 1))


def _cited(history: History, candidate: Candidate) -> tuple[list[int], tuple[str, ...], tuple[str, ...]]:
    """Positions of the cited passages, citations of no turn before the write, citations of what is no evidence."""
    positions: list[int] = []
    invalid: list[str] = []
    ineligible: list[str] = []
    for turn_id in dict.fromkeys(candidate.citations):
        if not history.contains(turn_id):
            invalid.append(turn_id)
            continue
        passages = history.passages_of(turn_id)
        if not passages:
            ineligible.append(turn_id)
        positions.extend(passage.position for passage in passages)
    return positions, tuple(invalid), tuple(ineligible)


def _best(history: History, memory: str, positions: Sequence[int], limit: int) -> list[int]:
    """The `limit` of `positions` that match the memory best; those it does not match come last, in the order given."""
    if len(positions) <= limit:
        return list(positions)
    score = dict(history.search(query_terms(memory), history.passage_count))
    return sorted(positions, key=lambda position: -score.get(position, 0.0))[: max(0, limit)]


def _cited_for_expansion(
    history: History, memory: str, positions: Sequence[int], total: int, retrieved: int
) -> list[int]:
    """Cited passages for the expanded view. Turns cited whole stay, up to `total`; of the windows of long turns only
    the best stay where all would leave retrieval no room, which finds the others where they matter."""
    if len(positions) <= total - retrieved:
        return list(positions)
    windows = [position for position in positions if _is_window(history.passage(position))]
    whole = [position for position in positions if position not in set(windows)]
    kept = _best(history, memory, windows, max(1, total - retrieved - len(whole)))
    return _best(history, memory, [position for position in positions if position in {*whole, *kept}], total)


def _by_preference(history: History, cited: Sequence[int], hits: Sequence[int]) -> Iterator[int]:
    """Positions to fill the expanded view with after what is cited; see `expanded_view`."""
    for position in cited:
        yield from _read_together(history, position)
    for position in cited:
        # What surrounds a window of a long turn is more of that turn, for retrieval to find where it matters.
        if not _is_window(history.passage(position)):
            yield from _neighbours(history, position)
    for position in hits[:_FIRST_HITS]:
        yield position
        yield from _read_together(history, position)
    for position in hits[:_FIRST_HITS]:
        yield from _neighbours(history, position)
    yield from hits[_FIRST_HITS:]
    yield from range(history.passage_count - 1, -1, -1)


def _neighbours(history: History, position: int) -> Iterator[int]:
    yield from (near for near in (position - 1, position + 1) if 0 <= near < history.passage_count)


def _read_together(history: History, position: int) -> Iterator[int]:
    """The end of the turn this passage answers, and the beginning of the turn that answers it."""
    passage = history.passage(position)
    if passage.reply_to is not None:
        yield from (question.position for question in history.passages_of(passage.reply_to)[-1:])
    answer = history.answer_to(passage.turn_id)
    if answer is not None:
        yield from (reply.position for reply in history.passages_of(answer)[:1])


def _in_order(history: History, positions: Iterable[int]) -> tuple[Passage, ...]:
    return tuple(history.passage(position) for position in sorted(positions))


def _is_window(passage: Passage) -> bool:
    return passage.id != passage.turn_id
