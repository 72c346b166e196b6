"""Builds the policy of a profile and prints, as JSON, each container of a module of the library's
that its exports lead to: "module.name", with the way to it. Started by test_mutable_exports.py.

    shared_exports.py PROFILE [as-it-is]

"as-it-is": of the modules themselves, without a policy.
"""

from __future__ import annotations

import collections
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]

from tools.profile_document import read_profile  # noqa: E402

MUTABLE = (dict, list, set, bytearray, collections.deque, collections.UserDict)


def containers(value: Any, way: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Those in `value`, itself included."""
    if id(value) in seen or not isinstance(value, (*MUTABLE, tuple)):
        return
    seen.add(id(value))
    if isinstance(value, MUTABLE):
        yield way, value
    items = value.items() if isinstance(value, dict) else ()
    for key, item in items:
        yield from containers(item, f"{way}[{key!r}]", seen)
    if isinstance(value, (list, tuple, collections.deque)):
        for index, item in enumerate(value):
            yield from containers(item, f"{way}[{index}]", seen)


def given(profile: dict[str, Any], as_it_is: bool) -> dict[str, dict[str, Any]]:
    """What a program gets of each module of the standard library, by name."""
    standard = {
        name: entry
        for name, entry in profile["modules"].items()
        if name.partition(".")[0] in sys.stdlib_module_names
    }
    if as_it_is:
        found: dict[str, dict[str, Any]] = {}
        for name, entry in standard.items():
            if not entry.get("synthetic"):
                names = set(entry["exports"]) - set(entry.get("replace", ()))
                module = importlib.import_module(name)
                found[name] = {each: getattr(module, each, None) for each in names}
        return found
    import _belljar_guards as guards
    import belljar_policy

    # Without the packages: whether they are here decides nothing about the library.
    policy = belljar_policy.Policy({**profile, "modules": standard}, other_profiles={})
    policy.modules.load_all()
    proxies = policy.modules.proxies
    return {
        name: {each: getattr(proxies[name], each) for each in guards.export_names(proxies[name])}
        for name in standard
    }


def main() -> None:
    profile = read_profile(ROOT / "profiles" / f"{sys.argv[1]}.toml")
    as_it_is = "as-it-is" in sys.argv
    exports = given(profile, as_it_is)
    shared: dict[int, str] = {}
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in sys.stdlib_module_names and name != "__main__":
            for key, value in list(vars(module).items()):
                if not key.startswith("__"):
                    shared.update(
                        (id(each), way) for way, each in containers(value, f"{name}.{key}", seen)
                    )
    found = [
        way
        for name, values in exports.items()
        for key, value in values.items()
        for way, each in containers(value, f"{name}.{key}", set())
        if id(each) in shared
    ]
    print(json.dumps(sorted(found)))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
