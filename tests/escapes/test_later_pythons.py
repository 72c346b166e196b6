"""What Python 3.12 and 3.13 brought that leads further, or writes where it should not.

Names bound by type parameters are in test_type_parameters.py.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import sys

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import check_refused, run, run_plain

# By the version that brought it.
ATTACKS = {
    "sys.monitoring, a module": (12, "import sys\nloot = sys.monitoring"),
    "the name of a caller's module": (
        12,
        """
        import sys
        loot = sys.modules[sys._getframemodulename()]
        """,
    ),
    "a frame's locals, which write through to it": (
        13,
        """
        def counting():
            secret = 1
            yield secret
        counted = counting()
        next(counted)
        loot = getattr(getattr(counted, 'gi_' + 'frame'), 'f_' + 'locals')
        """,
    ),
    "a dataclass's __replace__ reads what any object says are its fields": (
        13,
        """
        import dataclasses
        @dataclasses.dataclass
        class P: x: int = 0
        class Field:
            init, default, _field_type, reads = True, None, None, 0
            @property
            def name(self):
                Field.reads += 1
                return '__globals__'
        def target(): pass
        target.__dict__['__dataclass_fields__'] = {'x': Field()}
        try: P.__replace__(target)
        except TypeError: pass
        loot = 'escaped' if Field.reads > 2 else None  # it has read the second's value
        """,
    ),
    "an object's own word for its class, in copy.replace": (
        13,
        """
        import copy
        class Other:
            def __replace__(self, **changes): return 'escaped'
        class Liar:
            __class__ = Other
        loot = copy.replace(Liar())
        """,
    ),
    "the iterator of as_completed made anew in another object": (
        13,
        """
        import asyncio
        loot = None
        async def main():
            global loot
            class Target: pass
            target = Target()
            try: type(asyncio.as_completed([])).__init__(target, [], None)
            except TypeError: pass
            loot = 'escaped' if hasattr(target, '_todo_left') else None
        asyncio.run(main())
        """,
    ),
    "the globals of the method that a class is given": (
        13,
        """
        import dataclasses
        @dataclasses.dataclass
        class P: x: int = 0
        loot = P.__replace__.__globals__
        """,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    since, source = ATTACKS[name]
    if sys.version_info < (3, since):
        pytest.skip("of a later Python")
    check_attack(source)


# Each runs to its end in plain Python from that version on.
REFUSED = {
    "a buffer of a class's own (PEP 688)": (
        12,
        "class A:\n  def __buffer__(self, flags): return memoryview(b'x')\nbytes(memoryview(A()))",
        "[BJ403]",
    ),
    "a buffer's end, announced by a class": (
        12,
        "class A:\n  def __release_buffer__(self, view): pass",
        "[BJ403]",
    ),
    "a buffer asked for by its method": (12, "b'x'.__buffer__(0)", "[BJ301]"),
    "a buffer released under whoever holds it": (
        12,
        "data = bytearray(8)\nview = memoryview(data)\ndata.__release_buffer__(view)",
        "[BJ301]",
    ),
    "a type parameter's own substitution": (
        12,
        "def f[T](x): pass\nf.__type_params__[0].__typing_subst__(int)",
        "[BJ301]",
    ),
    "type parameters of a function set": (
        12,
        "def f[T](x): pass\nf.__type_params__ = ()",
        "[BJ304]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    since, source, rule = REFUSED[name]
    if sys.version_info < (3, since):
        pytest.skip("of a later Python")
    check_refused(source, rule)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="of Python 3.12")
def test_sqlite_takes_no_addresses() -> None:
    source = "import sqlite3\nsqlite3.connect(':memory:').setconfig(1004, True)"  # FTS3_TOKENIZER
    assert run_plain(source).error is None
    ran = run(source, kind="restricted:filesystem")
    assert ran.error == "PermissionError" and "[BJ502]" in ran.message, ran


MODULE_OF_PATHS = {
    "the module behind a path": "import pathlib\nloot = pathlib.Path.parser",
    "the same, by an object": "import pathlib\nloot = pathlib.PurePosixPath('a').parser.os",
    "the module behind the other system's paths": "import pathlib\nloot = pathlib.PureWindowsPath('a').parser",
    "what is behind a function of it": "import pathlib\nloot = pathlib.Path.parser.splitroot.__self__",
    "the module of a function of os.path": "import os.path\nloot = getattr(os.path.normpath, '__sel' + 'f__')",
}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="of Python 3.13")
@pytest.mark.parametrize("name", MODULE_OF_PATHS)
def test_paths_lead_to_no_module(name: str) -> None:
    source = MODULE_OF_PATHS[name]
    assert run_plain(source).loot
    ran = run(source, kind="restricted:filesystem")
    assert not ran.loot and ran.error != "Died", ran


def test_paths_work_without_their_module() -> None:
    source = """
        import pathlib
        p = pathlib.PurePosixPath('/a/b/../c.txt')
        w = pathlib.PureWindowsPath('C:/x', 'y')
        print(p.parts, p / 'd', p.with_suffix('.py'), p == pathlib.PurePosixPath('/a/b/../c.txt'))
        print(w.parts, w.drive, w == p, hash(w) == hash(pathlib.PureWindowsPath('c:\\\\X\\\\Y')))
        print(pathlib.PurePosixPath(w), pathlib.PurePath('a').is_absolute(), p.match('*.txt'))
        if hasattr(p, 'parser'):
            print(p.parser.sep, w.parser.join('a', 'b'), p.parser.splitroot('/x'))
        """
    assert run(source, kind="restricted:filesystem").stdout == run_plain(source).stdout != ""


# `self` of methods in modules that have become packages.
STRANGERS = {
    "pathlib": (13, "import pathlib\npathlib.Path.exists(Target())"),
    "pathlib's abstract paths": (13, "import pathlib\npathlib.Path.full_match(Target(), 'x')"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_methods_of_packages_take_their_own_kind(name: str) -> None:
    since, source = STRANGERS[name]
    if sys.version_info < (3, since):
        pytest.skip("no package before")
    target = """
asked = []
class Target:
    def __getattr__(self, name):
        asked.append(name)
        return lambda *_, **__: None
"""
    source = (
        f"{target}try:\n  {source.replace(chr(10), '; ')}\nexcept TypeError: pass\nresult = asked"
    )
    assert run_plain(source).result != "[]"
    ran = run(source, kind="restricted:filesystem")
    assert (ran.error, ran.result) == (None, "[]"), ran
