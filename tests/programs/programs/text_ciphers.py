from itertools import cycle
from string import ascii_lowercase as abc, ascii_uppercase as ABC


class Caesar:
    def __init__(self, shift):
        self.__shift = shift % 26
        self._table = str.maketrans(abc + ABC, self._rotate(abc) + self._rotate(ABC))

    def _rotate(self, letters):
        return letters[self.__shift:] + letters[:self.__shift]

    def __call__(self, text):
        return text.translate(self._table)

    def __invert__(self):
        return type(self)(-self.__shift)

    def __repr__(self):
        return f"{self.__class__.__name__}({self.__shift})"


class Vigenere:
    def __init__(self, key):
        assert key.isalpha(), "letters only"
        self.key = key.lower()

    def _run(self, text, sign):
        keys = cycle(self.key)
        out = []
        for ch in text:
            if not ch.isalpha():
                out.append(ch)
                continue
            base = ord("a") if ch.islower() else ord("A")
            k = ord(next(keys)) - 97
            out.append(chr((ord(ch) - base + sign * k) % 26 + base))
        return "".join(out)

    def encrypt(self, text): return self._run(text, +1)
    def decrypt(self, text): return self._run(text, -1)


def atbash(text):
    return text.translate(str.maketrans(abc, abc[::-1]))


def rail_fence(text, rails):
    rows = ["" for _ in range(rails)]
    row = step = 0
    for ch in text:
        rows[row] += ch
        if row == 0:
            step = 1
        elif row == rails - 1:
            step = -1
        row += step
    return "".join(rows)


def xor(data: bytes, key: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(data, cycle(key)))


message = "Meet me at the Old Bridge, 10 pm!"
c = Caesar(3)
print(c, c(message), (~c)(c(message)), ~c)
v = Vigenere("Lemon")
print(v.encrypt("Attack at dawn"), "->", v.decrypt(v.encrypt("Attack at dawn")))
print(atbash("wizard"), rail_fence("WEAREDISCOVEREDFLEEATONCE", 3))
secret = xor(message.encode(), b"k3y")
print(secret.hex(" ", 4), xor(secret, b"k3y").decode() == message)
for shift in range(0, 26, 5):
    print(f"{shift:02}", Caesar(shift)("khoor"))
try:
    Vigenere("no digits 1")
except AssertionError as e:
    print("AssertionError:", e)
print(hasattr(c, "__shift"), hasattr(c, "_Caesar__shift"))
