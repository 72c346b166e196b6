"""Instances with public attributes: loads, stores, augmented stores."""


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)


def kernel():
    here = Vector(0, 0)
    step = Vector(1, 2)
    for _ in range(40_000):
        here = here.plus(step)
        here.x += 1
    return here.x + here.y
