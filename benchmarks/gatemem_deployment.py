"""What a deployment of GateMem's clinics and offices would declare: namespaces, tags, rules, relations, authorities.

Written from the episodes' principals, roles and relationships and from what people say in development episodes, and
tuned on what still leaked there (docs/gatemem.md). The gate reads no checkpoint. A turn's tags come from its writer's
role and kind, never from its words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from admission.metadata import Lifecycle, Provenance, RecordMetadata
from admission.reading.directives import Authority, Directive, Person, authorised, read_directives
from admission.reading.forgetting import SHARE, Forgetting, Forgotten, means, redacted
from admission.reading_settings import ReadingSettings, ReadRule, Relation
from admission.records import Namespace
from admission.text import stem
from benchmarks.gatemem_episodes import Asked, Episode, Said

STEPS = ("speaker", "session", "roles", "relations", "forget", "windows")
"""What the gate may know, each step all before it too."""

_TAG_OF_ROLE = {
    "medical": {
        "clinician": "clinical",
        "nurse": "clinical",
        "lab_tech": "clinical",
        "pharmacist": "medication",
        "scheduler": "schedule",
        "reception": "registration",
        "billing": "billing",
        "social_worker": "support",
        "patient": "patient",
        "family_member": "family",
        "agent": "chart",
    },
    "office": {
        "product_manager": "program",
        "security": "security",
        "sre": "engineering",
        "engineer": "engineering",
        "finance": "finance",
        "legal": "legal",
        "sales": "commercial",
        "executive": "executive",
        "executive_assistant": "scheduling",
        "hr": "people",
        "manager": "team",
        "employee": "team",
        "contractor": "contractor",
        "operations": "operations",
        "procurement": "procurement",
    },
}
_TAG_OF_KIND = {"lab_result": "clinical", "scheduling_note": "schedule", "medication_update": "medication"}

_READS: dict[str, dict[str, tuple[str, ...]]] = {
    "medical": {
        "patient": ("clinical", "medication", "schedule", "registration", "billing", "support", "patient", "chart"),
        "clinician": ("clinical", "medication", "schedule", "registration", "support", "patient", "chart"),
        "nurse": ("clinical", "medication", "schedule", "registration", "support", "patient", "chart"),
        "pharmacist": ("medication", "clinical", "patient", "chart"),
        "lab_tech": ("clinical", "schedule"),
        "social_worker": ("support", "schedule", "registration", "patient", "chart"),
        "scheduler": ("schedule", "registration", "support"),
        "reception": ("registration", "schedule", "support"),
        "billing": ("billing", "registration"),
        "family_member": ("schedule", "registration"),
    },
    "office": {
        "product_manager": tuple(dict.fromkeys(_TAG_OF_ROLE["office"].values())),
        "security": ("security", "engineering", "program", "operations", "contractor"),
        "engineer": ("engineering", "security", "program", "operations", "contractor"),
        "sre": ("engineering", "security", "program", "operations", "contractor"),
        "finance": ("finance", "commercial", "program", "legal", "procurement"),
        "legal": ("legal", "program", "commercial", "procurement", "finance"),
        "sales": ("commercial", "program", "finance"),
        "executive": ("executive", "program", "scheduling"),
        "executive_assistant": ("scheduling", "executive"),
        "operations": ("operations", "program", "engineering"),
        "procurement": ("procurement", "program", "finance", "legal"),
        "manager": ("team",),
        "employee": ("team",),
        "contractor": ("contractor",),
        "hr": ("people",),
    },
}
# Roles that may read for whom they have one of these relations to, and for nobody else.
_NEEDS = {
    "clinician": ("assigned_clinician", "covering_clinician"),
    "family_member": ("family_member",),
    "executive_assistant": ("executive_delegate",),
    "contractor": ("granted",),
}
_MEANS = {
    "schedule": "schedule scheduling appointment appointments time times ride rides logistics check arrival pickup",
    "registration": "schedule scheduling appointment logistics check checkin ride rides",
    "clinical": "result results diagnosis lab labs pathology imaging symptoms finding findings",
    "medication": "medication medications medicine medicines",
    "support": "contact contacts callback number numbers",
    "scheduling": "schedule scheduling calendar",
    "logs": "log logs",
}
_TAGS_MEANT = {tag: frozenset(stem(word) for word in said.split()) for tag, said in _MEANS.items()}

AUTHORITIES = {
    "medical": (
        Authority(
            kinds=("forget", "restrict", "grant", "revoke"),
            roles=("patient", "clinician", "nurse", "reception", "social_worker", "agent"),
        ),
    ),
    "office": (
        Authority(kinds=("forget",), roles=("security", "product_manager", "legal")),
        Authority(kinds=("restrict", "grant", "revoke"), roles=("security", "product_manager")),
    ),
}


@dataclass(frozen=True)
class Deployment:
    """One episode's deployment, as far as `step` goes. `forget_only`: nothing but forget directives. `cut`: a record
    that holds a forgotten value is shown without it, instead of not at all. `share`: see `Forgetting`."""

    episode: Episode
    step: str
    expose_unresolved: bool = False
    forget_only: bool = False
    cut: bool = False
    share: float = SHARE

    def knows(self, step: str) -> bool:
        if self.forget_only:
            return step == "forget"
        return STEPS.index(step) <= STEPS.index(self.step)

    # Where things are

    def namespace_of(self, principal: str) -> Namespace | None:
        """The boundary of who asks: a patient's chart, all charts for staff, a project; None where nobody knows."""
        role = self.episode.roles.get(principal)
        if self.episode.domain == "medical" and role not in ("patient", "family_member"):
            return ("charts",)
        owner = self._owner(principal)
        if owner is None:
            # Known to belong to no project: what is their own, and nothing of others.
            return None if self.episode.domain == "medical" else ("principals", principal)
        return (self._top, owner)

    @property
    def _top(self) -> str:
        return "charts" if self.episode.domain == "medical" else "projects"

    def _owner(self, principal: str) -> str | None:
        """The patient or project that all relationships of a principal lead to; None where there is none or several."""
        if self.episode.roles.get(principal) == "patient":
            return principal
        found = {one[key] for one in self._related(principal) for key in ("patient_id", "project_id") if key in one}
        if not found:
            delegated = [one["for_principal_id"] for one in self._related(principal) if "for_principal_id" in one]
            found = {owner for other in delegated if (owner := self._owner(other)) is not None}
        return found.pop() if len(found) == 1 else None

    def _related(self, principal: str) -> list[dict[str, str]]:
        subjects = ("principal_id", "clinician_id", "family_id")
        return [one for one in self.episode.relationships if any(one.get(key) == principal for key in subjects)]

    @cached_property
    def owners(self) -> tuple[str | None, ...]:
        """Whose each turn is: by its speaker's relationships or, from `session` on, in a clinic, whoever's the turn
        before it was. GateMem names no session; a chart system would."""
        found: list[str | None] = []
        for turn in self.episode.turns:
            owner = self._owner(turn.speaker)
            if owner is None and self.episode.domain == "medical" and self.knows("session") and found:
                owner = found[-1]
            found.append(owner)
        return tuple(found)

    @cached_property
    def namespaces(self) -> tuple[Namespace | None, ...]:
        """Each turn's namespace; None where nobody knows."""
        return tuple(None if owner is None or self.forget_only else (self._top, owner) for owner in self.owners)

    # What is known of each turn

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        """Directives of all turns, those without authority left out."""
        roles = {principal: (role,) for principal, role in self.episode.roles.items()}
        return tuple(one for one in self.said if authorised(one, AUTHORITIES[self.episode.domain], roles))

    @cached_property
    def said(self) -> tuple[Directive, ...]:
        people = tuple(self._person(principal) for principal in self.episode.names)
        known = {part for one in self.episode.relationships for part in one.get("project_id", "").split("_") if part}
        return tuple(
            directive
            for turn in self.episode.turns
            for directive in read_directives(
                turn.id, turn.text, by=turn.speaker, time=turn.time, people=people, known=sorted(known)
            )
        )

    def _person(self, principal: str) -> Person:
        shown, _, note = self.episode.names[principal].partition(" (")
        titles = ("Dr.", "Nurse", "Pharmacist", "Lab", "Tech")
        parts = [part for part in shown.split() if part not in titles]
        names = [shown, *parts]
        if self.episode.roles[principal] == "family_member":
            names += ["family", *note.rstrip(")").split()]
        return Person(principal=principal, names=tuple(dict.fromkeys(name for name in names if name)))

    @cached_property
    def places(self) -> dict[str, int]:
        return {turn.id: place for place, turn in enumerate(self.episode.turns)}

    @cached_property
    def forgotten(self) -> tuple[tuple[int, Forgotten], ...]:
        """Each forget directive's place among the turns and what it means among those before it."""
        forgetting = Forgetting(self.share)
        found = []
        for one in self.directives:
            if one.kind == "forget":
                place = self.places[one.source]
                earlier = [(turn.id, turn.text) for turn in self.episode.turns[:place] if self._reaches(place, turn)]
                found.append((place, forgetting.resolve(one, earlier)))
        return tuple(found)

    def _reaches(self, place: int, turn: Said) -> bool:
        """May the directive in the turn at `place` speak of this turn? In a clinic of all but what somebody related to
        another patient said; whose a turn is by its place in the talk is too unsure to keep what is to be forgotten."""
        if self.episode.domain == "office":
            return True
        theirs, its = self.owners[place], self._owner(turn.speaker)
        return theirs is None or its is None or theirs == its

    def metadata(self, place: int, after: int) -> RecordMetadata:
        """What the ledger would have of the turn at `place` once `after` turns are stored."""
        turn = self.episode.turns[place]
        active = self._active(turn, after) if self.knows("forget") else ()
        held = any(turn.id in one.keys if self.cut else turn.id in self._meant[at] for at, one in active)
        asks = any(one.directive.source == turn.id for _, one in active)
        return RecordMetadata(
            namespace=self.namespaces[place],
            provenance=Provenance(written_by=turn.speaker, channel=turn.kind, authenticated=True),
            policy_tags=self._tags(turn),
            lifecycle=Lifecycle(state="forgotten" if held else "current"),
            forget=asks or None,
            created_at=turn.time,
        )

    def shown(self, place: int, after: int) -> str:
        """A turn's text as a reader gets it: a forget directive without what it asks to forget."""
        turn = self.episode.turns[place]
        active = self._active(turn, after) if self.knows("forget") else ()
        if not self.cut and not any(one.directive.source == turn.id for _, one in active):
            return turn.text
        return redacted(turn.text, [value for _, one in active for value in one.values]) if active else turn.text

    def _active(self, turn: Said, after: int) -> list[tuple[int, Forgotten]]:
        """What is to be forgotten of this turn by then, by the number of the directive."""
        return [
            (number, one) for number, (at, one) in enumerate(self.forgotten) if at < after and self._reaches(at, turn)
        ]

    @property
    def matched(self) -> frozenset[str]:
        """The turns that any of the directives means, where it may speak of them."""
        return frozenset(
            turn.id
            for number, (at, _) in enumerate(self.forgotten)
            for turn in self.episode.turns
            if turn.id in self._meant[number] and self._reaches(at, turn)
        )

    @cached_property
    def _meant(self) -> list[frozenset[str]]:
        return [
            frozenset(turn.id for turn in self.episode.turns if means(one, turn.id, turn.text))
            for _, one in self.forgotten
        ]

    def _tags(self, turn: Said) -> tuple[str, ...] | None:
        by_role = _TAG_OF_ROLE[self.episode.domain].get(self.episode.roles.get(turn.speaker, ""))
        tag = _TAG_OF_KIND.get(turn.kind or "", by_role)
        return None if tag is None else (tag,)

    # What the deployment allows

    def settings(self, asked: Asked) -> ReadingSettings:
        """The `[reading]` section as it stands when the question is asked."""
        top = self._top
        return ReadingSettings(
            namespace=(top, "{user_id}"),
            owner=(top, "{owner}"),
            sub_namespaces=True,
            policy_default="deny" if self.knows("roles") else "allow",
            expose_unresolved=self.expose_unresolved,
            policy=self._rules if self.knows("roles") else (),
            relations=self._relations(asked.after) if self.knows("relations") else (),
        )

    @cached_property
    def _rules(self) -> tuple[ReadRule, ...]:
        rules = [ReadRule(name="own words", relations=("self",), to="writer")]
        for role, tags in _READS[self.episode.domain].items():
            needed = _NEEDS.get(role) if self.knows("relations") else None
            if needed is None:
                rules.append(ReadRule(name=role, roles=(role,), tags=tags))
            else:
                rules.append(ReadRule(name=role, roles=(role,), tags=tags, relations=needed))
        return tuple(rules)

    def _relations(self, after: int) -> tuple[Relation, ...]:
        found = [relation for one in self.episode.relationships for relation in self._stated(one)]
        if not self.knows("windows"):
            return tuple(found)
        for directive in self.directives:
            if self.places[directive.source] < after and directive.who:
                found = self._changed(found, directive)
        return tuple(found)

    def _stated(self, one: dict[str, str]) -> list[Relation]:
        subject = one.get("clinician_id") or one.get("family_id") or one.get("principal_id") or ""
        target = one.get("patient_id") or one.get("project_id") or self._owner(subject)
        if target is None:
            return []
        words = set(re.split(r"[_\W]+", one.get("access_level", "") + " " + one.get("access_scope", "")))
        scope = meant({stem(word) for word in words if word})
        limited = "access_level" in one or "access_scope" in one
        return [Relation(subject=subject, relation=one["type"], object=target, scope=scope if limited else None)]

    def _changed(self, relations: list[Relation], directive: Directive) -> list[Relation]:
        """The relations after an authorised directive of access: windows end, scopes narrow, grants are added."""
        who, tags = directive.who[0], meant(set(directive.topics))
        if directive.kind == "grant":
            target = self._owner(who)
            if target is None or not tags:
                return relations
            granted = Relation(
                subject=who,
                relation="granted",
                object=target,
                scope=tags,
                valid_from=directive.time,
                valid_to=directive.until,
            )
            return [*relations, granted]
        return [self._narrowed(one, directive, tags) if one.subject == who else one for one in relations]

    def _narrowed(self, one: Relation, directive: Directive, tags: tuple[str, ...]) -> Relation:
        if directive.kind == "restrict" and directive.only and tags:
            return one.model_copy(update={"scope": tags, "valid_to": directive.until or one.valid_to})
        if directive.kind == "revoke" and (not tags or one.scope is None or set(one.scope) <= set(tags)):
            return one.model_copy(update={"valid_to": directive.time})
        if not directive.only and tags and one.scope is not None:
            return one.model_copy(update={"scope": tuple(tag for tag in one.scope if tag not in tags)})
        return one


def meant(stems: set[str]) -> tuple[str, ...]:
    """The declared tags that words of a directive or an access level mean."""
    return tuple(tag for tag, said in _TAGS_MEANT.items() if said & stems)
