"""Polynomials, Groebner bases, numbers."""

import sympy as sp

x, y = sp.symbols("x y")
print(sp.factor(x**4 - 1), sp.apart(1 / (x**2 - 1), x))
print(sp.groebner([x**2 + y, y**2 - 1], x, y).exprs)
print(sp.factorint(360), sp.nsimplify(0.125), sp.N(sp.pi, 30))
