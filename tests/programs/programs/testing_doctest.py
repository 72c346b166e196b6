"""Functions with examples in their docstrings.

>>> roman(1994)
'MCMXCIV'
>>> [roman(n) for n in (4, 9, 40)]
['IV', 'IX', 'XL']
"""
import doctest


def roman(number):
    """Roman numerals.

    >>> roman(2024)
    'MMXXIV'
    >>> roman(0)
    Traceback (most recent call last):
        ...
    ValueError: 0 has no roman numeral
    >>> roman(3) == 'III' and not roman(6) == 'IV'
    True
    """
    if number <= 0:
        raise ValueError(f"{number} has no roman numeral")
    out = ""
    for value, text in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                           "M CM D CD C XC L XL X IX V IV I".split()):
        while number >= value:
            out += text
            number -= value
    return out


def unroman(text):
    """
    >>> unroman('MCMXCIV')
    1994
    >>> all(unroman(roman(n)) == n for n in range(1, 4000, 7))
    True
    >>> unroman('IIX')   # a wrong example
    9
    """
    values = dict(I=1, V=5, X=10, L=50, C=100, D=500, M=1000)
    total = 0
    for c, after in zip(text, text[1:] + " "):
        total += -values[c] if values[c] < values.get(after, 0) else values[c]
    return total


class Counter:
    """
    >>> c = Counter()
    >>> c.up().up()
    Counter(2)
    >>> for _ in range(2):
    ...     c = c.up()
    >>> c
    Counter(4)
    >>> {'x': 1,
    ...  'y': [1, 2]}     # doctest: +NORMALIZE_WHITESPACE
    {'x':   1, 'y':   [1, 2]}
    >>> list(range(30))  # doctest: +ELLIPSIS
    [0, 1, ..., 29]
    >>> print('a\\n\\nb')
    a
    <BLANKLINE>
    b
    """

    def __init__(self, n=0): self.n = n
    def up(self): return Counter(self.n + 1)
    def __repr__(self): return f"Counter({self.n})"


if __name__ == "__main__":
    failed, tried = doctest.testmod()
    print(failed, "of", tried, "failed")
    doctest.run_docstring_examples(roman, {"roman": roman}, name="roman")
    print("done")
