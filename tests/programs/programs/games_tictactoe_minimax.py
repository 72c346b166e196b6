from __future__ import annotations
import math
import random
from functools import cache

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
EMPTY = " "


class IllegalMove(Exception):
    """Somebody tried to cheat."""


def winner(board: str) -> str | None:
    for a, b, c in LINES:
        if board[a] == board[b] == board[c] != EMPTY:
            return board[a]
    return None


def moves(board: str) -> list[int]: return [i for i, c in enumerate(board) if c == EMPTY]
def put(board: str, i: int, who: str) -> str: return f"{board[:i]}{who}{board[i + 1:]}"
def other(who: str) -> str: return "O" if who == "X" else "X"


@cache
def score(board: str, to_move: str) -> int:
    if (w := winner(board)) is not None:
        return 1 if w == "X" else -1
    if not moves(board):
        return 0
    results = [score(put(board, m, to_move), other(to_move)) for m in moves(board)]
    return max(results) if to_move == "X" else min(results)


class Player:
    def __init__(self, mark): self.mark = mark
    def choose(self, board): raise NotImplementedError
    def __repr__(self): return f"{type(self).__name__}({self.mark})"


class Perfect(Player):
    def choose(self, board):
        sign = 1 if self.mark == "X" else -1
        return max(moves(board), key=lambda m: (sign * score(put(board, m, self.mark), other(self.mark)), -m))


class Random(Player):
    def __init__(self, mark, seed):
        super().__init__(mark)
        self._rng = random.Random(seed)

    def choose(self, board): return self._rng.choice(moves(board))


class Scripted(Player):
    def __init__(self, mark, *script):
        super().__init__(mark)
        self._script = iter(script)

    def choose(self, board): return next(self._script)


class Game:
    def __init__(self, x, o): self.players, self.board, self.history = (x, o), EMPTY * 9, []

    def __iter__(self):
        while not winner(self.board) and moves(self.board):
            player = self.players[len(self.history) % 2]
            m = player.choose(self.board)
            if m not in moves(self.board):
                raise IllegalMove(f"{player} cannot take {m}")
            self.board = put(self.board, m, player.mark)
            self.history.append(m)
            yield m

    def play(self):
        for _ in self: pass
        return winner(self.board) or "draw"

    def __str__(self): return "\n-+-+-\n".join("|".join(self.board[r:r + 3]) for r in (0, 3, 6))


g = Game(Perfect("X"), Perfect("O"))
print(g.play(), g.history)
print(g)
tally = {}
for seed in range(20):
    result = Game(Random("X", seed), Perfect("O")).play()
    tally[result] = tally.get(result, 0) + 1
print(dict(sorted(tally.items())), score(EMPTY * 9, "X"), score.cache_info().currsize)
try:
    Game(Scripted("X", 4, 4), Scripted("O", 0, 1)).play()
except IllegalMove as e:
    print(type(e).__name__, e, e.__doc__)
try:
    Game(Player("X"), Perfect("O")).play()
except NotImplementedError as e:
    print(repr(e))
print(Game(Scripted("X", 0, 1, 2), Scripted("O", 3, 4)).play(), math.factorial(9), sum(1 for b in [EMPTY * 9] for _ in moves(b)))
