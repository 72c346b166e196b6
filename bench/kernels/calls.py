"""Function calls: recursion, keyword and default arguments, closures."""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def adder(step=1):
    def add(value, *, times=1):
        return value + step * times

    return add


def kernel():
    total = fib(22)
    add = adder(3)
    for _ in range(60_000):
        total = add(total, times=2)
    return total
