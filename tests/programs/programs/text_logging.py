import io
import logging
import sys

logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger(__name__)
log.debug("starting with %d items, %s", 3, {"a": 1})
log.info("info %(what)s", {"what": "mapping"})
log.warning("warning")


class Upper(logging.Formatter):
    def format(self, record):
        return f"{record.levelno} {super().format(record).upper()}"


class Counting(logging.Handler):
    def __init__(self, level=logging.NOTSET):
        super().__init__(level)
        self.counts = {}
        self._last = None

    def emit(self, record):
        self.counts[record.levelname] = self.counts.get(record.levelname, 0) + 1
        self._last = self.format(record)


class NoSecrets(logging.Filter):
    def filter(self, record):
        if "password" in record.getMessage():
            record.msg, record.args = "<redacted>", ()
        return not record.getMessage().startswith("noise")


buffer = io.StringIO()
handler = logging.StreamHandler(buffer)
handler.setFormatter(Upper("{name}|{message}|{funcName}", style="{"))
handler.setLevel(logging.WARNING)
counting = Counting()
app = logging.getLogger("app")
app.propagate = False
app.addHandler(handler)
app.addHandler(counting)
app.addFilter(NoSecrets())
db = logging.getLogger("app.db")


def work(n):
    app.info("work %s", n)
    if n % 2:
        app.warning("odd %d", n)
    db.error("from the child %d", n)
    app.error("the password is %s", "hunter2")
    app.critical("noise")


work(1)
work(2)
print(buffer.getvalue(), end="")
print(counting.counts, counting._last, db.parent is app, db.getEffectiveLevel(), app.handlers == [handler, counting])
try:
    1 / 0
except ZeroDivisionError:
    log.exception("while dividing")
    log.error("again", exc_info=True)
app.setLevel("ERROR")
app.warning("not shown")
print(app.isEnabledFor(logging.INFO), logging.getLevelName(30), counting.counts["WARNING"], db.level)
logging.addLevelName(25, "NOTICE")
log.log(25, "custom level")
adapter = logging.LoggerAdapter(log, {"user": "ann"})
adapter.info("through an adapter")
logging.disable(logging.CRITICAL)
log.critical("disabled")
logging.disable(logging.NOTSET)
plain = logging.getLogger("plain")
plain.propagate = False
plain.warning("the last resort writes to stderr")
plain.info("but not this")
logging.getLogger().info("root says %s", "bye")
print(logging.getLogger("app") is app, log.name, logging.getLogger("a.b.c").name, repr(app))
