import numpy as np
import numpy.linalg as la
from numpy.lib.stride_tricks import sliding_window_view
from numpy.linalg import LinAlgError, solve
from numpy.polynomial import Polynomial as P
from numpy.polynomial import chebyshev

print(P([1, 2, 3])(2), chebyshev.chebval(0.5, [1, 2]), np.polyfit([0, 1, 2], [1, 3, 7], 2).round(6))
print(
    sliding_window_view(np.arange(5), 3).sum(axis=1),
    la.det(np.eye(3)),
    np.fft.rfft([1, 2, 3]).round(3),
)
a = np.ma.masked_less([1, -1, 3], 0)
print(a.mean(), a)
try:
    solve(np.zeros((2, 2)), [1, 2])
except LinAlgError as e:
    print("LinAlgError", e)
with np.errstate(divide="ignore"):
    print(np.log(np.array([0.0])))
np.set_printoptions(precision=3, suppress=True)
print(np.array([1 / 3, 2e-9]))
f = np.vectorize(lambda a, b: a if a > b else b)
print(f([1, 5], [3, 2]))
print(
    np.einsum("ij,jk->ik", np.eye(2), np.ones((2, 2))),
    np.apply_along_axis(lambda r: r.max(), 1, np.arange(6).reshape(2, 3)),
)
d = np.dtype([("n", "U5"), ("v", float)])
r = np.array([("a", 1.0)], dtype=d)
print(r["v"], r[0]["n"], np.rec.array(r).v)
print(
    np.datetime64("2024-01-01") + np.timedelta64(3, "D"),
    np.busday_count("2024-01-01", "2024-01-15"),
)
print(
    np.random.seed(0) or np.random.rand(2).round(4),
    np.random.default_rng(7).choice(5, 3, replace=False),
)
try:
    np.zeros(3)[5]
except IndexError as e:
    print(e)
try:
    np.ones((2, 3)) @ np.ones((2, 3))
except ValueError as e:
    print(e)
print(np.array([1, 2]) / 0)
