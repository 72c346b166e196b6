"""Functions that objects show because they call them: a property's, a partial's, a wrapper's.

Of a library class a property's function takes any object for `self`; of the policy a function may
look up any name of anything.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_against_naive_guard, check_attack
from tests.policy.harness import assert_same, check_refused, run, run_plain

ATTACKS = {
    "a property's getter reads an object of another class": """
        import csv
        class Other:
            _fieldnames, reader = 'escaped', __import__('csv').reader([])
        loot = csv.DictReader.fieldnames.fget(Other())
        """,
    "a property's setter": """
        import csv
        class Other: pass
        other = Other()
        csv.DictReader.fieldnames.fset(other, 'escaped')
        loot = vars(other)['_fieldnames']
        """,
    "a property's setter writes to a function": """
        import csv, json
        csv.DictReader.fieldnames.fset(json.dumps, 1)
        try: csv.DictReader.fieldnames.fget(json.dumps)
        except AttributeError as error:
            if 'reader' in str(error): loot = 'escaped'
        """,
    "a property's getter by a computed name": """
        import fractions, operator
        get = operator.attrgetter('numerator.fget')(fractions.Fraction)
        class Other:
            _numerator = 'escaped'
        loot = get(Other())
        """,
    "a property's getter by a pattern": """
        import csv
        class Other:
            _fieldnames, reader = 'escaped', __import__('csv').reader([])
        match csv.DictReader.fieldnames:
            case property(fget=get): loot = get(Other())
        """,
    "a property's getter by a copy": """
        import csv
        class Other:
            _fieldnames, reader = 'escaped', __import__('csv').reader([])
        copied = csv.DictReader.fieldnames.setter(print)
        loot = copied.fget(Other())
        """,
    "a property's getter bound to another object": """
        import csv
        class Other:
            _fieldnames, reader = 'escaped', __import__('csv').reader([])
        loot = csv.DictReader.fieldnames.__get__(Other())
        """,
    "a cached property's function": """
        import ipaddress
        class Other:
            network_address = hostmask = 0
            def _address_class(self, number): return 'escaped'
        loot = ipaddress.IPv4Network.broadcast_address.func(Other())
        """,
    "a private method of the library in a partial": """
        import configparser
        parser = configparser.ConfigParser(converters={'x': int})
        loot = 'escaped' if parser.getx.func.__name__ == '_get_conv' else None
        """,
}

NAIVE_PROPERTY = """
import functools
def look_up(cls, name, obj): return getattr(obj, name)
class Call(tuple): pass
Call.count = property(functools.partial(look_up, Call, "count"))
f = vars(Call)["count"].fget.func
import json
loot = f(Call, "codecs", json)
"""
OURS_IN_A_PROPERTY = """
import typing
from unittest.mock import call
loot = scope = globals()
try: scope = typing.Annotated[scope, 1]
except AttributeError: pass
for name in ("count", "index"):
    f = getattr(vars(type(call)).get(name), "fget", None)
    f = getattr(f, "func", f)
    for args in ((), (type(call), "_names"), (type(scope), "_names")):
        try: loot = f(*args, scope)["__builtins__"]
        except Exception: pass
"""


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_a_function_of_the_policy_in_a_property_of_mock() -> None:
    check_against_naive_guard(NAIVE_PROPERTY, OURS_IN_A_PROPERTY)


def test_calls_named_like_methods_of_tuples_are_still_recorded() -> None:
    assert_same("""
        from unittest.mock import Mock, call
        m = Mock()
        m.count(1)
        m.index(2).x()
        print(m.mock_calls == [call.count(1), call.index(2), call.index().x()])
        print(call.count(1), call.index)
        """)


# Each property of each class that is exported; what a program's own shows, and the library's not.
_EVERY_PROPERTY = """
shown, properties = [], 0
for module in modules:
    for name in dir(module):
        cls = getattr(module, name, None)
        if not isinstance(cls, type):
            continue
        for each in dir(cls):
            value = getattr(cls, each, None)
            if not isinstance(value, property):
                continue
            properties += 1
            for part in ("fget", "fset", "fdel"):
                function = getattr(value, part, None)
                if type(function) is type(lambda: 0):
                    shown.append(f"{module.__name__}.{name}.{each}.{part}")
print(properties, shown[:5])
"""


@pytest.mark.parametrize("profile", ["basic", "filesystem"])
def test_no_property_of_the_library_shows_a_function(profile: str) -> None:
    from tests.policy.test_mutable_exports import ROOT, read_profile

    modules = sorted(read_profile(ROOT / "profiles" / f"{profile}.toml")["modules"])
    modules = [name for name in modules if name not in ("subprocess", "unittest.mock")]
    listed = ", ".join(modules)
    ran = run(
        f"import {listed}\nmodules = [{listed}]\n{_EVERY_PROPERTY}", kind=f"restricted:{profile}"
    )
    assert ran.error is None and not ran.findings, (ran.traceback, ran.findings)
    count, shown = ran.stdout.split(" ", 1)
    assert int(count) > 40 and shown == "[]\n", ran.stdout
    control = "import csv, fractions\nmodules = [csv, fractions]\n" + _EVERY_PROPERTY
    assert "fieldnames.fget" in run_plain(control).stdout


def test_a_programs_own_are_shown() -> None:
    assert_same("""
        import functools, operator
        class Getter:
            def __call__(self, obj): return 1
        class C:
            @property
            def x(self): return 1
            @x.setter
            def x(self, value): pass
            y = property(Getter())
            z = property(operator.itemgetter)
            @functools.cached_property
            def w(self): return 4
        print(C.x.fget(C()), C.x.fset.__name__, C.x.fdel, C.y.fget(C()), C.x.__get__(C()))
        print(C.w.func.__name__, C.w.attrname, C().w)
        import ipaddress
        print(ipaddress.ip_network("10.0.0.0/8").broadcast_address)
        class D(property): pass
        print(D(lambda self: 3).fget(1))
        p = functools.partial(int, base=2)
        q = functools.partial(functools.partial(print, 1), 2)
        r = functools.partial(sorted, key=len)
        s = functools.partial(functools.reduce, lambda a, b: a + b)
        print(p.func, p.args, p.keywords, q.func, q.args, r.keywords, s.func, s.args[0](1, 2))
        import json, copy, textwrap
        for f in (json.dumps, copy.deepcopy, textwrap.dedent, [].append, C().x.__add__):
            print(functools.partial(f).func is f, end=" ")
        """)


def test_the_error_says_whose_it_is() -> None:
    source = "import csv\ncsv.DictReader.fieldnames.fget"
    check_refused(source, "belongs to the library")


def test_what_a_manager_of_multiprocessing_has_takes_no_other_object() -> None:
    """Its class has no state, so each of its methods would work for any object."""
    source = """
        from multiprocessing import Manager
        made, refused = Manager(), []
        names = [name for name in dir(made) if not name.startswith("_")]
        for name in names:
            try: getattr(type(made), name)(5)
            except TypeError as error: refused.append((name, "takes a _Manager" in str(error)))
        print(len(names) > 8, refused == [(name, True) for name in names])
        made.list((1,)), made.start()
        for change in (lambda: setattr(made, "x", 1), lambda: setattr(type(made), "list", print)):
            try: change()
            except AttributeError as error: print("BJ305" in str(error))
        """
    assert run(source).stdout == "True True\nTrue\nTrue\n"
