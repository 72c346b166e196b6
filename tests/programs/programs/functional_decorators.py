import functools
import inspect
from functools import partial, wraps, singledispatch, partialmethod

def trace(fn=None, *, prefix="->", enabled=True):
    """Works as @trace and as @trace(prefix=...)."""
    if fn is None:
        return partial(trace, prefix=prefix, enabled=enabled)

    @wraps(fn)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        if not enabled:
            return fn(*args, **kwargs)
        shown = ", ".join([*map(repr, args), *(f"{k}={v!r}" for k, v in kwargs.items())])
        print(f"{prefix} {fn.__name__}({shown})")
        result = fn(*args, **kwargs)
        print(f"<- {result!r}")
        return result

    wrapper.calls = 0
    return wrapper

def retry(times, *errors):
    def deco(f):
        @wraps(f)
        def inner(*a, **k):
            for attempt in range(1, times + 1):
                try:
                    return f(*a, **k)
                except errors as e:
                    print(f"attempt {attempt} failed: {e}")
            raise RuntimeError(f"gave up after {times}")
        return inner
    return deco

class CountCalls:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.n = f, 0

    def __call__(self, *a):
        self.n += 1
        return self.f(*a)

    def __get__(self, obj, cls=None): return self if obj is None else partial(self, obj)

def typed(f):
    sig = inspect.signature(f)
    hints = f.__annotations__

    @wraps(f)
    def check(*a, **k):
        for name, value in sig.bind(*a, **k).arguments.items():
            want = hints.get(name)
            if want and not isinstance(value, want):
                raise TypeError(f"{name}: expected {want.__name__}, got {type(value).__name__}")
        return f(*a, **k)
    return check

def add_repr(cls):
    cls.__repr__ = lambda self: f"{cls.__name__}({', '.join(f'{k}={v}' for k, v in vars(self).items())})"
    return cls

@trace
def add(a, b=1):
    "Adds."
    return a + b

@trace(prefix=">>>")
def outer(x): return add(x, b=x) * 2

attempts = iter([ValueError("first"), KeyError("second"), 42, ValueError("a"), ValueError("b"), ValueError("c")])

@retry(3, ValueError, KeyError)
def flaky():
    if isinstance(x := next(attempts), Exception): raise x
    return x

@add_repr
class Cell:
    def __init__(self, alive): self.alive = alive
    @CountCalls
    def flip(self): self.alive = not self.alive; return self.alive
    def set(self, v): self.alive = v
    kill = partialmethod(set, False)

@singledispatch
def show(x): return f"object {x}"
@show.register
def _(x: int): return f"int {x:+d}"
@show.register(list)
@show.register(tuple)
def _(x): return "[" + ";".join(map(show, x)) + "]"

@typed
def area(w: int, h: int = 2, *, unit: str = "cm"): return f"{w * h}{unit}"

print(outer(3), add.calls, add.__name__, add.__doc__, add.__wrapped__(1, 1), inspect.signature(add))
print(flaky())
try: flaky()
except RuntimeError as e: print("error:", e)
c = Cell(True)
print(c.flip(), c.flip(), Cell.flip.n, c, Cell.flip.__name__); c.kill(); print(c)
print(show(1), show([1, "a", (2,)]), show(None), show.dispatch(bool) is show.dispatch(int), area(2, unit="m"))
try: area(2, "x")
except TypeError as e: print(e)
print([f(2) for f in [lambda x, n=n: x ** n for n in range(4)]])
print([f() for f in [lambda: n for n in range(3)]], partial(int, base=2)("101"), inspect.signature(area))
