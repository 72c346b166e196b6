"""Grades an answer to an exercise: one program, and a case for each input, several at a time.

PYTHONPATH=build/release/python python3 examples/package/grade.py
"""

from belljar import Program, Sandbox

ANSWER = """
numbers = [int(word) for word in input().split()]
print(sum(numbers) / len(numbers))
"""

# What is typed, and what should be printed.
CASES = [("1 2 3", "2.0"), ("10", "10.0"), ("-1 1", "0.0"), ("", "0")]

programs = [Program(code=ANSWER, stdin=typed + "\n") for typed, _ in CASES]
with Sandbox("basic", timeout=5) as box:
    for (typed, expected), result in zip(CASES, box.run_many(programs), strict=True):
        if result.stdout.strip() == expected:
            print(f"{typed!r}: correct")
        elif result.error is not None:
            print(f"{typed!r}: {result.error.type} in line {result.error.line}")
        else:
            print(f"{typed!r}: {result.stdout.strip()!r} instead of {expected!r}")
