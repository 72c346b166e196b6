from collections import defaultdict
from graphlib import TopologicalSorter, CycleError
from bisect import bisect_left, insort


class DisjointSet:
    def __init__(self):
        self.parent = {}
        self.rank = {}

    def find(self, x):
        self.parent.setdefault(x, x)
        self.rank.setdefault(x, 0)
        if self.parent[x] != x:
            self.parent[x] = self.find(self.parent[x])
        return self.parent[x]

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        self.rank[a] += self.rank[a] == self.rank[b]
        return True

    @property
    def groups(self):
        found = defaultdict(list)
        for x in self.parent:
            found[self.find(x)].append(x)
        return sorted(map(sorted, found.values()))


def kruskal(edges):
    ds = DisjointSet()
    return [(w, a, b) for w, a, b in sorted(edges) if ds.union(a, b)]


EDGES = [(7, "A", "B"), (5, "B", "C"), (8, "A", "C"), (9, "B", "D"), (7, "C", "E"), (5, "A", "D"),
         (15, "D", "E"), (6, "D", "F"), (8, "E", "F"), (9, "E", "G"), (11, "F", "G")]
mst = kruskal(EDGES)
print(mst, sum(w for w, *_ in mst))
ds = DisjointSet()
for pair in "ab cd ef bd gh".split():
    ds.union(*pair)
print(ds.groups, ds.find("a") == ds.find("c"), ds.union("a", "d"))

tasks = {"eat": {"cook", "set table"}, "cook": {"shop"}, "shop": set(), "set table": ()}
order = TopologicalSorter(tasks)
order.prepare()
while order.is_active():
    ready = sorted(order.get_ready())
    print("ready:", ready)
    order.done(*ready)
try:
    list(TopologicalSorter({1: [2], 2: [3], 3: [1]}).static_order())
except CycleError as e:
    print(e.args[0], len(e.args[1]))

scores = []
for s in (30, 85, 60, 75, 60):
    insort(scores, s)
print(scores, bisect_left(scores, 60), [
    "FDCBA"[bisect_left([60, 70, 80, 90], s + 1)] for s in (33, 99, 77, 70, 89, 90, 100)])


def lis(seq):
    tails = []
    for x in seq:
        i = bisect_left(tails, x)
        tails[i:i + 1] = [x]
    return len(tails)


print(lis([10, 9, 2, 5, 3, 7, 101, 18]), lis([]), lis([3, 3, 3]))
