"""Modules of data and text that read or set attributes by a caller's names, open files, evaluate
text, import, or list what is in the process."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a pure path's module": """
        # before 3.13: pathlib is a package, whose parts import it
        import pathlib
        loot = pathlib.os
        """,
    "globals of a pure path's method": """
        import pathlib
        loot = pathlib.PurePath.joinpath.__globals__['os']
        """,
    "classes below the pure path's": """
        import pathlib
        made = [cls for cls in pathlib.PurePath.__subclasses__() if 'read_text' in dir(cls)]
        loot = 'escaped' if made[0]('/etc/passwd').read_text() else None
        """,
    "a class that is both a pure path and what opens it": """
        import pathlib
        cls = [cls for cls in pathlib.PurePosixPath.__subclasses__() if cls.__name__ == 'PosixPath']
        loot = cls[0]('/').exists() and 'escaped'
        """,
    "the files of a pure path, by the name of the other class": """
        import pathlib
        loot = getattr(pathlib, 'Pa' + 'th')('/etc/passwd').read_text() and 'escaped'
        """,
    "a method of a pure path, by another object": """
        import pathlib
        class Mine:
            def __getattribute__(self, name): seen.append(name); raise AttributeError(name)
        seen = []
        try: pathlib.PurePath.with_name(Mine(), 'x')
        except AttributeError: pass
        loot = 'escaped' if seen else None
        """,
    "a class of the program's below a pure path": """
        import pathlib
        class Mine(pathlib.PurePosixPath):
            def _str_normcase(self): return 'x'
        loot = 'escaped' if isinstance(Mine('a'), pathlib.PurePath) else None
        """,
    "a pickle of a pure path": """
        import pathlib
        made, parts = pathlib.PurePath('a').__reduce__()
        loot = made.__new__.__globals__['os']
        """,
    "a pure path is changed for everybody": """
        import pathlib
        pathlib.PurePath.name = 'escaped'
        loot = pathlib.PurePath('x').name
        """,
    "a pickle that calls a function": """
        import pickle
        loot = pickle.loads(b"cbuiltins\\neval\\n(V'escaped'\\ntR.")
        """,
    "a pickle that names a function": "import pickle\nloot = pickle.loads(b'cos\\nsystem\\n.')",
    "a pickler's own reduction": """
        import pickle
        class K: pass
        k = K()
        k.__dict__['__reduce_ex__'] = lambda protocol: (eval, ("'escaped'",))
        loot = pickle.loads(pickle.dumps(k))
        """,
    "an unpickler's own find_class": """
        import io, pickle
        class U(pickle.Unpickler):
            def find_class(self, module, name): return super().find_class('os', 'system')
        loot = U(io.BytesIO(b'cx\\ny\\n.')).load()
        """,
    "a method of a message writes to another object": """
        import email.message, json
        o = json.JSONDecoder()
        email.message.Message.__init__(o)
        loot = 'escaped' if o.preamble is None else None
        """,
    "a class of headers that is made at run time": """
        import email.policy
        registry = email.policy.default.header_factory
        class Mine:
            max_count = None
            @classmethod
            def parse(cls, value, kwds): kwds['decoded'] = 'escaped'; kwds['parse_tree'] = []
        registry.map_to_type('x-mine', Mine)
        loot = str(registry('x-mine', 'value'))
        """,
    "a module behind email.utils": "import email.utils\nloot = email.utils.os",
    "argparse sets an attribute of a module": """
        import argparse, io, json
        p = argparse.ArgumentParser()
        p.add_argument('--x', dest='loads', type=lambda text: lambda *a, **k: text)
        p.parse_args(['--x', 'escaped'], namespace=json)
        loot = json.load(io.StringIO('1'))
        """,
    "argparse sets an attribute of a library's object": """
        import argparse, json
        p = argparse.ArgumentParser()
        p.add_argument('--x', dest='scan_once')
        p.parse_args(['--x', 'escaped'], namespace=(o := argparse.Action(['-a'], 'a')))
        loot = o.scan_once
        """,
    "argparse sets a function's defaults": """
        import argparse
        def f(x=1): return x
        p = argparse.ArgumentParser()
        p.add_argument('--d', dest='__defaults__', type=lambda s: (s,))
        p.parse_args(['--d', 'escaped'], namespace=f)
        loot = f()
        """,
    "argparse reads files of arguments": """
        import argparse
        p = argparse.ArgumentParser(fromfile_prefix_chars='@')
        p.add_argument('x', nargs='*')
        loot = p.parse_args(['@/etc/passwd']).x and 'escaped'
        """,
    "argparse opens files": """
        import argparse
        loot = argparse.FileType('r')('/etc/passwd').read() and 'escaped'
        """,
    "a method of argparse writes to another object": """
        import argparse, json
        o = json.JSONDecoder()
        argparse.ArgumentError.__init__(o, None, 'escaped')
        loot = o.message
        """,
    "a class of a module that was loaded on import": """
        import argparse
        argparse.ArgumentParser.parse_args = lambda *_: 'escaped'
        loot = argparse.ArgumentParser().parse_args()
        """,
    "a class of a module that was loaded by name, while the program runs": """
        import importlib
        a = importlib.import_module('arg' + 'parse')
        setattr(a.ArgumentParser, 'parse_args', lambda *_: 'escaped')
        loot = a.ArgumentParser().parse_args()
        """,
    "shlex opens what is sourced": """
        import shlex
        loot = shlex.shlex('').sourcehook('/etc/passwd')[1].read() and 'escaped'
        """,
    "the fields that an object names": """
        import ast
        def f(): pass
        f._fields = ('__globals__',)
        loot = dict(ast.iter_fields(f))['__globals__']
        """,
    "the fields that a node names": """
        import ast
        loot = 'escaped' if '__reduce_ex__' in dict(ast.iter_fields(ast.Name(_fields=('__reduce_ex__',)))) else None
        """,
    "a visitor writes to what is no node": """
        import ast
        def f(x=None): return x
        f._fields = ('__defaults__',)
        class Fields(tuple): pass
        f.__defaults__ = ([ast.Pass()],)
        class T(ast.NodeTransformer):
            def visit(self, node): return 'escaped'
        f._fields = ('first',)
        f.first = ast.Pass()
        T().generic_visit(f)
        loot = f.first
        """,
    "positions are written to what is no node": """
        import ast, json
        class Old(ast.Pass): pass
        old = ast.parse('1').body[0]
        class Fake:
            _attributes = old._attributes
            def __init__(self, other): self.other = other
            def __setattr__(self, name, value): object.__setattr__(self, name, value)
        fake = Fake(json)
        ast.copy_location(fake, old)
        loot = 'escaped' if fake.lineno else None
        """,
    "what the collector knows": "import gc, sys\nloot = [o for o in gc.get_objects() if type(o) is type(sys)][:1]",
    "who refers to an object": "import gc\ndef f(): pass\nloot = [o for o in gc.get_referrers(f) if type(o) is dict]",
    "codecs opens files": "import codecs\nloot = codecs.open('/etc/passwd').read() and 'escaped'",
    "streams that forward attributes": """
        import codecs
        class Raw: pass
        loot = 'escaped' if codecs.lookup('utf-8').streamreader(Raw()) else None
        """,
    "gzip opens files": "import gzip\nloot = 'escaped' if gzip.GzipFile('/dev/null') else None",
    "gzip.open opens files": "import gzip\nloot = 'escaped' if gzip.open('/dev/null') else None",
    "bz2 opens files": "import bz2\nloot = 'escaped' if bz2.BZ2File('/dev/null') else None",
    "lzma opens files": "import lzma\nloot = 'escaped' if lzma.LZMAFile('/dev/null') else None",
    "lines of any file": "import linecache\nloot = linecache.getline('/etc/passwd', 1) and 'escaped'",
    "a module by its name": "import importlib\nloot = importlib.import_module('os')",
    "a module by its name, twice removed": "import importlib\nloot = importlib.import_module('json').codecs",
    "the loader of a module": "import importlib.util\nloot = importlib.util.find_spec('json').loader and 'escaped'",
    "sys.modules": "import sys\nloot = sys.modules['os']",
    "sys.modules has the builtins": "import sys\nloot = sys.modules['builtins']",
    "the builtins of the main module": "import sys\nloot = sys.modules['__main__'].__builtins__",
    "the dict of the main module": "import sys\nloot = sys.modules['__main__'].__dict__",
    "source text of the library": "import inspect\nloot = inspect.getsource(inspect.signature) and 'escaped'",
    "text in annotations": """
        import typing
        class A:
            x: "print.__self__.__dict__['eval']"
        loot = typing.get_type_hints(A)['x']
        """,
    "an attribute that a format string names": """
        import string
        def f(): pass
        loot = string.Formatter().get_field('0.__globals__', (f,), {})[0]
        """,
    "code made of parts": """
        import types
        def f(): return 'escaped'
        loot = types.CodeType and type(getattr(f, '__co' + 'de__')) is types.CodeType and 'escaped'
        """,
    "a method of weakref writes to another object": """
        import json, weakref
        o = json.JSONDecoder()
        weakref.WeakSet.__init__(o)
        loot = 'escaped' if hasattr(o, 'data') else None
        """,
    "the clock of another process": """
        import time
        loot = 'escaped' if time.clock_gettime((~1 << 3) | 2) > 0 else None
        """,
    "a file by the name that a text is given": """
        names = {}
        exec(compile('import traceback\\nlines = traceback.extract_stack()', '/etc/passwd', 'exec'), names)
        loot = 'escaped' if names['lines'][-1].line else None
        """,
    "a file by the name that a text is given, with its callers": """
        names = {}
        exec(compile('import inspect\\nlines = inspect.stack()', '/etc/passwd', 'exec'), names)
        loot = 'escaped' if names['lines'][0].code_context else None
        """,
    "a frame of the stack": """
        import inspect
        loot = 'escaped' if inspect.stack()[0].frame.f_globals else None
        """,
    "a private name through a stream of codecs": """
        import codecs, random
        loot = 'escaped' if codecs.getwriter('utf-8')(random.Random())._randbelow else None
        """,
    "places of the library in a snapshot": """
        import tracemalloc
        tracemalloc.start()
        loot = 'escaped' if tracemalloc.take_snapshot().statistics('filename') is not None else None
        """,
    "a private name through a weak proxy": """
        import random, weakref
        r = random.Random()
        loot = 'escaped' if weakref.proxy(r)._randbelow else None
        """,
    "a private name through a weak proxy, by name": """
        import random, weakref
        r = random.Random()
        loot = 'escaped' if getattr(weakref.proxy(r), '_rand' + 'below') else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
