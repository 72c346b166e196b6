import sys
import traceback


class AppError(Exception):
    code = 1

    def __init__(self, message, *, hint=None):
        super().__init__(message)
        self.hint = hint

    def __str__(self):
        base = super().__str__()
        return f"{base} (hint: {self.hint})" if self.hint else base


class ConfigError(AppError, KeyError):
    code = 2


class Retry(AppError):
    def __init__(self, attempts): super().__init__(f"after {attempts} attempts"); self.attempts = attempts


def order(log, how):
    try:
        log.append("try")
        if how == "raise": raise ValueError("x")
        if how == "return": return "returned"
    except ValueError:
        log.append("except")
        return "handled"
    else:
        log.append("else")
    finally:
        log.append("finally")
        if how == "override": return "finally wins"
    return "end"


def nested():
    try:
        try:
            {}["missing"]
        except KeyError as e:
            raise ConfigError("no such key", hint="add it") from e
    except ConfigError as e:
        try:
            1 / 0
        except ZeroDivisionError:
            raise Retry(3)


def loop():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
            yield i
        finally:
            yield f"finally {i}"


for how in "plain", "raise", "return", "override":
    log = []
    print(how, order(log, how), log)
try:
    nested()
except Retry as e:
    chain = []
    x = e
    while x is not None:
        chain.append(f"{type(x).__name__}: {x}")
        x = x.__cause__ or x.__context__
    print(chain, e.args, e.attempts, e.__suppress_context__)
print(list(loop()))
try:
    raise ConfigError("a") from None
except LookupError as e:
    print(e, e.code, isinstance(e, AppError), e.__cause__, [c.__name__ for c in type(e).__mro__], type(e).__bases__)
print(*(c.__name__ for c in ZeroDivisionError.__mro__), bool.__base__, FileNotFoundError.__bases__[0].__name__)
tests = [lambda: [][5], lambda: {}[0], lambda: int("z"), lambda: None.x, lambda: "a" + 1, lambda: len(5), lambda: undefined, lambda: [1] < ["a"],
         lambda: next(iter([])), lambda: (lambda a: a)(), lambda: max(()), lambda: "é".encode("ascii"), lambda: b"\xff".decode(), lambda: {[]: 1}, lambda: setattr(5, "x", 1),
         lambda: object().foo, lambda: print(sep=1), lambda: "%d" % "x", lambda: "{}".format(), lambda: chr(-1), lambda: [].remove(1), lambda: (1, 2).append, lambda: int.nope]
for t in tests:
    try: t()
    except Exception as e: print(f"{type(e).__name__:<20} {e}")
e = ValueError("noted"); e.add_note("first note"); e.add_note("second")
try:
    raise e
except ValueError:
    print(*traceback.format_exception_only(e), sep="", end="")
    print(traceback.format_exc().splitlines()[-1], e.__notes__)
try:
    a, b = [1, 2, 3]
except ValueError as err: print(err)
try:
    assert 1 > 2, f"{1} > {2}"
except AssertionError as err: print("assert:", err)
try: err
except NameError as n: print(n)
try: raise "text"
except TypeError as err: print(err)
try: sys.exit("bye")
except SystemExit as s: print("exit code", s.code)
print(repr(AppError("m", hint="h")), str(AppError("m", hint="h")), AppError("x") == AppError("x"), StopIteration(3).value, OSError(2, "gone", "f.txt"))
