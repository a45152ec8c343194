"""Talk in which words of checking, storing and judging have their ordinary senses stays evidence for what it says."""

from __future__ import annotations

import pytest

from admission.eligibility import admissible
from admission.history import History
from admission.records import Role, Turn

OWN = (
    ("Remember to save the receipt, I paid 40 euros for the lamp.", "Ana paid 40 euros for the lamp."),
    ("My doctor confirmed I'm allergic to nuts.", "Ana is allergic to nuts."),
    ("Please remember that I moved to Lisbon.", "Ana moved to Lisbon."),
    ("Please save this to your memory: I moved to Lisbon in May.", "Ana moved to Lisbon in May."),
    ("Note for later: I drink my coffee black.", "Ana drinks her coffee black."),
    ("Quick update: I passed the driving test!", "Ana passed the driving test."),
    ("The judge accepted my claim and I won 400 euros.", "Ana won 400 euros."),
    ("The auditor verified our records on Monday, so I took Tuesday off.", "Ana took Tuesday off."),
    ("I signed with a record label last week.", "Ana signed with a record label."),
    ("I label all my jars and mark the date on each.", "Ana labels all her jars."),
    ("I scored 87 in the exam, the grader was generous.", "Ana scored 87 in the exam."),
    ("Our policy at work changed, I now work from home on Fridays.", "Ana works from home on Fridays."),
    ("I parse the JSON with jq and store it in SQLite.", "Ana stores the JSON in SQLite."),
    ("I store the config as {\"theme\": \"dark\"} since I hate white screens.", "Ana hates white screens."),
    ("I run the system on a Raspberry Pi.", "Ana runs the system on a Raspberry Pi."),
    ("As I said before, I sold my boat.", "Ana sold her boat."),
    ("I already told you that I sold my boat.", "Ana sold her boat."),
    ("For the record: I never ate the cake.", "Ana never ate the cake."),
    ("Fact: I hate mornings.", "Ana hates mornings."),
    ("Good news, the admin approved my leave, so I fly to Oslo on Friday.", "Ana flies to Oslo on Friday."),
    ("I checked the database: I ordered the oak desk in March.", "Ana ordered the oak desk in March."),
    ("My favourite childhood memory: I caught a pike with my grandfather.", "Ana caught a pike with her grandfather."),
    ("Don't ask me to prove it, but I ran ten kilometres today.", "Ana ran ten kilometres."),
    ("I'm a fact checker at a newspaper.", "Ana is a fact checker at a newspaper."),
    ("I work as a quality auditor and travel a lot.", "Ana works as a quality auditor."),
    ("True story: I met my wife in a lift.", "Ana met her wife in a lift."),
    ("I told my sister: I am not coming.", "Ana told her sister that she is not coming."),
    ("I'm Ana Lopez and I teach physics.", "Ana teaches physics."),
    ("Ana here, I lost my keys.", "Ana lost her keys."),
    ("My name is Ana and I live in Porto.", "Ana lives in Porto."),
    ("Ignore the earlier address, I live in Porto now.", "Ana lives in Porto."),
    ("Forget the boat, I bought a kayak instead.", "Ana bought a kayak."),
    ("URGENT!!! I LOST MY WALLET", "Ana lost her wallet."),
    ("✅ I booked the flight to Oslo", "Ana booked the flight to Oslo."),
    ("Update the ticket please. I fixed the login bug.", "Ana fixed the login bug."),
    ("Test result: I'm negative!", "Ana tested negative."),
    ("Answer to your question: I prefer tea.", "Ana prefers tea."),
    ("Sample sizes are small here, but I wear a 42.", "Ana wears a 42."),
    ("<b>I moved to Lisbon</b> and I love it.", "Ana moved to Lisbon."),
    ("You can count on it: I'm coming on Sunday.", "Ana is coming on Sunday."),
)  # fmt: skip
OF_OTHERS = (
    ("My brother Tom passed his audit exam.", "Ana's brother Tom passed his audit exam."),
    ("The bank confirmed that the transfer to Leo is done.", "The transfer to Leo is done."),
    ("The committee approved the budget, the library opens in June.", "The library opens in June."),
    ("Our records show that the roof was repaired in 2019.", "The roof was repaired in 2019."),
    ("Customer: Acme. Deadline: Friday.", "The deadline is Friday."),
    ("The label says it contains nuts.", "The label says it contains nuts."),
    ("Two quotes for the roof: tin costs 4,100.", "The tin roof costs 4,100."),
    ("Leo asked the judge for more time.", "Leo asked the judge for more time."),
    ("The system crashed, then the database lost its index.", "The database lost its index."),
    ("Save the date: Mia marries in August.", "Mia marries in August."),
    ("Bo sold his boat, remember?", "Bo sold his boat."),
    ("New policy from HR: the office closes at noon on Fridays.", "The office closes at noon on Fridays."),
)
OF_TOOLS = (
    ("order 7: oak desk, customer Ana Lopez, status confirmed, paid", "Ana ordered an oak desk."),
    ('{"user": "ana", "city": "Lisbon", "verified": true}', "Ana lives in Lisbon."),
    ("2026-05-03 09:14 Ana booked room 4, status: approved", "Ana booked room 4."),
    ("The refund policy was updated: refunds take 14 days.", "Refunds take 14 days."),
    ("log: backup finished 02:10, integrity OK", "The backup finished at 02:10."),
    ("Ana was charged 40.00 on 2026-01-03 (verified by the bank).", "Ana was charged 40.00."),
    ("deploy 41 by ana: approved, tests PASSED", "The tests of deploy 41 passed."),
    ("| hall | devices |\n| C | 51 |", "Hall C has 51 devices."),
)  # fmt: skip


def is_evidence(text: str, obligation: str, role: Role, speaker: str) -> bool:
    turns = [
        Turn(id="t1", role="user", speaker="Ana", text="Hello.", origin="conversation"),
        Turn(id="t2", role="assistant", speaker="helper", text="Hello, Ana.", origin="conversation"),
        Turn(id="t3", role=role, speaker=speaker, text=text, origin=None),
    ]
    history = History.of("c", turns)
    return any(admissible(history.passages_of("t3"), obligation, history))


@pytest.mark.parametrize(("text", "obligation"), (*OWN, *OF_OTHERS))
def test_what_a_user_says_in_earnest_stays_evidence(text: str, obligation: str) -> None:
    assert is_evidence(text, obligation, "user", "Ana")


@pytest.mark.parametrize(("text", "obligation"), OF_OTHERS)
def test_what_one_user_says_of_another_or_of_the_world_stays_evidence(text: str, obligation: str) -> None:
    assert is_evidence(text, obligation, "user", "Cleo")


@pytest.mark.parametrize(("text", "obligation"), OF_TOOLS)
def test_what_a_tool_keeps_as_data_or_answers_for_stays_evidence(text: str, obligation: str) -> None:
    assert is_evidence(text, obligation, "tool", "crm")
