"""Primes three ways: a sieve, a generator, and a test for large numbers."""

from itertools import count, islice, takewhile


def sieve(limit: int) -> list[int]:
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if flags[n]:
            flags[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(flags) if flag]


def endless():
    """Each composite is remembered with the primes that lead to it."""
    waiting: dict[int, list[int]] = {}
    for n in count(2):
        if factors := waiting.pop(n, None):
            for prime in factors:
                waiting.setdefault(n + prime, []).append(prime)
        else:
            yield n
            waiting[n * n] = [n]


def is_prime(n: int) -> bool:
    """Miller and Rabin, exact for n below 3.3e24 with these bases."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if n < 2:
        return False
    for base in bases:
        if n % base == 0:
            return n == base
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    for base in bases:
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


primes = sieve(100_000)
print(f"{len(primes):,} primes up to 100,000; the last five: {primes[-5:]}")
assert primes[:500] == list(islice(endless(), 500))

twins = [(p, q) for p, q in zip(primes, primes[1:], strict=False) if q - p == 2]
print(f"{len(twins):,} pairs of twins; below 50: {list(takewhile(lambda t: t[0] < 50, twins))}")

for exponent in (31, 61, 67, 79):
    n = 2**exponent - 1
    print(f"2**{exponent} - 1 = {n} is {'prime' if is_prime(n) else 'composite'}")
