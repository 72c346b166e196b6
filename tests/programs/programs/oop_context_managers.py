import io
import sys
from contextlib import (ExitStack, closing, contextmanager, nullcontext, redirect_stdout, redirect_stderr, suppress,
                        ContextDecorator)


class Timer:
    clock = 0

    def __enter__(self):
        self.start = Timer.clock
        return self

    def __exit__(self, *exc):
        self.elapsed = Timer.clock - self.start
        return False


@contextmanager
def tag(name, **attrs):
    extra = "".join(f' {k}="{v}"' for k, v in attrs.items())
    print(f"<{name}{extra}>")
    try:
        yield name.upper()
    except ZeroDivisionError as e:
        print("  swallowed", e)
    finally:
        print(f"</{name}>")


class Resource:
    def __init__(self, name): self.name = name; print("open", name)
    def close(self): print("close", self.name)


class Transaction:
    def __init__(self, db): self.db = db

    def __enter__(self):
        self._backup = dict(self.db)
        return self.db

    def __exit__(self, etype, e, tb):
        if etype:
            self.db.clear(); self.db.update(self._backup)
            print("rolled back:", etype.__name__, e, tb is not None)
        return etype is ValueError


class announce(ContextDecorator):
    def __enter__(self): print("begin"); return self
    def __exit__(self, *a): print("end", a[0])


@announce()
def work(x): return print("work", x)


with Timer() as t:
    Timer.clock += 7
print(t.elapsed)
with tag("a", href="#") as A, tag("b"):
    print(A)
    1 / 0
db = {"x": 1}
with Transaction(db) as d:
    d["y"] = 2
with Transaction(db) as d:
    d["z"] = 3
    raise ValueError("nope")
try:
    with Transaction(db):
        db.pop("nokey")
except KeyError as e:
    print("KeyError passes", e)
print(db)
with closing(Resource("r1")) as r, suppress(KeyError, IndexError):
    [][1]
    print("not reached")
with ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in ("x", "y")]
    stack.callback(print, "callback", sep="-")
    stack.push(lambda *exc: print("exc:", exc[0]) or True)
    print(names)
    saved = stack.pop_all()
print("closing later"); saved.close()
buf = io.StringIO()
with redirect_stdout(buf):
    print("hidden")
    help_text = sys.stdout is buf
err = io.StringIO()
with redirect_stderr(err):
    print("oops", file=sys.stderr)
print(repr(buf.getvalue()), help_text, repr(err.getvalue()))
work(1)
with nullcontext(5) as five: print(five)
try:
    with 5: pass
except (TypeError, AttributeError) as e: print(type(e).__name__, e)
try:
    with tag("only once") as t1:
        raise RuntimeError("through")
except RuntimeError as e: print(e)
with (tag("p"), tag("q") as q,): print(q)
