from collections import OrderedDict
from functools import lru_cache, cache, cached_property, wraps
import time


class LRUCache(OrderedDict):
    def __init__(self, maxsize=3, /, *args, **kwds):
        self.maxsize = maxsize
        self.hits = self.misses = 0
        super().__init__(*args, **kwds)

    def __getitem__(self, key):
        value = super().__getitem__(key)
        self.move_to_end(key)
        return value

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        if len(self) > self.maxsize:
            oldest = next(iter(self))
            del self[oldest]

    def fetch(self, key, compute):
        try:
            value = self[key]
        except KeyError:
            self.misses += 1
            value = self[key] = compute(key)
        else:
            self.hits += 1
        return value


class Link:
    __slots__ = "prev", "next", "key", "value"


class HandMade:
    """A doubly linked list and a dict."""

    def __init__(self, size):
        self._size, self._map = size, {}
        self._root = root = Link()
        root.prev = root.next = root

    def get(self, key, default=None):
        link = self._map.get(key)
        if link is None:
            return default
        self._unlink(link)
        self._append(link)
        return link.value

    def put(self, key, value):
        link = self._map.get(key)
        if link: self._unlink(link)
        else:
            if len(self._map) >= self._size:
                oldest = self._root.next
                self._unlink(oldest)
                del self._map[oldest.key]
            link = self._map[key] = Link()
        link.key, link.value = key, value
        self._append(link)

    @staticmethod
    def _unlink(link):
        link.prev.next, link.next.prev = link.next, link.prev

    def _append(self, link):
        last = self._root.prev
        last.next = self._root.prev = link
        link.prev, link.next = last, self._root

    def __iter__(self):
        link = self._root.next
        while link is not self._root:
            yield link.key
            link = link.next


def memo(fn):
    store = {}

    @wraps(fn)
    def inner(*args):
        if args not in store:
            store[args] = fn(*args)
            inner.computed += 1
        return store[args]

    inner.computed = 0
    inner.store = store
    return inner


@memo
def grid_paths(r, c):
    """How many ways through a grid."""
    return 1 if not (r and c) else grid_paths(r - 1, c) + grid_paths(r, c - 1)


@lru_cache(maxsize=None)
def collatz(n): return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


c = LRUCache(2, a=1)
c["b"] = 2; c["a"]; c["c"] = 3
print(c, list(c), c.fetch("z", str.upper), c.fetch("z", str.upper), c.hits, c.misses)
h = HandMade(2)
for k in "abacb": h.put(k, ord(k)); h.get("a")
print(list(h), h.get("q", "none"), h.get("a"))
print(grid_paths(10, 10), grid_paths.computed, grid_paths.__name__, grid_paths.__doc__, len(grid_paths.store))
print(max(range(1, 1000), key=collatz), collatz.cache_info().misses, collatz.__wrapped__(1))
collatz.cache_clear()
print(collatz.cache_info())
