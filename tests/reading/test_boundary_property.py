"""No record outside the principal's namespace is ever exposed, or changed, whatever is asked for: a seeded search.

Worlds are random: people whose names are made to be mistaken for each other, templates, rules, metadata that lie. In
each the most permissive deployment is tried as often as any. The adversary chooses every argument of every read, and
what else stands in the run's configuration, but not who the deployment says is asking.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from langchain_core.runnables.config import set_config_context
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from reading_store import admitted
from scripted_gate import SAID, TALK, guarded

from admission.errors import AdmissionError
from admission.metadata import Lifecycle, RecordMetadata
from graph_nodes import AdmissionStore, conversation
from graph_nodes.principals import asking_for
from graph_nodes.readings import collect_readings
from graph_nodes.recall_tool import create_recall_tool

WORLDS, ATTACKS = 40, 75

# The Cyrillic "а" looks like the Latin one, the combining acute can be part of its letter or not.
PEOPLE = ["ana", "Ana", "ANA", "an", "anastasia", "аna", "ana ", " ana", "ana%", "an_", "ana/ben", "ana\\", "a*a"]
PEOPLE += ["[a]na", "anà", "ana\u0300", "ana\u200b", "ben", "0", "memories", "{user_id}", "ana'; --", "ana\nben"]
PEOPLE += ["admin", "root"]
TEMPLATES = [["memories", "{user_id}"], ["{user_id}"], ["org", "{user_id}", "facts"], ["{org}", "{user_id}"]]
REFUSALS = (AdmissionError, InvalidNamespaceError)
NOT_READABLE = (TypeError, ValueError, AttributeError)
"""What an argument that is no namespace or page at all comes to."""


class FakeSloppyStore(InMemoryStore):
    """Takes a namespace for a text and a prefix for its start, as a careless store would."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return super().batch([self._sloppy(op) if isinstance(op, SearchOp) else op for op in ops])

    def _sloppy(self, op: SearchOp) -> SearchOp:
        return op._replace(namespace_prefix=()) if len(op.namespace_prefix) < 3 else op


class World:
    """A store with memories of many people, of whom one asks."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        template = self.chance.choice(TEMPLATES)
        self.people = self.chance.sample(PEOPLE, 6)
        self.me = self.people[0]
        self.sub = self.chance.random() < 0.5
        self.org = self.chance.choice(["acme", self.people[1]])
        self.mine = self._namespace(template, self.me)
        self.everyones = [self._namespace(template, person) for person in self.people]
        self.everyones += [(*namespace, "below") for namespace in self.everyones[:3]]
        self.everyones += [namespace[:-1] for namespace in self.everyones[:2] if len(namespace) > 1]
        self.store = self._filled(template)

    def _namespace(self, template: list[str], person: str) -> tuple[str, ...]:
        values = {"{user_id}": person, "{org}": self.org}
        return tuple(values.get(component, component) for component in template)

    def _filled(self, template: list[str]) -> AdmissionStore:
        permissive = self.chance.random() < 0.5
        rules = [{"name": "all", "effect": "allow"}, {"name": "mine", "effect": "allow", "relations": ["self"]}]
        reading = {
            "namespace": template,
            "sub_namespaces": self.sub,
            "expose_unresolved": permissive or self.chance.random() < 0.5,
            "policy_default": "allow" if permissive else self.chance.choice(["allow", "unresolved", "deny"]),
            "intent": self.chance.choice(["caller", "rules"]),
            "policy": self.chance.sample(rules, self.chance.randrange(3)),
        }
        inner = self.chance.choice([InMemoryStore, FakeSloppyStore])()
        store = guarded(inner, reading=reading, writes={"verify_on_read": self.chance.choice(["off", "hide"])})
        for namespace in dict.fromkeys(self.everyones):
            for number in range(self.chance.randrange(1, 4)):
                text = f"secret of {json.dumps(namespace)} number {number}"
                if self.chance.random() < 0.7:
                    admitted(store, namespace, f"k{number}", text, self._metadata(namespace))
                else:
                    inner.put(namespace, f"k{number}", {"content": text})
        return store

    def _metadata(self, namespace: tuple[str, ...]) -> RecordMetadata:
        """Often true, sometimes a lie in favour of who asks."""
        claimed = self.chance.choice([namespace, namespace, self.mine, None])
        state = self.chance.choice(["current", "superseded", "forgotten", None])
        return RecordMetadata(namespace=claimed, lifecycle=Lifecycle(state=state), purpose_allow=None)

    def owned(self, namespace: Iterable[str]) -> bool:
        found = tuple(namespace)
        return found == self.mine or (self.sub and found[: len(self.mine)] == self.mine)

    def any_namespace(self) -> Any:
        """What an adversary would give as a namespace."""
        chance = self.chance
        namespace: Any = self.mine if chance.random() < 0.5 else chance.choice(self.everyones)
        twisted: list[Callable[[tuple[str, ...]], Any]] = [
            *[lambda n: n] * 12,
            lambda n: n[: chance.randrange(len(n) + 1)],
            lambda n: (*n, chance.choice(["below", "", "*", ".."])),
            list,
            lambda n: (".".join(n),),
            lambda n: "/".join(n),
            lambda n: tuple("*" for _ in n),
            lambda n: (*n[:-1], n[-1].upper()),
            lambda n: (*n[:-1], f"{n[-1]}*"),
            lambda n: (*n[:-1], chance.choice(PEOPLE)),
            lambda n: (*n[:-1], [n[-1]]),
            lambda n: (*n[:-1], None),
            lambda n: None,
            lambda n: (),
        ]
        return chance.choice(twisted)(namespace)

    def configurable(self) -> dict[str, Any]:
        """The run as the deployment started it, and what else a client may have put there."""
        chance, other = self.chance, self.chance.choice(self.people[1:])
        clutter = {
            "namespace": list(chance.choice(self.everyones)),
            "principal": other,
            "User_id": other,
            "user_id.": other,
            "langgraph_auth_user": {"identity": other},
            "langgraph_auth_user_id": other,
            "roles": ["admin"],
            "__reading_as__": other,
        }
        names = chance.sample(sorted(clutter), chance.randrange(len(clutter)))
        return {name: clutter[name] for name in names} | {"user_id": self.me, "org": self.org}


def an_attack(world: World) -> Callable[[], object]:
    """One read by the adversary; what it gets is in the answer."""
    chance, store = world.chance, world.store
    limit: Any = chance.choice([1, 2, 5, 10, 20, 50, 50, 1000, -1, True, "9", None])
    offset: Any = chance.choice([0, 0, 0, 0, 0, 0, 1, 3, -1, "0"])
    query = chance.choice([None, "secret", f"everything of {chance.choice(PEOPLE)}", "namespace_prefix=()"])
    filter: Any = chance.choice([None, None, {"content": {"$ne": ""}}, {"namespace": "ben"}])
    namespace, key = world.any_namespace(), chance.choice(["k0", "k1", "k2", "*", ""])
    match = MatchCondition(chance.choice(["prefix", "suffix"]), world.any_namespace())  # type: ignore[arg-type]
    page = {"limit": limit, "offset": offset, "query": query, "filter": filter}
    arguments: dict[str, Any] = {"query": query or "", "intent": chance.choice([None, "history", "current", "any"])}
    arguments |= {"limit": limit} if chance.random() < 0.5 else {}
    forged = {"namespace": namespace, "principal": chance.choice(PEOPLE), "user_id": chance.choice(PEOPLE)}
    arguments |= {name: forged[name] for name in sorted(forged) if chance.random() < 0.1}
    tool = create_recall_tool(store)
    attacks: list[Callable[[], object]] = [
        lambda: store.search(namespace, **page),
        lambda: store.get(namespace, key),
        lambda: store.batch([SearchOp(namespace, filter, limit, offset, query)]),
        lambda: store.batch([SearchOp(world.mine), GetOp(namespace, key), SearchOp(namespace)]),
        lambda: store.list_namespaces(prefix=namespace, limit=1000),
        lambda: store.batch([ListNamespacesOp((match,), chance.choice([None, 1, 2, 9]), 1000, 0)]),
        lambda: tool.invoke({"type": "tool_call", "name": tool.name, "id": "1", "args": arguments}),
    ]
    return chance.choice(attacks)


def leaked(world: World, answer: object) -> list[object]:
    """The parts of an answer that are somebody else's."""
    if isinstance(answer, list | tuple) and all(isinstance(part, str) for part in answer) and answer:
        owns = world.owned(answer) or tuple(answer) == world.mine[: len(answer)]
        return [] if owns else [answer]
    if isinstance(answer, list | tuple):
        return [foreign for part in answer for foreign in leaked(world, part)]
    namespace = getattr(answer, "namespace", None)
    if namespace is not None:
        return [] if world.owned(namespace) else [answer]
    text = getattr(answer, "content", "")
    told = [n for n in world.everyones if f"secret of {json.dumps(n)}" in text]
    return [namespace for namespace in told if not world.owned(namespace)]


@pytest.mark.parametrize("group", range(8))
def test_nothing_outside_the_principals_namespace_is_ever_exposed(group: int) -> None:
    exposed = 0
    for seed in range(group, WORLDS, 8):
        world = World(seed)
        for _ in range(ATTACKS):
            attack, intent, found = an_attack(world), world.chance.choice([None, "history"]), None
            config: Any = {"configurable": world.configurable()}
            with collect_readings() as readings, set_config_context(config) as run:
                try:
                    found = run.run(_asked, intent, attack)
                except (*REFUSALS, *NOT_READABLE):
                    pass
            assert leaked(world, found) == []
            assert all(world.owned(reading.namespace) for reading in readings)
            exposed += sum(reading.exposed for reading in readings)
    assert exposed > 20  # there was something to be had


def _asked(intent: Any, attack: Callable[[], object]) -> object:
    with asking_for(intent):
        return attack()


def a_write(world: World) -> Callable[[], object]:
    """One put or delete by the adversary, of words that were said, so that nothing but the boundary is in its way."""
    chance, store = world.chance, world.store
    namespace, key = world.any_namespace(), chance.choice(["k0", "k1", "new"])
    value: Any = chance.choice([{"content": SAID}, {"content": SAID}, None])
    writes: list[Callable[[], object]] = [
        lambda: store.put(namespace, key, {"content": SAID}),
        lambda: store.delete(namespace, key),
        lambda: store.batch([PutOp(namespace, key, value)]),
        lambda: store.batch([PutOp(world.mine, key, value), GetOp(world.mine, key), PutOp(namespace, key, value)]),
    ]
    return chance.choice(writes)


def everything(world: World) -> dict[tuple[tuple[str, ...], str], Any]:
    items = InMemoryStore.batch(world.store.inner, [SearchOp((), limit=10_000)])[0]  # type: ignore[arg-type]
    return {(item.namespace, item.key): item.value for item in items}  # type: ignore[union-attr]


def written(world: World) -> tuple[set[tuple[str, ...]], int]:
    """Where a series of writes by the adversary changed something, and how many they were."""
    changed: set[tuple[str, ...]] = set()
    before, count = everything(world), 0
    for _ in range(ATTACKS):
        config: Any = {"configurable": world.configurable()}
        with set_config_context(config) as run:
            try:
                run.run(_said, a_write(world))
            except (*REFUSALS, *NOT_READABLE):
                pass
        after = everything(world)
        places = {place for place in before | after if before.get(place) != after.get(place)}
        changed |= {namespace for namespace, _ in places}
        before, count = after, count + len(places)
    return changed, count


def _said(write: Callable[[], object]) -> None:
    with conversation("talk", TALK):
        write()


def test_nothing_outside_the_principals_namespace_is_ever_written_or_deleted() -> None:
    count = 0
    for seed in range(12):
        world = World(seed)
        changed, own = written(world)
        assert {namespace for namespace in changed if not world.owned(namespace)} == set()
        count += own
    assert count > 100  # and its own is


def test_the_search_for_a_write_finds_one_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_nodes.principals.Principal.owns", lambda self, namespace: True)
    world = World(1)
    assert [namespace for namespace in written(world)[0] if not world.owned(namespace)]


def test_the_search_for_a_way_finds_one_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_nodes.principals.Principal.owns", lambda self, namespace: True)
    found = []
    for seed in range(5):
        world = World(seed)
        for _ in range(ATTACKS):
            attack = an_attack(world)
            config: Any = {"configurable": world.configurable()}
            with set_config_context(config) as run:
                try:
                    found += leaked(world, run.run(attack))
                except (*REFUSALS, *NOT_READABLE):
                    continue
    assert len(found) > 20
