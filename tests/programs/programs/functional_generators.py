from itertools import (accumulate, chain, combinations, count, cycle, dropwhile, groupby, islice, pairwise,
                       permutations, product, repeat, starmap, takewhile, tee, zip_longest)
import operator


def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def primes():
    found = []
    for n in count(2):
        if all(n % p for p in takewhile(lambda p: p * p <= n, found)):
            found.append(n)
            yield n


def averager():
    total = n = 0
    average = None
    while True:
        x = yield average
        if x is None:
            return total, n
        total += x
        n += 1
        average = total / n


def delegate(results):
    while True:
        results.append((yield from averager()))


def coroutine(f):
    def start(*a, **k):
        g = f(*a, **k)
        next(g)
        return g
    return start


@coroutine
def grep(pattern, target):
    try:
        while True:
            line = yield
            if pattern in line:
                target.send(line)
    except GeneratorExit:
        print("grep closing")
        target.close()


@coroutine
def printer(tag):
    n = 0
    try:
        while True:
            print(tag, n, (yield))
            n += 1
    finally:
        print("printer done after", n)


def resilient():
    while True:
        try:
            got = yield "ready"
            print("got", got)
        except ValueError as e:
            print("handled", e)
            yield "recovered"


def walk(tree):
    match tree:
        case [left, right]:
            yield from walk(left)
            yield from walk(right)
        case leaf: yield leaf


print(list(islice(fib(), 10)), list(takewhile(lambda p: p < 30, primes())), next(x for x in fib() if x > 1000))
results = []
d = delegate(results); next(d)
print([d.send(v) for v in (10, 20, 30)], d.send(None), [d.send(v) for v in (1, 2)], results)
g = grep("py", printer("match"))
for line in "python ruby pypy perl".split(): g.send(line)
g.close()
r = resilient()
print(next(r), r.send(1), r.throw(ValueError("oops")), next(r))
try: r.throw(KeyError("out"))
except KeyError as e: print("escaped", e)
try: next(r)
except StopIteration as e: print("stopped", e.value)
print(list(walk([[1, 2], [[3, 4], 5]])), sum(x * x for x in range(10) if x % 2), *(c for c in "abc"))
print(list(accumulate([1, 2, 3, 4], operator.mul)), list(chain.from_iterable(["ab", "cd"])), list(zip_longest("ab", "c", fillvalue="-")))
print([(k, len(list(v))) for k, v in groupby("aaabbc")], list(starmap(pow, [(2, 3), (3, 2)])), list(islice(cycle("xy"), 5)))
print(list(combinations("abc", 2)), len(list(permutations(range(4)))), list(product([0, 1], repeat=2)), list(pairwise("abc")))
a, b = tee(range(3)); print(list(a), list(b), list(dropwhile(bool, [1, 0, 2])), list(repeat(7, 2)), dict(enumerate("ab", 1)))


def numbers():
    for x in range(1, 11): yield x
pipeline = map(lambda x: x * x, filter(lambda x: x % 3 == 0, numbers()))
print(list(pipeline), list(pipeline), iter([1]).__length_hint__(), type(fib()).__name__, fib.__name__)
it = iter(lambda s=iter([1, 2, 0, 3]): next(s), 0)
print(list(it), max(enumerate([3, 9, 4]), key=lambda t: t[1]), [*zip(*[iter("abcdef")] * 2)], next(iter(()), "empty"))
gen = (print("lazy", i) or i for i in range(3)); print(next(gen)); gen.close(); print(list(gen))
try:
    list(zip([1], [1, 2], strict=True))
except ValueError as e: print(e)
