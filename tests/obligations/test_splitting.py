"""What the rule-based splitter makes of a memory: a table of memories and the obligations they have, f, r or q each."""

from __future__ import annotations

import pytest

from admission.obligations import split
from admission.records import Candidate

TYPES = {"f": "fact", "r": "relation", "q": "qualification"}


def obligations(memory: str) -> list[tuple[str, str]]:
    found = split(Candidate(id="w", conversation="c", namespace=("t",), memory=memory))
    assert [o.id for o in found] == [f"o{n}" for n in range(1, len(found) + 1)]
    return [(o.type, o.text) for o in found]


def check(memory: str, *expected: str) -> None:
    """`expected` are obligations as "f Text.": the type's first letter and the text."""
    assert obligations(memory) == [(TYPES[e[0]], e[2:]) for e in expected]


@pytest.mark.parametrize(
    "memory",
    ["", "   \n", "...", "—", "👍👍", "❤️", "hi there!", "Good morning", "ok, thanks", "Yes.", "Sure, sounds good!",
     "Is Noa at home?", "What is her name? Where does she live?", "你好", "gracias", "notes?", "「はい？」"],
)  # fmt: skip
def test_text_without_a_claim_has_no_obligations(memory: str) -> None:
    check(memory)


ONE = [
    "f Noa likes liquorice.",
    "f Noa likes bread and butter.",
    "f The tram runs between Graz and Bruck.",
    "f Noa, Per and Ivo run a bakery.",
    "f Noa reads and writes Arabic.",
    "f Noa likes walks and talks with friends.",
    "f Noa bought baked and fried fish.",
    "f Noa's favourite film is Sense and Sensibility.",
    "f Deploy with `make build && make push` and tag the release.",
    "f A friend of Noa sings and plays the viola.",
    "f Noa met a man who restores clocks and sells them.",
    "f Noa asked Per to sell the flat and buy a boat.",
    "f Noa believes in God.",
    "f tools/seed.py supports a --dry-run option.",
    "f Noa misses Graz, but she and her sister are busy.",
    "f Noa is afraid that the boat leaks and the engine fails.",
    "r Noa leaves before the boat leaks and the engine fails.",
    "f Noa sold the flat she loved and bought a boat.",
    "q Noa says Per and Ivo left.",
    "q Noa works at two schools.",
    "q The tank holds 900 gallons.",
    "q The pool size is 20 on staging and 80 in the live system.",
    "q Noa swims every morning.",
    "q The shop is open on Sundays.",
    "q Noa probably lives in Graz.",
    "q Noa is slightly worried.",
    "q All of Noa's cats are black.",
    "q Only Noa knows the code.",
    "q Noa is NOT a lawyer.",
    "q Noa isn't a lawyer.",
    "q Noa no longer smokes and has started running.",
    "q Noa did not sell the flat and buy a boat.",
    "q Noa refused to sell the flat and buy a boat.",
    "q Noa rarely drinks and works hard.",
    "q Noa almost sold the flat and bought a boat.",
    "q Nobody in the choir smokes and drinks.",
    "q Neither Noa nor Per smokes.",
    "q Not only did Noa sell the flat, but she also bought a boat.",
    "q Maybe Noa moved to Graz.",
    "q Noa wants to learn Welsh or Breton.",
    "q Noa said that Per sold the flat and moved to Lyon.",
    "q Noa thinks Per sold the flat and bought a boat.",
    "q Noa told Per that the boat leaks.",
    "q According to Per, Noa sold the flat and bought a boat.",
    "q The user mentioned that they are vegan.",
    'q Noa said "I will sell the flat. Then I will go." and left.',
    "r Noa would sell the flat if the roof leaked.",
    "r If the roof leaks, Noa will sell the flat.",
    "r Unless Per objects, Noa walks to work and buys bread.",
    "r Noa wants her lesson moved only if the rehearsal is cancelled.",
    "r Noa is taller than Per.",
    "r Noa is part of a choir.",
    "r Noa did not call before Per arrived.",
    "r Noa does not eat cheese because of her stomach.",
    "r Tomas works as a welder when he is in Gdansk.",
    "r Noa paints only after the children have left.",
    "r The passports came before the tickets.",
    "r Noa loved when her aunt baked pies.",
]


@pytest.mark.parametrize("expected", ONE)
def test_what_cannot_be_taken_apart_safely_is_one_obligation(expected: str) -> None:
    check(expected[2:], expected)


COORDINATED = [
    ("Noa sold her car and bought a bike.", "f Noa sold her car.", "f Noa bought a bike."),
    ("Likes tea and lives in Graz.", "f Likes tea.", "f Lives in Graz."),
    ("noa lives in graz and works at a bank", "f Noa lives in graz.", "f Noa works at a bank."),
    ("The user prefers dark mode and uses vim.", "f The user prefers dark mode.", "f The user uses vim."),
    ("I live in Graz and work at a bank.", "f I live in Graz.", "f I work at a bank."),
    ("Noa is kind and works nights.", "f Noa is kind.", "q Noa works nights."),
    (
        "Noa lives in Graz, works at a bank, and plays chess.",
        "f Noa lives in Graz.",
        "f Noa works at a bank.",
        "f Noa plays chess.",
    ),
    ("Noa finished the book, sold it and moved to Lyon.", "f Noa finished the book.",
     "f Noa finished the book, sold it and moved to Lyon."),
    ("User's name is Noa and she is a nurse.", "f User's name is Noa.", "f User is a nurse."),
    ("Noa likes tea; Per hates it.", "f Noa likes tea.", "f Noa likes tea; Per hates it."),
    ("Noa is vegetarian; Per eats meat.", "f Noa is vegetarian.", "f Per eats meat."),
    ("Noa sold the flat, and her brother bought it.", "f Noa sold the flat.",
     "f Noa sold the flat, and her brother bought it."),
    ("Noa sold the flat, and her brother bought a boat.", "f Noa sold the flat.", "f Noa's brother bought a boat."),
    ("My sister moved to Graz and I visit her every summer.", "f My sister moved to Graz.",
     "q I visit my sister every summer."),
    ("Noa may sell the flat and buy a boat.", "q Noa may sell the flat.", "q Noa may buy a boat."),
    ("Noa plans to sell the flat and buy a boat.", "q Noa plans to sell the flat.", "q Noa plans to buy a boat."),
    ("Noa does not like olives or anchovies.", "q Noa does not like olives.", "q Noa does not like anchovies."),
    ("Noa never eats meat or fish.", "q Noa never eats meat.", "q Noa never eats fish."),
    ("Noa does not smoke or drink.", "q Noa does not smoke.", "q Noa does not drink."),
    ("Noa doesn't own a car and works at home.", "q Noa doesn't own a car.", "f Noa works at home."),
    ("Noa has sold the flat and bought a boat.", "f Noa has sold the flat.", "f Noa has bought a boat."),
    ("Noa is learning Welsh and looking for a teacher.", "f Noa is learning Welsh.", "f Noa is looking for a teacher."),
    ("Noa encouraged Per to rest and gave him soup.", "f Noa encouraged Per to rest.", "f Noa gave Per soup."),
    (
        "Noa sold the flat and then bought a houseboat.",
        "f Noa sold the flat.",
        "f Noa bought a houseboat.",
        "r Noa sold the flat and then bought a houseboat.",
    ),
    ('Noa read "War and Peace" and praised the ending.', 'f Noa read "War and Peace".', "f Noa praised the ending."),
    ("Noa uses C:/tools/bin and edits https://example.org/x?a=1&b=2.", "f Noa uses C:/tools/bin.",
     "f Noa edits https://example.org/x?a=1&b=2."),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "expected"), [(m, e) for m, *e in COORDINATED])
def test_coordinated_clauses_come_apart_with_their_subject(memory: str, expected: list[str]) -> None:
    check(memory, *expected)


RELATED = [
    (
        "Moved to Boston because of a new job.",
        "f Moved to Boston.",
        "r Moved to Boston because of a new job.",
    ),
    ("Noa moved to Boston because of a new job.", "f Noa moved to Boston.",
     "r Noa moved to Boston because of a new job."),
    ("Noa left early because she was ill.", "f Noa left early.", "f Noa was ill.",
     "r Noa left early because she was ill."),
    ("Noa left the class because its lab clashed with her shift.", "f Noa left the class.",
     "r Noa left the class because its lab clashed with her shift."),
    ("Because Noa was ill, she stayed home.", "f Noa was ill.", "f Noa stayed home.",
     "r Because Noa was ill, she stayed home."),
    ("Noa was ill, so she stayed home.", "f Noa was ill.", "f Noa stayed home.", "r Noa was ill, so she stayed home."),
    ("Noa lost her job. Therefore, she sold the flat.", "f Noa lost her job.", "f Noa sold the flat.",
     "r Noa lost her job. Therefore, she sold the flat."),
    ("Noa did not call because she was ill.", "f Noa was ill.", "r Noa did not call because she was ill."),
    ("Noa gave up coffee before she went to Rome.", "f Noa gave up coffee.",
     "r Noa gave up coffee before she went to Rome."),
    ("Noa left the choir two days after the concert.", "f Noa left the choir.",
     "r Noa left the choir two days after the concert."),
    ("Noa called after Per arrived.", "f Per arrived.", "r Noa called after Per arrived."),
    ("Noa called Ivo after Per arrived.", "f Noa called Ivo.", "f Per arrived.", "r Noa called Ivo after Per arrived."),
    ("When Noa was small, she lived in Graz.", "f Noa lived in Graz.", "r When Noa was small, she lived in Graz."),
    ("Noa saved money in order to visit Japan.", "f Noa saved money.", "r Noa saved money in order to visit Japan."),
    ("Noa sold the van so that she could pay the rent.", "f Noa sold the van.",
     "r Noa sold the van so that she could pay the rent."),
    ("Noa flew to Oslo to see friends.", "f Noa flew to Oslo.", "r Noa flew to Oslo to see friends."),
    ("Noa's team uses Postgres instead of MySQL.", "f Noa's team uses Postgres.",
     "r Noa's team uses Postgres instead of MySQL."),
    ("Although Noa is shy, she sings in public.", "f Noa is shy.", "f Noa sings in public.",
     "r Although Noa is shy, she sings in public."),
    ("Noa adopted a dog, which pleased her aunt.", "f Noa adopted a dog.",
     "f Noa adopted a dog, which pleased her aunt."),
    ("Noa thanked Per, promising him a cake.", "f Noa thanked Per.", "f Noa thanked Per, promising him a cake."),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "expected"), [(m, e) for m, *e in RELATED])
def test_a_link_is_one_obligation_beside_what_it_lets_assert(memory: str, expected: list[str]) -> None:
    check(memory, *expected)


DATED = [
    ("Noa started at the aquarium on 17 August 2026.", "f Noa started at the aquarium.",
     "q Noa started at the aquarium on 17 August 2026."),
    ("On 3 May 2024, Noa moved to Graz.", "f Noa moved to Graz.", "q On 3 May 2024, Noa moved to Graz."),
    ("Noa moved out last week.", "f Noa moved out.", "q Noa moved out last week."),
    ("Noa has been vegan for ten years.", "f Noa has been vegan.", "q Noa has been vegan for ten years."),
    ("The swap will be held in the depot on 4 October.", "f The swap will be held in the depot.",
     "q The swap will be held in the depot on 4 October."),
    ("Noa was born in Rome in 1990.", "f Noa was born in Rome.", "q Noa was born in Rome in 1990."),
    ("Noa did not call on Friday.", "q Noa did not call on Friday."),
    ("Noa sold 110 tickets in May.", "q Noa sold 110 tickets in May."),
    ("Noa might call tomorrow.", "q Noa might call tomorrow."),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "expected"), [(m, e) for m, *e in DATED])
def test_a_date_comes_off_only_where_the_rest_still_follows(memory: str, expected: list[str]) -> None:
    check(memory, *expected)


SENTENCES = [
    ("Noa is a nurse. She lives in Graz.", "f Noa is a nurse.", "f Noa lives in Graz."),
    ("Noa's email is noa@example.org. Her cat is deaf.", "f Noa's email is noa@example.org.", "f Noa's cat is deaf."),
    ("Noa's brother is a chef. He works in Lyon.", "f Noa's brother is a chef.", "f Noa's brother works in Lyon."),
    ("Noa teaches Bea. She likes tea.", "f Noa teaches Bea.", "f Noa teaches Bea. She likes tea."),
    ("Noa saw her brother. He likes tea.", "f Noa saw her brother.", "f Noa saw her brother. He likes tea."),
    ("Noa has a flat. She loves the town because it is warm.", "f Noa has a flat.", "f Noa loves the town.",
     "r Noa loves the town because it is warm."),
    ("Noa keeps bees. It is hard.", "f Noa keeps bees.", "f Noa keeps bees. It is hard."),
    ("Noa keeps bees. It is hard. This tires her.", "f Noa keeps bees.",
     "f Noa keeps bees. It is hard. This tires her."),
    ("Noa bought a boat. However, she cannot swim.", "f Noa bought a boat.", "q However, Noa cannot swim."),
    ("Hi! Noa lives in Graz. Thanks!", "f Noa lives in Graz."),
    ("Does Noa like tea? Yes, she loves it.", "f Does Noa like tea? Yes, she loves it."),
    ("Noa lives in Graz. Is she happy?", "f Noa lives in Graz. Is she happy?"),
    ("Noa:\n- likes tea\n- lives in Graz", "f Noa likes tea.", "f Noa lives in Graz."),
    ("Noa likes:\n* tea\n* chess", "f Noa likes tea.", "f Noa likes chess."),
    ("Allergies:\n1. nuts\n2. shellfish", "f Allergies: nuts.", "f Allergies: shellfish."),
    ("## Diet\n- Noa avoids pesto", "f Diet: Noa avoids pesto."),
    ("Name: Noa\nCity: Graz", "f Name: Noa.", "f City: Graz."),
    ("Timezone: Europe/Vienna", "f Timezone: Europe/Vienna."),
    ('{"city": "Graz", "likes": ["tea", "chess"]}', 'f {"city": "Graz", "likes": ["tea", "chess"]}'),
    ("Run it with:\n```sh\nmake && make install\n```", "f Run it with:\n```sh\nmake && make install\n```"),
    ("Noa wohnt in Graz und arbeitet als Lehrerin.", "f Noa wohnt in Graz und arbeitet als Lehrerin."),
    ("Noa vive en Graz y trabaja en un banco. Ella toma té.", "f Noa vive en Graz y trabaja en un banco.",
     "f Ella toma té."),
    ("诺亚住在格拉茨。她喜欢茶。", "f 诺亚住在格拉茨。", "f 她喜欢茶。"),
    ("نوا تعيش في غراتس.", "f نوا تعيش في غراتس."),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "expected"), [(m, e) for m, *e in SENTENCES])
def test_sentences_and_lines_stand_alone(memory: str, expected: list[str]) -> None:
    check(memory, *expected)


def test_a_long_memory_has_a_bounded_number_of_obligations_and_keeps_its_last_sentence() -> None:
    memory = " ".join(f"Noa sold lamp {n} and bought chair {n}." for n in range(300))
    found = obligations(memory)
    assert len(found) <= 24
    assert "chair 299" in found[-1][1]


def test_a_memory_of_many_short_clauses_is_taken_by_sentences() -> None:
    memory = " ".join(f"Noa sold lamp{n} and bought chair{n} and painted wall{n}." for n in range(12))
    found = obligations(memory)
    assert len(found) <= 24
    assert found[-1][1] == "Noa sold lamp11 and bought chair11 and painted wall11."


def test_ten_thousand_characters_without_an_end_are_one_obligation() -> None:
    assert len(obligations("word " * 2000)) == 1
    assert len(obligations("x" * 10_000)) == 1
