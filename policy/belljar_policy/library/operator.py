"""operator, for guests: what looks attributes up by names judges them."""

from __future__ import annotations

import _belljar_guards as guards

attrgetter = guards.attrgetter
methodcaller = guards.methodcaller
