"""operator, for guests: attribute lookups by name are checked."""

from __future__ import annotations

import _belljar_guards as guards

attrgetter = guards.attrgetter
methodcaller = guards.methodcaller
