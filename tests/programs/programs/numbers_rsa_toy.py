# RSA with small primes and big integers: do not use!
import hashlib
import math
import random

rng = random.Random(20240101)


def egcd(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = egcd(b, a % b)
    return g, y, x - (a // b) * y


def inverse(a, m):
    g, x, _ = egcd(a, m)
    if g != 1:
        raise ValueError(f"{a} has no inverse modulo {m}")
    return x % m


def probably_prime(n, rounds=20):
    if n < 4:
        return n in (2, 3)
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for _ in range(rounds):
        x = pow(rng.randrange(2, n - 1), d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def prime(bits):
    while not probably_prime(n := rng.getrandbits(bits) | 1 | 1 << bits - 1):
        pass
    return n


class Key:
    def __init__(self, bits=128, e=65537):
        while True:
            p, q = prime(bits), prime(bits)
            phi = (p - 1) * (q - 1)
            if p != q and math.gcd(e, phi) == 1:
                break
        self.n, self.e = p * q, e
        self.__d = inverse(e, phi)

    @property
    def public(self): return self.n, self.e

    def decrypt(self, c: int) -> bytes:
        m = pow(c, self.__d, self.n)
        return m.to_bytes((m.bit_length() + 7) // 8, "big")

    def sign(self, text: str) -> int:
        return pow(int(hashlib.sha256(text.encode()).hexdigest()[:32], 16), self.__d, self.n)


def encrypt(public, data: bytes) -> int:
    n, e = public
    m = int.from_bytes(data, "big")
    assert m < n, "too long"
    return pow(m, e, n)


def verify(public, text, signature):
    return pow(signature, public[1], public[0]) == int(hashlib.sha256(text.encode()).hexdigest()[:32], 16)


key = Key()
print(f"n = {key.n:x} ({key.n.bit_length()} bits)")
c = encrypt(key.public, b"attack at dawn")
print(hex(c), key.decrypt(c), pow(3, -1, 7), inverse(3, 7))
s = key.sign("I owe you 5")
print(verify(key.public, "I owe you 5", s), verify(key.public, "I owe you 500", s))
for bad in (lambda: inverse(6, 9), lambda: encrypt(key.public, b"x" * 100), lambda: key.__d):
    try:
        bad()
    except (ValueError, AssertionError, AttributeError) as e:
        print(type(e).__name__, e)
# Diffie-Hellman
p, g = 2 ** 127 - 1, 3
a, b = rng.randrange(p), rng.randrange(p)
print(pow(pow(g, a, p), b, p) == pow(pow(g, b, p), a, p), probably_prime(p), probably_prime(2 ** 67 - 1))
print(len(str(2 ** 4000)), str(3 ** 200)[-10:], sum(map(int, str(math.factorial(200)))), 2 ** 64 % 97, -(-7 // 2))
