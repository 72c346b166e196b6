# string games
VOWELS = set("aeiou")


def is_palindrome(text):
    letters = [c.lower() for c in text if c.isalpha()]
    return letters == letters[::-1]


def pig_latin(word):
    if word[0] in VOWELS:
        return word + "way"
    for i, c in enumerate(word):
        if c in VOWELS:
            return word[i:] + word[:i] + "ay"
    return word + "ay"


def anagrams(words):
    groups = {}
    for w in words:
        groups.setdefault("".join(sorted(w)), []).append(w)
    return [g for g in groups.values() if len(g) > 1]


def hangman(secret, guesses):
    seen, lives = set(), 3
    for g in guesses:
        if g in seen:
            print(f"  you already tried {g!r}")
            continue
        seen.add(g)
        if g not in secret:
            lives -= 1
        shown = " ".join(c if c in seen else "_" for c in secret)
        print("  %-12s lives=%d" % (shown, lives))
        if not lives:
            print("  lost, it was", secret.upper())
            return False
        if "_" not in shown:
            print("  won")
            return True


for t in "A man, a plan, a canal: Panama", "Not this", "Was it a car or a cat I saw?", "":
    print(repr(t), is_palindrome(t))
print(" ".join(map(pig_latin, "the quick brown fox says apple rhythm".split())))
print(anagrams("listen silent enlist google elgoog abc cab tea eat ate solo".split()))
hangman("python", "eetoxyphn")
hangman("sandbox", "qzyx")

text = "the rain in spain"
print(text.title(), text.swapcase(), text.center(25, "*"), text.replace("ain", "AIN", 1), sep="\n")
print(text.partition(" in "), text.rsplit(None, 1), text.find("x"), text.count("ain"))
print("caesar:", "".join(chr((ord(c) - 97 + 3) % 26 + 97) if c.islower() else c for c in text))
table = str.maketrans({"a": "4", "i": "1", "e": "3", " ": None})
print(text.translate(table), "zero".zfill(8), "x".join("abc"), "a,b,,c".split(","))
print("run-length:", end=" ")
s = "aaabbbccd"
prev, n = s[0], 0
for c in s + "\0":
    if c == prev:
        n += 1
    else:
        print(f"{n}{prev}", end="")
        prev, n = c, 1
print()
