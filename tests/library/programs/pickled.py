"""Objects that are pickled and come back."""

import collections
import dataclasses
import datetime
import io
import pickle


class P:
    def __init__(self, x):
        self.x = x
        self.me = self


@dataclasses.dataclass
class D:
    a: int
    b: list


p = pickle.loads(pickle.dumps(P([1])))
print(p.x, p.me is p)
d = D(1, [2])
e = pickle.loads(pickle.dumps(d))
print(e == d, e is d, e.b is d.b)
given = {"a": (1, {2}), "d": datetime.date(2024, 1, 1), "c": collections.Counter("aab")}
print(pickle.loads(pickle.dumps(given)))
f = io.BytesIO()
pickle.dump(1, f)
pickle.dump([2], f)
f.seek(0)
print(pickle.load(f), pickle.load(f))
try:
    pickle.load(f)
except EOFError:
    print("end")
print(pickle.dumps([1, 2]) == pickle.dumps([1, 2]), type(pickle.dumps(1)))
try:
    pickle.dumps(lambda: 0)
except Exception as error:
    print(type(error).__name__)
try:
    pickle.loads(b"junk")
except pickle.UnpicklingError:
    print("no pickle")
