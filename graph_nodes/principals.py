"""Who reads, and what may be read: the query context, taken from the run's authenticated context or a trusted scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from admission.errors import BoundaryError
from admission.metadata import Provenance
from admission.reading.context import Intent, QueryContext
from admission.reading.rules import owner_of
from admission.reading_settings import ReadingSettings, placeholder
from admission.records import Namespace
from graph_nodes.scope import question_at_hand, running_config

AUTH_USER = "langgraph_auth_user"
# What a LangGraph server itself puts into the run, over whatever a client sent under that name.
_VOUCHED = ("langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions")

_READING: ContextVar[QueryContext | None] = ContextVar("admission_reading_as", default=None)
_INTENT: ContextVar[Intent | None] = ContextVar("admission_intent", default=None)


@contextmanager
def reading_as(context: QueryContext) -> Iterator[None]:
    """Say who reads in this block, and for what: for trusted code outside of a run, or on somebody's behalf.

    It wins over what the run says, so nothing that comes from a model or a client may go into it unchecked. Follows
    the context, as `conversation` does.
    """
    token = _READING.set(context)
    try:
        yield
    finally:
        _READING.reset(token)


@contextmanager
def asking_for(intent: Intent | None) -> Iterator[None]:
    """Say whether the reads of this block ask for what holds now or for what held before; None leaves it as it is. It
    is all that a model may say of a read but the words it searches for."""
    token = _INTENT.set(intent or _INTENT.get())
    try:
        yield
    finally:
        _INTENT.reset(token)


@dataclass(frozen=True)
class Principal:
    """Who reads, as far as the deployment vouches for it, and the namespace that bounds what may be read. `owner`: the
    template that says which part of a namespace names the owner of its records."""

    context: QueryContext
    namespace: Namespace
    sub_namespaces: bool
    owner: tuple[str, ...] | None

    def owns(self, namespace: Namespace) -> bool:
        """Is this the boundary's namespace, or one beneath it that is the principal's too? Label by label: "ana" is no
        prefix of "anastasia"."""
        depth = len(self.namespace)
        return namespace == self.namespace or (self.sub_namespaces and namespace[:depth] == self.namespace)

    def is_owner_of(self, namespace: Namespace) -> bool:
        """Are the records there the principal's own, by the settings' `owner`? What may be read need not be."""
        return self.context.principal is not None and owner_of(namespace, self.owner) == self.context.principal

    def asking(self, query: str) -> QueryContext:
        """The context of one question; without words of its own it is the one of the whole scope."""
        return self.context.model_copy(update={"query": query}) if query else self.context


def principal_at_hand(settings: ReadingSettings) -> Principal:
    """Who reads now: from `reading_as`, else from the running graph's configuration and context.

    Raises `BoundaryError` where no principal or namespace is known, where two sources disagree on one, and where a
    value cannot be part of a namespace.
    """
    explicit = _READING.get()
    if explicit is None:
        context = _context_of_run(settings)
    elif not explicit.namespace:
        raise BoundaryError("namespace", "the reading_as scope names none", "give its QueryContext a namespace")
    else:
        context = explicit.model_copy(
            update={"time": explicit.time or _now(), "intent": _INTENT.get() or explicit.intent}
        )
    namespace = context.namespace or ()
    _check_labels(namespace)
    return Principal(context, namespace, settings.sub_namespaces, settings.owner_template)


def writer_at_hand(settings: ReadingSettings) -> Principal | None:
    """Who writes now, where that bounds what may be written. None where nothing does: writes are `open`, or they are
    `bounded` and made outside of a run or in one that has no principal. With `strict` the writer has to be known, as
    the reader has.

    Raises `BoundaryError` as `principal_at_hand` does: sources that disagree leave nobody free to write.
    """
    if settings.writes == "open":
        return None
    if settings.writes == "bounded" and _READING.get() is None and _Run.at_hand().text(settings.principal) is None:
        return None
    return principal_at_hand(settings)


def _context_of_run(settings: ReadingSettings) -> QueryContext:
    run = _Run.at_hand()
    principal = run.text(settings.principal)
    if principal is None:
        remedy = f"run the graph with it in configurable or context, or read inside reading_as(...); {_WHERE}"
        raise BoundaryError("principal", f"the run has no {settings.principal!r}", remedy)
    asked = question_at_hand() if settings.trace else None
    return QueryContext(
        query=asked.text if asked is not None else "",
        question_id=asked.id if asked is not None else None,
        principal=principal,
        namespace=run.filled(settings.namespace),
        roles=run.texts(settings.roles),
        purpose=run.text(settings.purpose),
        intent=_INTENT.get(),
        time=_now(),
    )


_WHERE = "[reading] in admission.toml says where it is looked for"


def provenance_at_hand(settings: ReadingSettings, thread: str | None) -> Provenance:
    """Where a memory written now comes from, as the run has it. What the run does not say stays None.

    `channel` is the tool or node that runs, with the graph's kind before it; outside of a run nothing is known of it.
    `authenticated` is True only where the writer's name is one that the deployment's own authentication put there, and
    False where somebody else may have; None without a writer.
    """
    run = _Run.at_hand()
    explicit = _READING.get()
    if explicit is not None:
        # Trusted code has said who acts; whether that person was authenticated, it has not.
        return Provenance(written_by=explicit.principal, channel=run.channel, session=thread)
    try:
        writer = run.text(settings.principal)
    except BoundaryError:
        writer = None  # two sources disagree: nobody is known to have written it
    vouched = None if writer is None else run.vouches(settings.principal, writer)
    return Provenance(written_by=writer, channel=run.channel, session=thread, authenticated=vouched)


def _check_labels(namespace: Namespace) -> None:
    """A period would name another namespace in stores that keep them as text, and "*" matches any label there."""
    for label in namespace:
        if not label or "." in label or label == "*":
            raise BoundaryError("namespace", f"{label!r} cannot be part of one", "use ids without periods, and not '*'")


class _Run:
    """What the running graph says about itself, by source: the deployment's authentication, `configurable`, context."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._configurable: Mapping[str, Any] = config.get("configurable") or {}
        runtime = self._configurable.get("__pregel_runtime")
        self._context: object = getattr(runtime, "context", None)

    @classmethod
    def at_hand(cls) -> _Run:
        return cls(running_config())

    @property
    def channel(self) -> str | None:
        if not self._config:
            return None
        node = (self._config.get("metadata") or {}).get("langgraph_node")
        return f"langgraph:{node}" if isinstance(node, str) else "langgraph"

    def text(self, path: str | None) -> str | None:
        """The one text that the run has under a name. Raises `BoundaryError` where its sources disagree."""
        found = {value for value in map(_label, self._values(path)) if value is not None}
        if len(found) > 1:
            remedy = "give it in one place; what the deployment's authentication says cannot be overridden"
            raise BoundaryError(str(path), "the run's sources say different things", remedy)
        return next(iter(found), None)

    def texts(self, path: str | None) -> tuple[str, ...] | None:
        """The texts under a name, as of a list of roles: those that all sources which have it agree on; None where none
        has it."""
        lists = [_labels(value) for value in self._values(path)]
        if not lists:
            return None
        return tuple(value for value in lists[0] if all(value in other for other in lists[1:]))

    def filled(self, template: Sequence[str]) -> Namespace:
        """The principal's namespace: a component `{name}` stands for what the run has there."""
        named = ((component, placeholder(component)) for component in template)
        return tuple(component if name is None else self._part(name) for component, name in named)

    def vouches(self, path: str | None, value: str) -> bool:
        """Did the deployment's own authentication say so?"""
        return value in {_label(found) for found in self._vouched_values(path)}

    def _part(self, path: str) -> str:
        value = self.text(path)
        if value is None:
            raise BoundaryError(path, "the run has none, and the namespace needs it", f"put it there; {_WHERE}")
        return value

    def _values(self, path: str | None) -> list[object]:
        """Every value under this name or dotted path; absent ones are left out."""
        if path is None:
            return []
        plain = [_walked(source, path.split(".")) for source in (self._configurable, self._context)]
        return [value for value in (*self._vouched_values(path), *plain) if value is not None]

    def _vouched_values(self, path: str | None) -> list[object]:
        if path is None:
            return []
        first, *rest = path.split(".")
        if first in _VOUCHED:
            return [value for value in [_walked(self._configurable, [first, *rest])] if value is not None]
        user = self._configurable.get(AUTH_USER)
        return [value for value in [_walked(user, [first, *rest])] if value is not None]


def _walked(source: object, names: Sequence[str]) -> object:
    """What is found under these names, one after another; None where there is nothing."""
    for name in names:
        if isinstance(source, Mapping):
            source = source.get(name)
        elif source is not None and not name.startswith("_"):
            source = getattr(source, name, None)
        else:
            return None
    return source


def _label(value: object) -> str | None:
    """A name or number as text; anything else names nobody."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


def _labels(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    parts = value if isinstance(value, list | tuple | set | frozenset) else ()
    return tuple(sorted({text for text in map(_label, parts) if text is not None}))


def _now() -> str:
    return datetime.now(UTC).isoformat()
