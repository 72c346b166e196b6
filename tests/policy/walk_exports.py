"""Walks from every export through public attributes. Started by test_exports.py.

walk_exports.py profile    what a guest gets: prints how many objects it saw; exit 1 on a leak
walk_exports.py real       the same from the real modules, to show that the walker sees
"""

from __future__ import annotations

import builtins
import collections
import importlib
import os
import sys
import tomllib
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]

MAX_DEPTH = 6
OUTSIDE = {
    id(open): "open", id(eval): "eval", id(exec): "exec", id(compile): "compile",
    id(__import__): "__import__", id(globals): "globals", id(locals): "locals",
    id(vars(builtins)): "the builtins", id(os.environ): "os.environ",
    id(sys.modules): "sys.modules",
}  # fmt: skip
OUTSIDE_TYPES = (types.ModuleType, types.CodeType, types.FrameType, types.TracebackType)


def why_outside(value: object) -> str | None:
    if type(value) in OUTSIDE_TYPES:
        return type(value).__name__
    if id(value) in OUTSIDE:
        return OUTSIDE[id(value)]
    if type(value) in (types.BuiltinFunctionType, types.FunctionType):
        module = getattr(value, "__module__", None)
        if module in {
            "posix",
            "os",
            "subprocess",
            "importlib",
            "importlib._bootstrap",
            "_io",
            "io",
        }:
            return f"a function of {module}"
    if isinstance(value, type) and value.__name__ in {
        "FileIO",
        "BuiltinImporter",
        "Popen",
        "Field",
    }:
        return None if value.__name__ == "Field" else value.__name__
    return None


def neighbours(value: object):
    """What native loads and plain iteration reach from here."""
    for name in dir(value):
        if name.startswith("_"):
            continue
        try:
            yield f".{name}", getattr(value, name)
        except Exception:
            continue
    yield " type", type(value)
    if isinstance(value, type):
        return
    if type(value) is dict and len(value) < 500:
        for key, item in value.items():
            yield f"[{key!r}]", item
    elif type(value) in (list, tuple, set, frozenset) and len(value) < 500:
        for index, item in enumerate(value):
            yield f"[{index}]", item


def samples(exports: dict[str, object]) -> dict[str, object]:
    """An instance of each exported class that needs no arguments."""
    made = {}
    for name, value in exports.items():
        if isinstance(value, type) and not issubclass(value, type):
            try:
                made[f"{name}()"] = value()
            except BaseException:
                continue
    return made


def of_a_running_loop(asyncio: object) -> dict[str, object]:
    """What a program finds while its event loop runs, errors that nobody caught included."""
    found: dict[str, object] = {}

    async def fail() -> None:
        raise ValueError("nobody catches this")

    async def meet() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: found.update(context=context))
        loop.set_debug(True)
        future, queue = loop.create_future(), asyncio.Queue()
        done = asyncio.create_task(asyncio.sleep(0, "result"))
        waiting = asyncio.create_task(queue.get())
        failed = asyncio.create_task(fail())
        found.update(
            loop=loop, future=future, queue=queue, done=done, waiting=waiting, failed=failed,
            task=asyncio.current_task(), handle=loop.call_soon(len, ()), gathered=None,
            timer=loop.call_later(9, print), group=asyncio.TaskGroup(), barrier=asyncio.Barrier(2),
            waits=asyncio.wait_for(future, 9), each=asyncio.as_completed([future]),
        )  # fmt: skip
        found["gathered"] = asyncio.gather(future, waiting)
        found["shielded"] = asyncio.shield(future)
        async with asyncio.timeout(9) as found["timeout"]:
            await done
        loop.call_exception_handler({"message": "shown", "future": future, "exception": None})
        future.cancel()
        waiting.cancel()

    with asyncio.Runner() as found["runner"]:
        found["runner"].run(meet())
        found["runner"].run(asyncio.sleep(0))
    return {f"asyncio {name}": value for name, value in found.items()}


def walk(roots: dict[str, object]) -> tuple[int, list[str]]:
    seen: dict[int, object] = {}
    leaks = []
    queue = collections.deque((name, value, 0) for name, value in roots.items())
    while queue:
        path, value, depth = queue.popleft()
        reason = why_outside(value)
        if reason is not None:
            leaks.append(f"{path}: {reason}")
            continue
        if id(value) in seen or depth >= MAX_DEPTH or type(value) in (str, bytes, int, float):
            continue
        seen[id(value)] = value
        queue.extend((path + step, item, depth + 1) for step, item in neighbours(value))
    return len(seen), leaks


def main() -> None:
    with open(ROOT / "profiles" / "basic.toml", "rb") as file:
        profile = tomllib.load(file)
    roots: dict[str, object] = {}
    if sys.argv[1] == "real":
        for name in profile["modules"]:
            if not profile["modules"][name].get("synthetic"):
                module = importlib.import_module(name)
                roots.update(
                    {
                        f"{name}.{key}": value
                        for key, value in vars(module).items()
                        if not key.startswith("_")
                    }
                )
    else:
        import _belljar_guards as guards

        # Walked before the freeze: the tables must hold without the tripwires.
        guards.freeze = lambda: None
        import belljar_policy

        policy = belljar_policy.Policy(profile)
        sys.stdin = sys.stdout = sys.stderr = sys.__stdout__
        for name, proxy in policy.modules.proxies.items():
            for key in guards.export_names(proxy):
                roots[f"{name}.{key}"] = getattr(proxy, key)
        scope = policy.guest_globals()["__builtins__"]
        roots.update(
            {
                name: value
                for name, value in scope.items()
                if name.isidentifier() and name not in ("__import__", "__build_class__")
            }
        )
        compiled = policy.compile(
            "def f(x=1): return x\nasync def c(): pass\ndef g(): yield\n"
            "class A:\n  def m(self): pass\n  p = property(m)\n"
            "co = c(); ge = g(); a = A(); m = a.m\n"
        )
        guest = policy.guest_globals()
        exec(compiled.code, guest)
        roots.update({f"guest {name}": guest[name] for name in "f co ge a A m".split()})
        roots.update(of_a_running_loop(policy.modules.proxies["asyncio"]))
        refused = belljar_policy.tables.REFUSED_ATTRIBUTES
        original = neighbours

        def allowed(value):
            return ((s, v) for s, v in original(value) if s[1:] not in refused)

        globals()["neighbours"] = allowed
    roots.update(samples(roots))
    count, leaks = walk(roots)
    sys.stderr = sys.__stderr__  # what is told of unawaited coroutines is no leak
    print("\n".join(leaks))
    print(count)
    sys.exit(1 if leaks else 0)


main()
