"""Common English verbs and their forms, so that a finite verb is told from a noun without a tagger's data."""

from __future__ import annotations

from dataclasses import dataclass

from admission.text import word_set

_VERBS = """
accept accompany achieve acquire act adapt add adjust admire admit adopt advise afford agree aim allow announce
answer apologise apologize appear apply appreciate approach approve argue arrange arrive ask aspire assist assume
assure attach attempt attend attract avoid award bake base bathe battle believe belong benefit bike blame blend
block blog boil book boost borrow brew bring brush build burn buy calculate call camp cancel capture care carry
cause celebrate challenge change charge chase chat check cheer cherish choose claim clash clean clear climb close
coach collaborate collect combine come comfort commit commute compare compete complain complete compliment compose
concentrate conclude conduct confirm connect consider consist contact contain contemplate continue contribute
convert convey convince cook cope correct cost count cover craft create cut cycle dance date deal debate decide
declare decline decorate dedicate deliver deny depend describe deserve design desire destroy develop devote die dig
direct disagree discover discuss dislike display donate doubt download draft draw dream dress drink drive drop dry
earn eat edit embrace emphasise emphasize employ enable encounter encourage end enjoy enrol enroll ensure enter
entertain escape establish estimate exchange exercise exhibit expand expect experience experiment explain explore
expose express extend face fail fall fear feature feed feel fetch fight figure file fill film find finish fit fix
fly focus fold follow forget forgive form found freeze fulfil fulfill fund gain garden gather get give go graduate
grow guess guide handle hang happen harm hate have head heal hear help hesitate hide highlight hike hire hit hold
honor honour hope host hug hunt hurt identify ignore illustrate imagine implement impress improve include increase
indicate influence inform initiate injure insist inspire install intend interview introduce invest invite involve
iron jog join joke journal judge juggle jump keep kick kill knit knock know lack last laugh launch lead learn leave
lend let lie lift light like limit link list listen live load lock look lose love lower maintain make manage mark
marry match matter mean measure meditate meet mention mentor mind miss mix motivate mount move name need negotiate
nominate note notice observe obtain occur offer open operate order organise organize overcome own paint park
participate pass pay perform persuade photograph pick place plan plant play please plough point post postpone pour
practice practise praise pray predict prefer prepare present preserve press pretend prevent print prioritise
prioritize process produce program promise promote propose protect prove provide publish pull purchase pursue push
put qualify question quit raise reach read realise realize receive recharge reckon recognise recognize recommend
reconnect record recover recycle reduce refer reflect refuse regret reject relate relax release rely remain remark
remember remind reminisce remove renew rent repair repeat replace reply report represent request require rescue
research reserve reset resign resolve respect respond rest restore result retire return reveal review revise reward
ride ring rise run rush sail save say schedule score sculpt search see seek seem sell send separate serve set settle
sew shake shape share shift ship shoot shop shout show shut sign sing sit ski sleep slip smell smile smoke solve
sort sound speak specialise specialize spend split sponsor spread stand start state stay steal stick stop store
stream strengthen stress stretch strive struggle study submit succeed suffer suggest suit supply support suppose
surf surprise surround survive suspect sustain swear sweep swim switch symbolise symbolize take talk target taste
teach tell tend test thank think threaten throw tire touch tour train transfer transform transition translate travel
treasure treat trust try turn type understand update upgrade urge use value vary view visit volunteer vote wait wake
walk want warn wash watch water wear weigh welcome win wish witness wonder work worry wrap write
"""
# Base, past, participle.
_IRREGULAR = """
be was been | become became become | begin began begun | bet bet bet | bite bit bitten | blow blew blown | break
broke broken | bring brought brought | build built built | buy bought bought | catch caught caught | choose chose
chosen | come came come | cost cost cost | cut cut cut | deal dealt dealt | dig dug dug | do did done | draw drew
drawn | drink drank drunk | drive drove driven | eat ate eaten | fall fell fallen | feed fed fed | feel felt felt |
fight fought fought | find found found | fly flew flown | forget forgot forgotten | forgive forgave forgiven |
freeze froze frozen | get got gotten | give gave given | go went gone | grow grew grown | hang hung hung | have had
had | hear heard heard | hide hid hidden | hit hit hit | hold held held | hurt hurt hurt | keep kept kept | know
knew known | lead led led | leave left left | lend lent lent | let let let | lie lay lain | light lit lit | lose
lost lost | make made made | mean meant meant | meet met met | overcome overcame overcome | pay paid paid | put put
put | quit quit quit | read read read | ride rode ridden | ring rang rung | rise rose risen | run ran run | say said
said | see saw seen | seek sought sought | sell sold sold | send sent sent | set set set | shake shook shaken |
shoot shot shot | show showed shown | shut shut shut | sing sang sung | sit sat sat | sleep slept slept | speak
spoke spoken | spend spent spent | split split split | spread spread spread | stand stood stood | steal stole stolen
| stick stuck stuck | swear swore sworn | sweep swept swept | swim swam swum | take took taken | teach taught taught
| tell told told | think thought thought | throw threw thrown | understand understood understood | wake woke woken |
wear wore worn | win won won | write wrote written
"""
# Verbs whose -s form is as often a plural noun: "likes walks and talks with friends".
NOUN_LIKE = word_set(
    """
    aim answer battle bike block blog book boost brush burn call camp cause challenge change charge chat check claim
    clash coach comfort cook cost count cover craft cut cycle dance date deal debate design desire display doubt
    draft dream dress drink drive drop end escape estimate exchange exercise experience experiment face fall fear
    feature fight figure file film focus form fund garden guess guide harm head hike hit hold hope host hug hunt
    influence interview iron joke journal judge jump kick lack laugh lead lift light limit link list love mark match
    matter measure mentor mind mix move name note offer order paint park pass pick place plan plant play point post
    practice present press print process program promise question reach read record regret release remark repair
    reply report request research rest result return review reward ride ring rise run sail schedule score search set
    shape shift ship shop show sign ski smell smile sound split sponsor spread stand start state stop store stream
    stress stretch struggle supply support switch talk target taste test thank throw tire touch tour train transfer
    transition travel treat trust try turn type update upgrade use value view visit volunteer vote walk wash watch
    water win wish witness wonder worry wrap
    """
)


@dataclass(frozen=True, slots=True)
class VerbForm:
    """What one word form can be: `kinds` among base, s, past, participle, ing; `base` the verb it is a form of."""

    base: str
    kinds: frozenset[str]


def _regular(base: str) -> dict[str, str]:
    vowels = "aeiou"
    doubles = (
        len(base) >= 3 and base[-1] not in vowels + "wxyh" and base[-2] in vowels and base[-3] not in vowels
    ) and (len(base) <= 4 or base in {"admit", "commit", "refer", "submit", "transfer", "program", "prefer", "enrol"})
    if base.endswith("e"):
        past, ing = base + "d", (base if base.endswith("ee") else base[:-1]) + "ing"
    elif base.endswith("y") and base[-2] not in vowels:
        past, ing = base[:-1] + "ied", base + "ing"
    else:
        root = base + base[-1] if doubles else base
        past, ing = root + "ed", root + "ing"
    if base.endswith("y") and base[-2] not in vowels:
        third = base[:-1] + "ies"
    else:
        third = base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return {"s": third, "past": past, "participle": past, "ing": ing}


def _forms() -> dict[str, VerbForm]:
    found: dict[str, tuple[str, set[str]]] = {}
    irregular = {e.split()[0]: e.split()[1:] for e in " ".join(_IRREGULAR.split()).split("|")}
    for base in sorted(set(_VERBS.split()) | set(irregular)):
        kinds = _regular(base)
        if base in irregular:
            kinds["past"], kinds["participle"] = irregular[base]
        if base == "have":
            kinds["s"] = "has"
        if base == "lie":
            kinds["ing"] = "lying"
        if base == "die":
            kinds["ing"] = "dying"
        for kind, form in [("base", base), *kinds.items()]:
            found.setdefault(form, (base, set()))[1].add(kind)
    return {form: VerbForm(base, frozenset(kinds)) for form, (base, kinds) in found.items()}


VERB_FORMS = _forms()
