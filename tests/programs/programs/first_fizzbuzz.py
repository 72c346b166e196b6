# Lesson 2: loops and conditions
# fizz buzz, three ways

print("--- version 1")
for i in range(1, 16):
    if i % 15 == 0:
        print("FizzBuzz", end=" ")
    elif i % 5 == 0:
        print("Buzz", end=" ")
    elif i % 3 == 0:
        print("Fizz", end=" ")
    else:
        print(i, end=" ")
print()

print("--- version 2")


def fizzbuzz(n):
    out = ""
    if n % 3 == 0:
        out += "Fizz"
    if n % 5 == 0:
        out += "Buzz"
    return out or str(n)


i = 1
while True:
    if i > 15:
        break
    print(fizzbuzz(i), end=",")
    i += 1
else:
    print("never printed")
print()

print("--- version 3")
rules = {3: "Fizz", 5: "Buzz", 7: "Bazz"}
words = [''.join(w for d, w in rules.items() if not n % d) or n for n in range(1, 22)]
print(*words, sep="|")

counts = {}
for w in words:
    key = w if isinstance(w, str) else 'number'
    counts[key] = counts.get(key, 0) + 1
for key in sorted(counts):
    print(f"{key:<10}{counts[key]:>3}")
print("longest:", max((w for w in words if isinstance(w, str)), key=len))
