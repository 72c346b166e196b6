"""logging.config.dictConfig(), on streams of the program's own."""

import io
import logging
import logging.config
import logging.handlers

stream = io.StringIO()


class Prefix(logging.Filter):
    def __init__(self, prefix=""):
        super().__init__()
        self.prefix = prefix

    def filter(self, record):
        return str(record.msg).startswith(self.prefix)


class Loud(logging.Formatter):
    def format(self, record):
        return super().format(record).upper()


def own_handler(stream, level=logging.NOTSET):
    handler = logging.StreamHandler(stream)
    handler.setLevel(level)
    return handler


before = logging.getLogger("before")
below = logging.getLogger("app.below")
below.setLevel(logging.ERROR)

logging.config.dictConfig(
    {
        "version": 1,
        "formatters": {
            "plain": {"format": "%(levelname)s:%(name)s:%(message)s"},
            "brace": {"format": "{levelname} {message}", "style": "{"},
            "loud": {"()": Loud, "fmt": "%(message)s"},
        },
        "filters": {
            "own": {"()": Prefix, "prefix": "keep"},
            "named": {"name": "app"},
        },
        "handlers": {
            "plain": {
                "class": "logging.StreamHandler",
                "formatter": "plain",
                "level": "INFO",
                "stream": stream,
            },
            "brace": {
                "class": "logging.StreamHandler",
                "formatter": "brace",
                "filters": ["own"],
                "stream": "ext://sys.stdout",
            },
            "loud": {"()": own_handler, "stream": stream, "formatter": "loud", "level": "ERROR"},
            "memory": {
                "class": "logging.handlers.MemoryHandler",
                "capacity": 2,
                "target": "plain",
            },
        },
        "loggers": {
            "app": {"level": "DEBUG", "handlers": ["plain", "brace"], "propagate": False},
            "app.memory": {"handlers": ["memory"], "propagate": False, "level": "INFO"},
        },
        "root": {"level": "WARNING", "handlers": ["loud"]},
    }
)
logging.getLogger("app").debug("too little")
logging.getLogger("app").info("keep this")
logging.getLogger("app").warning("not on stdout")
below.info("below app")
memory = logging.getLogger("app.memory")
memory.info("one")
print(stream.getvalue().count("one"))
memory.info("two")
print(stream.getvalue().count("one"))
logging.error("for the root")
before.error("disabled")
print(before.disabled, below.disabled, below.level)
print(stream.getvalue())

logging.config.dictConfig(
    {
        "version": 1,
        "incremental": True,
        "handlers": {"plain": {"level": "ERROR"}},
        "loggers": {"app": {"level": "ERROR"}},
    }
)
logging.getLogger("app").warning("dropped")
print(stream.getvalue().count("dropped"))

for wrong in (
    {},
    {"version": 2},
    {"version": 1, "handlers": {"x": {"class": "logging.NoSuchHandler"}}},
    {"version": 1, "root": {"handlers": ["missing"]}},
    {"version": 1, "root": {"level": "LOUDEST"}},
):
    try:
        logging.config.dictConfig(wrong)
    except ValueError as error:
        print(type(error).__name__, error)
