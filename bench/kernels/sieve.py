"""The sieve of Eratosthenes."""


def kernel():
    limit = 300_000
    is_prime = [True] * limit
    is_prime[0] = is_prime[1] = False
    for n in range(2, int(limit**0.5) + 1):
        if is_prime[n]:
            for multiple in range(n * n, limit, n):
                is_prime[multiple] = False
    return sum(is_prime)
