import numpy as np
from scipy import ndimage, sparse
from scipy.interpolate import (
    CubicSpline,
)
from scipy.signal import find_peaks, savgol_filter, welch
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import eigsh, spsolve
from scipy.spatial import ConvexHull, KDTree

t = np.linspace(0, 1, 200)
x = np.sin(2 * np.pi * 5 * t)
print(find_peaks(x)[0], savgol_filter(x, 11, 2)[:2].round(4), welch(x, 200, nperseg=100)[0][:2])
print(
    CubicSpline([0, 1, 2], [0, 1, 4])(1.5),
    KDTree([[0, 0], [1, 1]]).query([0.2, 0]),
    ConvexHull([[0, 0], [1, 0], [0, 1], [0.2, 0.2]]).volume,
)
print(
    spsolve(csr_matrix([[2.0, 0], [0, 4]]), [2, 4]),
    eigsh(sparse.diags([1.0, 2, 3, 4, 5]), 1)[0].round(6),
    ndimage.label([[1, 0, 1]])[1],
)
