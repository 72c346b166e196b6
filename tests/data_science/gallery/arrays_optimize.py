import numpy as np
from scipy.optimize import (
    LinearConstraint,
    brentq,
    curve_fit,
    differential_evolution,
    dual_annealing,
    fsolve,
    least_squares,
    linear_sum_assignment,
    linprog,
    milp,
    minimize,
    root,
    shgo,
)


def rosen(x):
    return sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


for method in (
    "Nelder-Mead",
    "BFGS",
    "L-BFGS-B",
    "SLSQP",
    "Powell",
    "TNC",
    "COBYLA",
    "trust-constr",
    "CG",
):
    r = minimize(rosen, [1.3, 0.7], method=method)
    print(method, np.round(r.x, 2))
print(
    curve_fit(
        lambda x, a, b: a * np.exp(-b * x),
        np.linspace(0, 1, 10),
        2 * np.exp(-3 * np.linspace(0, 1, 10)),
    )[0].round(4)
)
print(
    brentq(lambda x: x**2 - 2, 0, 2),
    root(lambda x: [x[0] + x[1] - 1, x[0] - x[1]], [0, 0]).x.round(6),
)
print(linprog([-1, -2], A_ub=[[1, 1]], b_ub=[3], bounds=(0, 2)).x)
print(differential_evolution(lambda x: (x[0] - 1) ** 2, [(-5, 5)], seed=1).x.round(3))
print(
    minimize(
        lambda x: x[0] ** 2 + x[1] ** 2,
        [1, 1],
        constraints={"type": "eq", "fun": lambda x: x[0] + x[1] - 1},
    )
)
print(
    least_squares(lambda p: p - 3, [0.0]).x,
    fsolve(lambda x: np.cos(x) - x, 0.5).round(6),
    linear_sum_assignment([[1, 2], [2, 1]]),
)

print(
    milp([-1, -1], constraints=LinearConstraint([[2, 1]], ub=3), integrality=[1, 1], bounds=None).x
)
print(
    dual_annealing(lambda x: x[0] ** 2, [(-1, 1)], seed=3, maxiter=50).x.round(3),
    shgo(lambda x: (x[0] - 0.5) ** 2, [(0, 1)]).x.round(4),
)
