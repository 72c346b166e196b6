"""Sorting with keys."""

import random
from operator import itemgetter


def kernel():
    draw = random.Random(1)
    rows = [(draw.random(), str(i)) for i in range(20_000)]
    rows.sort(key=lambda row: -row[0])
    rows.sort(key=itemgetter(1))
    return min(rows, key=lambda row: row[0])
