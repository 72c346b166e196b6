import sys
from collections import deque
sys.setrecursionlimit(10000)

PUZZLE = """
53..7....
6..195...
.98....6.
8...6...3
4..8.3..1
7...2...6
.6....28.
...419..5
....8..79
"""


class Sudoku:
    DIGITS = frozenset("123456789")
    UNITS = ([[(r, c) for c in range(9)] for r in range(9)] + [[(r, c) for r in range(9)] for c in range(9)]
             + [[(r + i, c + j) for i in range(3) for j in range(3)] for r in (0, 3, 6) for c in (0, 3, 6)])
    PEERS = {(r, c): {p for u in [u for u in UNITS] if (r, c) in u for p in u} - {(r, c)} for r, c in UNITS[0]} if False else {}

    def __init__(self, text):
        self._cells = {(r, c): ch for r, line in enumerate(text.split()) for c, ch in enumerate(line)}
        if not self.PEERS:
            for cell in self._cells:
                self.PEERS[cell] = set().union(*(u for u in self.UNITS if cell in u)) - {cell}
        self.guesses = 0

    def options(self, cell): return self.DIGITS - {self._cells[p] for p in self.PEERS[cell]}

    def solve(self):
        empty = [c for c, v in self._cells.items() if v == "."]
        if not empty:
            return True
        cell = min(empty, key=lambda c: (len(self.options(c)), c))
        for digit in sorted(self.options(cell)):
            self._cells[cell] = digit
            self.guesses += 1
            if self.solve():
                return True
        self._cells[cell] = "."
        return False

    def __str__(self): return "\n".join("".join(self._cells[r, c] for c in range(9)) for r in range(9))


def queens(n):
    def place(row, cols, left, right, at):
        if row == n:
            yield at
            return
        for c in range(n):
            if not (cols >> c & 1 or left >> (row + c) & 1 or right >> (row - c + n) & 1):
                yield from place(row + 1, cols | 1 << c, left | 1 << row + c, right | 1 << row - c + n, at + (c,))
    return place(0, 0, 0, 0, ())


def knight(n, start=(0, 0)):
    path, seen = [start], {start}
    jumps = [(a, b) for a in (1, 2, -1, -2) for b in (1, 2, -1, -2) if abs(a) != abs(b)]
    free = lambda p: [q for dx, dy in jumps if (q := (p[0] + dx, p[1] + dy)) not in seen and 0 <= q[0] < n > q[1] >= 0]

    def go():
        if len(path) == n * n: return True
        for q in sorted(free(path[-1]), key=lambda q: (len(free(q)), q)):
            path.append(q); seen.add(q)
            if go(): return True
            seen.discard(path.pop())
    return path if go() else None


def jugs(a, b, goal):
    q, seen = deque([((0, 0), [])]), set()
    while q:
        (x, y), how = q.popleft()
        if goal in (x, y): return how
        if (x, y) in seen: continue
        seen.add((x, y))
        pour, back = min(x, b - y), min(y, a - x)
        for name, state in {"fill A": (a, y), "fill B": (x, b), "empty A": (0, y), "empty B": (x, 0), "A>B": (x - pour, y + pour), "B>A": (x + back, y - back)}.items():
            q.append((state, how + [name]))


s = Sudoku(PUZZLE)
print(s.solve(), s.guesses); print(s)
boards = [*queens(6)]
print(len(boards), boards[0], sum(1 for _ in queens(7)))
for c in next(queens(8)): print("." * c + "Q" + "." * (7 - c))
tour = knight(5)
for r in range(5): print(*(f"{tour.index((r, c)) + 1:2}" for c in range(5)))
print(jugs(3, 5, 4), jugs(2, 4, 3))
words = ["cat", "dog", "tag", "cog", "cot", "dot"]
chains = lambda w, used: max(([w] + chains(n, used | {n}) for n in words if n not in used and sum(a != b for a, b in zip(w, n)) == 1), key=len, default=[w])
print(chains("cat", {"cat"}), [a + b for a in "xy" for b in "12" if a + b != "x2"])
