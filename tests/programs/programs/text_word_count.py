#!/usr/bin/env python3
"""wc + top words, a la K&R."""
import re
import string
from collections import Counter, defaultdict

TEXT = """\
It was the best of times, it was the worst of times, it was the age of
wisdom, it was the age of foolishness, it was the epoch of belief, it was
the epoch of incredulity, it was the season of Light, it was the season of
Darkness, it was the spring of hope, it was the winter of despair.

We had everything before us, we had nothing before us -- "we" were all going
direct to Heaven, we were all going direct the other way; don't you see?
"""


def words(text: str):
    for m in re.finditer(r"[A-Za-z]+(?:'[a-z]+)?", text):
        yield m.group().lower()


def main():
    lines = TEXT.splitlines()
    all_words = list(words(TEXT))
    print(f"{len(lines)} lines, {len(all_words)} words, {len(TEXT)} characters")
    counts = Counter(all_words)
    for word, n in counts.most_common(5):
        print(f"{word:>8} {n:3d} {'*' * n}")
    print("once:", sorted(w for w, n in counts.items() if n == 1))

    by_length = defaultdict(set)
    for w in all_words:
        by_length[len(w)].add(w)
    for length in sorted(by_length, reverse=True)[:3]:
        print(length, sorted(by_length[length]))

    letters = Counter(c for c in TEXT.lower() if c in string.ascii_lowercase)
    print("missing letters:", "".join(sorted(set(string.ascii_lowercase) - letters.keys())))
    total = letters.total()
    for c, n in sorted(letters.items(), key=lambda p: (-p[1], p[0]))[:4]:
        print(f"{c}: {n / total:.2%}")

    concordance = defaultdict(list)
    for number, line in enumerate(lines, 1):
        for w in sorted(set(words(line))):
            concordance[w].append(number)
    print({w: where for w, where in concordance.items() if 2 <= len(where) <= 3})
    sentences = [s.strip() for s in re.split(r"[.;?]\s*", TEXT.replace("\n", " ")) if s.strip()]
    print([len(s.split()) for s in sentences])
    print(counts["the"] + counts["nosuchword"], (counts - Counter(all_words[:50]))["was"])


main()
