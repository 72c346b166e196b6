import copy
import math


def solve(a, b, verbose=False):
    """Gauss with partial pivoting."""
    n = len(a)
    m = [row[:] + [rhs] for row, rhs in zip(copy.deepcopy(a), b)]
    for col in range(n):
        pivot = max(range(col, n), key=lambda r: abs(m[r][col]))
        if abs(m[pivot][col]) < 1e-12:
            raise ArithmeticError("singular matrix")
        m[col], m[pivot] = m[pivot], m[col]
        for r in range(col + 1, n):
            factor = m[r][col] / m[col][col]
            for c in range(col, n + 1):
                m[r][c] -= factor * m[col][c]
        if verbose:
            for row in m: print("  ", [f"{x:7.2f}" for x in row])
            print()
    x = [0.0] * n
    for r in reversed(range(n)):
        x[r] = (m[r][n] - sum(m[r][c] * x[c] for c in range(r + 1, n))) / m[r][r]
    return x


def bisect(f, lo, hi, eps=1e-9):
    while hi - lo > eps:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if (f(lo) < 0) == (f(mid) < 0) else (lo, mid)
    return (lo + hi) / 2


def newton(f, x, steps=50, h=1e-7):
    for i in range(steps):
        slope = (f(x + h) - f(x - h)) / (2 * h)
        new = x - f(x) / slope
        if abs(new - x) < 1e-10:
            return new, i
        x = new
    else:
        raise RuntimeError("no convergence")


def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + sum((4 if i % 2 else 2) * f(a + i * h) for i in range(1, n)))


def rk4(f, y, t, h, n):
    for _ in range(n):
        k1 = f(t, y); k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2); k4 = f(t + h, y + h * k3)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return y


def power_iteration(a, steps=100):
    v = [1.0] * len(a)
    for _ in range(steps):
        w = [sum(x * y for x, y in zip(row, v)) for row in a]
        norm = math.hypot(*w)
        v = [x / norm for x in w]
    return norm, v


def poly(*coef):
    def p(x):
        out = 0
        for c in coef: out = out * x + c
        return out
    p.__name__ = " + ".join(f"{c}x^{len(coef) - i - 1}" for i, c in enumerate(coef) if c)
    return p


print([round(v, 6) for v in solve([[2, 1, -1], [-3, -1, 2], [-2, 1, 2]], [8, -11, -3], verbose=True)])
try:
    solve([[1, 2], [2, 4]], [1, 2])
except ArithmeticError as e:
    print(e)
p = poly(1, 0, -2)
print(p.__name__, round(bisect(p, 0, 2), 6), "%.10f after %d" % newton(p, 1), f"{newton(math.cos, 1)[0]:.8f}")
print(f"{simpson(math.sin, 0, math.pi):.8f} {simpson(lambda x: x ** 3, 0, 2):.6f} {rk4(lambda t, y: y, 1.0, 0, .1, 10):.6f}")
value, vector = power_iteration([[2, 1], [1, 3]])
print(f"{value:.6f}", [f"{x:.4f}" for x in vector])
xs, ys = range(1, 6), [2.2, 4.1, 6.2, 7.9, 10.1]
n, sx, sy = len(xs), sum(xs), sum(ys)
slope = (n * sum(x * y for x, y in zip(xs, ys)) - sx * sy) / (n * sum(x * x for x in xs) - sx ** 2)
print(f"y = {slope:.3f}x {(sy - slope * sx) / n:+.3f}")
try: newton(lambda x: x * x + 1, 0.3)
except (RuntimeError, ZeroDivisionError) as e: print(type(e).__name__)
