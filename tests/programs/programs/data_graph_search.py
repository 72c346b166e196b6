from collections import deque, defaultdict
import heapq

MAZE = """
##########
#S..#....#
#.#.#.##.#
#.#...#..#
#.###.#.##
#.....#.E#
##########
""".strip().split("\n")


class Graph:
    def __init__(self, directed=False):
        self.adj = defaultdict(dict)
        self.directed = directed

    def edge(self, a, b, w=1):
        self.adj[a][b] = w
        if not self.directed:
            self.adj[b][a] = w
        else:
            self.adj[b]
        return self

    def bfs(self, start):
        seen, order, q = {start}, [], deque([start])
        while q:
            v = q.popleft()
            order.append(v)
            for n in sorted(self.adj[v]):
                if n not in seen:
                    seen.add(n)
                    q.append(n)
        return order

    def dfs(self, v, seen=None):
        seen = set() if seen is None else seen
        seen.add(v)
        yield v
        for n in sorted(self.adj[v]):
            if n not in seen:
                yield from self.dfs(n, seen)

    def dijkstra(self, start):
        dist = {start: 0}; prev = {}
        heap = [(0, start)]
        while heap:
            d, v = heapq.heappop(heap)
            if d > dist.get(v, float("inf")): continue
            for n, w in self.adj[v].items():
                nd = d + w
                if nd < dist.get(n, float("inf")):
                    dist[n] = nd
                    prev[n] = v
                    heapq.heappush(heap, (nd, n))
        return dist, prev

    def path(self, a, b):
        _, prev = self.dijkstra(a)
        out = [b]
        while out[-1] != a:
            out.append(prev[out[-1]])
        return out[::-1]

    def topological(self):
        state, out = {}, []

        def visit(v):
            if state.get(v) == "open":
                raise ValueError(f"cycle through {v}")
            if v in state: return
            state[v] = "open"
            for n in self.adj[v]: visit(n)
            state[v] = "done"
            out.append(v)
        for v in list(self.adj): visit(v)
        return out[::-1]


g = Graph()
for a, b, w in [("A", "B", 4), ("A", "C", 2), ("C", "B", 1), ("B", "D", 5), ("C", "D", 8), ("D", "E", 3)]:
    g.edge(a, b, w)
print(g.bfs("A"), list(g.dfs("A")), g.dijkstra("A")[0], "->".join(g.path("A", "E")))
d = Graph(directed=True).edge("shirt", "tie").edge("tie", "jacket").edge("trousers", "shoes").edge("trousers", "belt").edge("belt", "jacket")
print(d.topological())
try:
    d.edge("jacket", "shirt").topological()
except ValueError as e:
    print(e)

find = lambda ch: next((r, c) for r, row in enumerate(MAZE) for c, x in enumerate(row) if x == ch)
start, goal = find("S"), find("E")
h = lambda p: abs(p[0] - goal[0]) + abs(p[1] - goal[1])
came, cost, heap = {start: None}, {start: 0}, [(h(start), start)]
while heap:
    _, cur = heapq.heappop(heap)
    if cur == goal: break
    for dr, dc in (0, 1), (1, 0), (0, -1), (-1, 0):
        nxt = cur[0] + dr, cur[1] + dc
        if MAZE[nxt[0]][nxt[1]] != "#" and cost[cur] + 1 < cost.get(nxt, 1e9):
            cost[nxt] = cost[cur] + 1
            came[nxt] = cur
            heapq.heappush(heap, (cost[nxt] + h(nxt), nxt))
rows = [list(r) for r in MAZE]
while (cur := came[cur]) and cur != start:
    rows[cur[0]][cur[1]] = "*"
print("\n".join("".join(r) for r in rows), cost[goal])
