"""Solving, decomposing, transforming."""

import numpy as np
from scipy import linalg

a = np.array([[4.0, 1], [2, 3]])
print(np.linalg.solve(a, [1, 2]), np.linalg.eigvals(a), linalg.expm(a / 10).round(6))
print(np.linalg.svd(a)[1].round(8), np.einsum("ij,jk->ik", a, a))
print(np.abs(np.fft.fft(np.sin(np.arange(16)))).round(6)[:4])
