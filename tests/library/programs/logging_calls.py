# ruff: noqa
import logging, io, sys

o = io.StringIO()
logging.basicConfig(
    stream=o,
    level=logging.DEBUG,
    format="%(levelname)s %(name)s %(message)s %(funcName)s %(lineno)d %(filename)s %(module)s",
)
log = logging.getLogger("a.b")
log.info("hi %s", "x")
log.debug("d %(k)s", {"k": 1})


def fn():
    log.warning("in fn")
    logging.error("root")


fn()
try:
    1 / 0
except ZeroDivisionError:
    log.exception("oops")
    log.error("e", exc_info=True)


class H(logging.Handler):
    def __init__(self):
        super().__init__()
        self.got = []

    def emit(self, r):
        self.got.append(self.format(r))


h = H()
h.setFormatter(
    logging.Formatter("{levelname:>8}|{message}|{extra1}", style="{", defaults={"extra1": "-"})
)
log.addHandler(h)
log.propagate = False
log.warning("w %d", 3, extra={"extra1": "E"})
log.warning("z")
log.setLevel("ERROR")
log.warning("no")
print(h.got, log.isEnabledFor(30), log.getEffectiveLevel())


class F(logging.Filter):
    def filter(self, r):
        r.user = "u"
        return "secret" not in r.getMessage()


h2 = logging.StreamHandler(o)
h2.addFilter(F())
h2.setFormatter(logging.Formatter("$levelname $message $user", style="$"))
log2 = logging.getLogger("z")
log2.addHandler(h2)
log2.propagate = False
log2.error("secret 1")
log2.error("open")


class A(logging.LoggerAdapter):
    def process(self, m, k):
        return f"[{self.extra['id']}] {m}", k


A(log2, {"id": 7}).error("adapted %s", 1)
logging.LoggerAdapter(log2, {"user": "x"}).critical("c")
print(
    logging.getLevelName(20),
    logging.getLevelName("INFO"),
    logging.getLevelName(5),
    log,
    log.parent,
    logging.getLogger("a").getChild("b") is log,
    logging.getLogger(),
)
logging.addLevelName(25, "NOTICE")
log2.log(25, "x")
log2.setLevel(5)
log2.log(25, "notice")
try:
    logging.Formatter("x", style="!")
except ValueError as e:
    print(e)
try:
    log.setLevel("FOO")
except ValueError as e:
    print(e)
log3 = logging.getLogger("t")
log3.info("bad %d", "s") if 0 else None
logging.disable(logging.CRITICAL)
log2.critical("no")
logging.disable(logging.NOTSET)
print(
    repr(h2).split()[0],
    h,
    log.handlers == [h],
    logging.getLogger("a.b.c").hasHandlers(),
    logging.getLogger("a.b.c").parent is log,
)
print(o.getvalue())
