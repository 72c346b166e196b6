import numpy as np
from scipy.integrate import dblquad, odeint, quad, solve_ivp


def lorenz(t, s, sigma=10, rho=28, beta=8 / 3):
    x, y, z = s
    return [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]


for m in ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"):
    sol = solve_ivp(lorenz, (0, 1), [1, 1, 1], method=m, rtol=1e-6, t_eval=[0.5, 1])
    print(m, sol.y[:, -1].round(2), sol.status)


def hit(t, y):
    return y[0]


hit.terminal = True
hit.direction = -1
print(solve_ivp(lambda t, y: [y[1], -9.81], (0, 10), [10, 0], events=hit).t_events[0].round(5))
print(
    quad(lambda x: np.exp(-(x**2)), -np.inf, np.inf),
    odeint(lambda y, t: -y, 1, [0, 1]).ravel().round(5),
    dblquad(lambda y, x: x * y, 0, 1, 0, 1)[0],
)
