"""Integrals, roots, minima, differential equations."""

import numpy as np
from scipy import integrate, interpolate, optimize

print(integrate.quad(np.sin, 0, np.pi)[0], optimize.brentq(lambda v: v**2 - 2, 0, 2))
print(optimize.minimize(lambda v: (v[0] - 1) ** 2 + (v[1] + 2) ** 2, [0.0, 0]).x.round(4))
print(integrate.solve_ivp(lambda t, y: -2 * y, [0, 1], [1.0], rtol=1e-8).y[0, -1].round(6))
print(
    interpolate.CubicSpline([0, 1, 2, 3], [0, 1, 4, 9])(1.5),
    optimize.linprog([1, 2], A_ub=[[-1, -1]], b_ub=[-1]).fun,
)
