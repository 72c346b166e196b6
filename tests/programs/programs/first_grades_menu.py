import sys

students = {}


def add(name, *grades):
    global students
    try:
        students[name] = [float(g) for g in grades]
    except ValueError as e:
        print("  bad grade:", e)
    else:
        print("  ok", name)
    finally:
        print("  total students:", len(students))


def average(lst):
    return sum(lst) / len(lst) if lst else float("nan")


def letter(avg):
    for limit, mark in ((90, "A"), (80, "B"), (70, "C"), (60, "D")):
        if avg >= limit:
            return mark
    return "F"


def report():
    print(f"{'name':<10}|{'avg':^8}|{'mark':>5}")
    for name in sorted(students, key=lambda n: -average(students[n])):
        avg = average(students[name])
        print(f"{name:<10}|{avg:^8.2f}|{letter(avg):>5}")


def main():
    commands = dict(add=add, report=report, drop=lambda n: students.pop(n))
    for lineno, line in enumerate(sys.stdin, 1):
        line = line.rstrip("\n")
        if not line or line.startswith("#"):
            continue
        print(f"{lineno}> {line}")
        command, *args = line.split()
        if command == "quit":
            return 0
        if command not in commands:
            print("  unknown command", repr(command), file=sys.stderr)
            continue
        try:
            commands[command](*args)
        except KeyError as missing:
            print("  no student", missing)
        except TypeError:
            print("  usage error")
    return 3


if __name__ == "__main__":
    sys.exit(main())
