import math
from random import *
from time import perf_counter
import statistics as st

seed(12345)
start = perf_counter()


def estimate_pi(n):
    hits = 0
    for _ in range(n):
        x, y = random(), random()
        if x * x + y * y <= 1:
            hits += 1
    return 4 * hits / n


def birthday(people, trials=400):
    same = 0
    for _ in range(trials):
        days = [randrange(365) for _ in range(people)]
        same += len(set(days)) < people
    return same / trials


def monty_hall(switch, games=500):
    wins = 0
    for _ in range(games):
        prize, pick = randint(0, 2), randint(0, 2)
        opened = next(d for d in range(3) if d not in (prize, pick))
        if switch:
            pick = ({0, 1, 2} - {pick, opened}).pop()
        wins += pick == prize
    return wins / games


def walk(steps):
    x = y = 0
    for _ in range(steps):
        dx, dy = choice([(0, 1), (0, -1), (1, 0), (-1, 0)])
        x, y = x + dx, y + dy
    return math.dist((0, 0), (x, y))


def gamblers_ruin(stake, goal, p=0.5):
    bets = 0
    while 0 < stake < goal:
        stake += 1 if random() < p else -1
        bets += 1
    return stake == goal, bets


print("pi:", estimate_pi(2000))
print("birthday:", {n: birthday(n) for n in (10, 23, 40)})
print("monty hall:", monty_hall(False), monty_hall(True))
distances = [walk(100) for _ in range(100)]
print(f"walk: mean {st.mean(distances):.3f} sd {st.stdev(distances):.3f} max {max(distances):.3f}")
games = [gamblers_ruin(5, 10) for _ in range(50)]
print("ruin:", sum(w for w, _ in games), st.median(b for _, b in games))
dice = sorted(randint(1, 6) + randint(1, 6) for _ in range(300))
for total in range(2, 13):
    print(f"{total:>2} {'█' * (dice.count(total) // 4)} {dice.count(total)}")
weather = {"sun": {"sun": .8, "rain": .2}, "rain": {"sun": .4, "rain": .6}}
today, days = "sun", []
for _ in range(40):
    today = choices(list(weather[today]), list(weather[today].values()))[0]
    days.append(today)
print("".join(d[0] for d in days), days.count("rain"))
assert perf_counter() - start < 60
print(st.quantiles(dice, n=4), st.mode(dice), round(st.correlation(range(20), [x * 2 + random() for x in range(20)]), 3))
print(st.NormalDist(100, 15).cdf(130).__round__(4), st.NormalDist.from_samples([1, 2, 3, 4]), st.NormalDist(0, 1).samples(2, seed=3))
