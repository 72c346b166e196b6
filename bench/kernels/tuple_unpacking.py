"""Unpacking, swapping, starred targets."""


def kernel():
    points = [(i, i + 1, (i + 2, i + 3)) for i in range(40_000)]
    total = 0
    for a, b, (c, d) in points:
        a, b = b, a
        total += a - b + c * d
    for first, *rest in points:
        total += first + len(rest)
    return total
