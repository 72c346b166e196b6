"""Gives each worker its own random numbers."""

import os
import random
import sys


def reseed() -> None:
    """Reseeds every generator that the zygote's modules hold.

    A raw clone3 runs no atfork handler of a C library, and each worker may be pid 1 of its
    namespace: whoever compares pids to notice a fork sees none.
    """
    random.seed()
    loaded = sys.modules
    if ssl := loaded.get("ssl"):
        ssl.RAND_add(os.urandom(32), 32.0)
    if numpy_random := loaded.get("numpy.random"):
        numpy_random.seed()
    if sympy_random := loaded.get("sympy.core.random"):
        sympy_random.rng.seed()
    if tempfile := loaded.get("tempfile"):
        tempfile._name_sequence = None  # its generator is keyed by the pid
