"""Templates that look attributes up: str.format and all that leads to it."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a template's attribute of an item": """
        import textwrap
        text = '{0[f].__globals__[re]}'.format({'f': textwrap.dedent})
        if 'module' in text: loot = 'escaped'
        """,
    "an item behind two attributes": """
        import json
        text = '{0.encode.__globals__[c_make_encoder]}'.format(json.JSONEncoder)
        if 'class' in text: loot = 'escaped'
        """,
    "a template chosen by a keyword": """
        import textwrap
        text = '{function.__globals__}'.format(function=textwrap.dedent)
        if "'re'" in text: loot = 'escaped'
        """,
    "a conversion before the attribute is asked": """
        import textwrap
        text = '{0.__globals__[re]!r:>5}'.format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "automatic numbering": """
        import textwrap
        text = '{.__globals__[re]}'.format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "format_map with a mapping that answers anything": """
        import textwrap
        class D(dict):
            def __missing__(self, key): return textwrap.dedent
        text = '{anything.__globals__[re]}'.format_map(D())
        if 'module' in text: loot = 'escaped'
        """,
    "format by the class": """
        import textwrap
        text = str.format('{0.__globals__[re]}', textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "format of a subclass by super": """
        import textwrap
        class S(str):
            def format(self, *args): return super().format(*args)
        text = S('{0.__globals__[re]}').format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "format by partial": """
        import functools, textwrap
        text = functools.partial(str.format, '{0.__globals__[re]}')(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "format by methodcaller": """
        import operator, textwrap
        text = operator.methodcaller('format', textwrap.dedent)('{0.__globals__[re]}')
        if 'module' in text: loot = 'escaped'
        """,
    "format by getattr": """
        import textwrap
        text = getattr('{0.__globals__[re]}', 'format')(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "format by reduce": """
        import functools, textwrap
        text = functools.reduce(str.format, [textwrap.dedent], '{0.__globals__[re]}')
        if 'module' in text: loot = 'escaped'
        """,
    "UserString passes the template on": """
        import collections, textwrap
        text = collections.UserString('{0.__globals__[re]}').format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "UserString's format_map": """
        import collections, textwrap
        text = collections.UserString('{f.__globals__[re]}').format_map({'f': textwrap.dedent})
        if 'module' in text: loot = 'escaped'
        """,
    "a format spec that becomes a template of __format__": """
        import textwrap
        class F:
            def __format__(self, spec): return spec.format(textwrap.dedent)
        text = f"{F():{'{0.__globals__[re]}'}}"
        if 'module' in text: loot = 'escaped'
        """,
    "an f-string's attribute": """
        import textwrap
        text = f'{textwrap.dedent.__globals__["re"]}'
        if 'module' in text: loot = 'escaped'
        """,
    "an f-string's debug form": """
        import textwrap
        text = f'{textwrap.dedent.__globals__=}'
        if "'re'" in text: loot = 'escaped'
        """,
    "a walrus in an f-string": """
        import textwrap
        f'{(loot := textwrap.dedent.__globals__)}'
        """,
    "percent with a mapping that looks attributes up": """
        import textwrap
        class D:
            def __getitem__(self, key): return getattr(textwrap.dedent, key)
        text = '%(__globals__)s' % D()
        if "'re'" in text: loot = 'escaped'
        """,
    "string.Template with a mapping that looks attributes up": """
        import string, textwrap
        class D:
            def __getitem__(self, key): return getattr(textwrap.dedent, key)
        text = string.Template('$__globals__').substitute(D())
        if "'re'" in text: loot = 'escaped'
        """,
    "a Template with a pattern that hands out its closure": """
        import string
        class P:
            def sub(self, convert, template): return convert
        class T(string.Template):
            pattern = 'x(?P<named>a)(?P<braced>b)(?P<escaped>c)(?P<invalid>d)'
        T.pattern = P()
        loot = T('$x').substitute({}).__globals__
        """,
    "a logging-like template by its own rule": """
        import textwrap
        class Record:
            def __init__(self, message, args): self.message, self.args = message, args
            def text(self): return str(self.message).format(*self.args)
        text = Record('{0.__globals__[re]}', (textwrap.dedent,)).text()
        if 'module' in text: loot = 'escaped'
        """,
    "string.Formatter's field": """
        import string, textwrap
        text = string.Formatter().format('{0.__globals__[re]}', textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "brackets that hide a dot": """
        import textwrap
        text = '{0[a.b].__globals__[re]}'.format({'a.b': textwrap.dedent})
        if 'module' in text: loot = 'escaped'
        """,
    "braces doubled around the field": """
        import textwrap
        text = '{{{0.__globals__[re]}}}'.format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "the frame of a generator in a template": """
        def g(): yield 1
        text = '{0.gi_frame.f_globals}'.format(g())
        if '__name__' in text: loot = 'escaped'
        """,
    "str.format by map": """
        import textwrap
        text = list(map(str.format, ['{0.__globals__[re]}'], [textwrap.dedent]))[0]
        if 'module' in text: loot = 'escaped'
        """,
    "str.format in a nested specification": """
        import textwrap
        text = '{0:{1.__globals__[re]}}'
        try: text.format('', textwrap.dedent)
        except ValueError as e:
            if 'module' in str(e) or 'Invalid format' in str(e): loot = 'escaped'
        """,
    "CVE-2023-41039 str.format": """
        import textwrap
        class Catch:
            def __init__(self): self.got = None
            def __format__(self, spec): return ''
        class Key:
            pass
        loot = None
        text = '{0.__globals__[re]}'.format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "CVE-2023-41039 format_map": """
        import textwrap
        text = '{f.__globals__[re]}'.format_map({'f': textwrap.dedent})
        if 'module' in text: loot = 'escaped'
        """,
    "CVE-2026-76825 string.Formatter": """
        import string, textwrap
        loot = string.Formatter().get_field('0.__globals__', (textwrap.dedent,), {})[0]
        """,
    "a field that is malformed after what it looks up": """
        import textwrap
        try: '{0.__globals__.nothing[0]x}'.format(textwrap.dedent)
        except AttributeError as e: loot = e.obj
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
