"""Gives each worker its own random numbers."""

from __future__ import annotations

import gc
import os
import random
import sys
from typing import Any

_generators: list[random.Random] = []
_bit_generators: list[Any] = []  # numpy's


def find_generators() -> None:
    """Zygote, with the profile's packages loaded: remembers the generators that they made.

    Some are in nobody's namespace: aiohttp masks its WebSocket frames by a default argument.
    """
    found = gc.get_objects()
    # By the type itself: what a package derives from it may need other words to be seeded.
    _generators.extend(each for each in found if type(each) is random.Random)
    if numpy_random := sys.modules.get("numpy.random"):
        kind = numpy_random.BitGenerator
        _bit_generators.extend(each for each in found if issubclass(type(each), kind))


def reseed() -> None:
    """Reseeds every generator that the zygote's modules hold.

    A raw clone3 runs no atfork handler of a C library, and each worker may be pid 1 of its
    namespace: whoever compares pids to notice a fork sees none.
    """
    random.seed()
    for generator in _generators:
        generator.seed()
    for generator in _bit_generators:
        generator.state = type(generator)().state
    loaded = sys.modules
    if ssl := loaded.get("ssl"):
        ssl.RAND_add(os.urandom(32), 32.0)
    if numpy_random := loaded.get("numpy.random"):
        numpy_random.seed()
    if sympy_random := loaded.get("sympy.core.random"):
        sympy_random.rng.seed()
    if tempfile := loaded.get("tempfile"):
        tempfile._name_sequence = None  # its generator is keyed by the pid
