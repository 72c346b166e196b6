from decimal import Decimal, getcontext, localcontext, ROUND_HALF_UP, ROUND_DOWN, InvalidOperation, DivisionByZero
from fractions import Fraction as F
import decimal
import math
import cmath
import statistics

getcontext().prec = 28
print(0.1 + 0.2, Decimal("0.1") + Decimal("0.2"), F(1, 10) + F(2, 10), 0.1 + 0.2 == 0.3, math.isclose(0.1 + 0.2, 0.3))
price = Decimal("19.99")
tax = (price * Decimal("0.0825")).quantize(Decimal(".01"), rounding=ROUND_HALF_UP)
print(price + tax, f"{price:>10.1f}|{Decimal(1234567).quantize(Decimal('0.00')):,}", tax.as_tuple(), Decimal(0.1))
with localcontext() as ctx:
    ctx.prec = 5
    ctx.rounding = ROUND_DOWN
    print(Decimal(2).sqrt(), Decimal(1) / 3, ctx.prec)
print(Decimal(2).sqrt(), getcontext().prec)
for text in "abc", "1e400":
    try:
        print(Decimal(text) * 1)
    except InvalidOperation as e:
        print("InvalidOperation", e.__class__.__mro__[1].__name__)
try:
    Decimal(1) / 0
except DivisionByZero:
    print("div by zero")
except decimal.DecimalException as e:
    print(e)
print(F("3/4") + F(0.25), F(22, 7).limit_denominator(3), float(F(1, 3)), F(7, 3) // 1, F(-7, 3) % 1, divmod(F(7, 2), F(2, 3)))
print(sum(F(1, n) for n in range(1, 11)), F(3, 2) ** 2, F(1, 2) < 0.6, round(F(10, 3), 2), F.from_float(0.5), F(5).denominator)


def egyptian(fr):
    out = []
    while fr:
        n = math.ceil(1 / fr)
        out.append(F(1, n))
        fr -= F(1, n)
    return out


def continued(x, n=6):
    out = []
    for _ in range(n):
        out.append(math.floor(x))
        x -= out[-1]
        if not x: break
        x = 1 / x
    return out


print(*egyptian(F(7, 15)), continued(F(415, 93)), continued(math.pi))


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)


print(roots(1, -3, 2), roots(1, 2, 5), abs(3 + 4j), (1 + 2j).conjugate() * (1 - 1j), cmath.exp(1j * math.pi).real, complex("1+2j"))
print([f"{cmath.phase(z):.3f}" for z in (1, 1j, -1)], cmath.polar(1j), f"{2 + 3j:.1f}", (2j) ** 2)
data = [2.5, 3.1, 2.5, 4.8, 9.9, 3.3]
print(statistics.mean(data), statistics.median(data), statistics.mode(data), round(statistics.pstdev(data), 4), statistics.fmean(data))
print(int("ff", 16), int("0b101", 0), 0o17, 1_000, 7 // -2, 7 % -2, -7 // 2, divmod(-7, 2), round(2.5), round(3.5), round(-1.5), 2 ** -1)
print(float("inf") > 10 ** 400, float("nan") == float("nan"), 1e308 * 10, -0.0, (0.1).hex(), float.fromhex("0x1p-2"), (0.75).as_integer_ratio())
print((255).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "little"), (10).bit_length(), (13).bit_count(), ~5, 6 ^ 3, 1 << 70, -17 >> 2)
print(math.comb(10, 3), math.perm(5, 2), math.factorial(25), math.gcd(2 ** 60, 6 ** 20), math.isqrt(10 ** 20), math.trunc(-2.7), math.fsum([.1] * 10), math.prod(range(1, 7)))
for bad in (lambda: int("x"), lambda: 1 // 0, lambda: 1.0 % 0, lambda: math.sqrt(-1), lambda: 10.0 ** 400, lambda: int("1" * 5000), lambda: F(1, 0), lambda: 1 < 1j, lambda: math.factorial(-1)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
