"""First steps: recursion, a cache, a generator, an f-string."""

from collections.abc import Iterator
from functools import cache


@cache
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sequence() -> Iterator[int]:
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


if __name__ == "__main__":
    for n in range(0, 91, 10):
        print(f"fibonacci({n:2}) = {fibonacci(n):>22,}")

    first: list[int] = []
    for value in sequence():
        if value > 100:
            break
        first.append(value)
    print("up to 100:", *first)
