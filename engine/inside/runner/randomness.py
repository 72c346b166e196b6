"""Gives each worker its own random numbers."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

_MT19937_KEY = 624 * 4  # bytes: numpy's mt19937_state is `uint32_t key[624]; int pos`
_MT19937_USED_UP = (624).to_bytes(4, sys.byteorder)  # the next number is of a new round

_generators: list[random.Random] = []
_reseed_numpy: list[Callable[[], None]] = []


def find_generators(has_packages: bool) -> None:
    """Zygote of many workers, with the profile's modules loaded: remembers the generators that they
    made.

    Some are in nobody's namespace: aiohttp masks its WebSocket frames by a default argument.
    """
    import random  # here: not every zygote needs it

    if not has_packages:
        _generators[:] = [random._inst]  # type: ignore[attr-defined]
        return
    found = gc.get_objects()
    # By the type itself: what a package derives from it may need other words to be seeded.
    _generators[:] = [each for each in found if type(each) is random.Random]
    if numpy_random := sys.modules.get("numpy.random"):
        kind = numpy_random.BitGenerator
        _reseed_numpy.extend(_reseeding(each) for each in found if issubclass(type(each), kind))


def reseed() -> None:
    """Reseeds every generator that the zygote's modules hold.

    A raw clone3 runs no atfork handler of a C library, and each worker may be pid 1 of its
    namespace: whoever compares pids to notice a fork sees none.
    """
    for generator in _generators:
        generator.seed()
    for reseed_one in _reseed_numpy:
        reseed_one()
    loaded = sys.modules
    if ssl := loaded.get("ssl"):
        ssl.RAND_add(os.urandom(32), 32.0)
    if tempfile := loaded.get("tempfile"):
        tempfile._name_sequence = None  # its generator is keyed by the pid


def _reseeding(generator: Any) -> Callable[[], None]:
    """How one of numpy's gets a new state.

    Its own way is a SeedSequence, which takes the tenth of a millisecond that a worker may cost in
    all; any bytes are a state of these two.
    """
    name = type(generator).__name__
    if name == "PCG64":
        return lambda: _set_pcg64(generator)
    if name == "MT19937" and (memory := _memory_of_mt19937(generator)) is not None:
        return lambda: _fill_mt19937(memory)
    return lambda: _seed_anew(generator)


def _set_pcg64(generator: Any) -> None:
    state, increment = (int.from_bytes(os.urandom(16), "little") for _ in range(2))
    generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": increment | 1},
        "has_uint32": 0,
        "uinteger": 0,
    }


def _memory_of_mt19937(generator: Any) -> memoryview | None:
    """Its state in place, if that is laid out as it is known to be."""
    import ctypes

    size = _MT19937_KEY + len(_MT19937_USED_UP)
    address = generator.ctypes.state_address
    memory = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
    state = generator.state["state"]
    known = state["key"].tobytes() + state["pos"].to_bytes(4, sys.byteorder)
    return memory if memory == known else None


def _fill_mt19937(memory: memoryview) -> None:
    memory[:] = os.urandom(_MT19937_KEY) + _MT19937_USED_UP


def _seed_anew(generator: Any) -> None:
    generator.state = type(generator)().state
