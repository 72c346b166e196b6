"""Visitor, observer, strategy, state machine, command with undo, builder, iterator."""


class Num:
    def __init__(self, n): self.n = n
    def accept(self, v): return v.visit(self)


class Bin:
    def __init__(self, op, l, r): self.op, self.l, self.r = op, l, r
    def accept(self, v): return v.visit(self)


class Visitor:
    def visit(self, node):
        name = "visit_" + type(node).__name__.lower()
        return getattr(self, name, self.generic)(node)

    def generic(self, node): raise NotImplementedError(type(node).__name__)


class Show(Visitor):
    def visit_num(self, n): return str(n.n)
    def visit_bin(self, b): return f"({b.l.accept(self)} {b.op} {b.r.accept(self)})"


class Evaluate(Visitor):
    ops = {"+": lambda a, b: a + b, "*": lambda a, b: a * b}
    visit_num = lambda self, n: n.n
    def visit_bin(self, b): return self.ops[b.op](b.l.accept(self), b.r.accept(self))


class Subject:
    def __init__(self): self._observers = []
    def attach(self, f): self._observers.append(f); return f
    def notify(self, *a, **k): return [f(*a, **k) for f in self._observers]


class Turnstile:
    transitions = {("locked", "coin"): "unlocked", ("unlocked", "push"): "locked"}

    def __init__(self):
        self.state, self.history = "locked", []

    def on(self, event):
        old = self.state
        self.state = self.transitions.get((old, event), old)
        hook = getattr(self, f"_enter_{self.state}", None)
        if hook and old != self.state:
            hook()
        return self

    def _enter_unlocked(self): self.history.append("thanks")
    def _enter_locked(self): self.history.append("click")


class Editor:
    def __init__(self): self.text, self._undo, self._redo = "", [], []

    def do(self, command):
        self._undo.append((command, self.text))
        self._redo.clear()
        self.text = command(self.text)

    def undo(self):
        command, before = self._undo.pop()
        self._redo.append((command, self.text))
        self.text = before


class Query:
    def __init__(self): self._parts = {}

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        def setter(*values):
            self._parts[name] = values
            return self
        return setter

    def __str__(self): return " ".join(f"{k.upper()} {', '.join(map(str, v))}" for k, v in self._parts.items())


class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n + 1


tree = Bin("+", Num(2), Bin("*", Num(3), Num(4)))
print(tree.accept(Show()), "=", tree.accept(Evaluate()))
try: Show().visit("x")
except NotImplementedError as e: print("cannot show", e)
s = Subject()
@s.attach
def on_change(x, *, y=0): return x + y
s.attach(print); s.attach(lambda x: [x] * 2)
print(s.notify(5))
t = Turnstile()
print([t.on(e).state for e in "push coin coin push".split()], t.history)
e = Editor()
e.do(lambda t: t + "hello"); e.do(str.upper); e.do(lambda t: t.replace("L", "1"))
print(e.text, end=" "); e.undo(); print(e.text, end=" "); e.undo(); print(e.text, len(e._redo))
print(Query().select("a", "b").from_("t").where("x > 1").limit(3))
print(list(Countdown(3)), sum(Countdown(4)), 2 in Countdown(3), max(Countdown(7)), dict(zip(Countdown(2), "ab")))
strategies = {f.__name__: f for f in (sum, max, min, sorted, len)}
print({name: f([3, 1, 2]) for name, f in strategies.items()})
