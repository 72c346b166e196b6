from functools import lru_cache, cache
from itertools import combinations
import math


def knapsack(items, capacity):
    best = [[0] * (capacity + 1) for _ in range(len(items) + 1)]
    for i, (_, w, v) in enumerate(items, 1):
        for c in range(capacity + 1):
            best[i][c] = max(best[i - 1][c], best[i - 1][c - w] + v if c >= w else 0)
    chosen, c = [], capacity
    for i in range(len(items), 0, -1):
        if best[i][c] != best[i - 1][c]:
            name, w, _ = items[i - 1]
            chosen.append(name)
            c -= w
    return best[-1][-1], chosen[::-1]


def lcs(a, b):
    @cache
    def go(i, j):
        if i == len(a) or j == len(b):
            return ""
        if a[i] == b[j]:
            return a[i] + go(i + 1, j + 1)
        return max(go(i + 1, j), go(i, j + 1), key=len)
    result = go(0, 0)
    return result, go.cache_info().misses


def edit_distance(a, b):
    previous = range(len(b) + 1)
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (x != y)))
        previous = current
    return previous[-1]


@lru_cache(None)
def change(amount, coins=(50, 20, 10, 5, 2, 1)):
    if amount == 0: return 1
    if amount < 0 or not coins: return 0
    return change(amount - coins[0], coins) + change(amount, coins[1:])


def fewest(amount, coins):
    best = {0: ()}
    for a in range(1, amount + 1):
        options = [best[a - c] + (c,) for c in coins if a - c in best]
        if options: best[a] = min(options, key=len)
    return best.get(amount)


def matrix_chain(dims):
    n = len(dims) - 1
    memo = {}

    def cost(i, j):
        if (i, j) not in memo:
            memo[i, j] = (0, chr(65 + i)) if i == j else min(
                (cost(i, k)[0] + cost(k + 1, j)[0] + dims[i] * dims[k + 1] * dims[j + 1], f"({cost(i, k)[1]}{cost(k + 1, j)[1]})")
                for k in range(i, j))
        return memo[i, j]
    return cost(0, n - 1)


def kadane(xs):
    best, here = -math.inf, 0
    for x in xs:
        best, here = max(best, here := max(x, here + x)), here
    return best


def tsp(dist):
    n = len(dist)
    best = {(1 << k | 1, k): (dist[0][k], [0, k]) for k in range(1, n)}
    for size in range(3, n + 1):
        for subset in combinations(range(1, n), size - 1):
            bits = sum(1 << b for b in subset) | 1
            for k in subset:
                best[bits, k] = min((best[bits & ~(1 << k), m][0] + dist[m][k], best[bits & ~(1 << k), m][1] + [k]) for m in subset if m != k)
    return min((best[(1 << n) - 1, k][0] + dist[k][0], best[(1 << n) - 1, k][1]) for k in range(1, n))


def partitions(n, largest=None):
    largest = largest or n
    if n == 0: yield []
    for first in range(min(n, largest), 0, -1):
        for rest in partitions(n - first, first): yield [first, *rest]


print(knapsack([("map", 9, 150), ("compass", 13, 35), ("water", 15, 200), ("cheese", 2, 1), ("camera", 3, 30)], 25))
print(lcs("AGGTABQRS", "GXTXAYBRS"), edit_distance("kitten", "sitting"), edit_distance("", "abc"))
print(change(100), change.cache_info().currsize > 50, fewest(63, [1, 5, 21, 25]), fewest(3, [2]), matrix_chain([40, 20, 30, 10, 30]))
print(kadane([-2, 1, -3, 4, -1, 2, 1, -5, 4]), tsp([[0, 10, 15, 20], [10, 0, 35, 25], [15, 35, 0, 30], [20, 25, 30, 0]]), [*partitions(5)])
print([math.comb(2 * n, n) // (n + 1) for n in range(10)], sum(1 for _ in partitions(20)))
