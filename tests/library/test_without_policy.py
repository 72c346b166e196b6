"""What the policy changes in the library's own classes leaves them whole where it is off."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.machine import BELLJAR, need_build

PROGRAM = textwrap.dedent("""
    import configparser, contextvars, copy, dataclasses, difflib, enum, functools, pprint, types
    import typing, zoneinfo
    from collections import UserDict, namedtuple
    from xml.etree import ElementTree

    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: int = 0
        tags: list = dataclasses.field(default_factory=list, compare=False)

    @dataclasses.dataclass(frozen=True, slots=True)
    class Pair:
        left: object
        right: object

    p = Point(1, tags=['a'])
    print(p, p < Point(2), dataclasses.replace(p, y=5), dataclasses.asdict(p))
    try:
        Pair(1, 2).left = 3
    except dataclasses.FrozenInstanceError as error:
        print(error, copy.deepcopy(p) == p, copy.copy(Pair(1, p)))
    match Pair(1, p):
        case Pair(1, Point(x, y)):
            print(x, y)
    Colour = enum.Enum('Colour', 'RED GREEN')
    print(list(Colour), Colour['RED'], namedtuple('N', 'a b')(1, 2))
    parser = configparser.ConfigParser()
    parser.read_string('[a]\\nb = 1')
    print(parser['a'].getint('b'), pprint.pformat({'a': p}), typing.get_type_hints(Point)['x'])
    print(ElementTree.fromstring('<a><b/></a>')[0].tag, zoneinfo.ZoneInfo('UTC').key)
    class Own:
        @functools.cached_property
        def double(self): return 2 * len(self.__dict__)
        def __getattribute__(self, name): return object.__getattribute__(self, name)
    print(Own().double, copy.copy(UserDict(a=1)), types.MappingProxyType({1: 2}) | {3: 4})
    print(contextvars.ContextVar('v').set(1).var.name)
    print(difflib.HtmlDiff().make_table(['a'], ['b'])[:0] == '')
    """)


def test_the_library_works_with_the_policy_off(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    need_build()
    ran, plain = (
        subprocess.run([*command, program], capture_output=True, text=True, check=False)
        for command in ([BELLJAR, "run", "--policy", "off"], [sys.executable, "-I"])
    )
    assert plain.returncode == 0, plain.stderr
    assert (ran.returncode, ran.stdout) == (0, plain.stdout), ran.stderr
