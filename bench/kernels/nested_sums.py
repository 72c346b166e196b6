"""Sums over nested loops."""


def kernel():
    total = 0
    for i in range(500):
        for j in range(500):
            total += i * j % 7
    return total
