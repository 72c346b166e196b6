"""Walks public attributes from every name that a profile exports, and reports what it found.

Runs in the interpreter whose surface is examined: tools/surface.py starts it for the build,
tests/policy/test_exports.py with the real guards. Prints one JSON object:

    python      this interpreter's version
    modules     {module: its public names}, for the real modules
    public      {module: names meant by `exports = "public"`}
    open        packages that the policy does not contain
    reachable   qualified names of the found classes and their public attributes, sorted
    leaks       paths that lead to a module, a namespace, a code object or a way to files
    seen        number of walked objects

Without --guards a stand-in replaces the native guards: nothing has to be built, and what native
loads can reach does not depend on them.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import contextlib
import importlib
import io
import json
import os
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from profile_document import exports_path, read_exports, read_profile  # noqa: E402

MAX_DEPTH = 8
MAX_ITEMS = 500  # per container: html.entities.html5 is longer, but contains only text

OUTSIDE = {
    id(open): "open", id(eval): "eval", id(exec): "exec", id(compile): "compile",
    id(__import__): "__import__", id(globals): "globals", id(locals): "locals",
    id(vars(builtins)): "the builtins", id(os.environ): "os.environ",
    id(sys.modules): "sys.modules",
}  # fmt: skip
OUTSIDE_TYPES = (types.ModuleType, types.CodeType, types.FrameType, types.TracebackType)
OUTSIDE_CLASSES = frozenset({"FileIO", "BuiltinImporter", "Popen"})
OUTSIDE_FUNCTIONS = frozenset({
    "posix", "os", "subprocess", "importlib", "importlib._bootstrap", "_io", "io",
})  # fmt: skip

RUN_AS_GUEST = frozenset({"unittest.mock"})

UNTOUCHED = frozenset({"__import__", "__build_class__"})
"""Builtins in a guest's namespace under names that it cannot load."""


class StandIn(types.ModuleType):
    """_belljar_guards without the guarding: enough to build a Policy and for compile() to work.

    Unknown functions do nothing.
    """

    class Proxy:
        """Like guards.Proxy, but open to the walker."""

        __module__, __qualname__ = "builtins", "module"

        def __init__(self, name: str, doc: Any, exports: dict, live: Any = None, *_: Any) -> None:
            self.__dict__ |= {"@name": name, "@live": dict(live or {}), **exports}

        def __getattr__(self, name: str) -> Any:
            live = self.__dict__["@live"]
            if name in live:
                return live[name]()
            raise AttributeError(name)

    class Hiding:
        """Like guards.Hiding."""

    def __init__(self) -> None:
        super().__init__("_belljar_guards")
        self.modules: dict[str, Any] = {}
        self.is_guest_class = self.is_guest_function = is_guests
        self.private = self.dunder = self.write = lambda target: target
        for name in ("getattr", "setattr", "hasattr", "delattr", "vars", "dir"):
            setattr(self, name, getattr(builtins, name))
        self.attrgetter = importlib.import_module("operator").attrgetter
        self.methodcaller = importlib.import_module("operator").methodcaller

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None

    @staticmethod
    def hide(cls: type, contents: Any) -> Any:
        made = object.__new__(cls)
        made.contents = contents
        return made

    @staticmethod
    def hidden(cls: type, made: Any) -> Any:
        return made.contents

    def configure(self, settings: dict[str, Any]) -> None:
        self.modules = settings["modules"]
        self.internal = settings["internal_modules"]

    def load(self, function: Any) -> None:
        function()

    def run_text(self, code: Any, names: dict[str, Any], local_names: dict[str, Any]) -> None:
        exec(code, names, local_names)

    def library_class(
        self, name: str, bases: tuple[type, ...], names: Any, meta: Any = type, **more: Any
    ) -> type:
        return meta(name, bases, names, **more)

    def export_names(self, proxy: Any) -> list[str]:
        return [name for name in vars(proxy) if name[0] != "@"] + list(vars(proxy)["@live"])

    def import_module(self, name: str, *rest: Any) -> Any:
        fromlist = rest[2] if len(rest) > 2 else None
        if type(fromlist) is list and name in self.internal:  # C code asks
            return importlib.import_module(name)
        return self.modules[name if fromlist else name.partition(".")[0]]


def allow_files() -> None:
    """For profiles with files: open() and FileIO open only by path (guards/files.cc)."""
    global OUTSIDE_CLASSES, given_functions
    del OUTSIDE[id(open)]
    OUTSIDE_CLASSES -= {"FileIO"}
    given_functions = (open,)


given_functions: tuple[object, ...] = ()


def why_outside(value: object) -> str | None:
    """What kind of object `value` is, if no guest may ever access it."""
    if any(value is given for given in given_functions):
        return None
    if type(value) in OUTSIDE_TYPES:
        return type(value).__name__
    if id(value) in OUTSIDE:
        return OUTSIDE[id(value)]
    module = None
    if type(value) is types.BuiltinFunctionType:
        module = value.__module__
    elif type(value) is types.FunctionType:
        # From its globals: a replacement for a library function claims the library's module.
        module = value.__globals__.get("__name__")
    if module in OUTSIDE_FUNCTIONS:
        return f"a function of {module}"
    if isinstance(value, type) and value.__name__ in OUTSIDE_CLASSES:
        made = getattr(value.__init__, "__globals__", {}).get("__name__", "")
        return None if made.startswith("belljar_policy.library.") else value.__name__
    return None


def runs_as_guest(value: object) -> bool:
    """Whether it is of library code that the policy runs as the program's own, whose attributes
    are those that a program can make itself."""
    is_named = issubclass(type(value), type) or type(value) is types.FunctionType
    return getattr(value if is_named else type(value), "__module__", None) in RUN_AS_GUEST


class Walk:
    """A breadth-first walk, so that reported paths are the shortest."""

    def __init__(
        self,
        refused: frozenset[str],
        followed: frozenset[str],
        proxy: type,
        open_packages: frozenset[str] = frozenset(),
    ) -> None:
        self._open_packages = open_packages
        self._refused = refused  # public names that the policy always refuses
        self._followed = (
            followed  # names with underscores that are loaded natively and are not methods
        )
        self._proxy = proxy
        self._seen: dict[int, object] = {}  # also keeps them alive: ids could be reused otherwise
        self._classes: set[type] = set()
        self.reachable: set[str] = set()
        self.leaks: list[str] = []

    @property
    def count(self) -> int:
        return len(self._seen)

    def run(self, roots: dict[str, object]) -> None:
        queue = collections.deque((name, value, 0) for name, value in roots.items())
        while queue:
            path, value, depth = queue.popleft()
            reason = why_outside(value)
            if reason is not None:
                self.leaks.append(f"{path}: {reason}")
                continue
            if is_open(value, self._open_packages) or runs_as_guest(value):
                continue
            if id(value) in self._seen or type(value) in (str, bytes, int, float):
                self._note_class(type(value))
                continue
            if depth >= MAX_DEPTH or type(value) is self._proxy:  # its exports are roots
                continue
            self._seen[id(value)] = value
            self._note(value)
            queue.extend((path + step, item, depth + 1) for step, item in self._next_to(value))

    def _next_to(self, value: object) -> Iterator[tuple[str, object]]:
        """Objects that native loads and plain iteration reach from here."""
        for name in dir(value):
            if name in self._refused or (name[0] == "_" and name not in self._followed):
                continue
            try:
                yield f".{name}", getattr(value, name)
            except Exception:
                continue
        yield " type", type(value)
        if isinstance(value, type):
            return
        if type(value) in (dict, types.MappingProxyType) and len(value) < MAX_ITEMS:
            for key, item in value.items():
                yield f"[{key!r}]", item
        elif type(value) in (list, tuple, set, frozenset) and len(value) < MAX_ITEMS:
            for index, item in enumerate(value):
                yield f"[{index}]", item

    def _note(self, value: object) -> None:
        """Records the names of one object, each for the class that defines it."""
        cls = value if isinstance(value, type) else type(value)
        self._note_class(cls)
        inherited = {name for base in type.mro(cls) for name in vars(base)}
        if isinstance(value, type):
            owner = qualified(cls)
        elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            owner = qualified(value)
        else:
            owner = f"{qualified(cls)}()"
        own = set(dir(value)) - inherited
        # list[int] and similar types forward attributes to `list`, where those names are recorded.
        own -= set(dir(getattr(value, "__origin__", None)))
        self.note_names(owner, own)

    def _note_class(self, cls: type) -> None:
        for base in type.mro(cls) if cls is not type else (type, object):
            if base not in self._classes:
                self._classes.add(base)
                if not is_guests(base):
                    self.reachable.add(qualified(base))
                self.note_names(qualified(base), set(vars(base)))

    def note_names(self, owner: str, names: set[str]) -> None:
        if not owner.startswith("__main__."):
            self.reachable.update(
                f"{owner}.{name}" for name in names - self._refused if name[0] != "_"
            )


def is_open(value: Any, open_packages: frozenset[str]) -> bool:
    """Whether it is from a package that the policy does not contain: its names are not listed."""
    for made in (value, type(value)):
        module = getattr(made, "__module__", None)
        if type(module) is str and module.partition(".")[0] in open_packages:
            return True
    return False


def is_guests(made: Any) -> bool:
    return getattr(made, "__module__", None) == "__main__"


def qualified(thing: Any) -> str:
    """Module and name of a class or function; without the module for builtins."""
    module = getattr(thing, "__module__", None)
    name = thing.__qualname__
    return name if module in ("builtins", None) or type(module) is not str else f"{module}.{name}"


def samples_of(exports: dict[str, object]) -> dict[str, object]:
    """An instance of each exported class that needs no arguments."""
    made = {}
    for name, value in exports.items():
        if isinstance(value, type) and not issubclass(value, type):
            try:
                made[f"{name}()"] = value()
            except BaseException:
                continue
    return made


def public_names(module: types.ModuleType) -> list[str]:
    return sorted(name for name in vars(module) if name[0] != "_")


def is_own(value: object, module: types.ModuleType) -> bool:
    """Whether it is not a module, and not a function or class of another package."""
    if isinstance(value, types.ModuleType):
        return False
    made_in = getattr(value, "__module__", None)
    if not isinstance(made_in, str) or not (callable(value) or isinstance(value, type)):
        return True
    return made_in.partition(".")[0] == module.__name__.partition(".")[0]


def is_given(value: object, module: types.ModuleType, given: set[str]) -> bool:
    """A module of the profile under an alias; submodules of `module` are exported anyway."""
    return (
        isinstance(value, types.ModuleType)
        and value.__name__ in given
        and value.__name__.rpartition(".")[0] != module.__name__
        and not f"{module.__name__}.".startswith(f"{value.__name__}.")
        and value.__name__.startswith(f"{module.__name__.partition('.')[0]}.")
    )


def names_meant_by_public(module: types.ModuleType, given: set[str]) -> list[str]:
    """The module's own names: `__all__`, or what it defines under a public name; modules only if
    they are in `given`; and the version of a package.
    """
    listed = getattr(module, "__all__", None)
    version = "__version__"
    is_package = "." not in module.__name__ and isinstance(getattr(module, version, None), str)
    if listed is None:
        return ([version] if is_package else []) + [
            name
            for name, value in sorted(vars(module).items())
            if name[0] != "_" and (is_own(value, module) or is_given(value, module, given))
        ]
    found = [version] if is_package else []
    for name in set(listed) - {version}:
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):  # scikit-learn: experimental names
            continue
        is_module = isinstance(value, types.ModuleType)
        if name[0] != "_" and (not is_module or is_given(value, module, given)):
            found.append(name)
    return sorted(found)


def forget_exports(profile: dict[str, Any], path: Path) -> None:
    """Removes the recorded names, which may not exist in another version of a package."""
    for name in read_exports(exports_path(path)):
        profile["modules"][name]["exports"] = []


def real_modules(profile: dict[str, Any]) -> dict[str, types.ModuleType]:
    found = {}
    for name, entry in profile.get("modules", {}).items():
        if not entry.get("synthetic"):
            found[name] = importlib.import_module(name)
    return found


def walk_real(profile: dict[str, Any]) -> dict[str, Any]:
    """Walks the unmodified modules: shows that the walker detects leaks."""
    walk = Walk(frozenset(), frozenset(), StandIn.Proxy)
    roots = {
        f"{name}.{key}": vars(module)[key]
        for name, module in real_modules(profile).items()
        for key in public_names(module)
    }
    walk.run(roots | samples_of(roots))
    return {"leaks": walk.leaks, "seen": walk.count}


def roots_of(policy: Any, samples: str, guards: Any) -> dict[str, object]:
    """What a guest can access: exports, builtins, and the variables of the sample program."""
    roots = {
        f"{name}.{key}": getattr(proxy, key)
        for name, proxy in policy.modules.proxies.items()
        for key in guards.export_names(proxy)
    }
    scope = policy.guest_globals()["__builtins__"]
    roots |= {
        name: value
        for name, value in scope.items()
        if name.isidentifier() and name not in UNTOUCHED
    }
    closed = {
        name: value
        for name, value in roots.items()
        if not is_open(value, policy.modules.open_packages) and not runs_as_guest(value)
    }
    roots |= samples_of(closed)
    compiled = policy.compile(samples, "samples.py")
    if compiled.findings:
        raise SystemExit("samples: " + "; ".join(map(str, compiled.findings)))
    made = policy.guest_globals()
    before = set(made)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compiled.code, made)
    return roots | {f"samples {name}": made[name] for name in made if name not in before}


def rebound(function: Any, names: dict[str, Any], closure: Any) -> Any:
    """The guards' function of that name, for functions of the samples."""
    names["__builtins__"] = function.__builtins__
    return types.FunctionType(function.__code__, names, closure=closure)


def walk_profile(profile: dict[str, Any], samples: str, guards: Any) -> dict[str, Any]:
    """Walks from what a guest of this profile gets, before the freeze: the tables must be
    sufficient without the tripwires.
    """
    guards.freeze = lambda: None
    # Guest classes are marked by the freeze.
    guards.is_guest_class = guards.is_guest_function = is_guests
    guards.need_own = guards.report_class = lambda target: None
    guards.rebound = rebound
    guards.retyped = lambda target, cls: setattr(target, "__class__", cls)
    # Library code that runs as the program's stores to classes of its own.
    guards.private = guards.dunder = guards.write = lambda target: target
    guards.setattr, guards.delattr = setattr, delattr
    import belljar_policy
    from belljar_policy import tables

    if "open" in profile.get("builtins", {}).get("exports", ()):
        allow_files()
    policy = belljar_policy.Policy(profile)
    policy.modules.load_all()
    real = real_modules(profile)
    modules = {name: public_names(module) for name, module in real.items()}
    public = {name: names_meant_by_public(module, set(real)) for name, module in real.items()}
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = sys.stdout = sys.stderr = sys.__stdout__
    try:
        roots = roots_of(policy, samples, guards)
        followed = frozenset(tables.NATIVE_DUNDERS) - tables.CLASS_DUNDERS - {"__class__"}
        walk = Walk(
            frozenset(tables.REFUSED_ATTRIBUTES),
            followed | {"__annotations__", "__orig_bases__"},
            type(policy.modules.proxies["__future__"]),
            policy.modules.open_packages,
        )
        walk.run(roots)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
    # No walk finds these, but a leaked frame or traceback must not lead anywhere either.
    for cls in (types.TracebackType, types.FrameType, types.CodeType):
        walk.note_names(qualified(cls), set(vars(cls)))
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "modules": modules,
        "public": public,
        "open": sorted(policy.modules.open_packages),
        "reachable": sorted(walk.reachable),
        "leaks": walk.leaks,
        "seen": walk.count,
    }


def main() -> None:
    warnings.simplefilter("ignore")  # the samples' coroutines are not awaited
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # walked code may print
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", type=Path, required=True)
    parser.add_argument("--samples", type=Path, help="a program whose variables are also walked")
    parser.add_argument("--path", type=Path, action="append", default=[], help="to import from")
    parser.add_argument("--guards", type=Path, help="folder of _belljar_guards")
    parser.add_argument("--record", action="store_true", help="tolerate outdated records")
    parser.add_argument("--real", action="store_true", help="walk the real modules instead")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "policy"), *map(str, options.path)]
    sys.dont_write_bytecode = True
    if options.guards is not None:
        sys.path.insert(0, str(options.guards))
    else:
        sys.modules["_belljar_guards"] = StandIn()
    profile = read_profile(options.profile)
    if options.record:
        forget_exports(profile, options.profile)
    if options.real:
        found = walk_real(profile)
    else:
        samples = options.samples.read_text() if options.samples else ""
        found = walk_profile(profile, samples, importlib.import_module("_belljar_guards"))
    with answer:
        json.dump(found, answer)
    sys.stderr.flush()
    os._exit(0)  # Python 3.12.1 may crash when it cleans up the loops and tasks of the samples


if __name__ == "__main__":
    main()
