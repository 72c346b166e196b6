import asyncio
import contextlib
import copy
import inspect
import io
import sys
import time
from unittest import mock
from unittest.mock import (
    ANY,
    DEFAULT,
    AsyncMock,
    MagicMock,
    Mock,
    NonCallableMock,
    PropertyMock,
    call,
    create_autospec,
    mock_open,
    patch,
    seal,
    sentinel,
)  # fmt: skip


def shows(action, *kinds):
    try:
        print("->", action())
    except kinds or Exception as error:
        print(type(error).__name__, str(error).replace("  Actual", "Actual"))


class Account:
    """An account."""

    kind = "plain"

    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount, *, note=""):
        self.balance += amount
        return self.balance

    async def fetch(self, key):
        return key

    @staticmethod
    def parse(text):
        return int(text)

    @classmethod
    def of(cls, owner):
        return cls(owner)

    @property
    def is_rich(self):
        return self.balance > 1000


def double(x):
    """Twice."""
    return x * 2


# --- calls and assertions
m = Mock(return_value=3)
print(m(1, b=2), m.called, m.call_count, m.call_args, m.call_args.args, m.call_args.kwargs)
m.assert_called_once_with(1, b=2)
m.assert_called_with(ANY, b=ANY)
m.assert_any_call(1, b=2)
m.a.b(4).c(5)
print(m.mock_calls, m.method_calls)
m.assert_has_calls([call.a.b(4), call.a.b().c(5)])
m.assert_has_calls([call.a.b().c(5), call(1, b=2)], any_order=True)
shows(lambda: m.assert_called_once_with(2))
shows(lambda: m.assert_called_with(2))
shows(m.assert_not_called)
shows(Mock(name="thing").assert_called_once)
shows(Mock(name="thing").assert_called_with)
shows(lambda: m.assert_any_call(9))
shows(lambda: m.assert_has_calls([call(7)]))
shows(lambda: m.asert_called)
m.reset_mock()
print(m.mock_calls, m.called, call.count(1) == call.count(1), call.index(2))
print(Mock(name="thing").a.b()._extract_mock_name(), repr(Mock(name="n"))[:18])

# --- side effects
shows(Mock(side_effect=ValueError("wrong")))
several = Mock(side_effect=[1, KeyError("k"), 3])
for _ in range(4):
    shows(several)
print(Mock(side_effect=lambda x: x + 1)(4), Mock(side_effect=lambda: DEFAULT, return_value=8)())
print(Mock(wraps=double)(21), Mock(wraps=Account("a", 5)).deposit(2))
configured = Mock(**{"read.return_value": 5, "x.y.side_effect": OSError("no"), "plain": 2})
print(configured.read(), configured.plain)
shows(configured.x.y)

# --- specifications
spec = Mock(spec=Account)
print(isinstance(spec, Account), spec.__class__ is Account, type(spec) is Account)
shows(lambda: spec.nothing)
shows(lambda: setattr(Mock(spec_set=["a"]), "b", 1))
shows(lambda: Mock(spec=["a"]).a is not None)
print(isinstance(Mock(spec=dict), dict), isinstance(Mock(spec=3), int), isinstance(Mock(), Account))
auto = create_autospec(Account)
shows(lambda: auto())
made = auto("o")
made.deposit(3, note="n")
made.deposit.assert_called_once_with(3, note="n")
shows(lambda: made.deposit())
shows(lambda: made.withdraw)
print(isinstance(made, Account), isinstance(made.fetch, AsyncMock))
auto_function = create_autospec(double, return_value=9)
print(auto_function(1), auto_function.__name__, inspect.signature(auto_function))
shows(lambda: auto_function(1, 2))
auto_function.assert_called_once_with(1)
sealed = Mock()
sealed.a.return_value = 1
seal(sealed)
shows(lambda: sealed.b)
shows(lambda: NonCallableMock()(), TypeError)

# --- special methods
magic = MagicMock()
magic.__getitem__.side_effect = {"k": 1}.__getitem__
magic.__len__.return_value = 3
magic.__enter__.return_value = "inside"
magic.__iter__.return_value = [1, 2]
magic.__str__.return_value = "text"
with magic as inside:
    print(inside, magic["k"], len(magic), list(magic), str(magic), int(magic), bool(magic))
print(magic == magic, magic != 3, hash(magic) == hash(magic), 3 in magic)
plain = Mock()
plain.__str__ = lambda self: "mine"
plain.__lt__ = lambda self, other: True
plain.__len__ = Mock(return_value=7)
print(plain, plain < 1, len(plain))
shows(lambda: len(Mock()), TypeError)
shows(lambda: MagicMock() + 1 is not None)

# --- patch
with patch("time.sleep") as sleep:
    time.sleep(1000)
    from time import sleep as inner

    print(inner is sleep, sleep.mock_calls)
print(time.sleep(0), time.sleep is sleep)

with patch("__main__.double", return_value=0) as patched:
    print(double(4), patched.call_count)
print(double(4))
with patch(f"{__name__}.Account") as klass:
    klass.return_value.deposit.return_value = 77
    print(Account("x").deposit(1), klass.call_args)
with patch("__main__.not_there", 5, create=True):
    print(not_there)  # noqa: F821
shows(lambda: not_there, NameError)  # noqa: F821
shows(lambda: patch("__main__.not_there").start())
shows(lambda: patch("nodots"), TypeError)

with patch("builtins.print") as printed:
    print("unseen")
print(printed.mock_calls)
with patch("builtins.input", side_effect=["a", "b"]):
    print(input(), input("prompt"))
with patch("sys.stdout", new_callable=io.StringIO) as out:
    print("captured")
    sys.stdout.write("too")
print(repr(out.getvalue()))
with patch("sys.stdin", io.StringIO("one\ntwo\n")):
    print(input(), sys.stdin.readline())
with patch("sys.argv", ["prog", "x"]):
    print(sys.argv)
with patch.object(Account, "deposit", autospec=True, return_value=1) as deposit:
    a = Account("a")
    print(a.deposit(5), deposit.call_args == call(a, 5))
with patch.object(Account, "is_rich", new_callable=PropertyMock, return_value="very") as rich:
    print(Account("a").is_rich, rich.call_count)
with patch.object(Account, "parse", return_value=4), patch.object(Account, "of") as of:
    print(Account.parse("9"), Account.of(1) is of.return_value)
with patch.object(Account, "fetch", return_value=6) as fetch:
    print(type(fetch).__name__, asyncio.run(Account("a").fetch(1)))
print(Account.parse("9"), Account.of("z").owner, Account("a").deposit(5), Account("a").is_rich)
with patch.multiple(Account, deposit=DEFAULT, kind="other") as both:
    print(sorted(both), Account.kind)
settings = {"a": 1, "b": 2}
with patch.dict(settings, {"b": 3}, c=4):
    print(settings)
with patch.dict("__main__.settings", clear=True):
    print(settings)
print(settings)
with contextlib.suppress(ZeroDivisionError), patch("time.time", return_value=5):
    print(time.time())
    1 / 0  # noqa: B018
print(time.time() > 5)
nested = patch("time.time", return_value=1)
with nested, patch("time.time", return_value=2):
    print(time.time())
starter = patch("time.monotonic", return_value=-1)
starter.start()
print(time.monotonic())
mock.patch.stopall()
print(time.monotonic() > 0)


@patch("time.monotonic")
@patch.object(Account, "deposit")
def decorated(first, second, *, third=3):
    print(first is Account.deposit, second is time.monotonic, third)


decorated(third=4)


@patch.dict(settings, {"d": 1})
@patch("time.sleep", new=None)
class Tests:
    def test_it(self):
        print(time.sleep, settings)

    def other(self):
        print(time.sleep is None, settings)


Tests().test_it()
Tests().other()

opened = mock_open(read_data="one\ntwo\n")
with patch("builtins.open", opened):
    with open("f") as file:
        print(file.read())
    with open("f") as file:
        print(list(file), file.readline())
    with open("g", "w") as file:
        file.write("text")
print(opened.mock_calls[-3:])


# --- asynchronous
async def main():
    am = AsyncMock(return_value=4)
    print(await am(1), am.await_count, am.await_args)
    am.assert_awaited_once_with(1)
    failing = AsyncMock(side_effect=[1, ValueError("x")])
    print(await failing())
    try:
        await failing()
    except ValueError as error:
        print(error)
    async with MagicMock() as entered:
        print(type(entered).__name__)
    stream = MagicMock()
    stream.__aiter__.return_value = [1, 2]
    print([x async for x in stream])
    shows(AsyncMock(name="w").assert_awaited)


asyncio.run(main())
print(asyncio.iscoroutinefunction(AsyncMock()), inspect.iscoroutinefunction(AsyncMock()))
print(asyncio.iscoroutinefunction(Mock()), inspect.iscoroutinefunction(Mock()))


# --- the rest
class Own(MagicMock):
    def extra(self):
        return "extra"


print(Own().extra(), type(Own().child).__name__, sentinel.one is sentinel.one, sentinel.one)
print(copy.deepcopy({"m": sentinel.one, "n": Mock(x=3)})["n"].x, ANY == 3, repr(ANY))
parent = Mock()
parent.attach_mock(Mock(return_value=2), "child")
print(parent.child(1), parent.mock_calls, call.a(1).b(2).call_list())
