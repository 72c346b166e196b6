"""The planets of the outer solar system, after the benchmarks game's n-body."""

from math import sqrt

BODIES = [
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47841760435743),
    (
        [4.841431442, -1.160320044, -0.103622044],
        [0.606326392, 2.811986845, -0.0252183616],
        0.0376936,
    ),
    ([8.343366718, 4.124798564, -0.403523417], [-1.01077434, 1.825662371, 0.0084157613], 0.0112863),
    ([12.89436956, -15.11115140, -0.223307578], [1.082791006, 0.868713018, -0.01083264], 0.0017237),
    ([15.37969711, -25.91931460, 0.179258772], [0.979090732, 0.594698998, -0.03475595], 0.0020336),
]


def kernel():
    bodies = [(list(place), list(speed), mass) for place, speed, mass in BODIES]
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1 :]]
    for _ in range(1_500):
        for (p, v, m), (q, w, n) in pairs:
            dx, dy, dz = p[0] - q[0], p[1] - q[1], p[2] - q[2]
            squared = dx * dx + dy * dy + dz * dz
            force = 0.01 / (squared * sqrt(squared))
            v[0] -= dx * n * force
            v[1] -= dy * n * force
            v[2] -= dz * n * force
            w[0] += dx * m * force
            w[1] += dy * m * force
            w[2] += dz * m * force
        for p, v, _mass in bodies:
            p[0] += 0.01 * v[0]
            p[1] += 0.01 * v[1]
            p[2] += 0.01 * v[2]
    return bodies[0][0][0]
