"""Counting into a dict: item loads, stores and augmented stores."""


def kernel():
    counts = {}
    for i in range(120_000):
        key = i * 7919 % 1013
        counts[key] = counts.get(key, 0) + 1
        counts[key] += i & 1
    counts.update({key: value + 1 for key, value in counts.items()})
    return sum(counts.values())
