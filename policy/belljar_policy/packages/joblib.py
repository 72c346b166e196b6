"""joblib: `n_jobs=-1` is how many write "as fast as you can". There is one core, so it is one after
the other; there are no threads and no processes to ask for.
"""

from __future__ import annotations

import importlib


def adapt() -> None:
    parallel = importlib.import_module("joblib.parallel")
    sequential = importlib.import_module("joblib._parallel_backends").SequentialBackend
    for name in list(parallel.BACKENDS):
        parallel.BACKENDS[name] = sequential
    parallel.EXTERNAL_BACKENDS.clear()
