"""Generators and comprehensions."""


def numbers(limit):
    for n in range(limit):
        if n % 3:
            yield n


def pairs(limit):
    yield from ((a, b) for a in range(limit) for b in range(a))


def kernel():
    total = sum(n * n for n in numbers(90_000))
    total += sum(a ^ b for a, b in pairs(280))
    return total + len({n % 101 for n in numbers(50_000)})
