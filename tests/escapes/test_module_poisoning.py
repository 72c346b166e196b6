"""Changing what the next call, or the host, will see."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "json.dumps is replaced for the next caller": """
        import json
        json.dumps = lambda *a, **k: 'escaped'
        loot = json.dumps({})
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
