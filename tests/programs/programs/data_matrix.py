class Matrix:
    """Small dense matrices; m[i, j] and m[i] both work."""

    __slots__ = ("_rows", "__shape")

    def __init__(self, rows):
        self._rows = [list(r) for r in rows]
        width = {len(r) for r in self._rows}
        if len(width) != 1:
            raise ValueError(f"ragged rows: {sorted(width)}")
        self.__shape = (len(self._rows), width.pop())

    @property
    def shape(self): return self.__shape

    @classmethod
    def identity(cls, n): return cls([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def T(self): return Matrix(zip(*self._rows))

    def __getitem__(self, key):
        match key:
            case (int(i), int(j)):
                return self._rows[i][j]
            case (slice() as s, int(j)):
                return [r[j] for r in self._rows[s]]
            case int(i):
                return self._rows[i]
        raise TypeError(f"bad index {key!r}")

    def __setitem__(self, key, value):
        i, j = key
        self._rows[i][j] = value

    def __add__(self, other):
        if not isinstance(other, Matrix): return NotImplemented
        return Matrix([a + b for a, b in zip(r, s)] for r, s in zip(self._rows, other._rows))

    def __neg__(self): return self * -1
    def __sub__(self, other): return self + -other

    def __mul__(self, k):
        if not isinstance(k, (int, float)): return NotImplemented
        return Matrix([x * k for x in r] for r in self._rows)

    __rmul__ = __mul__

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*other._rows)] for r in self._rows])

    def __pow__(self, n):
        result, base = Matrix.identity(self.shape[0]), self
        while n:
            if n & 1: result @= base
            base @= base
            n >>= 1
        return result

    def __eq__(self, other): return isinstance(other, Matrix) and self._rows == other._rows

    def det(self):
        if self.shape == (1, 1): return self[0, 0]
        return sum((-1) ** j * self[0, j] * Matrix([r[:j] + r[j + 1:] for r in self._rows[1:]]).det()
                   for j in range(self.shape[1]))

    def __str__(self):
        w = max(len(str(x)) for r in self._rows for x in r)
        return "\n".join("[" + " ".join(f"{x:>{w}}" for x in r) + "]" for r in self._rows)

    def __repr__(self): return f"Matrix({self._rows})"


a, b = Matrix([[1, 2], [3, 4]]), Matrix([[0, 1], [1, 0]])
print(a, a + b, a - b, 2 * a, a @ b, a.T, sep="\n\n")
print(a.det(), Matrix([[2, 0, 1], [1, 3, 2], [1, 1, 4]]).det(), a ** 5, (Matrix([[1, 1], [1, 0]]) ** 90)[0, 1])
a[0, 1] = 9
a[0, 0] += 10
print(repr(a), a[:, 1], a[1], a == Matrix([[11, 9], [3, 4]]), a != b)
for bad in (lambda: a @ Matrix([[1, 2, 3]]), lambda: Matrix([[1], [2, 3]]), lambda: a["x"],
            lambda: a + 1, lambda: a.__shape, lambda: a * "x"):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, "-", e)
