"""English words the splitter reads by: closed classes, connectives, and words for people, time and degree."""

from __future__ import annotations

from admission.text import word_set


def phrase_set(text: str) -> tuple[tuple[str, ...], ...]:
    """Comma-separated phrases as word tuples, the longest first, so that "because of" is found before "because"."""
    return tuple(sorted((tuple(p.split()) for p in text.split(",")), key=len, reverse=True))


DETERMINERS = word_set(
    """
    a an the this that these those some any no every each another both either neither all many few
    """
)
POSSESSIVES = word_set("my your his her its our their whose")
SUBJECT_PRONOUNS = word_set("i you he she it we they someone somebody everyone everybody nobody")
OBJECT_PRONOUNS = word_set("me you him her it us them myself yourself himself herself itself ourselves themselves")
RELATIVE = word_set("who whom which whose that where why how what whether")
PREPOSITIONS = word_set(
    """
    of in on at to from with by for about into onto over under after before since until till during through across
    near between among against without within towards toward around behind beside besides beyond despite like as
    than via per off up out along upon inside outside amid regarding concerning because unlike throughout alongside
    """
)
# Words between subject and verb, or between "and" and a verb, that leave the shape of the clause alone.
ADVERBS = word_set(
    """
    also then now later still even just recently currently already soon really finally actually simply only often
    usually always never sometimes rarely seldom regularly occasionally frequently generally normally mostly mainly
    probably possibly perhaps maybe apparently reportedly allegedly supposedly definitely certainly clearly
    previously formerly originally initially eventually afterwards subsequently instead thus therefore hence
    consequently nearly almost hardly barely scarcely once twice first ever both either absolutely strongly firmly
    deeply truly greatly highly fully completely especially particularly quickly slowly happily briefly constantly
    genuinely gladly n't not no longer immediately suddenly
    """
)
# Pre-verbal words that restrict every verb behind them: a second verb phrase cannot be given its subject without them.
SCOPED = word_set(
    """
    only often usually always never sometimes rarely seldom regularly occasionally frequently generally normally
    mostly mainly probably possibly perhaps maybe apparently reportedly allegedly supposedly nearly almost hardly
    barely scarcely not n't no either neither ever both
    """
)
SUBORDINATORS = word_set(
    """
    because since when while although though if unless that as before after until till who which whose where whether
    how why whenever once what
    """
)
# These open a clause of their own whatever follows; the other subordinators may also be prepositions or pronouns.
CLAUSE_OPENERS = word_set("because if unless although though whether when while where who which why whenever whereas")
ORDER_ADVERBS = word_set("then later afterwards subsequently thereafter")

BE = word_set("is are was were am be been being 's 're 'm isn't")
HAVE = word_set("has have had having 've")
DO = word_set("does do did")
MODALS = word_set("will would can could may might must shall should ought 'll 'd cannot")
FINITE_AUXILIARIES = word_set("is are was were am 's 're 'm has have had 've does do did") | MODALS

NEGATIONS = word_set(
    """
    not n't no never none nobody nothing nowhere neither nor without hardly barely scarcely cannot refuses refused
    """
)
# "will" is read as a tense: it is covered like a modal, but a statement about the future may still lose its date.
HEDGES = word_set(
    """
    would can could may might must shall should ought cannot 'd probably possibly perhaps maybe likely unlikely
    apparently reportedly allegedly supposedly seemingly potentially presumably supposed
    """
)
INTENTIONS = word_set(
    """
    plan plans planned planning want wants wanted wanting hope hopes hoped hoping intend intends intended intending
    wish wishes wished consider considers considered considering contemplate contemplates contemplating expect
    expects expected aim aims aimed aiming dream dreams dreaming seem seems seemed appear appears tend tends try
    tries tried trying need needs needed think thinks thinking might attempt attempts attempted attempting willing
    unwilling interested eager going about prefer prefers preferred offer offers offered promise promises promised
    agree agrees agreed decide decides decided refuse refuses refused fail fails failed
    """
)
FREQUENCIES = word_set(
    """
    always often usually sometimes rarely seldom regularly occasionally frequently generally normally mostly daily
    weekly monthly yearly annually hourly nightly fortnightly twice once thrice times every each whenever constantly
    """
)
DEGREES = word_set(
    """
    very slightly extremely quite fairly rather almost nearly too enough completely totally partly partially highly
    deeply strongly moderately mildly severely mostly mainly least most more less much entirely absolutely barely so
    bit
    """
)
SCOPES = word_set("only except solely exclusively merely just even especially particularly unless alone")
QUANTIFIERS = word_set(
    """
    all every each both some any many few several most half none no everyone everybody everything nobody nothing
    someone somebody something anyone anything neither either more less fewer least enough another
    """
)
# Subjects two verb phrases cannot simply share: copied, they would lose identity or turn the claim round.
UNSHARED_SUBJECTS = word_set(
    """
    a an no few some any someone somebody none nobody nothing neither either only one something most many several
    half fewer hardly anyone
    """
)
_SMALL_NUMBERS = phrase_set(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)[0]
_LARGE_NUMBERS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
                  "hundred": 100, "thousand": 1000, "million": 1000000, "dozen": 12}  # fmt: skip
NUMBER_WORDS = {word: str(n) for n, word in enumerate(_SMALL_NUMBERS)} | {w: str(n) for w, n in _LARGE_NUMBERS.items()}

# Connectives by what may be asserted of the clause before ("A") and the clause after ("B") them.
BOTH_HOLD = phrase_set(
    """
    because, since, although, though, even though, whereas, after, as soon as, now that, given that
    """
)
FIRST_HOLDS = phrase_set(
    """
    because of, due to, owing to, thanks to, on account of, as a result of, in order to, in order for, so that, so
    as to, before, when, while, once, despite, in spite of, instead of, rather than, leading to, resulting in, prior
    to
    """
)
NEITHER_HOLDS = phrase_set(
    """
    if, only if, even if, unless, until, till, whenever, provided that, provided, as long as, in case, otherwise,
    than, whether, depending on, except when, except if, lest, assuming, as if, as though, so long as, every time,
    each time
    """
)
# What holds of these clauses depends on tense: "Ana sings when she is happy" does not say that Ana sings.
TEMPORAL = word_set("when while once after before as")
CAUSAL = word_set("because since as so to in due owing thanks on")
RELATION_WORDS = word_set(
    """
    because since although though whereas after before when while once despite if unless until till whenever
    provided than therefore hence thus consequently otherwise lest so whether
    """
)
RELATION_PHRASES = phrase_set(
    """
    because of, due to, thanks to, owing to, in order to, so that, so as to, as a result, that is why, that 's why,
    leading to, led to, leads to, resulting in, resulted in, results in, part of, rather than, instead of, as long
    as, as soon as, in case, prior to, in spite of, even though, inspired by, caused by, the reason, compared to,
    compared with, such as, as well as
    """
)
# A sentence that opens with one of these is tied to the sentence before it.
LINKS = phrase_set(
    """
    therefore, thus, hence, consequently, as a result, because of this, because of that, because of it, for this
    reason, for that reason, that is why, that 's why, this is why, so, then, later, afterwards, after that, before
    that, since then, otherwise, instead, in return, due to this, as a consequence, this is because, that is
    because, meanwhile
    """
)
ATTRIBUTION = word_set(
    """
    say tell mention think believe claim report state explain suggest feel hear know note ask promise reckon hope
    wonder admit indicate announce warn argue insist assure guess suppose imagine assume doubt deny learn realize
    realise remember fear worry remark recall understand confirm predict estimate advise propose reveal expect wish
    see notice find complain conclude emphasize emphasise agree share describe express discover recommend show mean
    """
)
ATTRIBUTION_PHRASES = phrase_set(
    """
    according to, in the view of, in the opinion of, as told by, from what, in her view, in his view, in their view,
    in her opinion, in his opinion, in their opinion, by his own account, by her own account, allegedly, reportedly
    """
)

# Nouns and adjectives that take "to" + verb as their own complement: what follows is not a purpose.
TAKES_INFINITIVE = word_set(
    """
    able ready willing unwilling eager excited happy glad sad keen likely unlikely due set about free determined
    going supposed used way ways time chance opportunity opportunities plan plans decision goal goals desire wish
    ability right effort efforts willingness intention promise dream dreams need attempt permission reason reasons
    reluctance inspired motivated easy hard difficult important crucial necessary possible impossible nice good
    great better best fun proud lucky honored honoured grateful thankful afraid prepared safe healthy first last
    next only how what where when whether who which much enough too more order idea hesitant thrilled curious
    tempted commitment potential passion offer rewarding challenging interesting refreshing amazing surprised
    relieved sorry welcome allowed encouraged asked told invited interest aim ambition responsibility duty job task
    things something anything nothing everything someone place places
    eagerness enthusiasm courage motivation urge reminder reminders tip tips offers wishes
    """
)
# Verbs whose object does the "to" verb ("asks Bo to come"), or that need it ("wants to come").
GOVERNS_INFINITIVE = word_set(
    """
    want plan hope like love prefer decide need try agree offer promise refuse fail forget remember intend expect
    wish begin start continue learn manage choose hesitate ask tell encourage invite advise allow help persuade
    convince remind teach urge warn order force enable require permit let have get aim seem appear tend happen use
    be find feel believe consider inspire motivate push lead take cause dream consent dare deserve hate mean pretend
    struggle swear threaten vow volunteer wait work long look attempt make cost enjoy recommend challenge drive know
    figure strive opt suggest think
    """
)
NEGATIVE_GOVERNORS = word_set("refuse fail forget avoid stop decline hesitate hate quit deny doubt pretend")

UNITS = word_set(
    """
    second seconds minute minutes hour hours day days night nights week weeks fortnight month months year years
    decade decades weekend weekends quarter semester century season
    """
)
MOTION = word_set(
    """
    move go travel come return fly drive relocate trip flight tour road walk commute bus train send head emigrate
    back journey transfer far close next
    """
)
MONTHS = word_set(
    """
    May january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec
    """
)
WEEKDAYS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays
    """
)
DAY_PARTS = word_set(
    """
    morning mornings afternoon afternoons evening evenings noon midnight night tonight today yesterday tomorrow dawn
    dusk spring summer autumn fall winter christmas easter lunchtime weekend past
    """
)
_WOMEN = word_set(
    """
    mother mum mom sister daughter aunt wife girlfriend grandmother grandma niece fiancée woman girl lady queen
    """
)
_MEN = word_set("father dad brother son uncle husband boyfriend grandfather grandpa nephew fiancé man boy guy king")
_EITHER = word_set(
    """
    friend colleague partner boss neighbour neighbor cousin teacher doctor manager coach roommate housemate adviser
    advisor child kid baby nurse lawyer landlord tenant client customer user patient student spouse parent sibling
    buddy mentor coworker dog cat pet puppy kitten physio therapist dentist chef vet
    """
)
# Nouns for somebody, with the gender they tell ("" for none).
KIN = dict.fromkeys(_WOMEN, "f") | dict.fromkeys(_MEN, "m") | dict.fromkeys(_EITHER, "")
# What somebody has and is not somebody: after "Ana's phone is new", "she" is Ana.
BELONGINGS = word_set(
    """
    name email phone number address birthday age job work career project plan goal dream week day life house home
    flat apartment car bike flight hotel trip tour holiday appointment booking account password hobby book film
    movie song colour color food dish drink game sport team show city country place room office studio shop business
    company school course exam knee back elbow leg arm foot hand mouth heart health allergy diet budget rent salary
    wedding party computer laptop code tablet order subscription membership timezone language passion interest style
    favourite favorite journey art music painting script screenplay blog story garden kitchen bag visa passport
    train ticket meeting report thesis paper
    """
)
TITLES = word_set("mr mrs ms dr prof sir lady lord miss aunt uncle st")

GREETINGS = word_set(
    """
    hi hello hey hiya howdy greetings good morning afternoon evening night day bye goodbye cheers welcome there
    everyone all hola adiós adios bonjour salut bonsoir merci gracias hallo tschüss danke ciao grazie olá ola
    obrigado obrigada hej tack привет спасибо مرحبا شكرا नमस्ते 안녕하세요 감사합니다
    こんにちは ありがとう ありがとうございます 你好 谢谢 您好 dear
    """
)
FILLERS = word_set(
    """
    ok okay k yes yeah yep yup no nope sure thanks thank thx ty please great nice cool fine alright right hmm hm uh
    um oh ah wow lol haha hahaha well so you very much a lot again sounds good got it noted perfect awesome
    understood absolutely of course np pls too indeed exactly true maybe really see later then soon n/a none null
    nothing empty test and or but the welcome your
    """
)
