# The way it is done where thousands of numbers have to be read quickly.
import sys
from bisect import bisect_right
from itertools import accumulate

sys.setrecursionlimit(1 << 14)
input = sys.stdin.readline
sys.stdout.reconfigure(encoding="utf-8")


def solve(n, queries, values):
    prefix = [0, *accumulate(values)]
    values.sort()
    for kind, a, b in queries:
        if kind == 1:
            yield prefix[b] - prefix[a - 1]
        else:
            yield bisect_right(values, b) - bisect_right(values, a)


def depth(tree, v=1, parent=0):
    return 1 + max((depth(tree, w, v) for w in tree[v] if w != parent), default=0)


def main():
    cases = int(input())
    out = []
    for case in range(1, cases + 1):
        n, q = map(int, input().split())
        values = [int(x) for x in input().split()]
        queries = [tuple(map(int, input().split())) for _ in range(q)]
        out.append(f"Case #{case}: " + " ".join(map(str, solve(n, queries, values))))
    print("\n".join(out), flush=True)
    rest = sys.stdin.read()
    edges = [tuple(map(int, line.split())) for line in rest.splitlines() if line.strip()]
    tree = {}
    for a, b in edges:
        tree.setdefault(a, []).append(b)
        tree.setdefault(b, []).append(a)
    sys.stdout.write(f"depth {depth(tree)}\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(b"bytes: \xe2\x98\x83\n")
    sys.stdout.buffer.flush()
    print(sys.stdin.buffer.read(), sys.stdin.readline() == "", list(sys.stdin))
    print("on stderr", file=sys.stderr)
    try:
        sys.stdout.buffer.write("text")
    except TypeError as e:
        print(e)


main()
