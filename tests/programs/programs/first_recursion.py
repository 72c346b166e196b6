import sys

sys.setrecursionlimit(3000)


def fact(n): return 1 if n < 2 else n * fact(n - 1)


def fib(n, memo={}):
    if n in memo: return memo[n]
    if n < 2: return n
    memo[n] = fib(n - 1) + fib(n - 2)
    return memo[n]


def hanoi(n, a="A", b="B", c="C"):
    if n == 0:
        return 0
    moves = hanoi(n - 1, a, c, b)
    print(f"{n}: {a}->{c}", end="; ")
    return moves + 1 + hanoi(n - 1, b, a, c)


def flatten(x):
    if not isinstance(x, (list, tuple)):
        return [x]
    out = []
    for y in x:
        out.extend(flatten(y))
    return out


def permutations(s):
    if len(s) <= 1:
        return [s]
    return [c + p for i, c in enumerate(s) for p in permutations(s[:i] + s[i + 1:])]


def ackermann(m, n):
    if m == 0: return n + 1
    if n == 0: return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def power_set(items):
    if not items:
        return [[]]
    head, *tail = items
    rest = power_set(tail)
    return rest + [[head] + r for r in rest]


def binary(n):
    return str(n) if n < 2 else binary(n // 2) + str(n % 2)


def is_even(n): return True if n == 0 else is_odd(n - 1)
def is_odd(n): return False if n == 0 else is_even(n - 1)


def forever(n):
    return forever(n + 1)


print(fact(20), [fib(n) for n in range(15)], fib(90))
print("\nmoves:", hanoi(3))
print(flatten([1, [2, [3, (4, 5)], []], [[[6]]]]))
print(permutations("abc"), len(permutations("abcdef")))
print(ackermann(2, 3), power_set([1, 2, 3]), binary(37), is_even(100), is_odd(7))
try:
    forever(0)
except RecursionError as e:
    print(type(e).__name__, str(e)[:32])
print(fact(300) % 1000000007, len(str(fact(300))))
