"""The program of the search: its hostile classes, and one small function for each operation.

The text is compiled by the policy like any program, so that each operation is the bytecode of a
guest's own frame. `note` is the observer's: it judges what the library hands to these objects.
"""

from __future__ import annotations

OPERATIONS = """
def op_call(f, *args): return f(*args)
def op_named(f, **names): return f(**names)
def op_item(o, key): return o[key]
def op_iterate(o):
    found = []
    for each in o:
        found.append(each)
        if len(found) == 4: break
    return found
def op_type(o): return type(o)
def op_vars(o): return vars(o)
def op_next(o): return next(o)
def op_dir(o): return [getattr(o, n, None) for n in dir(o)]
def op_copy(o): return copy.copy(o)
def op_deepcopy(o, memo): return copy.deepcopy(o, memo), memo
def op_pickle(o): return pickle.loads(pickle.dumps(o))
def op_replace(o): return dataclasses.replace(o)
def op_text(o): return repr(o), str(o), format(o), ascii(o), f"{o!r:>3}"
def op_with(o):
    with o as entered: return entered
def op_await(o):
    async def waits(): return await o
    coroutine = waits()
    try: return coroutine.send(None)
    except StopIteration as ended: return ended.value
def op_send(o): return o.send(None)
def op_throw(o): return o.throw(Loud)
def op_mock_spec(o):
    made = mock.Mock(spec=o)
    return made, made.method_calls, vars(made), type(made)
def op_mock_wraps(o):
    made = mock.Mock(wraps=o)
    return made, made.return_value, made(1), made.first
def op_autospec(o): return mock.create_autospec(o)
def op_patch(o, name):
    with mock.patch.object(o, name, H()) as patched: return patched, getattr(o, name)
def op_patch_dict(o):
    with mock.patch.dict(o, {"x": 1}) as patched: return patched
def op_signature(o): return inspect.signature(o), inspect.getmembers(o)
def op_hints(o): return typing.get_type_hints(o), typing.get_args(o), typing.get_origin(o)
def op_isinstance(o, c): return isinstance(o, c), issubclass(type(o), c)
def op_or(o): return o | int, int | o
def op_add(o): return o + H(), H() + o, o == H(), H() == o, o < H()
def op_contains(o): return H() in o
def op_match(o, c):
    match o:
        case c(a): return a
    match o:
        case c(a, b): return a, b
    match o:
        case {"x": a, **rest}: return a, rest
        case [a, *rest]: return a, rest
def op_bind(o): return functools.partial(o, 1), functools.partialmethod(o).__get__(H(), H)
def op_get(o): return o.__get__(H(), H), o.__get__(None, H)
def op_derive(c):
    class D(c):
        def __init_subclass__(cls, **names): note(cls)
        def __getattr__(self, name): return H()
        def __set_name__(self, owner, name): note(owner)
    return D, D.mro(), D.__subclasses__()
def op_instance_of(c): return c.__new__(c)
def op_metaclass(c):
    class D(metaclass=c): v = Text("x")
    return D
def op_decorate(f):
    @f
    def g(x: "int" = 1): return x
    @f
    class C: x: int = 1
    return g, C
def op_method(f):
    class C:
        m = f
    return C().m, C.m
def op_set(o): o.canary_name = H()
def op_set_private(o): o._canary_name = H()
def op_set_item(o): o[Text("canary_name")] = H()
def op_call_set(o): return o.__set__(H(), H())
def op_delete(o, name): delattr(o, name)
def op_in_thread(f):
    found = []
    def run():
        try: found.append(f())
        except BaseException as e: found.append(e)
    t = threading.Thread(target=run)
    t.start(); t.join()
    return found, t
def op_getters(o): return operator.attrgetter("__class__", "__doc__")(o)
def op_exec(o): return exec("r = 1", o), eval("1", o)
def op_key(f): return sorted([H(), H()], key=f), max(1, 2, key=f), list(map(f, [H()]))
def op_reduce(f): return functools.reduce(f, [H(), H(), H()]), list(filter(f, [H()]))
def error_of(f, *args):
    try: f(*args)
    except BaseException as e: return e, e.args, e.__context__, e.__cause__, e.__traceback__
"""

CLASSES = """
import collections, contextlib, copy, dataclasses, enum, functools, inspect, itertools, json, operator
import pickle, threading, types, typing, weakref
from unittest import mock

class Loud(Exception): pass

class H:
    '''Answers whatever it is asked, with more of its kind.'''
    def __init__(self, *args, **names):
        for each in (*args, *names.values()): note(each)
    def __getattr__(self, name):
        note(name)
        if name == "__prepare__": return lambda *args, **names: hooks
        if name == "__name__": return Text("canary_name")
        return H()
    def __setattr__(self, name, value): note(value)
    def __delattr__(self, name): pass
    def __call__(self, *args, **names):
        for each in (*args, *names.values()): note(each)
        return args[0] if args and flip() else H()
    def __iter__(self): return iter([H(), Text("canary_name")])
    def __next__(self): raise StopIteration(H())
    def __getitem__(self, key):
        note(key)
        return H()
    def __setitem__(self, key, value): note(key); note(value)
    def __delitem__(self, key): note(key)
    def __contains__(self, key):
        note(key)
        return flip()
    def __len__(self): return 2
    def __bool__(self): return flip()
    def __index__(self): return 1
    def __int__(self): return 1
    def __float__(self): return 1.0
    def __str__(self): return Text("canary_name")
    def __repr__(self): return Text("canary_name")
    def __format__(self, spec):
        note(spec)
        return Text("canary_name")
    def __dir__(self): return ["canary_name", "_canary_name"]
    def __hash__(self): return 1
    def __eq__(self, other):
        note(other)
        return flip()
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    def __add__(self, other):
        note(other)
        return H()
    __radd__ = __sub__ = __mul__ = __mod__ = __or__ = __ror__ = __and__ = __matmul__ = __add__
    def __enter__(self): return self
    def __exit__(self, *error):
        for each in error: note(each)
        return flip()
    def __get__(self, instance, owner):
        note(instance); note(owner)
        return H2()
    def __set__(self, instance, value): note(instance); note(value)
    def __delete__(self, instance): note(instance)
    def __set_name__(self, owner, name): note(owner); note(name)
    def __instancecheck__(self, instance):
        note(instance)
        return True
    def __subclasscheck__(self, cls):
        note(cls)
        return True
    def __mro_entries__(self, bases):
        note(bases)
        return ()
    def __copy__(self): return H2()
    def __deepcopy__(self, memo):
        note(memo)
        for each in list(memo.values()): note(each)
        return self
    def __await__(self): return iter([H()])
    def keys(self): return ["canary_name", Text("x")]
    def __fspath__(self): return Text("canary_name")
    def __del__(self): pass

class H2(H):
    __match_args__ = ("canary_name", "x")

class Property:
    '''An object whose attributes are computed, and differ each time.'''
    @property
    def __doc__(self): return H()
    @property
    def canary_name(self): return H()
    def __getattr__(self, name):
        note(name)
        if flip(): raise AttributeError(name)
        return H()
    def __call__(self, *args, **names):
        for each in (*args, *names.values()): note(each)
        return H()

class Text(str):
    def __eq__(self, other):
        note(other)
        return flip()
    def __hash__(self): return 1
    def __add__(self, other): return Text("__globals__")
    __radd__ = __mod__ = __mul__ = __add__
    def __getitem__(self, key): return Text("_")
    def __len__(self): return 3
    def __iter__(self): return iter(["__globals__"])
    def startswith(self, *args): return flip()
    def endswith(self, *args): return flip()
    def isidentifier(self): return True
    def lower(self): return Text("__globals__")
    upper = strip = format = replace = split = partition = join = encode = lower

class Number(int):
    def __index__(self): return 0
    def __eq__(self, other):
        note(other)
        return flip()
    def __hash__(self): return 1
    def __add__(self, other): return H()
    __radd__ = __add__

class Items(dict):
    def __getitem__(self, key):
        note(key)
        return H()
    def get(self, key, default=None):
        note(key); note(default)
        return H()
    def __missing__(self, key):
        note(key)
        return H()
    def __contains__(self, key): return flip()
    def items(self): return [(Text("x"), H())]
    def keys(self): return [Text("x")]
    def update(self, *others, **names):
        for each in others: note(each)
    def __setitem__(self, key, value): note(key); note(value)

class Several(tuple):
    def __getitem__(self, key): return H()
    def __iter__(self): return iter((H(), H()))
    def __eq__(self, other):
        note(other)
        return flip()
    __hash__ = None

class Meta(type):
    def __call__(cls, *args, **names):
        for each in (*args, *names.values()): note(each)
        return H()
    def __instancecheck__(cls, instance):
        note(instance)
        return True
    def __subclasscheck__(cls, other):
        note(other)
        return True
    def __iter__(cls): return iter([H()])
    def __len__(cls): return 1
    def __or__(cls, other):
        note(other)
        return H()
    __ror__ = __or__

class Made(metaclass=Meta):
    '''A class whose metaclass answers everything.'''
    __match_args__ = ("canary_name", "x")
    x: "int" = H()
    def __init_subclass__(cls, **names): note(cls)
    def __class_getitem__(cls, key):
        note(key)
        return H()

class Failing:
    '''Fails in everything, so that errors of the library have it in hand.'''
    def __getattr__(self, name): raise AttributeError(name)
    def __call__(self, *args, **names):
        for each in (*args, *names.values()): note(each)
        raise Loud(*args)
    def __eq__(self, other):
        note(other)
        raise Loud(other)
    def __hash__(self): raise Loud
    def __iter__(self): raise Loud
    def __repr__(self): raise Loud
    def __enter__(self): return self
    def __exit__(self, *error):
        for each in error: note(each)

class Reduced(Exception):
    '''Says of its parts what it likes.'''
    def __reduce__(self): return Reduced, (1,), {"__class__": Loud, "canary_name": H()}

@dataclasses.dataclass
class Data:
    x: "int" = 1
    _canary_name: typing.Any = None

class Colour(enum.Enum):
    RED = 1

Pair = collections.namedtuple("Pair", "x canary_name")

def plain(*args, **names):
    for each in (*args, *names.values()): note(each)
    return args[0] if args else None

def generating():
    got = yield H()
    note(got)

async def waiting(*args): return args
"""

# What the walk passes: expressions, each made anew for each call.
ARGUMENTS = (
    "H()", "H2()", "Property()", "Text('canary_name')", "Number()", "Items()", "Several((1, 2))",
    "Made", "Failing()", "Reduced()", "plain", "generating()", "Data()", "Data", "Colour", "Pair",
    "globals()", "type", "object", "int", "str", "()", "[]", "{}", "{'x': H()}", "'canary_name'",
    "b'x'", "1", "None", "H", "dict", "[H(), 1]", "('x', H())", "len", "lambda *a: note(a)",
    "functools.partial(plain)", "type(plain)", "dataclasses", "hooks", "trap",
    "property(plain)", "classmethod(plain)", "staticmethod(plain)", "plain.__get__(H())",
    "Loud('x')", "typing.List[int]", "typing.Any", "iter([H()])", "Meta", "abs",
    "json.dumps", "json.JSONEncoder", "json.JSONEncoder()", "threading.Thread(target=plain)",
    "types.SimpleNamespace(x=H())", "contextlib.nullcontext(H())", "mock.call", "enum",
)  # fmt: skip

# What every function is called with: objects of the library, which no program may write to, and
# the program's.
VICTIMS = (
    "json.dumps", "json.JSONEncoder", "threading.Thread(target=plain)", "trap", "hooks", "H()",
)  # fmt: skip

# For a program of its own: what the observer gives.
PROGRAM_HEAD = """
import random
def flip(): return random.random() < 0.5
def note(value): print(type(value), value)
hooks = {name: note for name in ("@private", "@dunder", "@write", "@plain_group", "@import")}
trap = object()
"""
