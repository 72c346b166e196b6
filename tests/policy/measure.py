"""What the language wall costs. Not a test; prints a table.

BELLJAR_GUARDS_DIR=… python tests/policy/measure.py
"""

from __future__ import annotations

import ast
import math
import os
import sys
import textwrap
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]

SNIPPETS = {
    "sieve": """
        n = 200_000
        s = [True] * n
        for i in range(2, 500):
            if s[i]:
                for j in range(i * i, n, i): s[j] = False
        """,
    "calls": """
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        fib(23)
        """,
    "objects": """
        class V:
            def __init__(self, x, y): self.x = x; self.y = y
            def add(self, o): return V(self.x + o.x, self.y + o.y)
        v = V(0, 0)
        for i in range(60_000): v = v.add(V(1, 2))
        """,
    "private": """
        class C:
            def __init__(self): self._n = 0
            def inc(self):
                self._n += 1
                return self._n
        c = C()
        for i in range(150_000): c.inc()
        """,
    "dicts": """
        d = {}
        for i in range(200_000): d[i % 1000] = d.get(i % 1000, 0) + 1
        """,
    "text": """
        out = []
        for i in range(60_000): out.append(f"{i}:{i * 2}".upper().replace("1", "2"))
        """,
    "modules": """
        import math
        t = 0.0
        for i in range(150_000): t += math.sqrt(i) * math.sin(i)
        """,
    "sorting": """
        import random
        random.seed(1)
        a = [random.random() for _ in range(60_000)]
        a.sort(key=lambda x: -x)
        """,
    "comprehensions": "x = sum(i * j for i in range(300) for j in range(300) if i % 2)",
    "matrices": """
        n = 50
        A = [[i + j for j in range(n)] for i in range(n)]
        C = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                for k in range(n): C[i][j] += A[i][k] * A[k][j]
        """,
    "format": """
        s = 0
        for i in range(100_000): s += len("{} {:>5}".format(i, i))
        """,
}


def best(work: Callable[[], object], rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()  # what else runs on this machine does not count
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    # Plain times first: the freeze hardens this interpreter too.
    sources = {name: textwrap.dedent(source) for name, source in SNIPPETS.items()}
    plain = {}
    for name, source in sources.items():
        code = compile(source, name, "exec")
        plain[name] = best(lambda code=code: exec(code, {"__name__": "__main__"}))
    files = [Path(textwrap.__file__), Path(ast.__file__).with_name("difflib.py")]
    corpus = "\n".join(file.read_text() for file in files)
    lines = len(corpus.splitlines()) / 1000
    plain_compile = best(lambda: compile(corpus, "corpus", "exec"))

    import belljar_policy

    with open(ROOT / "profiles" / "basic.toml", "rb") as file:
        policy = belljar_policy.Policy(tomllib.load(file))
    ratios = []
    for name, source in sources.items():
        code = policy.compile(source).code
        ratio = best(lambda code=code: exec(code, policy.guest_globals())) / plain[name]
        ratios.append(ratio)
        print(f"{name:16} {ratio:5.2f} x plain")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':16} {mean:5.2f} x plain")

    compiled = best(lambda: policy.compile(corpus))
    print(
        f"compile          {compiled / lines * 1e3:5.2f} ms/kLOC, plain "
        f"{plain_compile / lines * 1e3:.2f}"
    )
    small = best(lambda: [policy.compile("result = 2 + 2") for _ in range(1000)]) / 1000
    print(f"result = 2 + 2   {small * 1e6:5.1f} us to compile")


main()
