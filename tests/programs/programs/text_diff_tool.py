import difflib
import sys

old = """def area(w, h):
    return w * h

print(area(2, 3))
# end
""".splitlines(keepends=True)
new = """def area(width, height):
    return width * height

def circle(r):
    return 3.14 * r ** 2

print(area(2, 3))
""".splitlines(keepends=True)

sys.stdout.writelines(difflib.unified_diff(old, new, "old.py", "new.py", n=1))
print("-----")
sys.stdout.writelines(difflib.ndiff(["one\n", "two\n", "three\n"], ["ore\n", "tree\n", "emu\n"]))
print("-----")
for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, "qabxcd", "abycdf").get_opcodes():
    print(f"{tag:7} a[{i1}:{i2}] -> b[{j1}:{j2}] {'qabxcd'[i1:i2]!r:>6} -> {'abycdf'[j1:j2]!r}")
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"], cutoff=0.5))
print(round(difflib.SequenceMatcher(a="tide", b="diet").ratio(), 3))


def lcs_diff(a, b):
    """The same by hand."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    out = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and a[i - 1] == b[j - 1]:
            i -= 1; j -= 1
            out.append("  " + a[i])
        elif j and (not i or table[i][j - 1] >= table[i - 1][j]):
            j -= 1
            out.append("+ " + b[j])
        else:
            i -= 1
            out.append("- " + a[i])
    return out[::-1]


print("".join(lcs_diff(old, new)), end="")
print(list(difflib.restore(difflib.ndiff(["a", "b"], ["a", "c"]), 2)))


class Loud(difflib.SequenceMatcher):
    def ratio(self):
        r = super().ratio()
        print("ratio computed:", f"{r:.2f}")
        return r


Loud(None, "abcd", "bcde").ratio()
m = Loud(None, "private Thread currentThread;", "private volatile Thread currentThread;").find_longest_match(0, 29, 0, 38)
print(m, m.size, list(difflib.context_diff(["x\n"], ["y\n"], lineterm=""))[:3])
