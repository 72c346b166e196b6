import random
import sys
random.seed(7)


def bubble(a):
    a = a[:]
    for i in range(len(a)):
        swapped = False
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


def insertion(a):
    a = list(a)
    for i in range(1, len(a)):
        x, j = a[i], i
        while j > 0 and a[j - 1] > x:
            a[j] = a[j - 1]
            j -= 1
        a[j] = x
    return a


def merge_sort(a):
    if len(a) < 2: return a
    mid = len(a) // 2
    l, r = merge_sort(a[:mid]), merge_sort(a[mid:])
    out = []
    while l and r:
        out.append((l if l[0] <= r[0] else r).pop(0))
    return out + l + r


def quick(a):
    if len(a) <= 1: return a
    p, *rest = a
    return quick([x for x in rest if x < p]) + [p] + quick([x for x in rest if x >= p])


def heap_sort(a):
    from heapq import heapify, heappop
    h = list(a); heapify(h)
    return [heappop(h) for _ in a]


def counting(a):
    n = [0] * (max(a) + 1)
    for x in a: n[x] += 1
    return [x for x, k in enumerate(n) for _ in range(k)]


def radix(a):
    for shift in range(0, max(a).bit_length(), 4):
        buckets = [[] for _ in range(16)]
        for x in a:
            buckets[x >> shift & 15].append(x)
        a = sum(buckets, [])
    return a


data = [random.randrange(100) for _ in range(25)]
print(data)
for f in bubble, insertion, merge_sort, quick, heap_sort, counting, radix:
    result = f(data)
    print(f"{f.__name__:<12}", "ok" if result == sorted(data) else f"WRONG {result}")
people = [("Ann", 30), ("bob", 25), ("Cid", 30), ("dan", 25)]
people.sort(key=lambda p: p[0].lower(), reverse=True)
people.sort(key=lambda p: p[1])
print(people)
from functools import cmp_to_key
print(sorted("3 30 34 5 9".split(), key=cmp_to_key(lambda a, b: (b + a > a + b) - (b + a < a + b))))
print(sorted({"b": 1, "a": 2}.items(), key=lambda kv: kv[::-1]), sorted(["b", "A", "c"], key=str.casefold))
try:
    sorted([1, "a", None])
except TypeError as e:
    print(e)
x = [3, 1, 2]
print(x.sort(), x, sorted(x, reverse=True), list(reversed(x)), min(x, default=0), min([], default=0))


def binary_search(a, x, lo=0, hi=None):
    hi = len(a) if hi is None else hi
    steps = 0
    while lo < hi:
        steps += 1
        mid = (lo + hi) // 2
        if a[mid] == x: return mid, steps
        if a[mid] < x: lo = mid + 1
        else: hi = mid
    return -1, steps


print(binary_search(range(0, 1000, 2), 444), binary_search(range(0, 1000, 2), 445))
sys.stdout.write("done\n")
