"""Derivatives, integrals, limits, series."""

import sympy as sp

x = sp.symbols("x")
print(sp.diff(sp.sin(x) * sp.exp(x), x), sp.integrate(sp.exp(-(x**2)), (x, -sp.oo, sp.oo)))
print(sp.limit(sp.sin(x) / x, x, 0), sp.series(sp.cos(x), x, 0, 6))
sp.integrate(x**2 * sp.sin(x), x)
