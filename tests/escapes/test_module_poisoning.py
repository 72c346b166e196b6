"""Changing what the next call, or the host, will see."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "json.loads is replaced for the library": """
        import io, json
        json.loads = lambda *a, **k: 'escaped'
        loot = json.load(io.StringIO('1'))
        """,
    "a name of a module is set by setattr, and read by a function of it": """
        import statistics
        setattr(statistics, 'mean', lambda *a: 'escaped')
        setattr(statistics, 'fmean', lambda *a: 'escaped')
        import random
        setattr(random, 'Random', None)
        import textwrap
        setattr(textwrap, 'fill', lambda *a, **k: 'escaped')
        class W(textwrap.TextWrapper): pass
        import pprint
        pprint.pformat = lambda *a, **k: 'escaped'
        pprint.PrettyPrinter = lambda *a, **k: type('P', (), {'pprint': lambda s, o: kept.append('escaped')})()
        kept = []
        pprint.pprint([1])
        loot = kept[0] if kept else None
        """,
    "a class that the library looks up in its module": """
        import csv
        class Reader:
            def __init__(self, *a, **k): self.line_num = 0
            def __next__(self): return ['escaped']
            __iter__ = lambda self: self
        csv.reader = Reader
        loot = csv.DictReader(['a', 'b']).fieldnames[0]
        """,
    "a name of a module is set by a method that the library calls": """
        import html, html.parser
        html.parser.unescape = lambda s: 'escaped'
        got = []
        class P(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs): got.extend(attrs)
        P().feed('<a b="c&amp;d">')
        loot = got[0][1]
        """,
    "what a module sees as builtins is set in it": """
        import textwrap
        textwrap.isinstance = lambda *a: 'escaped'
        textwrap.len = lambda x: 0
        textwrap.str = None
        loot = None
        try: textwrap.shorten('a b c', 30)
        except Exception: loot = 'escaped'
        if textwrap.wrap('aaa bbb', 3) != ['aaa', 'bbb']: loot = 'escaped'
        """,
    "the real module is in the caller's view of it": """
        import json, sys
        json.mine = 1
        loot = sys.modules['json'].__dict__['__builtins__']
        """,
    "a function's code is replaced": """
        import textwrap
        def evil(text): return 'escaped'
        textwrap.dedent.__code__ = evil.__code__
        loot = textwrap.dedent('')
        """,
    "a function's defaults are replaced": """
        import textwrap
        textwrap.shorten.__defaults__ = ('escaped',)
        loot = textwrap.shorten.__defaults__[0]
        """,
    "a function's defaults by setattr": """
        import textwrap
        setattr(textwrap.dedent, '__defaults__', ('escaped',))
        loot = textwrap.dedent.__defaults__[0]
        """,
    "a function's keyword defaults by its dict": """
        import textwrap
        textwrap.dedent.__dict__['__wrapped__'] = 'escaped'
        loot = textwrap.dedent.__wrapped__
        """,
    "a builtin is replaced": """
        import builtins, collections
        builtins.len = lambda x: 'escaped'
        loot = collections.ChainMap().__len__()
        """,
    "a builtin type is changed": """
        try: int.real = 'escaped'
        except TypeError: pass
        import fractions
        fractions.Fraction.real = 'escaped'
        loot = fractions.Fraction.real
        """,
    "a builtin is hidden by an Enum of that module": """
        import enum
        enum.global_enum(enum.Enum('E', {'ascii': 'escaped'}, module='builtins'))
        loot = ascii.value
        """,
    "Enum._convert_ takes over a module": """
        import enum, json
        json.ESC_X = 'escaped'
        E = enum.StrEnum._convert_('E', 'json', lambda n: n.startswith('ESC_'))
        loot = E.ESC_X.value
        """,
    "sys.stdout is replaced by something with a fileno": """
        import contextlib, sys
        class R(contextlib.redirect_stdout): _stream = 'displayhook'
        with R('escaped'): loot = sys.displayhook
        """,
    "an enum of the library gets a member": """
        import re
        re.RegexFlag.ESCAPED = 'escaped'
        loot = re.RegexFlag.ESCAPED
        """,
    "a shared default of a library function": """
        import textwrap
        textwrap.dedent.__kwdefaults__ = {'text': 'escaped'}
        loot = textwrap.dedent.__kwdefaults__['text']
        """,
    "a table of the library that is handed out": """
        import calendar
        calendar.TextCalendar.formatday = lambda *a: 'escaped'
        loot = calendar.TextCalendar().formatday(1, 2, 3)
        """,
    "the table of codecs' errors": """
        # before 3.14: decoding does not look the strict handler up
        import codecs
        codecs.register_error('strict', lambda e: ('escaped', e.end))
        loot = b'\\xff'.decode()
        """,
    "the hooks that show exceptions": """
        import sys
        sys.excepthook = 'escaped'
        loot = sys.excepthook
        """,
    "a tracer": """
        import sys
        kept = []
        sys.settrace(lambda frame, event, arg: kept.append(frame))
        def f(): pass
        f()
        sys.settrace(None)
        loot = kept[0]
        """,
    "the display of warnings": """
        import warnings
        warnings.showwarning = lambda *a: 'escaped'
        loot = warnings.showwarning()
        """,
    "redirect_stdout with another stream": """
        import contextlib
        class R(contextlib.redirect_stdout): _stream = 'modules'
        r = R({})
        r.__enter__()
        try: loot = r._old_targets[0]
        finally: r.__exit__(None, None, None)
        """,
    "Enum._convert_": """
        import enum
        got = {}
        class I(enum.IntEnum):
            @classmethod
            def go(cls, module):
                return cls._convert_('X', module, lambda n: got.setdefault(n, n) and False)
        I.go('os')
        loot = 'escaped' if 'system' in got else None
        """,
    "setattr on a frozen function": """
        import textwrap
        def f(): pass
        textwrap.dedent.__code__ = f.__code__
        loot = f.__code__
        """,
    "enum.global_enum writes into builtins": """
        import enum
        E = enum.global_enum(enum.Enum('E', {'len': 1}, module='builtins'))
        if len is not E.len: raise SystemExit('not poisoned')
        loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
