import sys


def read_numbers():
    data = sys.stdin.buffer.read().split()
    it = iter(data)
    rows, cols = int(next(it)), int(next(it))
    grid = [[int(next(it)) for _ in range(cols)] for _ in range(rows)]
    words = [w.decode() for w in it]
    return grid, words


def spiral(grid):
    grid = [row[:] for row in grid]
    while grid:
        yield from grid.pop(0)
        grid = [list(row) for row in zip(*grid)][::-1]


def rotate(grid): return [list(r) for r in zip(*grid[::-1])]


def islands(grid):
    seen, count = set(), 0
    for r, row in enumerate(grid):
        for c, value in enumerate(row):
            if value % 2 and (r, c) not in seen:
                count += 1
                todo = [(r, c)]
                while todo:
                    y, x = todo.pop()
                    if (y, x) in seen or not (0 <= y < len(grid) and 0 <= x < len(row)) or not grid[y][x] % 2:
                        continue
                    seen.add((y, x))
                    todo += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return count


grid, words = read_numbers()
write = sys.stdout.write
write(" ".join(map(str, spiral(grid))) + "\n")
for row in rotate(grid):
    write("".join(f"{x:>4}" for x in row) + "\n")
write(f"{islands(grid)} islands, {words}\n")
write(repr(sys.stdin.buffer.readline()) + repr(sys.stdin.read()) + "\n")
sys.stderr.write("done\n")
