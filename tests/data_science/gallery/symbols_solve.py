"""Equations, one and many, and a differential one."""

import sympy as sp

x, y = sp.symbols("x y")
f = sp.Function("f")
print(sp.solve(x**2 - 5 * x + 6, x), sp.solve([x + y - 3, x - y - 1], [x, y]))
print(sp.dsolve(f(x).diff(x) - f(x), f(x)))
print(sp.Matrix([[2, 1], [1, 2]]).eigenvals())
