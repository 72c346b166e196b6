"""Temperature tables - CS101, week 1"""

FREEZING = 32
RATIO = 9 / 5


def c_to_f(celsius):
    """Celsius to Fahrenheit."""
    return celsius * RATIO + FREEZING


def f_to_c(fahrenheit):
    """Fahrenheit to Celsius."""
    return (fahrenheit - FREEZING) / RATIO


def table(start, stop, step, convert=c_to_f, names=("C", "F")):
    print("%8s | %8s" % names)
    print("-" * 8 + "-+-" + "-" * 8)
    t = start
    while t <= stop:
        print("%8.1f | %8.1f" % (t, convert(t)))
        t += step


print(__doc__)
table(-10, 40, 10)
print()
table(0, 100, 25, f_to_c, ("F", "C"))
print()
print(c_to_f.__doc__, f_to_c.__name__)

week = [12.5, 14.0, 9.75, 20.1, 18.3, 15.0, 11.2]
days = "Mon Tue Wed Thu Fri Sat Sun".split()
warmest = max(zip(week, days))
coldest = min(zip(week, days))
mean = sum(week) / len(week)
print("warmest: {1} with {0}".format(*warmest))
print("coldest: {day} with {t:.2f}".format(day=coldest[1], t=coldest[0]))
print(f"mean {mean:.3f}, {mean=:.1f}, {len(week)=}")

for day, t in zip(days, week):
    bar = "#" * int(t)
    if 10 <= t < 15:
        note = "mild"
    elif t >= 15:
        note = "warm"
    else:
        note = "cold"
    print(f"{day}: {bar:.<22} {t!r:>6} {note:^6}|")
print(0 < 5 < 10 > 3, 1 == 1.0 == True, not None)
