"""Composed operations: what takes several steps, or a place of its own, before it goes wrong.

Each recipe is the text of a program that follows the hostile classes of hostile.py. What it binds
to `found` is judged, with all that containers in it hold; `note` judges on the way. So a recipe
says how to get somewhere, and not what is wrong there.
"""

from __future__ import annotations

import itertools

# Uses every hook, where names are looked up in the locals of the text.
TEXT = (
    "a = globals(); b = a._names; c = a.__dict__; a.x = 1; __import__('math'); d = locals(); "
    "e = vars(); f = [g for g in [a]]; exec('h = a._names'); i = dir()"
)

# Ways to run text, and what to look at afterwards.
_RUNNING = {
    "exec": "exec(TEXT)",
    "exec with globals": "exec(TEXT, globals())",
    "exec with a dict": "exec(TEXT, dict(hooks))",
    "exec with two dicts": "exec(TEXT, dict(hooks), dict(hooks))",
    "exec with locals": "exec(TEXT, globals(), locals())",
    "exec with vars": "exec(TEXT, globals(), vars())",
    "exec of code": "exec(compile(TEXT, '<x>', 'exec'))",
    "eval": "eval('(globals()._names, vars().x, locals())')",
    "eval with a dict": "eval('globals()._names', dict(hooks))",
    "eval of code": "eval(compile('globals()._names', '<x>', 'eval'))",
    "a view of locals": "v = locals(); exec(TEXT, v)",
    "a view of vars": "v = vars(); v['@private'] = hooks['@private']; exec(TEXT, globals(), v)",
    "statements": "v = globals(); v._names; v.__dict__; v.x",
}

# Scopes that have a namespace the program made, or may have changed.
_SCOPES = {
    "the module": "try: {}\nexcept Exception as e: note(e)",
    "a function": "def f():\n    {}\nf()",
    "a class": "class C:\n    {}",
    "a class of a metaclass": "class C(metaclass=Meta):\n    {}",
    "a class of a metaclass that is no class": "class C(metaclass=H()):\n    {}",
    "a class of a base that is no class": "class C(H()):\n    {}",
    "a class of a function for a metaclass": "class C(metaclass=Preparing(hooks)):\n    {}",
    "a class with a namespace of a subclass of dict":
        "class C(metaclass=Preparing(Items(hooks))):\n    {}",
    "a class with a namespace that is no dict": "class C(metaclass=Preparing(H())):\n    {}",
    "a class with a view as its namespace": "class C(metaclass=Preparing(globals())):\n    {}",
    "a class in a class": "class C(metaclass=Preparing(hooks)):\n    class D:\n        {}",
    "a class in text": "exec('class C(metaclass=Preparing(hooks)):\\n    ' + {!r})",
    "types.new_class": "def body(names):\n    names.update(hooks)\n    {}\n"
        "types.new_class('C', (), {{'metaclass': Preparing(hooks)}}, body)",
    "an enum": "class C(enum.Enum):\n    {}",
    "a dataclass": "@dataclasses.dataclass\nclass C:\n    x: int = 1\n    {}",
    "a named tuple": "class C(typing.NamedTuple):\n    {}",
    "a thread": "def f():\n    {}\nt = threading.Thread(target=f); t.start(); t.join()",
    "a generator": "def f():\n    yield 1\n    {}\nlist(f())",
    "a lambda": "(lambda: exec(TEXT))()\n{}",
    "a mock": "mock.Mock(side_effect=exec)(TEXT)\n{}",
    "a property": "class C:\n    @property\n    def p(self):\n        {}\nC().p",
    "a finalizer": "class C:\n    def __del__(self):\n        {}\nC()",
    "a doctest": "import doctest\ndef f(): '>>> exec(TEXT)'\ndoctest.run_docstring_examples(f, dict(hooks))\n{}",
    "timeit": "import timeit\ntimeit.timeit(TEXT, number=1, globals=dict(hooks))\n{}",
}  # fmt: skip

_BEFORE_TEXT = """
class Preparing:
    def __init__(self, names): self.names = names
    def __getattr__(self, name):
        if name == "__prepare__": return lambda *args, **more: self.names
        raise AttributeError(name)
    def __call__(self, name, bases, names, **more):
        note(names)
        return names
"""

_OTHERS = {
    "copy with a memo": """
found = []
for make in (lambda: threading.Thread(target=plain), lambda: threading.Barrier(2),
             lambda: threading.local(), lambda: threading.Lock(), lambda: Data(),
             lambda: Reduced(), lambda: mock.Mock(), lambda: enum.Enum("E", "a"),
             lambda: json.JSONDecoder(), lambda: inspect.signature(plain),
             lambda: contextlib.ExitStack(), lambda: types.SimpleNamespace(x=Loud()),
             lambda: functools.partial(plain, H()), lambda: globals(), lambda: compile("1", "", "eval"),
             lambda: itertools.count(), lambda: mock.call(1), lambda: generating()):
    for function in (copy.deepcopy, lambda o, memo: copy.deepcopy([o, Noting()], memo)):
        memo = {}
        try: found.append(function(make(), memo))
        except Exception as e: found.append(e)
        found.append(list(memo.values()))
""",
    "copy with a memo that answers": """
class Memo(dict):
    def get(self, key, default=None):
        note(default)
        return dict.get(self, key, default)
    def __getitem__(self, key): return dict.__getitem__(self, key)
    def __setitem__(self, key, value):
        note(value)
        dict.__setitem__(self, key, value)
found = []
for memo in (Memo(), H(), Items()):
    for thing in (threading.Thread(target=plain), threading.Barrier(2), json.JSONDecoder(), Data(), Reduced()):
        try: found.append(copy.deepcopy(thing, memo))
        except Exception as e: found.append(e)
""",
    "pickle": """
found = []
class Parts:
    def __getstate__(self): return {"__class__": Loud, "x": H()}
    def __setstate__(self, state):
        note(state)
        for each in state.values(): note(each)
for thing in (Parts(), threading.Thread(target=plain), Noting(), [Noting(), threading.Barrier(2)],
              Reduced(), Data(), Colour.RED, Pair(1, Noting()), mock.Mock(), globals(), inspect.signature(plain)):
    try:
        found.append(pickle.loads(pickle.dumps(thing)))
    except Exception as e: found.append(e)
""",
    "errors of the library": """
import csv, re, string, decimal, logging, argparse, configparser, textwrap, traceback, datetime
found = []
def trying(f, *args):
    try: f(*args)
    except BaseException as e:
        while e is not None:
            found.extend([e, e.args, getattr(e, "obj", None), getattr(e, "name", None),
                          getattr(e, "object", None), getattr(e, "value", None), e.__traceback__])
            e = e.__context__
for function in (json.dumps, json.loads, re.compile, copy.copy, copy.deepcopy, logging.warning,
                 datetime.datetime.fromisoformat, decimal.Decimal, textwrap.dedent, enum.Enum,
                 dataclasses.fields, dataclasses.asdict, functools.singledispatch, inspect.signature,
                 typing.get_type_hints, contextlib.contextmanager, string.Template, pickle.loads,
                 functools.total_ordering, enum.unique, csv.reader, operator.attrgetter("a.b"),
                 weakref.ref, weakref.proxy, threading.Thread, threading.Timer, types.new_class):
    for thing in (Failing(), H(), Text("x"), Number(), Items(), generating(), Made, Meta, Reduced(), Data, plain):
        trying(function, thing)
        trying(function, thing, Failing())
""",
    "logging.config": """
import logging, logging.config
found = []
class Handler(logging.Handler):
    def emit(self, record): note(record); note(record.args); note(record.exc_info)
for each in ("H", "Handler", "__main__.Handler", "logging.Handler", "logging.root", "json.dumps", "sys.modules",
             "logging._acquireLock", "builtins.open", "re.enum", "threading._Record", "os.environ"):
    for key in ("class", "()"):
        for more in ({}, {".": {"x": H()}}, {"ext": "ext://" + each, "cfg": "cfg://handlers.h"}):
            config = {"version": 1, "handlers": {"h": {key: each, "level": "DEBUG", **more}},
                      "root": {"handlers": ["h"], "level": "DEBUG"}}
            try:
                found.append(logging.config.dictConfig(config))
                logging.getLogger("x").warning(H(), H(), exc_info=True)
                found.extend(logging.getLogger().handlers)
            except Exception as e: found.append(e)
""",
    "patch": """
found = []
for name in ("json.dumps", "re.compile", "logging.Handler", "sys.modules", "sys.stdout", "os.environ",
             "threading.Thread", "builtins.__import__", "builtins.open", "copy._special", "typing.List",
             "datetime.datetime", "enum.Enum.__new__", "__main__.hooks", "unittest.mock._importer",
             "importlib.import_module", "collections.abc", "json.decoder.scanner", "string._re"):
    for more in ({}, {"spec": True}, {"autospec": True}, {"wraps": H()}, {"new": H()}, {"create": True}, {"new_callable": H}):
        try:
            with mock.patch(name, **more) as patched:
                found.append(patched)
                note(patched.__class__)
        except Exception as e: found.extend([e, e.args])
""",
    "class patterns": """
found = []
class Claims(type):
    def __instancecheck__(cls, o): return True
class P(metaclass=Claims): __match_args__ = ("x", "func", "args", "fget", "obj", "value", "origin")
for thing in (globals(), compile("1", "", "eval"), threading.Thread(target=plain), Loud(), json.dumps, type,
              functools.partial(plain), property(plain), mock.call, mock.patch, generating(), typing.List[int],
              sys_exc(), inspect.signature(plain), types.SimpleNamespace(x=1), iter([1]), enum, Colour.RED):
    for n in range(7):
        match thing:
            case P(a): found.append(a)
        match thing:
            case P(_, a): found.append(a)
        match thing:
            case P(_, _, a): found.append(a)
        match thing:
            case P(_, _, _, a): found.append(a)
        match thing:
            case P(_, _, _, _, a): found.append(a)
    for names in (("_names",), ("__dict__",), ("__globals__",), ("_record",), ["x"], Several(("_names",)), (Text("_names"),)):
        try:
            class Q(metaclass=Claims): __match_args__ = names
            match thing:
                case Q(a): found.append(a)
        except Exception as e: found.append(e)
""",
    "references": """
found = []
import gc
for thing in (threading.Thread(target=plain), H, H(), plain, generating(), Data()):
    def back(*args):
        for each in args: note(each)
        found.extend(args)
    try:
        found.extend([weakref.ref(thing, back), weakref.proxy(thing, back), weakref.finalize(thing, back, thing)])
        found.extend(weakref.getweakrefs(thing))
    except Exception as e: found.append(e)
del thing
gc.collect()
""",
    "super": """
found = []
for base in (threading.Thread, json.JSONEncoder, json.JSONDecoder, enum.Enum, Exception, dict, types.SimpleNamespace,
             contextlib.ExitStack, functools.partial, mock.Mock, inspect.Signature, typing.Generic):
    try:
        class D(base):
            def go(self):
                s = super()
                return [s, s.__init__, s.__new__, s.__self__, s.__thisclass__, s.__reduce_ex__] if flip() else [s]
            def __init_subclass__(cls, **names): note(cls)
            def __set_name__(self, owner, name): note(owner)
            def __repr__(self): return super().__repr__()
        found.extend([D, D.__mro__, D.__bases__, D.__base__, D.mro(), vars(D)])
        found.extend(D.go(D()))
    except Exception as e: found.append(e)
""",
    "modules of sys": """
import sys
found = [dict(sys.modules), sys.modules.get("json"), sys.modules.copy(), list(sys.modules.values()),
         sys.modules.pop("re", None), sys.modules.setdefault("x", H())]
""",
    "async": """
import asyncio
found = []
async def work():
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    found.extend([loop, task, task.get_coro(), asyncio.all_tasks()])
    found.extend(getattr(task, n, None) for n in dir(task))
    found.extend(getattr(loop, n, None) for n in dir(loop))
    loop.call_soon(lambda *a: note(a))
    future = loop.create_future()
    future.add_done_callback(note)
    future.set_result(H())
    await future
    try: await asyncio.wait_for(asyncio.sleep(1), 0.001)
    except BaseException as e: found.extend([e, e.__context__, e.__traceback__])
    found.append(await asyncio.gather(waiting(1), waiting(2), return_exceptions=True))
    found.append(await asyncio.to_thread(plain, 1))
try: asyncio.run(work())
except Exception as e: found.append(e)
""",
    "contexts": """
import contextvars
found = []
v = contextvars.ContextVar("v")
c = contextvars.copy_context()
found.extend([c, list(c), list(c.values()), list(c.items())])
t = v.set(H())
found.extend([t, t.old_value, t.var, contextvars.copy_context().items()])
found.append(contextvars.copy_context().run(lambda: list(contextvars.copy_context().items())))
for thing in (contextlib.redirect_stdout(H()), contextlib.suppress(Exception), contextlib.closing(H())):
    with thing as entered: found.extend([thing, entered])
import decimal
with decimal.localcontext() as entered: found.append(entered)
import warnings
with warnings.catch_warnings(record=True) as log:
    warnings.warn(Loud(H()))
    found.extend([log, *[w.message for w in log], *[w.source for w in log]])
""",
    "unittest": """
import unittest
found = []
class T(unittest.TestCase):
    def test_a(self):
        found.extend(getattr(self, n, None) for n in dir(self))
        with self.assertRaises(Loud) as cm: raise Loud(1)
        found.extend([cm, cm.exception, cm.exception.__traceback__])
        with self.assertLogs() as logs:
            import logging
            logging.warning("x")
        found.extend([logs, logs.records, logs.output])
        with self.subTest(x=H()): self.fail()
    def test_b(self): raise Loud(2)
result = unittest.TestResult()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
suite.run(result)
found.extend([result, result.errors, result.failures, suite, list(suite)])
found.extend(getattr(result, n, None) for n in dir(result))
""",
}

_NOTING = """
import sys
class Noting:
    def __deepcopy__(self, memo):
        note(memo)
        for each in list(memo.values()): note(each)
        return self
    def __reduce__(self): return Noting, ()
def sys_exc():
    try: json.loads("x")
    except Exception as e: return e
"""


def all_recipes() -> dict[str, str]:
    """The programs, by name."""
    made = {name: _NOTING + text for name, text in _OTHERS.items()}
    for (scope, template), (way, text) in itertools.product(_SCOPES.items(), _RUNNING.items()):
        program = f"{_BEFORE_TEXT}TEXT = {TEXT!r}\n{template.format(text)}"
        made[f"{way}, in {scope}"] = program
    return made
