"""Discrete event simulation of a bank with several tellers."""
import heapq
import random
import statistics
from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(order=True)
class Event:
    time: float
    seq: int
    kind: str = field(compare=False)
    who: "Customer | None" = field(compare=False, default=None)
    counter: ClassVar[int] = 0

    @classmethod
    def at(cls, time, kind, who=None):
        cls.counter += 1
        return cls(time, cls.counter, kind, who)


@dataclass
class Customer:
    name: str
    arrived: float
    served: float | None = None
    left: float | None = None

    @property
    def waited(self): return self.served - self.arrived


class Bank:
    def __init__(self, tellers=2, seed=1, *, mean_gap=1.0, mean_service=1.8):
        self._rng = random.Random(seed)
        self.free = tellers
        self.line = deque()
        self.events = []
        self.done = []
        self.now = 0.0
        self.gap, self.service = mean_gap, mean_service
        self.longest = 0

    def schedule(self, delay, kind, who=None):
        heapq.heappush(self.events, Event.at(self.now + delay, kind, who))

    def run(self, customers=20):
        t = 0.0
        for i in range(customers):
            t += self._rng.expovariate(1 / self.gap)
            self.schedule(t, "arrive", Customer(f"c{i:02}", t))
        while self.events:
            event = heapq.heappop(self.events)
            self.now = event.time
            getattr(self, "_on_" + event.kind)(event.who)
        return self.done

    def _on_arrive(self, who):
        self.line.append(who)
        self.longest = max(self.longest, len(self.line))
        self._serve()

    def _on_leave(self, who):
        who.left = self.now
        self.done.append(who)
        self.free += 1
        self._serve()

    def _serve(self):
        while self.free and self.line:
            who = self.line.popleft()
            who.served = self.now
            self.free -= 1
            self.schedule(self._rng.gauss(self.service, 0.3), "leave", who)


for tellers in 1, 2, 3:
    bank = Bank(tellers, seed=42)
    done = bank.run()
    waits = [c.waited for c in done]
    print(f"{tellers} teller(s): finished at {bank.now:6.2f}, mean wait {statistics.mean(waits):5.2f}, "
          f"median {statistics.median(waits):5.2f}, longest line {bank.longest}, last {done[-1].name}")
print(Event.counter, done[0])

random.seed(0)
print([random.randint(1, 6) for _ in range(5)], random.choice("abc"), random.sample(range(50), 4), random.uniform(1, 2))
deck = [f"{r}{s}" for s in "SHDC" for r in "A23456789TJQK"]
random.shuffle(deck)
print(deck[:5], random.choices(["x", "y"], weights=[9, 1], k=6), f"{random.triangular(0, 1):.5f}", random.getrandbits(16))
state = random.getstate(); a = random.random(); random.setstate(state); print(a == random.random(), random.randbytes(3).hex())
