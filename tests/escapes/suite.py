"""How an attack of this suite is judged.

An attack is source text that ends with `loot`, what the attacker gets. In plain Python it must get
something that no guest may hold (`is_loot` in tests/policy/zygote.py); under the policy it may be
refused, may fail or may get something harmless, but never that. An attack whose success is an
effect and not an object says so with `loot = 'escaped'`.
"""

from __future__ import annotations

from tests.policy import harness
from tests.policy.harness import Ran, assert_escapes_in_plain_python

# What a dataclass's generated method would run, if a field could be called that.
CODE = "__class__ and loot.append('escaped') or 1"


def check_attack(source: str) -> Ran:
    """Succeeds in plain Python, and is contained by the policy."""
    return harness.check_attack(source.replace("CODE", repr(CODE)))


def check_against_naive_guard(control: str, attack: str) -> Ran:
    """For attacks on hooks that only the policy has: `control` overcomes a guard in Python.

    What `attack` does by that works in plain Python, where no hook is in its way.
    """
    assert_escapes_in_plain_python(control)
    return harness.check_attack(attack)
