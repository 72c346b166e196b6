x = "global"


def make_counter(start=0, step=1):
    count = start

    def counter():
        nonlocal count
        count += step
        return count

    def reset(value=start):
        nonlocal count
        count = value

    counter.reset = reset
    counter.peek = lambda: count
    return counter


def bank(balance):
    def withdraw(amount):
        nonlocal balance
        if amount > balance:
            return "Insufficient funds"
        balance -= amount
        return balance
    return withdraw


def scopes():
    x = "enclosing"

    def inner():
        x = "local"
        return x

    class K:
        y = x
        x = "class"
        both = (y, x)
        listed = [x for _ in range(1)]

    def reader(): return x

    def writer():
        global x
        x = "changed global"
    writer()
    return inner(), K.both, K.x, K.listed, reader(), x


def memoize(f, cache={}):
    def g(*args):
        key = (f.__name__,) + args
        if key not in cache:
            cache[key] = f(*args)
        return cache[key]
    g.cache = cache
    return g


def cons(a, b): return lambda pick: pick(a, b)
car = lambda p: p(lambda a, b: a)
cdr = lambda p: p(lambda a, b: b)

zero = lambda f: lambda x: x
succ = lambda n: lambda f: lambda x: f(n(f)(x))
plus = lambda m, n: lambda f: lambda x: m(f)(n(f)(x))
number = lambda n: n(lambda k: k + 1)(0)
Y = lambda f: (lambda g: g(g))(lambda g: f(lambda *a: g(g)(*a)))

c, d = make_counter(), make_counter(10, -2)
print(c(), c(), d(), c(), d(), c.peek())
c.reset(); d.reset(100)
print(c(), d(), make_counter.__defaults__)
w = bank(100)
print(w(25), w(80), w(75))
print(scopes(), x)
fibm = memoize(lambda n: n if n < 2 else fibm(n - 1) + fibm(n - 2))
print(fibm(50), len(fibm.cache))
p = cons(1, cons(2, None))
print(car(p), car(cdr(p)), cdr(cdr(p)))
three = succ(succ(succ(zero)))
print(number(three), number(plus(three, three)), Y(lambda f: lambda n: 1 if n == 0 else n * f(n - 1))(10))


def f(a, b=2, /, c=3, *args, d, e=5, **kw):
    del b
    try:
        print(b)
    except UnboundLocalError as err:
        print(err)
    return a, c, args, d, e, kw


print(f(1, d=4), f(1, 2, 9, 8, 7, d=0, z=1, **{"a": "kw"}))
for bad in (lambda: f(1), lambda: f(), lambda: f(1, d=1, e=2, c=1, **{"c": 5}), lambda: f(a=1, d=2), lambda: undefined_name):
    try:
        bad()
    except (TypeError, NameError) as err:
        print(type(err).__name__, err)


def append_to(item, target=[]):
    target.append(item)
    return target


print(append_to(1), append_to(2), append_to(3, []), f.__name__, f.__kwdefaults__, (lambda: 0).__name__)
print([y := 1, y ** 2, (z := y + 5)], y, z, any((last := n) > 2 for n in range(5)), last)
