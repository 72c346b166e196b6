"""Count the words on standard input.

./dev run examples/word_count.py --stdin README.md
"""

import re
import sys
from collections import Counter

WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


def count(lines) -> tuple[int, Counter]:
    number = 0
    words: Counter = Counter()
    for line in lines:
        number += 1
        words.update(WORD.findall(line.lower()))
    return number, words


lines, words = count(sys.stdin)
total = sum(words.values())
print(f"{lines} lines, {total} words, {len(words)} different")

# The most common first; ties are sorted alphabetically.
for word, times in sorted(words.items(), key=lambda item: (-item[1], item[0]))[:10]:
    print(f"{times:6} {times / total:6.1%}  {word}")
