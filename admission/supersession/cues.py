"""Words that say that something changed, is over or was swapped, and words that say that it did not quite."""

from __future__ import annotations

import re


def _any_of(phrases: str) -> re.Pattern[str]:
    """Any of the expressions listed, parted by semicolons, as whole words."""
    listed = "|".join(" ".join(phrase.split()) for phrase in phrases.split(";"))
    return re.compile(rf"(?<![\w'])(?:{listed})(?![\w'])", re.IGNORECASE)


OVER = _any_of(r"""
    no longer; any ?more; stopped; quit; gave up; given up; giving up; used to; sold; cancell?ed; unsubscribed;
    got rid of; gave away; traded in; left; resigned; laid off; let go; fired; retired; divorced?; broke up; broken up;
    split up; separated
""")
"""Something is over."""

CHANGED = _any_of(r"""
    moved; relocated; transferred; switched; swapped; replaced; changed; renamed; promoted; raised; lowered; doubled;
    halved; increased; reduced; rescheduled; postponed; pushed back; brought forward; extension; instead of;
    rather than; new job; new role; joined; retrained; no longer; any ?more;
    got (?:married|divorced|engaged); hired; quit; left; laid off; from now on; updated?; upgraded; turned
""")
"""Something took another's place."""

NEW_ONE = _any_of(r"(?:my|our|the) new")
"""Another one, which took the place of the first where there can be only one."""

NOW = _any_of("now; nowadays; these days; as of; from now on; since then; meanwhile")
"""It holds at the time of speaking, which is said where it did not before."""

LEFT = _any_of(r"""
    left; leaving; quit; out of; away from; instead of; rather than; sold; gave up;
    (?:moved|relocated|switched|transferred|changed|swapped)\W+(?:\w+\W+){0,3}from;
    (?:resigned|retired|laid off|fired|let go)\W+(?:\w+\W+){0,3}from
""")
"""What comes next is what was left behind."""

DENIED = _any_of(r"no longer; not; \w+n't; used to; never")
"""The verb that comes next does not hold."""

SWAPPED = _any_of(r"""
    switched; changed; swapped; replaced; moved; relocated; converted; instead; rather than; transitioned
""")
"""One thing for another."""

BESIDE = _any_of(r"""
    also; too(?=\s*(?:[,.:!?]|$)); as well; another; second; both; besides; additional(?:ly)?; in addition; on top of;
    part[- ]time; still; other; along with; alongside; extra; on the side; one of; as an option; not only; either; half;
    mostly; sometimes; partly
""")
"""The one beside the other, or not quite the one."""

NOT_QUITE = _any_of(r"""
    still; mostly; sometimes; partly; half; except; apart from; only; almost; nearly; less; rarely; for the most part
""")
"""What is over is not quite over."""

FOR_A_WHILE = _any_of(r"""
    temporar(?:y|ily); for (?:now|the moment|the time being|a while); until; till; while;
    for (?:a|an|one|two|three|four|five|six|a few|a couple of|several|\d+) (?:day|night|week|weekend|month|year|hour)s?;
    for the (?:week|weekend|month|season|summer|winter|spring|autumn|year|term|semester|holidays|trip);
    rent(?:al|ed|ing); borrow(?:ed|ing)?; visiting; staying; on (?:weekends|holiday|vacation|business); trial;
    trying out; during; whenever; when(?= (?:i|we|it)\b); in (?:summer|winter|spring|autumn);
    at (?:night|weekends|home|work|school)
""")
"""It holds for some time or on some occasions only."""

THESE_DAYS_ONLY = _any_of(r"""
    today; tonight; tomorrow;
    this (?:morning|evening|week|weekend|month|summer|winter|spring|autumn|fall|year|semester|term)
""")
"""With how things are, it bounds them; with what happened, it dates that."""

LONG_AGO = _any_of(r"""
    back (?:then|when|in); as a (?:child|kid|student|teen|teenager|boy|girl|young \w+); years ago; decades ago;
    in the past; originally; once; before that; at first; previously; when i was; formerly; in those days;
    in my (?:teens|twenties|thirties|youth); grew up
""")
"""It tells of a time before the one that counts."""

DOUBTED = _any_of(r"""
    i think; i guess; not sure; kidding; joking; imagine; pretend; suppose; hypothetically; in my dream;
    in the (?:story|novel|book|film|movie|game); role-?play; someone; somebody; people say
""")
"""It is not meant, or not for sure."""

YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
