from math import *


def is_prime(n):
    if n < 2: return False
    for d in range(2, int(sqrt(n)) + 1):
        if n % d == 0:
            return False
    return True


def sieve(limit):
    flags = [True] * (limit + 1)
    flags[0] = flags[1] = False
    for p in range(2, isqrt(limit) + 1):
        if flags[p]:
            flags[p * p::p] = [False] * len(flags[p * p::p])
    return [n for n, ok in enumerate(flags) if ok]


def factors(n):
    result = {}
    d = 2
    while n > 1:
        while n % d == 0:
            result[d] = result.get(d, 0) + 1
            n //= d
        d += 1 if d == 2 else 2
        if d * d > n and n > 1:
            result[n] = result.get(n, 0) + 1
            break
    return result


print([n for n in range(40) if is_prime(n)])
primes = sieve(200)
print(len(primes), primes[-5:])
assert primes == [n for n in range(201) if is_prime(n)]
twins = [(p, q) for p, q in zip(primes, primes[1:]) if q - p == 2]
print("twins", twins)

for n in (1, 2, 12, 97, 360, 1001, 2 ** 16 - 1, 600851475143):
    parts = " * ".join(f"{p}^{e}" if e > 1 else f"{p}" for p, e in factors(n).items())
    print(f"{n:>14,} = {parts or n}")

# perfect numbers
for n in range(2, 1000):
    divisors = [1]
    for d in range(2, int(sqrt(n)) + 1):
        if n % d == 0:
            divisors += [d] if d * d == n else [d, n // d]
    if sum(divisors) == n:
        print(n, "is perfect:", sorted(divisors))
print("gcd", gcd(84, 36), "lcm", lcm(4, 6, 10), "pi to 3 places", round(pi, 3), floor(e), ceil(e))
