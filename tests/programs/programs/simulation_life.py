import random
import sys
from collections import Counter

GLIDER = """
.#.
..#
###
"""


def parse(text):
    return {(r, c) for r, line in enumerate(text.strip().splitlines()) for c, ch in enumerate(line) if ch == "#"}


def step(cells):
    near = Counter((r + dr, c + dc) for r, c in cells for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc)
    return {p for p, n in near.items() if n == 3 or n == 2 and p in cells}


def show(cells, h=6, w=8, file=sys.stdout):
    for r in range(h):
        print("".join("#" if (r, c) in cells else "." for c in range(w)), file=file)


class Life:
    """The same on a torus, in the object-oriented style."""

    def __init__(self, width, height, density=0.3, seed=None):
        rng = random.Random(seed)
        self.width, self.height = width, height
        self.grid = [[rng.random() < density for _ in range(width)] for _ in range(height)]
        self.generation = 0

    def _neighbours(self, r, c):
        return sum(
            self.grid[(r + dr) % self.height][(c + dc) % self.width]
            for dr in (-1, 0, 1)
            for dc in (-1, 0, 1)
            if (dr, dc) != (0, 0)
        )

    def __next__(self):
        self.grid = [
            [self._neighbours(r, c) in ((2, 3) if alive else (3,)) for c, alive in enumerate(row)]
            for r, row in enumerate(self.grid)
        ]
        self.generation += 1
        return self.population

    def __iter__(self): return self

    @property
    def population(self): return sum(map(sum, self.grid))

    def __str__(self): return "\n".join("".join(" O"[x] for x in row) for row in self.grid)


def rule(number, width=31, steps=8):
    """Elementary cellular automaton."""
    cells = [0] * width
    cells[width // 2] = 1
    for _ in range(steps):
        yield "".join(" *"[c] for c in cells).rstrip()
        cells = [number >> (cells[i - 1] << 2 | cells[i] << 1 | cells[(i + 1) % width]) & 1 for i in range(width)]


def main():
    cells = parse(GLIDER)
    for i in range(5):
        if i % 4 == 0:
            print("generation", i)
            show(cells)
        cells = step(cells)
    print(cells == step(cells), len(cells))
    life = Life(12, 6, seed=99)
    print(life)
    print([n for _, n in zip(range(10), life)], life.generation)
    print(life)
    for n in 30, 90:
        print(*rule(n), sep="\n")


if __name__ == "__main__":
    main()
