"""The walk: from the names of a profile, by every operation that a program has."""

from __future__ import annotations

import collections
import keyword
import random
import signal
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.search import hostile
from tests.search.judge import dict_of, mro_of

SECONDS_OF_CALL = 0.25
MAX_DEPTH = 7
OF_RESULT = 30  # loads from what one operation returns
AT_LEAST = 16  # objects looked at for it, however many attributes they have
MAX_OF_A_KIND = 3
MAX_ITEMS = 60
ENOUGH = 12  # functions of which all attributes are loaded


class Found(NamedTuple):
    """An object or an effect that no program may have, and the expression that gets there."""

    what: str
    how: str

    @property
    def key(self) -> str:
        return self.what


class Out(BaseException):
    """A call has had its time."""


class Step(NamedTuple):
    """An object that the walk has reached."""

    path: str
    value: Any
    depth: int


def in_time(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """The result; Out if it does not return. The alarm is repeated: library code may catch it."""

    def stop(*_: Any) -> None:
        raise Out

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        return function(*args)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Guest:
    """The program of the search, in the policy's hands."""

    def __init__(self, policy: Any, judge: Any, seed: int, allowed: Any = None) -> None:
        self._policy = policy
        self._judge = judge
        self._guards = judge.guards
        self.random = random.Random(seed)
        self.found: list[Found] = []
        self.now = "the start"
        self._known: set[str] = set()
        self._accessors: dict[str, Any] = {}
        self.scope = policy.guest_globals()
        self._hooks = list(sys.modules["belljar_policy"].tables.HOOKS)
        text = "\n".join((hostile.CLASSES, hostile.OPERATIONS))
        self.scope["note"] = self._note
        self.scope["flip"] = self._flip
        self.scope["hooks"] = dict.fromkeys(self._hooks, self._hook)
        self.scope["trap"] = Trap(self)
        self.run(text, allowed)

    def run(self, text: str, allowed: Any = None) -> None:
        compiled = self._policy.compile(text, "search.py", allowed)
        if compiled.findings:
            raise SystemExit("the search's own program: " + "; ".join(map(str, compiled.findings)))
        self.execute(compiled.code)

    def execute(self, code: Any) -> None:
        """Not by exec(), which the audit hook of profiles with packages refuses."""
        self._guards.run_text(code, self.scope, self.scope)

    def _flip(self) -> bool:
        return self.random.random() < 0.5

    def _note(self, value: Any) -> None:
        self.see(value, f"what is passed to the program's object in {self.now}")

    def _hook(self, *args: Any) -> Any:
        caller = sys._getframe(1)
        if any(
            name in names for name in self._hooks for names in (caller.f_locals, caller.f_globals)
        ):
            self.report("code that takes its hooks from the program", self.now)
        return args[0] if args else None

    def report(self, what: str, how: str) -> None:
        if what not in self._known:
            self._known.add(what)
            self.found.append(Found(what, how))

    def see(self, value: Any, path: str) -> bool:
        """Whether a program may hold it; otherwise it is reported."""
        why = self._judge.why(value)
        if why is not None:
            self.report(why, path)
        return why is None

    def made(self, expression: str) -> Any:
        """The value of an expression of the program."""
        accessor = self._accessors.get(expression)
        if accessor is None:
            self.run(f"def accessor(): return {expression}")
            accessor = self._accessors[expression] = self.scope["accessor"]
        return accessor()

    def accessor(self, name: str) -> Any:
        """A function of the program that loads this attribute; None if no program may."""
        key = f".{name}"
        if key not in self._accessors:
            self._accessors[key] = None
            # requests.codes has names that only getattr() can load.
            load = f'getattr(o, "{name}")' if keyword.iskeyword(name) else f"o.{name}"
            compiled = self._policy.compile(f"def accessor(o): return {load}", "search.py")
            if compiled.code is not None:
                self.execute(compiled.code)
                self._accessors[key] = self.scope["accessor"]
        return self._accessors[key]


class Trap:
    """An object of the host's. Whoever loads its canary forwards loads to any object."""

    def __init__(self, guest: Guest) -> None:
        object.__setattr__(self, "_guest", guest)

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        if str.__contains__(name, "canary_name"):
            guest = object.__getattribute__(self, "_guest")
            guest.report(f"a load of {str(name)} that is forwarded to any object", guest.now)
            return 1
        raise AttributeError(name)

    def __setattr__(self, name: str, value: object) -> None:
        """Stores by names of the library's own are State's business: whether anything changes."""
        if str.__contains__(name, "canary_name"):
            guest = object.__getattribute__(self, "_guest")
            guest.report(f"a store of {str(name)} to any object", guest.now)

    __hash__ = object.__hash__


class Walk:
    """First what loads alone reach from the roots; then operations that the seed chooses, on what
    has been reached so far, and what loads reach from their results."""

    def __init__(self, guest: Guest, judge: Any, operations: int) -> None:
        self._guest = guest
        self._judge = judge
        self._left = operations
        self._seen: set[int] = set()
        self._kinds: collections.Counter[Any] = collections.Counter()
        self._reached: list[Step] = []
        self._queue: collections.deque[Step] = collections.deque()
        self.done = 0

    def run(self, roots: dict[str, Any]) -> None:
        self._queue.extend(Step(path, value, 0) for path, value in roots.items())
        rest = self._left // 5
        self._follow_loads(2 * rest)
        functions = [each for each in self._reached if callable(each.value)]
        self._guest.random.shuffle(functions)
        for step in sorted(functions, key=lambda each: each.depth > 0):  # exports first
            if self._left > rest:
                self._with_victims(step)
        pick = self._guest.random
        while self._reached and self._left > 0:
            # Rather what was reached late than one of the first, which every run begins with.
            low = pick.randrange(len(self._reached)) if flipped(pick) else 0
            step = self._reached[pick.randrange(low, len(self._reached))]
            if callable(step.value) and flipped(pick):
                self._queue.extend(self._call(step))
            else:
                self._queue.extend(self._operation(step, pick.choice(_OPERATIONS)))
            self._follow_loads(OF_RESULT)

    def _with_victims(self, step: Step) -> None:
        """Calls it with objects of the library in the place of `self`: it may write to them."""
        for victim in hostile.VICTIMS:
            for more in ((), ("H()",)):
                expressions = (victim, *more)
                path = f"{step.path}({', '.join(expressions)})"
                given = [self._guest.made(each) for each in expressions]
                function = self._guest.scope["op_call"]
                self._queue.extend(self._do(path, step.depth, function, step.value, *given))
                self._follow_loads(OF_RESULT)
                self._look_at_victim(path)

    def _look_at_victim(self, path: str) -> None:
        """State sees every change, at the end; this says which call it was."""
        function = self._guest.made("json.dumps")
        if set(function.__dict__) - {"__wrapped__"}:
            self._guest.report("the function json.dumps has changed", path)

    def _follow_loads(self, operations: int) -> None:
        until = self._left - operations
        looked_at = 0
        while self._queue and self._left > 0 and (self._left > until or looked_at < AT_LEAST):
            looked_at += 1
            step = self._queue.popleft()
            if self._is_new(step):
                self._reached.append(step)  # which also keeps it alive: ids are not reused
                # Deep rather than broad where there is little time for a result.
                following = list(self._loads(step))
                if operations == OF_RESULT:
                    self._queue.extendleft(reversed(following))
                else:
                    self._queue.extend(following)
        self._queue.clear()

    def _is_new(self, step: Step) -> bool:
        value = step.value
        if type(value) in (str, bytes, int, float, bool, type(None), complex):
            return False
        if not self._guest.see(value, step.path) or id(value) in self._seen:
            return False
        if step.depth >= MAX_DEPTH or type(value) is self._judge._proxy:
            return False
        is_named = isinstance(value, type) or hasattr(type(value), "__code__")
        kind = None
        tail = step.path.rpartition(")[0]")[2] if "error_of(" in step.path else ""
        if type(value) in _METHODS_IN_C or type(value).__name__ == "method-wrapper":
            kind = type(value)
        elif tail or isinstance(value, BaseException):
            kind = (type(value), tail)
        elif not is_named:
            kind = (type(value), _without_arguments(step.path))
        if kind is not None:
            self._kinds[kind] += 1
            if self._kinds[kind] > MAX_OF_A_KIND:
                return False
        self._seen.add(id(value))
        return True

    def _do(self, path: str, depth: int, function: Any, *args: Any) -> Iterator[Step]:
        """The result of one operation, or the error."""
        self._left -= 1
        self.done += 1
        self._guest.now = path
        try:
            result = in_time(SECONDS_OF_CALL, function, *args)
        except Out:
            return
        except BaseException as error:
            yield from self._of_error(path, depth, error)
            return
        yield Step(path, result, depth + 1)

    def _of_error(self, path: str, depth: int, error: BaseException) -> Iterator[Step]:
        while error is not None and depth < MAX_DEPTH:
            depth += 1
            place = f"error_of(lambda: {path})[0]"
            yield Step(place, error, depth)
            for name in _OF_ERRORS:
                if self._guest.accessor(name) is not None and hasattr(error, name):
                    value = getattr(error, name)
                    yield Step(f"{place}.{name}", value, depth + 1)
                    for index, each in enumerate(value if type(value) is tuple else ()):
                        yield Step(f"{place}.{name}[{index}]", each, depth + 1)
            error = error.__context__

    def _loads(self, step: Step) -> Iterator[Step]:
        yield Step(f"type({step.path})", type(step.value), step.depth + 1)
        if isinstance(step.value, type):
            yield from self._do(f"vars({step.path})", step.depth, vars_of(self._guest), step.value)
        elif type(step.value) in (list, tuple, dict, set, frozenset, types.MappingProxyType):
            yield from self._items(step)
        yield from self._attributes(step)

    def _items(self, step: Step) -> Iterator[Step]:
        if isinstance(step.value, (dict, types.MappingProxyType)):
            try:
                pairs = list(step.value.items())[:MAX_ITEMS]
            except Exception:  # of a mapping of the program's
                return
            for key, each in (pair for pair in pairs if type(pair) is tuple and len(pair) == 2):
                yield Step(f"{step.path}[{_shown(key)}]", each, step.depth + 1)
        else:
            for index, each in enumerate(list(step.value)[:MAX_ITEMS]):
                yield Step(f"{step.path}[{index}]", each, step.depth + 1)

    def _names(self, value: Any) -> list[str]:
        names: dict[str, None] = {}
        self._kinds[type(value)] += 1
        is_known = type(value) in _FUNCTIONS and self._kinds[type(value)] > ENOUGH
        for cls in () if is_known else mro_of(type(value)):
            names.update(dict.fromkeys(n for n in dict_of(cls) if type(n) is str))
        if isinstance(value, type):
            for cls in mro_of(value):
                names.update(dict.fromkeys(n for n in dict_of(cls) if type(n) is str))
        try:
            own = object.__getattribute__(value, "__dict__")
            names.update(dict.fromkeys(n for n in list(own) if type(n) is str))
        except Exception:
            pass
        return sorted(filter(str.isidentifier, names), key=lambda name: name[:2] == "__")

    def _attributes(self, step: Step) -> Iterator[Step]:
        for name in self._names(step.value):
            accessor = self._guest.accessor(name)
            if accessor is not None:
                yield from self._do(f"{step.path}.{name}", step.depth, accessor, step.value)

    def _argument(self) -> tuple[str, Any]:
        expression = self._guest.random.choice(hostile.ARGUMENTS)
        return expression, self._guest.made(expression)

    def _operation(self, step: Step, name: str) -> Iterator[Step]:
        function = self._guest.scope[name]
        wanted = function.__code__.co_argcount - 1
        given = [self._argument() for _ in range(wanted)]
        texts = "".join(f", {text}" for text, _ in given)
        path = f"{name}({step.path}{texts})"
        yield from self._do(path, step.depth, function, step.value, *(each for _, each in given))

    def _call(self, step: Step) -> Iterator[Step]:
        given = [self._argument() for _ in range(self._guest.random.choice((0, 1, 1, 1, 2, 2, 3)))]
        path = f"{step.path}({', '.join(text for text, _ in given)})"
        function = self._guest.scope["op_call"]
        values = (each for _, each in given)
        yield from self._do(path, step.depth, function, step.value, *values)


_METHODS_IN_C = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType,
)  # fmt: skip
_FUNCTIONS = (types.FunctionType, types.MethodType, *_METHODS_IN_C)


_OF_ERRORS = ("obj", "name", "args", "object", "value")


def _without_arguments(path: str) -> str:
    """`f().g().x` of `f(1).g(h(2)).x`."""
    depth, kept = 0, []
    for each in path.replace("error_of(lambda: ", ""):
        depth -= each == ")"
        if depth == 0:
            kept.append(each)
        depth += each == "("
    return "".join(kept)


def flipped(pick: random.Random) -> bool:
    return pick.random() < 0.5


def vars_of(guest: Guest) -> Any:
    return guest.scope["op_vars"]


_OPERATIONS = tuple(
    line[4:].partition("(")[0]
    for line in hostile.OPERATIONS.splitlines()
    if line.startswith("def op_")
)  # fmt: skip


def _shown(key: Any) -> str:
    return repr(key) if type(key) in (str, int) else "…"
