"""The program's code called from C and from the library."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "sorted's key": """
        import textwrap
        loot = sorted(['__globals__'], key=textwrap.dedent.__getattribute__)[0]
        kept = []
        sorted(['__globals__'], key=lambda n: kept.append(getattr(textwrap.dedent, n)) or 0)
        loot = kept[0]
        """,
    "map with a look-up": """
        import textwrap
        loot = list(map(getattr, [textwrap.dedent], ['__globals__']))[0]
        """,
    "reduce with a look-up": """
        import functools, textwrap
        loot = functools.reduce(getattr, ['__globals__', '__class__'][:1], textwrap.dedent)
        """,
    "starmap with a look-up": """
        import itertools, textwrap
        loot = next(itertools.starmap(getattr, [(textwrap.dedent, '__globals__')]))
        """,
    "merge's key is a bound look-up": """
        import heapq, textwrap
        kept = []
        class L(list):
            def __lt__(self, other): return True
        get = object.__getattribute__
        def look(name): kept.append(get(textwrap.dedent, name)); return 0
        list(heapq.merge(['__globals__'], ['__globals__'], key=look))
        loot = kept[0]
        """,
    "bisect's key": """
        import bisect, textwrap
        kept = []
        bisect.bisect(['__globals__'], 0, key=lambda n: kept.append(getattr(textwrap.dedent, n)) or 1)
        loot = kept[0]
        """,
    "re.sub's replacement": """
        import re, textwrap
        kept = []
        re.sub('.+', lambda m: kept.append(getattr(textwrap.dedent, m.group())) or '', '__globals__')
        loot = kept[0]
        """,
    "re.Scanner's actions": """
        import re, textwrap
        s = re.Scanner([('.+', lambda scanner, text: getattr(textwrap.dedent, text))])
        loot = s.scan('__globals__')[0][0]
        """,
    "json's default hands on what it was given": """
        import json
        kept = []
        class E(json.JSONEncoder):
            def default(self, o):
                kept.append(self.iterencode.__func__.__globals__)
                return 0
        json.dumps(object(), cls=E)
        loot = kept[0]
        """,
    "json's object_hook under the library": """
        import json, textwrap
        hook = lambda d: getattr(textwrap.dedent, d['name'])
        loot = json.loads('{"name": "__globals__"}', object_hook=hook)
        """,
    "json's parse_float is a look-up": """
        import json, textwrap
        loot = json.loads('1.5', parse_float=lambda text: textwrap.dedent.__globals__)
        """,
    "csv's dialect is asked for attributes": """
        import csv, textwrap
        class D(csv.excel):
            @property
            def delimiter(self): return textwrap.dedent.__globals__['__name__'] and ','
        csv.reader([], D())
        loot = D().delimiter and textwrap.dedent.__globals__
        """,
    "csv's writer calls the file": """
        import csv
        kept = []
        class F:
            def write(self, text):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back)
        csv.DictWriter(F(), ['a']).writerow({'a': 1})
        loot = kept[0].f_globals
        """,
    "html.parser hands out the method it is in": """
        import html.parser
        kept = []
        class P(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs): kept.append(self.goahead.__func__.__globals__)
        P().feed('<a>')
        loot = kept[0]
        """,
    "an XML target is called by C": """
        import xml.etree.ElementTree as ET
        class T:
            def start(self, tag, attrs):
                try: raise ValueError
                except ValueError as e: self.kept = e.__traceback__.tb_frame.f_back
            def close(self): return self.kept.f_globals
        loot = ET.XML('<a/>', ET.XMLParser(target=T()))
        """,
    "a tzinfo is asked in the middle of strftime": """
        import datetime
        kept = []
        class Z(datetime.tzinfo):
            def utcoffset(self, t): return None
            dst = utcoffset
            def tzname(self, t):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back)
                return 'Z'
        datetime.datetime(2020, 1, 1, tzinfo=Z()).strftime('%Z')
        loot = kept[0].f_globals
        """,
    "a subclass of datetime in strptime": """
        import datetime
        kept = []
        class D(datetime.datetime):
            def __new__(cls, *a):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back)
                return datetime.datetime.__new__(cls, *a)
        D.strptime('2020', '%Y')
        loot = kept[0].f_globals
        """,
    "decimal's context traps call a class": """
        import decimal
        kept = []
        class X(decimal.Decimal):
            def __new__(cls, v):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame)
                return decimal.Decimal.__new__(cls, v)
        X('1')
        loot = kept[0]
        """,
    "a zone's file object": """
        import zoneinfo
        kept = []
        class F:
            def read(self, n):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return b''
        try: zoneinfo.ZoneInfo.from_file(F())
        except Exception: pass
        loot = kept[0]
        """,
    "random's subclass with its own random()": """
        import random
        kept = []
        class R(random.Random):
            def random(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return 0.5
        R().uniform(1, 2)
        loot = kept[0]
        """,
    "random's way down to its module": """
        import random
        class R(random.Random):
            def random(self): return 0.5
        loot = R._randbelow.__globals__
        """,
    "enum's _missing_": """
        import enum
        kept = []
        class E(enum.Enum):
            A = 1
            @classmethod
            def _missing_(cls, value):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return cls.A
        E(5)
        loot = kept[0]
        """,
    "enum's _generate_next_value_": """
        import enum
        kept = []
        class E(enum.Enum):
            def _generate_next_value_(name, start, count, last):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return 1
            A = enum.auto()
        loot = kept[0]
        """,
    "an ExitStack calls a look-up": """
        import contextlib, textwrap
        kept = []
        with contextlib.ExitStack() as stack:
            stack.callback(lambda f, n: kept.append(getattr(f, n)), textwrap.dedent, '__globals__')
        loot = kept[0]
        """,
    "ABCMeta's register and subclass hook": """
        import abc
        kept = []
        class A(abc.ABC):
            @classmethod
            def __subclasshook__(cls, other):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return True
        isinstance(1, A)
        loot = kept[0]
        """,
    "__instancecheck__ under library code": """
        import contextlib
        kept = []
        class M(type):
            def __subclasscheck__(cls, other):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return True
        class X(Exception, metaclass=M): pass
        with contextlib.suppress(X): raise ValueError
        loot = kept[0]
        """,
    "__length_hint__ under C": """
        kept = []
        class L:
            def __iter__(self): return iter(())
            def __length_hint__(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back)
                return 1
        list(L())
        loot = kept[0]
        """,
    "__index__ that gives a frame back": """
        kept = []
        class I:
            def __index__(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame)
                return 0
        [1][I()]
        loot = kept[0]
        """,
    "deepcopy's memo and method": """
        import copy
        kept = []
        class C:
            def __deepcopy__(self, memo):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
        copy.deepcopy(C())
        loot = kept[0]
        """,
    "copy with a reducer of the class": """
        import copy
        class C:
            def __reduce_ex__(self, protocol): return (getattr, (copy.copy, '__globals__'))
        loot = copy.copy(C())
        """,
    "copy with a state that sets code": """
        import copy
        def f(): return None
        def g(): return 'escaped'
        class C: pass
        c = C()
        c.__dict__['__reduce_ex__'] = lambda n: (lambda: f, (), (None, {'__code__': g.__code__}))
        copy.copy(c)
        loot = f()
        """,
    "copy with a state from an instance's dict": """
        import copy, textwrap
        class C:
            made = None
            def __new__(cls): return cls.made or object.__new__(cls)
        c = C()
        c.__dict__['__getstate__'] = lambda: (None, {'__kwdefaults__': {'escaped': 1}})
        C.made = textwrap.dedent
        try: copy.copy(c)
        except Exception: pass
        loot = 'escaped' if textwrap.dedent.__kwdefaults__ else None
        """,
    "pprint's stream gets the printer's frame": """
        import pprint
        kept = []
        class S:
            def write(self, text):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
        pprint.pprint([1], stream=S())
        loot = kept[0]
        """,
    "pprint's dispatch by a lying __repr__": """
        import pprint
        seen = []
        class R:
            def __hash__(self): return hash(dict.__repr__)
            def __eq__(self, other):
                seen.append(other)
                return False
            def __get__(self, o, t=None): return self if o is None else lambda: 'x'
            def __call__(self, *a): return 'x'
        class C: __repr__ = R()
        pprint.PrettyPrinter(width=1).pformat([C(), 'x' * 90])
        loot = 'escaped' if seen and seen[0].__objclass__ is dict else None
        """,
    "__del__ runs where it likes": """
        kept = []
        class D:
            def __del__(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back)
        def f(): D()
        f()
        loot = kept[0]
        """,
    "a generator's finally for a finalizer": """
        kept = []
        def g():
            try: yield
            finally:
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame)
        x = g()
        next(x)
        del x
        loot = kept[0]
        """,
    "a weak reference's callback": """
        import weakref
        kept = []
        class W: pass
        def gone(r):
            try: raise ValueError
            except ValueError as e: kept.append(e.__traceback__.tb_frame)
        w = W()
        r = weakref.ref(w, gone)
        del w
        loot = kept[0]
        """,
    "a print's file": """
        kept = []
        class F:
            def write(self, text):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame)
        print('x', file=F())
        loot = kept[0]
        """,
    "graphlib, statistics and their like call __eq__ and __hash__": """
        import graphlib
        kept = []
        class N:
            def __hash__(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return 1
        graphlib.TopologicalSorter().add(N())
        loot = kept[0]
        """,
    "statistics calls as_integer_ratio": """
        import statistics
        kept = []
        class X(float):
            def as_integer_ratio(self):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                return 1, 1
        statistics.mean([X(1), X(2)])
        loot = kept[0]
        """,
    "difflib's junk function": """
        import difflib
        kept = []
        def junk(x):
            try: raise ValueError
            except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
        difflib.SequenceMatcher(junk, 'a', 'b')
        loot = kept[0]
        """,
    "configparser's interpolation gets the parser's insides": """
        import configparser
        kept = []
        class I(configparser.BasicInterpolation):
            def before_get(self, parser, section, option, value, defaults):
                kept.append(parser._unify_values.__func__.__globals__)
                return value
        p = configparser.ConfigParser(interpolation=I())
        p.read_string('[a]\\nb=1')
        p.get('a', 'b')
        loot = kept[0]
        """,
    "configparser's dict_type": """
        import configparser
        kept = []
        class D(dict):
            def __init__(self, *a):
                try: raise ValueError
                except ValueError as e: kept.append(e.__traceback__.tb_frame.f_back.f_globals)
                dict.__init__(self, *a)
        configparser.ConfigParser(dict_type=D)
        loot = kept[0]
        """,
    "copy runs a reducer of an instance": """
        import copy
        class A: pass
        a = A()
        def f(): pass
        def g(): return __import__('os')
        a.__dict__['__reduce_ex__'] = lambda n: (lambda: f, (), (None, {'__code__': g.__code__}))
        copy.copy(a)
        loot = f()
        """,
    "an XML element deep-copies what it holds, in C": """
        import copy, json
        import xml.etree.ElementTree as ET
        class A: pass
        a = A()
        a.__dict__['__reduce_ex__'] = lambda n: (lambda: json.dumps, (), (None, {'extra': 'escaped'}))
        e = ET.Element('a')
        e.text = a
        copy.deepcopy(e)
        loot = json.dumps.extra
        """,
    "an XML element's own method deep-copies what it holds": """
        import json
        import xml.etree.ElementTree as ET
        class A: pass
        a = A()
        a.__dict__['__reduce_ex__'] = lambda n: (lambda: json.dumps, (), (None, {'extra': 'escaped'}))
        e = ET.Element('a')
        e.append(ET.Element('b', {'c': a}))
        e.__deepcopy__({})
        loot = json.dumps.extra
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
