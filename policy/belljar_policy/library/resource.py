"""resource, for guests: what the program has used. Its limits are the caller's."""

from __future__ import annotations

import resource

RUSAGE_SELF = resource.RUSAGE_SELF
getpagesize = resource.getpagesize
struct_rusage = resource.struct_rusage


def getrusage(who: int, /) -> resource.struct_rusage:
    """The times and the memory of the program's process."""
    return resource.getrusage(who)
