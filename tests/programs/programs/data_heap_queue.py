import heapq
import itertools
from functools import total_ordering


class MinHeap:
    def __init__(self): self._a = []

    def push(self, x):
        a = self._a
        a.append(x)
        i = len(a) - 1
        while i and a[i] < a[(i - 1) // 2]:
            a[i], a[(i - 1) // 2] = a[(i - 1) // 2], a[i]
            i = (i - 1) // 2

    def pop(self):
        a = self._a
        a[0], a[-1] = a[-1], a[0]
        top = a.pop()
        i = 0
        while (c := 2 * i + 1) < len(a):
            if c + 1 < len(a) and a[c + 1] < a[c]:
                c += 1
            if a[i] <= a[c]:
                break
            a[i], a[c] = a[c], a[i]
            i = c
        return top

    def __len__(self): return len(self._a)


@total_ordering
class Task:
    _ids = itertools.count(1)

    def __init__(self, priority, title):
        self.id = next(self._ids)
        self.priority, self.title = priority, title

    def _key(self): return (-self.priority, self.id)
    def __eq__(self, other): return self._key() == other._key()
    def __lt__(self, other): return self._key() < other._key()
    def __hash__(self): return hash(self._key())
    def __str__(self): return f"#{self.id}({self.priority}) {self.title}"


h = MinHeap()
for x in [5, 3, 8, 1, 9, 2, 7]:
    h.push(x)
print([h.pop() for _ in range(len(h))])

tasks = [Task(p, t) for p, t in [(1, "sweep"), (5, "deploy"), (3, "review"), (5, "hotfix")]]
heap = tasks[:]
heapq.heapify(heap)
while heap:
    print(heapq.heappop(heap))
print(tasks[0] > tasks[1], tasks[0] >= tasks[1], len({*tasks, tasks[0]}))
print(heapq.nlargest(2, [3, 1, 4, 1, 5]), heapq.nsmallest(2, "banana", key=lambda c: -ord(c)))
print(*heapq.merge([1, 4, 7], [2, 5, 8], [0, 9], key=None))
print(list(heapq.merge(["ccc", "a"], ["bb"], key=len, reverse=True)))


def running_median(stream):
    low, high = [], []
    for x in stream:
        heapq.heappush(high, -heapq.heappushpop(low, -x))
        if len(high) > len(low):
            heapq.heappush(low, -heapq.heappop(high))
        yield -low[0] if len(low) > len(high) else (high[0] - low[0]) / 2


print(list(running_median([5, 15, 1, 3, 8])))
REMOVED = "<removed>"
pq, finder, counter = [], {}, itertools.count()


def add(task, priority=0):
    if task in finder:
        finder.pop(task)[-1] = REMOVED
    entry = [priority, next(counter), task]
    finder[task] = entry
    heapq.heappush(pq, entry)


for t, p in ("a", 5), ("b", 2), ("a", 1), ("c", 2):
    add(t, p)
while pq:
    p, n, t = heapq.heappop(pq)
    if t is not REMOVED:
        print(p, n, t, end="; ")
        del finder[t]
print(finder)
