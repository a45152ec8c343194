"""What a graph can get at: a walk over nodes, tools, closures, globals, attributes and classes, with paths."""

from __future__ import annotations

import dis
import functools
import queue
import sys
import threading
import types
import weakref
from collections import UserList, deque
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore

from admission.errors import InputError

_MOST_OBJECTS = 100_000
# Ours judge what passes through them: what they hold is behind the gate. The others hold machinery, not memory.
_NOT_ENTERED = frozenset(
    {"graph_nodes", "admission", "prompts", "pydantic", "pydantic_core", "langsmith", "httpx", "openai", "anthropic"}
    | {"torch", "transformers", "numpy", "sqlalchemy", "psycopg", "aiosqlite", "opentelemetry"}
)
# Their functions' globals are their own machinery; closures and attributes are what users gave them.
_LIBRARIES = frozenset({"langgraph", "langchain", "langchain_core", "langmem", "langsmith", "deepagents", "pydantic"})
_AGENT_FACTORY = "langchain.agents.factory"
_STANDARD = sys.stdlib_module_names - {"__main__"}
_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None))
# The methods of installed packages' classes are machinery too, and lead to far too much to look through.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_CALLED_BY_LIBRARIES = frozenset({"_run", "_arun", "invoke", "ainvoke"})
# Not followed: that is where a raw store gets its guard.
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__"})
_NOT_LOOKED_INTO = (BaseStore, BaseCheckpointSaver)
_READ_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
# With one of these code reads what a text names: `globals()["raw"]`, `getattr(holder, "kept")`.
_READ_BY_TEXT = frozenset({"globals", "getattr", "vars", "attrgetter", "__dict__"})


@dataclass(frozen=True)
class Found:
    """A thing, the path to it, and the function that holds it (its module, name, and the names its code uses).
    `if_named`: it is an attribute of a class, of use to code that names it so."""

    thing: Any
    where: str
    holder_module: str = ""
    holder_name: str = ""
    holder_names: frozenset[str] = frozenset()
    if_named: str = ""


def is_a(thing: object, dotted: str) -> bool:
    """Is it an instance of the class of this full name? Asks without importing it."""
    return any(f"{cls.__module__}.{cls.__qualname__}" == dotted for cls in type(thing).__mro__)


def names_used(thing: object) -> frozenset[str]:
    """The names that a function of the user's own uses; none for anything else."""
    return _names(thing.__code__) if isinstance(thing, types.FunctionType) and _own(thing) else frozenset()


def reachable(graph: Pregel[Any, Any, Any, Any]) -> Iterator[Found]:
    """Everything reachable from a graph, each thing once. What a guard of ours holds is not entered.

    Raises `InputError` where there is too much to look through: then nothing could be said for sure.
    """
    waiting = deque([Found(graph, "graph")])  # the nearest first, so that each thing has its shortest path
    seen: dict[int, object] = {}
    named = set(_CALLED_BY_LIBRARIES)
    unnamed: dict[str, list[Found]] = {}
    while waiting:
        found = waiting.popleft()
        if isinstance(found.thing, _PLAIN) or id(found.thing) in seen:
            continue
        seen[id(found.thing)] = found.thing  # kept, so that no other thing gets its id
        if len(seen) > _MOST_OBJECTS:
            remedy = f"keep data out of closures and attributes (the last looked at was {found.where})"
            raise InputError("graph", f"holds more than {_MOST_OBJECTS} objects", remedy)
        yield found
        for name in names_used(found.thing) - named:
            named.add(name)
            waiting.extend(unnamed.pop(name, ()))
        for part in _inside(found):
            if part.if_named and part.if_named not in named:
                unnamed.setdefault(part.if_named, []).append(part)
            else:
                waiting.append(part)


def _inside(found: Found) -> Iterator[Found]:
    thing, where = found.thing, found.where
    if isinstance(thing, Pregel):
        for name, node in thing.nodes.items():
            yield Found(node, f"{where} > node {name}")
    elif isinstance(thing, ToolNode):
        yield from _tools(thing, where)
    elif isinstance(thing, types.FunctionType):
        yield from _function(thing, where)
    elif isinstance(thing, type):
        for name, part in _class_attributes(thing):
            yield Found(part, f"{where}.{name}", if_named="" if name.startswith("__") else name)
    else:
        for place, part in _parts(thing):
            yield Found(part, f"{where}{place}")


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing is made of, each with the end of its path."""
    if isinstance(thing, types.MethodType):
        yield "", thing.__func__
        yield ".__self__", thing.__self__
    elif isinstance(thing, functools.partial):
        yield "", thing.func
        yield from ((f" > argument {n}", part) for n, part in enumerate((*thing.args, *thing.keywords.values())))
    elif isinstance(thing, staticmethod | classmethod | functools._lru_cache_wrapper):
        yield "", thing.__wrapped__
    elif isinstance(thing, property):
        yield "", thing.fget
    elif isinstance(thing, Mapping):
        yield from ((f"[{key!r}]", part) for key, part in list(thing.items()))
    elif isinstance(thing, ContextVar):
        yield ".get()", thing.get(None)  # as it is here and now; another context may have another
    elif isinstance(thing, weakref.ref):
        yield "()", thing()
    elif isinstance(thing, queue.Queue):
        yield "", thing.queue
    elif isinstance(thing, list | tuple | set | frozenset | deque | UserList):
        yield from ((f"[{n}]", part) for n, part in enumerate(thing))
    elif isinstance(thing, types.SimpleNamespace | threading.local) or _entered(thing):
        yield from ((f".{name}", part) for name, part in _attributes(thing))
        yield "", type(thing)


def _entered(thing: object) -> bool:
    top = type(thing).__module__.partition(".")[0]
    return top not in _NOT_ENTERED | _STANDARD and not isinstance(thing, (*_NOT_LOOKED_INTO, types.ModuleType))


def _tools(node: ToolNode, where: str) -> Iterator[Found]:
    """The tools, but for those whose writes a middleware around them judges."""
    watched: set[str] = set()
    for wrapper in (node._wrap_tool_call, node._awrap_tool_call):
        for found in _walk_functions(Found(wrapper, where)):
            if is_a(found.thing, "graph_nodes.middleware.AdmissionMiddleware"):
                watched |= set(found.thing.watched)
        yield Found(wrapper, f"{where} > wrap_tool_call")
    for name, tool in node.tools_by_name.items():
        if name not in watched:
            yield Found(tool, f"{where} > tool {name}")


def _walk_functions(start: Found) -> Iterator[Found]:
    """What is reached from a function over functions, bound methods and partials alone."""
    waiting, seen = [start], {0}
    while waiting:
        found = waiting.pop()
        if id(found.thing) in seen:
            continue
        seen.add(id(found.thing))
        yield found
        if isinstance(found.thing, types.FunctionType | types.MethodType | functools.partial | list | tuple):
            waiting.extend(_inside(found))


def _function(function: types.FunctionType, where: str) -> Iterator[Found]:
    """What a function closes over, has as defaults and, if it is the user's own, names among the globals."""
    names = _names(function.__code__)

    def held(thing: Any, place: str) -> Found:
        return Found(thing, f"{where} > {place}", function.__module__ or "", function.__name__, names)

    for name, thing in _closure(function):
        # The model's node lists the agent's tools only to name them to the model; they run in its ToolNode.
        if function.__module__ != _AGENT_FACTORY or not isinstance(thing, list):
            yield held(thing, name)
    for place, default in enumerate((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())):
        yield held(default, f"default {place}")
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield held(wrapped, "wrapped")
    if not _own(function):
        return
    for module, name, thing in _imported(function):
        yield held(thing, f"{module}.{name}")
    read = _global_names(function.__code__) | (names if "globals" in names else frozenset())
    for name in sorted(read & function.__globals__.keys()):
        thing = function.__globals__[name]
        if isinstance(thing, types.ModuleType):
            for inner in sorted(names & vars(thing).keys()) if _users(thing.__name__) else ():
                yield held(vars(thing)[inner], f"{name}.{inner}")
        else:
            yield held(thing, name)


def _closure(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue  # the variable has no value yet


def _own(function: types.FunctionType) -> bool:
    return _users(function.__module__ or "")


def _imported(function: types.FunctionType) -> Iterator[tuple[str, str, Any]]:
    """What a function imports while it runs from the user's own modules, as far as these are loaded: (module, name,
    thing). Of a module imported whole, what the function names."""
    names = _names(function.__code__)
    package = function.__globals__.get("__package__") or ""
    for part in _codes(function.__code__):
        steps = list(dis.get_instructions(part))
        for place, step in enumerate(steps):
            if step.opname != "IMPORT_NAME":
                continue
            level = next((s.argval for s in reversed(steps[:place]) if isinstance(s.argval, int)), 0)
            full = _absolute(step.argval, package, level)
            loaded = sys.modules.get(full)
            if loaded is not None and _users(full) and not _installed(full):
                yield from ((full, name, vars(loaded)[name]) for name in sorted(names & vars(loaded).keys()))


def _absolute(module: str, package: str, level: int) -> str:
    """The full name of a module that is imported relative to a package, `level` dots up; 0: it is full already."""
    if not level:
        return module
    above = package.rsplit(".", level - 1)[0]
    return f"{above}.{module}" if module else above


def _names(code: types.CodeType) -> frozenset[str]:
    """The global and attribute names that code uses, in the functions it defines too; texts, where it reads by them."""
    names = frozenset(name for part in _codes(code) for name in part.co_names)
    if _READ_BY_TEXT.isdisjoint(names):
        return names
    return names | {text for part in _codes(code) for text in _texts(part.co_consts)}


def _texts(constants: tuple[object, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _global_names(code: types.CodeType) -> set[str]:
    """The globals that code reads: of `runtime.store`, `runtime`, and no global `store`."""
    steps = (step for part in _codes(code) for step in dis.get_instructions(part))
    return {step.argval for step in steps if step.opname in _READ_GLOBALS}


def _users(module: str) -> bool:
    """Is a module the user's own code, as far as its name tells?"""
    return module.partition(".")[0] not in _LIBRARIES | _NOT_ENTERED | _STANDARD


def _attributes(thing: object) -> Iterator[tuple[str, Any]]:
    """Instance attributes: of plain, slotted and pydantic objects, without running any property."""
    yield from list(getattr(thing, "__dict__", {}).items())
    yield from list((getattr(thing, "__pydantic_private__", None) or {}).items())
    for cls in type(thing).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__", "__pydantic_private__") and hasattr(thing, name):
                yield name, getattr(thing, name)


def _class_attributes(cls: type) -> Iterator[tuple[str, Any]]:
    """What one of the user's own classes holds, methods too, and the classes it is made from."""
    if issubclass(cls, _NOT_LOOKED_INTO):
        return
    for part in cls.__mro__:
        if _users(part.__module__) and not _installed(part.__module__):
            for name, thing in list(vars(part).items()):
                special = name.startswith("__")  # the language calls these, whatever the code names
                if not special or (isinstance(thing, types.FunctionType) and name not in _CONSTRUCTORS):
                    yield name, thing


def _installed(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and not _INSTALLED.isdisjoint(Path(file).parts)
