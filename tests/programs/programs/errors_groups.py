import sys
import warnings
from contextlib import suppress


def collect(*thunks):
    errors = []
    for t in thunks:
        try:
            t()
        except Exception as e:
            errors.append(e)
    if errors:
        raise ExceptionGroup(f"{len(errors)} of {len(thunks)} failed", errors)


class ValidationErrors(ExceptionGroup):
    def derive(self, excs):
        return ValidationErrors(self.message, excs)

    @property
    def fields(self): return [e.args[0] for e in self.exceptions]


def validate(data):
    problems = []
    if not data.get("name"): problems.append(KeyError("name"))
    if data.get("age", 0) < 0: problems.append(ValueError("age"))
    if "@" not in data.get("mail", "@"): problems.append(TypeError("mail"))
    if problems: raise ValidationErrors("invalid", problems)
    return True


try:
    collect(lambda: 1 / 0, lambda: int("x"), lambda: "ok", lambda: [][0], lambda: {}["k"])
except* ZeroDivisionError as g:
    print("zero:", g.exceptions)
except* LookupError as g:
    print("lookup:", [type(e).__name__ for e in g.exceptions], g.message)
except* Exception as g:
    print("rest:", g.exceptions)
else:
    print("never")
finally:
    print("finally")

try:
    try:
        validate({"age": -1, "mail": "nope"})
    except ValidationErrors as g:
        handled, left = g.split(ValueError)
        print("handled", handled.fields, type(handled).__name__)
        raise left from None
except ValidationErrors as rest:
    print("left", rest.fields, rest)

nested = ExceptionGroup("top", [ValueError(1), ExceptionGroup("mid", [TypeError(2), ValueError(3), ExceptionGroup("low", [OSError("four")])])])
match, rest = nested.split(ValueError)
print(repr(match), repr(rest), sep="\n")
print(nested.subgroup(lambda e: "four" in str(e)), nested.subgroup(KeyError))


def leaves(g):
    for e in g.exceptions:
        if isinstance(e, BaseExceptionGroup): yield from leaves(e)
        else: yield e


print([*map(repr, leaves(nested))])
try:
    try:
        raise ExceptionGroup("g", [ValueError("inner")])
    except* ValueError as g:
        raise RuntimeError("while handling") from g
except RuntimeError as e:
    print(type(e).__name__, e, repr(e.__cause__))
except ExceptionGroup as g:
    print("regrouped", repr(g), repr(g.exceptions[0]))
try:
    raise ValueError("naked")
except* ValueError as g:
    print("wrapped", repr(g))
for bad in (lambda: ExceptionGroup("x", []), lambda: ExceptionGroup("x", [1]), lambda: ExceptionGroup("x", [KeyboardInterrupt()])):
    try: bad()
    except (ValueError, TypeError) as e: print(type(e).__name__, e)
print(repr(BaseExceptionGroup("b", [KeyboardInterrupt()])), type(BaseExceptionGroup("b", [ValueError()])).__name__)


def old(): warnings.warn("old() is deprecated", DeprecationWarning, stacklevel=2); return "old result"


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(old())
    warnings.warn("careful")
    print([(w.category.__name__, str(w.message)) for w in caught])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try: old()
    except DeprecationWarning as w: print("as error:", w)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    old()
print("to stderr", file=sys.stderr)
warnings.warn("this goes to stderr", UserWarning)
with suppress(ZeroDivisionError, KeyError):
    1 // 0
print("end")
