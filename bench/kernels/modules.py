"""Functions of modules, called through the module and by name."""

import math
from functools import reduce


def kernel():
    total = 0.0
    for i in range(60_000):
        total += math.sqrt(i) * math.sin(i)
    return reduce(math.hypot, [total, 1.0, 2.0])
