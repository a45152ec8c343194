"""What the fidelity check lets a decomposition say of a memory, and what it catches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission.obligations import split
from admission.obligations.fidelity import objections, strictly_typed, uncheckable
from admission.obligations.fidelity.check import LONGEST
from admission.obligations.splitting import MOST
from admission.records import Candidate, Obligation, ObligationType
from admission.text import word_set


def made(*texts: str, type: ObligationType = "fact") -> list[Obligation]:
    return [Obligation(id=f"x{n}", text=text, type=type) for n, text in enumerate(texts)]


def by_rule(memory: str) -> tuple[Obligation, ...]:
    return split(Candidate(id="w", conversation="c", namespace=(), memory=memory))


def wrong(memory: str, statement: str) -> list[str]:
    """What is wrong with a statement beside the memory itself, so that nothing is left unsaid."""
    return list(objections(memory, made(memory, statement)))


FAITHFUL = {
    "Ana moved to Leeds in March because her sister had a baby.": [
        "Ana moved to Leeds.",
        "Ana moved to Leeds in March.",
        "In March Ana moved to Leeds.",
        "Ana's sister had a baby.",
        "Ana moved to Leeds because her sister had a baby.",
        "Ana moved to Leeds because Ana's sister had a baby.",
    ],
    "The user prefers vegetarian food and is allergic to peanuts.": [
        "The user prefers vegetarian food.",
        "The user is allergic to peanuts.",
    ],
    "Ana plans to move to Leeds and start a bakery.": ["Ana plans to move to Leeds.", "Ana plans to start a bakery."],
    "Ana likes tea but not coffee.": ["Ana likes tea.", "Ana does not like coffee."],
    "Ana doesn't like tea or coffee.": ["Ana doesn't like coffee.", "Ana does not like tea."],
    "Ana is a nurse. She lives in Graz.": ["Ana lives in Graz."],
    "Ana works at Acme and will move if she gets the job.": [
        "Ana works at Acme.",
        "Ana will move if she gets the job.",
        "Ana will move if Ana gets the job.",
    ],
    "The retry limit is 3 locally and 5 in production.": [
        "The retry limit is 3 locally.",
        "The retry limit is 5 in production.",
    ],
    "Ana has a brother, Bo, who lives in York.": ["Ana has a brother.", "Bo lives in York."],
    "Ana sold the flat, bought a boat and moved to Wales.": ["Ana bought a boat.", "Ana moved to Wales."],
    "Ana has three cats.": ["Ana has cats.", "Ana has 3 cats."],
    "Ana has been vegan for ten years.": ["Ana is vegan."],
    "Ana met Bo when she lived in York.": ["Ana met Bo."],
    "Since May, Ana has worked at Acme as a nurse.": [
        "Ana has worked at Acme.",
        "Ana has worked at Acme as a nurse since May.",
    ],
    "Ana's meeting with Bo is on Friday at 10:30.": ["Ana's meeting with Bo is on Friday."],
    "Ana uses Python 3.12 and prefers pytest over unittest.": [
        "Ana uses Python 3.12.",
        "Ana prefers pytest over unittest.",
    ],
    "Ana adopted a cat named Milo in 2021 and a dog named Rex in 2023.": [
        "Ana adopted a cat named Milo in 2021.",
        "Ana adopted a dog named Rex in 2023.",
    ],
    "Ana and Bo moved to Leeds.": ["Ana moved to Leeds.", "Bo moved to Leeds."],
    "Ana celebrated her birthday with a concert featuring Bo.": [
        "Ana celebrated her birthday with a concert.",
        "The concert featured Bo.",
    ],
    "After she moved to Leeds, Ana found a job.": ["Ana found a job after she moved to Leeds."],
    "Ana's deadline moved from Monday to Wednesday.": ["Ana's deadline moved to Wednesday."],
    "Ana speaks French, Welsh and a little Greek.": ["Ana speaks Welsh.", "Ana speaks a little Greek."],
    "Ana hates flying, so she takes trains.": ["Ana takes trains.", "Ana hates flying, so Ana takes trains."],
    "Kofi's mother is a doctor and his father is a teacher.": ["Kofi's father is a teacher."],
    "Leo is a vegetarian who cooks every Sunday for his parents.": ["Leo cooks every Sunday for his parents."],
    "Walt plays chess with Xena on Mondays and tennis with Yann on Fridays.": [
        "Walt plays chess with Xena.",
        "Walt plays tennis with Yann on Fridays.",
    ],
    "Sam borrowed the drill from Priya and promised to return it on Sunday.": [
        "Sam promised to return the drill on Sunday."
    ],
    "Omar works from home on Mondays and Fridays.": ["Omar works from home on Fridays."],
    "Omar's daughter Noor starts school in Bergen next autumn.": [
        "Omar has a daughter.",
        "Noor starts school in Bergen next autumn.",
    ],
    "The meeting was postponed to Tuesday since Otto was ill.": ["Otto was ill."],
}

UNFAITHFUL = {
    "says another's doing": [
        ("Ana lives in Leeds and Bo lives in York.", "Ana lives in York."),
        ("Ana lives in Leeds. Bo lives in York.", "Bo lives in Leeds."),
        ("Ana hit Bo.", "Bo hit Ana."),
        ("Ana bought the boat from Bo.", "Bo bought the boat from Ana."),
        ("Ana told Bo that Cy left.", "Bo told Cy that Ana left."),
        ("Ana's sister lives in York.", "Ana lives in York."),
        ("The boss of Ana's sister lives in York.", "Ana's sister lives in York."),
        ("Ana met Bo. She lives in York.", "Bo lives in York."),
        ("Ana lives with Bo, who sold a boat.", "Ana sold a boat."),
        ("Ana asked Bo to come to York.", "Ana came to York."),
        ("Walt, unlike his brother, plays chess.", "Walt's brother plays chess."),
        ("Bo's dog bit Ana's cat.", "Ana's dog bit Bo's cat."),
        ("Ana is allergic to nuts and Bo to milk.", "Ana is allergic to milk."),
        ("Bo listened. Ana sang.", "Bo and Ana sang."),
        ("Xena had the roof repaired by Zed.", "Xena repaired the roof."),
    ],
    "mixes two things": [
        ("Ana sold the flat and bought a boat.", "Ana sold a boat."),
        ("Ana wants to sell the flat and buy a boat.", "Ana wants to sell a boat."),
        ("Ana moved in May and quit in June.", "Ana quit in May."),
        ("Ana moved from York to Leeds.", "Ana moved to York."),
        ("Ana has two cats and a dog called Rex.", "Ana has a cat called Rex."),
        ("Walt met Xena in York in May and Bo in Leeds in June.", "Walt met Xena in York in June."),
        ("The user used to live in Paris and now lives in Lyon.", "The user now lives in Paris."),
    ],
    "changes or exchanges a number": [
        ("Ana has 3 cats.", "Ana has 4 cats."),
        ("Ana has 3 cats and 5 dogs.", "Ana has 5 cats."),
        ("The retry limit is 3 locally and 5 in production.", "The retry limit is 3 in production."),
        ("Ana paid 50 euros for the lamp and 20 euros for the chair.", "Ana paid 20 euros for the lamp."),
        ("Tess lent Uri 40 euros and Vera 60 euros.", "Tess lent Uri 60 euros."),
        ("Ana has two cats and a dog.", "Ana has two dogs."),
    ],
    "adds a link": [
        ("Ana moved to Leeds and her sister had a baby.", "Ana moved to Leeds because her sister had a baby."),
        ("Ana moved to Leeds. Her sister had a baby.", "Ana moved to Leeds, so her sister had a baby."),
        ("Ana moved to Leeds. Her sister had a baby.", "Ana moved to Leeds as her sister had a baby."),
        ("Ana moved to Leeds. She got a job.", "Ana moved to Leeds for a job."),
    ],
    "turns a link round": [
        ("Ana left because Bo sang.", "Bo sang because Ana left."),
        ("Ana left before Bo sang.", "Before Ana left, Bo sang."),
        ("Vera got a cat after her dog died.", "Vera's dog died after she got a cat."),
        ("Sam earns more than Priya.", "Priya earns more than Sam."),
    ],
    "turns a plan, a wish or a duty into a fact": [
        ("Ana plans to move to Leeds.", "Ana moved to Leeds."),
        ("Ana plans to move to Leeds.", "Ana moves to Leeds."),
        ("Ana has a plan to move to Leeds.", "Ana has moved to Leeds."),
        ("Ana has to move to Leeds.", "Ana has moved to Leeds."),
        ("Ana went to Leeds to see Bo.", "Ana saw Bo."),
        ("Ana considered moving to Wales.", "Ana moved to Wales."),
        ("Ana wishes she had a dog.", "Ana has a dog."),
        ("Ana was supposed to call Bo.", "Ana called Bo."),
        ("Omar's landlord promised to fix the boiler by Friday.", "Omar's landlord fixed the boiler."),
        ("Walt claims to speak Finnish.", "Walt speaks Finnish."),
        ("Ana would like a dog.", "Ana likes a dog."),
        ("Nina wants her brother to quit smoking.", "Nina's brother quit smoking."),
        ("Emil is afraid of losing his job.", "Emil is losing his job."),
    ],
    "drops a denial": [
        ("Ana does not smoke.", "Ana smokes."),
        ("Ana no longer smokes.", "Ana smokes."),
        ("Ana stopped smoking.", "Ana smokes."),
        ("Ana failed to sell the boat.", "Ana sold the boat."),
        ("Ana likes tea but not coffee.", "Ana likes coffee."),
        ("It is not true that Ana sold the boat.", "Ana sold the boat."),
        ("The team decided not to use Redis.", "The team decided to use Redis."),
        ("Ivy neither drinks nor smokes.", "Ivy drinks."),
        ("Jun can cook but cannot bake.", "Jun can bake."),
    ],
    "denies something else, or more": [
        ("Ana does not smoke. Ana drinks.", "Ana does not drink."),
        ("Ana likes tea but not coffee.", "Ana does not like tea."),
        ("Ana never visits York on Fridays.", "Ana never visits York."),
        ("Jun can cook but cannot bake.", "Jun cannot cook."),
        ("Ana no longer lives in Leeds but in York.", "Ana no longer lives in York."),
    ],
    "drops a doubt or a degree": [
        ("Ana may move to Leeds.", "Ana moves to Leeds."),
        ("Ana probably sold the car.", "Ana sold the car."),
        ("Ana sold the car, probably.", "Ana sold the car."),
        ("Ana almost won the race.", "Ana won the race."),
        ("Ana rarely drinks tea.", "Ana drinks tea."),
        ("It is possible that Ana sold the boat.", "Ana sold the boat."),
        ("Zed is less patient than Otto.", "Zed is patient."),
        ("Walt seems to enjoy Finnish.", "Walt enjoys Finnish."),
    ],
    "drops who says or thinks so": [
        ("Bo says that Ana smokes.", "Ana smokes."),
        ("Bo says Ana smokes.", "Ana smokes."),
        ("According to Bo, Ana smokes.", "Ana smokes."),
        ("Ana thinks the flat is cold.", "The flat is cold."),
        ("Ana doubts that Bo lives in York.", "Bo lives in York."),
        ('The user said "I sold the boat".', "The user sold the boat."),
    ],
    "drops a condition or an alternative": [
        ("Ana will move to Leeds if she gets the job.", "Ana will move to Leeds."),
        ("If she gets the job, Ana will move to Leeds.", "Ana will move to Leeds."),
        ("Unless it rains, Leo will cycle to work.", "Leo will cycle to work."),
        ("Ana lives in Leeds until she finds a flat.", "Ana lives in Leeds."),
        ("Ana sings when she is happy.", "Ana sings."),
        ("Without Bo, Ana would have left.", "Ana left."),
        ("Ana wants tea or coffee.", "Ana wants tea."),
        ("Ana left so that Bo could sing.", "Bo could sing."),
        ("Ana drinks tea instead of coffee.", "Ana drinks coffee."),
        ("Ana did not leave because Bo sang.", "Ana did not leave."),
    ],
    "says more than some, or more widely": [
        ("Some of her cats are black.", "Her cats are black."),
        ("Most of the guests liked the soup.", "The guests liked the soup."),
        ("All fruit except figs is fine for Ana.", "All fruit is fine for Ana."),
        ("Ana likes all fruit in season.", "Ana likes all fruit."),
        ("Ana only drinks tea in York.", "Ana only drinks tea."),
        ("Zed is the only vegetarian in the family.", "Zed is the only vegetarian."),
    ],
    "changes the time": [
        ("Ana was ill.", "Ana is ill."),
        ("Ana worked at Acme.", "Ana works at Acme."),
        ("Ana moves to Leeds in May.", "Ana moved to Leeds in May."),
        ("Ana used to smoke.", "Ana smokes."),
        ("Ana moved to Leeds before May.", "Ana moved to Leeds in May."),
    ],
    "brings in a word": [
        ("Ana moved to Leeds.", "Ana moved to Leeds to be near her sister."),
        ("Ana moved to Leeds.", "Ana moved to rainy Leeds."),
        ("Ana moved to Leeds.", "Ana Silva moved to Leeds."),
        ("Ana bought a car for Bo.", "Ana bought a car from Bo."),
    ],
    "cannot be judged by itself": [
        ("Ana moved to Leeds. She got a job.", "She got a job."),
        ("Ana sold the car. Bo bought it.", "Bo bought it."),
        ("Ana moved to Leeds.", "Ana moved to Leeds?"),
        ("Ana moved to Leeds.", "It is so."),
        ("Ana moved to Leeds.", ""),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("memory", "statement"), [(m, s) for m, told in FAITHFUL.items() for s in told])
def test_a_statement_that_says_no_more_than_the_memory_is_let_through(memory: str, statement: str) -> None:
    assert wrong(memory, statement) == []


@pytest.mark.parametrize(
    ("memory", "statement"),
    [pytest.param(m, s, id=f"{kind}: {s}") for kind, pairs in UNFAITHFUL.items() for m, s in pairs],
)
def test_a_statement_is_caught_that(memory: str, statement: str) -> None:
    assert len(wrong(memory, statement)) == 1


@pytest.mark.parametrize(
    ("memory", "told", "lost"),
    [
        ("Noa sold her flat and bought a boat.", ["Noa sold her flat."], "Noa bought a boat."),
        ("Noa left because Per sang.", ["Noa left.", "Per sang."], "Noa left because Per sang."),
        ("Noa moved to Graz on 3 May 2024.", ["Noa moved to Graz."], "Noa moved to Graz on 3 May 2024."),
        ("Noa may move.", [], "there is no statement"),
    ],
)
def test_what_no_statement_says_is_named(memory: str, told: list[str], lost: str) -> None:
    (objection,) = objections(memory, made(*told))
    assert lost in objection


def test_an_objection_names_the_statement_and_the_word() -> None:
    memory = "Ana plans to move to Leeds."
    assert wrong(memory, "Ana plans to move to York.") == [
        '"Ana plans to move to York." says "York", which the memory does not'
    ]
    assert wrong(memory, "Ana will move to Leeds.") == [
        '"Ana will move to Leeds." says "will", which the memory does not'
    ]
    assert wrong(memory, "Ana moves to Leeds.") == ['"Ana moves to Leeds." says "Ana" without "plan"']


def test_several_objections_come_together() -> None:
    assert len(objections("Ana sold the boat and the lamp.", made("Bo sold the boat.", "Ana sold it."))) == 3


def test_more_statements_than_are_judged_one_by_one_are_refused() -> None:
    assert objections("Ana sings.", made(*(f"Ana sings {n}." for n in range(MOST + 1)))) == (
        f"there are {MOST + 1} statements, at most {MOST} are taken",
    )


@pytest.mark.parametrize(
    ("text", "given", "taken"),
    [
        ("Ana left because Bo sang.", "fact", "relation"),
        ("Ana never sings.", "fact", "qualification"),
        ("Ana sings.", "relation", "relation"),
        ("Ana sings.", "fact", "fact"),
        ("Ana left because Bo sang.", "qualification", "relation"),
    ],
)
def test_a_type_may_be_stricter_than_the_words_but_never_less(
    text: str, given: ObligationType, taken: ObligationType
) -> None:
    assert [o.type for o in strictly_typed(made(text, type=given))] == [taken]


@pytest.mark.parametrize(
    ("memory", "code"),
    [
        ("Ana lives in Graz.", ""),
        ("Lucía vive en Madrid con su hermana y trabaja en el puerto.", "language"),
        ("诺亚住在格拉茨。她喜欢茶。", "language"),
        ("Ana sings. " * (MOST + 1), "too_long"),
        (f"Ana sings{' and sings' * (LONGEST // 15)}. " * 8, "too_long"),
        ("Ana sings" + " and sings" * (LONGEST // 10), "too_long"),
    ],
)
def test_what_the_rules_cannot_follow_is_said_beforehand(memory: str, code: str) -> None:
    assert uncheckable(memory).partition(":")[0] == code


WORDS = sorted(
    word_set(
        """
        Ana Bo she her it they plans to move moved not may and or but because if before who that says a the 3 in with
        only all some is has been was , . " ( )
        """
    )
)
TEXT = st.one_of(
    st.text(max_size=120),
    st.text("aA1 .,;:'\"`-\n*#?(){}[]/\\!’“”—。？é的", max_size=120),
    st.lists(
        st.sampled_from(WORDS),
        max_size=25,
    ).map(" ".join),
)


@settings(max_examples=200, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=3))
def test_no_text_breaks_the_check_and_the_same_texts_get_the_same_objections(memory: str, told: list[str]) -> None:
    first = objections(memory, made(*told))
    assert first == objections(memory, made(*told))
    assert first or told


@settings(max_examples=150, deadline=None)
@given(TEXT)
def test_what_the_rules_split_is_faithful_to_what_they_split(memory: str) -> None:
    found = by_rule(memory)
    assert not found or objections(memory, found) == ()
