"""Attacks on how the policy tells what is the program's: namespaces that the program made, classes
that are made where no frame of it is, and permission that outlives its reason.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy.harness import (
    assert_contained,
    assert_escapes_in_plain_python,
    assert_runs,
    check_attack,
    run,
    run_plain,
)

ROOT = Path(__file__).resolve().parents[2]


def check_with_control(control: str, attack: str) -> None:
    """For attacks on what only the policy has: `control` shows in plain Python what they rely on."""
    assert_escapes_in_plain_python(control)
    assert_contained(attack)


# In plain Python a class body's namespace comes before the builtins, too.
_NAMESPACE_HIDES_A_GUARD = """
import builtins
def guard(o): raise PermissionError
builtins.guard = guard
h = {"guard": lambda o: o}
class M:
    def __getattr__(s, n):
        if n == "__prepare__": return lambda *a: h
        raise AttributeError
    def __call__(s, *a): pass
class B(metaclass=M()):
    v = globals()
    exec("r = guard(v)")
loot = h["r"]
"""

_MADE_NAMESPACE = """
h = {"@private": lambda o: o, "@dunder": lambda o: o, "@write": lambda o: o, "@import": lambda n: n}
class M:
    def __getattr__(s, n):
        if n == "__prepare__": return lambda *a: h
        raise AttributeError
    def __call__(s, *a): pass
loot = None
try:
    class B(metaclass=M()):
        v = globals()
        ATTACK
    loot = h.get("r")
except Exception as error:
    print(error)
"""

IN_CLASS_BODIES = {
    "exec, a private name": 'exec("r = v._names")',
    "exec, the names of a scope": 'exec("r = v.__dict__")',
    "eval": 'r = eval("v._names")',
    "compile and exec": 'exec(compile("r = v._names", "<x>", "exec"))',
    "compile and eval": 'r = eval(compile("v._names", "<x>", "eval"))',
    "single": 'exec(compile("r = v._names", "<x>", "single"))',
    "its own names as locals": 'exec("r = v._names", globals(), locals())',
    "a dict with hooks as globals": 'exec("r = v._names", {**h, "v": v}, h)',
    "a dict with hooks as locals": 'exec("r = v._names", globals(), h)',
    "a class in text": 'exec("class C:\\n  q = v._names\\nr = C.q")',
    "text in text": 'exec("exec(\\"r = v._names\\")")',
    "an import by name": 'exec("r = __import__(\\"json\\").codecs")',
}


@pytest.mark.parametrize("name", IN_CLASS_BODIES)
def test_text_takes_no_hooks_from_a_namespace_of_the_program(name: str) -> None:
    check_with_control(
        _NAMESPACE_HIDES_A_GUARD, _MADE_NAMESPACE.replace("ATTACK", IN_CLASS_BODIES[name])
    )


def test_text_in_a_class_body_binds_there() -> None:
    ran = assert_runs("""
        class C:
            a = 1
            exec("b = a + 1; del a")
            c = eval("b + 1")
        print(hasattr(C, "a"), C.b, C.c)
        """)
    assert ran.stdout == "False 2 3\n"


# What the policy keeps in objects that a program holds has no name at all.
@pytest.mark.uncontrolled("objects of the policy that plain Python does not have")
@pytest.mark.parametrize(
    "name", ["globals()", "compile('1', '<x>', 'eval')"], ids=["globals", "code"]
)
def test_contents_of_the_policys_objects_have_no_name(guards: object, name: str) -> None:
    ran = run(f"print(dir({name})); print(type({name}).__mro__)")
    assert ran.error is None, ran.message
    names = ran.stdout.partition("\n")[0]
    assert "_names" not in names and "_code" not in names


# --- classes --------------------------------------------------------------------------------------

# Library code that is being imported drops the last reference to an object of the program: of a
# cache that is full. The finalizer is C all the way: no frame of the program is there while it runs.
_FILL = """
import functools, importlib, itertools, re
class Key(str):
    __del__ = FINALIZER
for i in range(512):
    re.compile(Key(f"x{i}"))
"""
_FINALIZED_IN_AN_IMPORT = f"""
import sys
seen = []
{_FILL.replace("FINALIZER", "functools.partial(seen.append, 1)")}
before = len(seen)
for each in [each for each in sys.modules if each.startswith("email")]:
    del sys.modules[each]
importlib.import_module("email.message")
loot = "escaped" if len(seen) > before else None
"""

_MADE_IN_AN_IMPORT = f"""
kept = []
class Tell:
    def __set_name__(self, owner, name): kept.append(owner)
class M(type):
    def __instancecheck__(cls, o): return True
{_FILL.replace("FINALIZER", "functools.partial(next, itertools.starmap(MAKER, SPACES))")}
importlib.import_module("email.message")
loot = None
for C in kept:
    try:
        match globals():
            case C(real): loot = real
    except Exception as error: print(error)
""".replace("SPACES", '[("C", (), {"__match_args__": ("_names",), "t": Tell()})] * 4000')

MAKERS = {
    "a metaclass of the program's": "M",
    "a partial of a metaclass": "functools.partial(M)",
    "type": "type",
    "a library's metaclass": "__import__('abc').ABCMeta",
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_class_made_during_an_import_is_the_programs(name: str) -> None:
    check_with_control(_FINALIZED_IN_AN_IMPORT, _MADE_IN_AN_IMPORT.replace("MAKER", MAKERS[name]))


def test_what_a_finalizer_makes_during_an_import_is_checked() -> None:
    """The same namespace is refused in a class statement."""
    finalizer = "functools.partial(next, itertools.starmap(M, spaces))"
    check_with_control(
        _FINALIZED_IN_AN_IMPORT,
        f"""
kept = []
class M(type): pass
class Tell:
    def __set_name__(self, owner, name): kept.append(owner)
spaces = [("C", (), {{"__getattribute__": lambda s, n: 1, "t": Tell()}})] * 4000
{_FILL.replace("FINALIZER", finalizer)}
importlib.import_module("email.message")
loot = "escaped" if kept else None
""",
    )


def test_a_library_property_cannot_be_made_anew_during_an_import() -> None:
    finalizer = 'functools.partial(p.__init__, lambda self: "escaped")'
    check_with_control(
        _FINALIZED_IN_AN_IMPORT,
        f"""
import csv
p = csv.DictReader.fieldnames
{_FILL.replace("FINALIZER", finalizer)}
importlib.import_module("email.message")
loot = csv.DictReader(["a,b"]).fieldnames
""",
    )


# Loads every module of a profile as an import of a running program does, and tells whose the new
# classes are: also those that are made by a call, and the members of private modules.
LOAD_ALL = """
import gc, os, sys
root, name = sys.argv[1:]
sys.path[:0] = [root, f"{root}/policy", os.environ["BELLJAR_GUARDS_DIR"]]
from pathlib import Path
from tools.profile_document import read_profile
import belljar_policy
import _belljar_guards as guards
policy = belljar_policy.Policy(read_profile(Path(root) / "profiles" / f"{name}.toml"))
scope = policy.guest_globals()
known = {id(each) for each in gc.get_objects() if isinstance(each, type)}
exec(policy.compile("class Own: pass\\nown = Own").code, scope)
for each in policy.modules._late.copy():
    policy.modules.load(each)
new = [each for each in gc.get_objects() if isinstance(each, type) and id(each) not in known]
print(len(new), *(each.__qualname__ for each in new if guards.is_guest_class(each)))
"""


@pytest.mark.parametrize("profile", ["basic", "filesystem"])
def test_all_classes_of_modules_that_are_loaded_late_are_the_librarys(
    guards: object, profile: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD_ALL, str(ROOT), profile],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    count, *owned = ran.stdout.split()
    assert int(count) > 200
    assert owned == ["Own"]


# --- what a call may import -----------------------------------------------------------------------

IMPORTS = {
    "sys.modules": (
        ["sys"],
        "loot = 'escaped' if hasattr(sys.modules.get('json'), 'loads') else None",
        "import sys",
    ),
    "a function that runs while library text is loaded": (
        ["re", "logging", "logging.config", "unittest", "unittest.mock"],
        """
loot = None
def f(*a, **k):
    global loot
    try: import json; loot = 'escaped'
    except ImportError: pass
    raise ValueError
with patch('re.compile', f):
    try: logging.config.dictConfig
    except ValueError: pass
    try: re.compile('x')
    except ValueError: pass
""",
        "import re, logging.config\nfrom unittest.mock import patch",
    ),
    "loading that ends where there is no stack left": (
        ["sys", "logging", "logging.config"],
        """
loot = None
def deep(n):
    if n > 0: return deep(n - 1)
    try: logging.config.dictConfig
    except RecursionError: pass
def can():
    try: import json
    except ImportError: return False
    return True
for left in range(1, 200):
    try: deep(sys.getrecursionlimit() - left)
    except RecursionError: pass
    if can():
        loot = 'escaped'
        break
""",
        "import sys, logging.config",
    ),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_allowed_imports_hold(name: str) -> None:
    allowed, body, imports = IMPORTS[name]
    check_attack(f"{imports}\n{body}", allowed_imports=allowed)


def test_a_module_that_is_first_needed_near_the_recursion_limit_is_whole() -> None:
    source = """
        import logging.config, sys
        def deep(n):
            try: return deep(n + 1)
            except RecursionError:
                import importlib
                return importlib.import_module("tom" + "llib").loads("a = 1")
        print(deep(0))
        """
    ran, plain = run(source), run_plain(source)
    assert plain.error in (None, "RecursionError")
    assert ran.error in (None, "RecursionError")
    assert assert_runs("import tomllib; print(tomllib.loads('a = 1'))").stdout == "{'a': 1}\n"
