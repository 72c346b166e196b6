"""Flips of prefixes over all permutations, after the benchmarks game's fannkuch."""

from itertools import permutations


def flips(order):
    order = list(order)
    count = 0
    while (first := order[0]) != 0:
        order[: first + 1] = order[first::-1]
        count += 1
    return count


def kernel():
    return max(flips(order) for order in permutations(range(8)))
