"""What a notebook's cell may begin with besides Python: %time, %timeit, another language and
questions such as `len?`. Nothing here runs or parses the code of a cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from belljar._result import Usage

_MAGIC = re.compile(r"^(%{1,2})(\w+)[ \t]*(.*)$")
# IPython's magics for figures, which are always shown here.
_IGNORED = re.compile(r"^%(matplotlib|config)\b.*$", re.MULTILINE)
_ASKED = re.compile(r"^(?:\?{1,2}[ \t]*([\w.]+)|([\w.]+)[ \t]*\?{1,2})$")
_TIMEIT_OPTION = re.compile(r"^-([nr])[ \t]*(\d{1,9})(?:[ \t]+|$)")
_MAX_REPEAT = 1000

# One expression, so that it leaves no name behind; in lines, since a traceback shows each.
_TIMEIT = """\
(lambda timer, number, repeat, text:
 (lambda loops:
  (lambda each, mean:
   print(f"{{text(mean)}} ± {{text((sum((one - mean) ** 2 for one in each) / repeat) ** 0.5)}} "
         f"per loop (mean ± std. dev. of {{repeat}} runs, {{loops:,}} loops each)")
  )(*(lambda each: (each, sum(each) / repeat))(
   [taken / loops for taken in timer.repeat(repeat, loops)]))
 )(number or max(timer.autorange()[0] // 4, 1))
)(__import__("timeit").Timer({statement!r}, {setup!r}, globals=globals()), {number}, {repeat},
  lambda seconds: next(f"{{seconds / size:.3g}} {{unit}}" for size, unit in
                       ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
                       if seconds >= size or unit == "ns"))
"""


@dataclass(frozen=True)
class Cell:
    """A cell as it was entered, taken apart."""

    code: str = ""
    """To run; its lines have the numbers that they have in the notebook."""
    is_timed: bool = False
    language: str | None = None
    """Of the code, if the cell names one."""
    asked: str | None = None
    """The name that it asks about; there is no code."""
    command: tuple[str, str] | None = None
    """Name and argument of another magic, which is the whole cell."""


def read(text: str) -> Cell:
    """Raises ValueError for options that %timeit does not have."""
    text = _IGNORED.sub("", text)
    stripped = text.strip()
    if asked := _ASKED.match(stripped):
        return Cell(asked=asked[1] or asked[2])
    head, newline, rest = text.lstrip().partition("\n")
    magic = _MAGIC.match(head.rstrip())
    if magic is None:
        return Cell(text)
    signs, name, argument = magic.groups()
    above = "\n" * text[: len(text) - len(text.lstrip())].count("\n")
    if name == "time" and (argument or signs == "%%"):
        return Cell(f"{above}{argument}{newline}{rest}", is_timed=True)
    if name == "timeit" and signs == "%%":
        number, repeat, setup = _timeit_options(argument)
        return _timeit(rest, setup, number, repeat)
    if name == "timeit" and argument:
        number, repeat, statement = _timeit_options(argument)
        if statement and not rest.strip():
            return _timeit(statement, "", number, repeat)
        raise ValueError("%timeit times one line, and %%timeit a cell: give one")
    if signs == "%" and not rest.strip():
        return Cell(command=(name, argument))
    if signs == "%%":
        if argument:
            raise ValueError(f"%%{name}: a language has no arguments")
        return Cell(f"{above}{newline}{rest}", language=name)
    raise ValueError(f"%{name}: give it a cell of its own")


def _timeit_options(argument: str) -> tuple[int, int, str]:
    """Number, repeat, and the rest."""
    given = {"n": 0, "r": 7}
    while option := _TIMEIT_OPTION.match(argument):
        given[option[1]] = int(option[2])
        argument = argument[option.end() :]
    if argument.startswith("-") or not 0 < given["r"] <= _MAX_REPEAT:
        raise ValueError(f"%timeit {argument}: its options are -n LOOPS and -r RUNS, at most 1000")
    return given["n"], given["r"], argument


def _timeit(statement: str, setup: str, number: int, repeat: int) -> Cell:
    if not statement.strip():
        raise ValueError("%%timeit: there is nothing to time")
    return Cell(
        _TIMEIT.format(statement=statement, setup=setup or "pass", number=number, repeat=repeat)
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def usage_text(usage: Usage) -> str:
    return (
        f"CPU times: total: {_duration(usage.cpu_time)}\nWall time: {_duration(usage.wall_time)}\n"
    )
