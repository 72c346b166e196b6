"""tracemalloc, for guests: how much memory the program has, and had at most. No snapshots: they
contain the places of the library.
"""

from __future__ import annotations

import _tracemalloc

clear_traces = _tracemalloc.clear_traces
get_traced_memory = _tracemalloc.get_traced_memory
is_tracing = _tracemalloc.is_tracing
reset_peak = _tracemalloc.reset_peak
stop = _tracemalloc.stop


def start(nframe: int = 1) -> None:
    """Begins to trace; of each block, the place is one frame."""
    _tracemalloc.start(1)
