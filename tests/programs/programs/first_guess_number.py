import random

random.seed(2024)
secret = random.randint(1, 100)
print("I am thinking of a number between 1 and 100.")
tries = 0
while True:
    line = input("Your guess? ")
    try:
        guess = int(line)
    except ValueError as err:
        print("Not a number:", err)
        continue
    tries += 1
    if not 1 <= guess <= 100:
        print("Out of range!")
    elif guess < secret:
        print("Too low.")
    elif guess > secret:
        print("Too high.")
    else:
        print(f"Correct, in {tries} tries!")
        break

name = input("Name for the high score: ").strip() or "anonymous"
scores = {"ada": 4, "bob": 9}
scores[name] = min(tries, scores.get(name, 99))
for place, (who, score) in enumerate(sorted(scores.items(), key=lambda kv: kv[1]), start=1):
    print(f"{place}. {who.title():<12} {score:>3}")
try:
    again = input("Play again? ")
except EOFError:
    print("\nno more input, bye")
else:
    print("again:", again)
