import functools
import re


@functools.lru_cache(maxsize=None)
def price(word):
    table = {"apple": 3, "pear": 4}
    return table[word]


def replace(match):
    return str(price(match.group()))


print(re.sub(r"\w+", replace, "apple pear"))
print(sorted(["pear", "apple"], key=price), max(map(price, ["apple"])))
print(re.sub(r"\w+", replace, "apple kiwi"))
