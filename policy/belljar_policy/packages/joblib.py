"""joblib: programs often use `n_jobs=-1`. Jobs run sequentially, since there is one core and no
threads or processes can be started.
"""

from __future__ import annotations

import importlib


def adapt() -> None:
    parallel = importlib.import_module("joblib.parallel")
    sequential = importlib.import_module("joblib._parallel_backends").SequentialBackend
    for name in list(parallel.BACKENDS):
        parallel.BACKENDS[name] = sequential
    parallel.EXTERNAL_BACKENDS.clear()
