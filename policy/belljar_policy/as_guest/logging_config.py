"""logging.config. Not imported: library/logging_config.py runs it as code of the program.

So a configuration can name and call what its program can, and nothing else. The functions that a
program does not have begin with `host_`.
"""
# ruff: noqa: F821 (names of the host)

import importlib
import logging
import re

_STEP = re.compile(r"\.(\w+)|\[([^\]]*)\]")
_OWN_KEYS = ("class", "()", ".", "level", "formatter", "filters")

_handlers = {}
"""By name, those of the last configuration, for incremental ones."""


def dictConfig(config):  # noqa: N802
    """Configures logging from a dict; see "Configuration dictionary schema" of Python's manual."""
    if "version" not in config:
        raise ValueError("dictionary doesn't specify a version")
    if config["version"] != 1:
        raise ValueError(f"Unsupported version: {config['version']}")
    if config.get("incremental", False):
        _adjust(config)
    else:
        _configure(config)


def _adjust(config):
    for name, given in config.get("handlers", {}).items():
        if name not in _handlers:
            raise ValueError(f"No handler found with name {name!r}")
        if given.get("level"):
            _handlers[name].setLevel(given["level"])
    loggers = {
        **config.get("loggers", {}),
        **({"root": config["root"]} if "root" in config else {}),
    }
    for name, given in loggers.items():
        _set_logger(logging.getLogger(name), given)


def _configure(config):
    formatters = _made("formatter", config, _make_formatter)
    filters = _made("filter", config, _make_filter)
    _handlers.clear()

    def make_handler(given, config):
        return _make_handler(given, config, formatters, filters)

    waiting = _made("handler", config, make_handler, lambda given: "target" not in given)
    _handlers.update(waiting)
    _handlers.update(_made("handler", config, make_handler, lambda given: "target" in given))
    loggers = config.get("loggers", {})
    _reset(loggers, config.get("disable_existing_loggers", True))
    for name, given in loggers.items():
        logger = logging.getLogger(name)
        with _explained("logger", name):
            _replace_handlers(logger, given, filters)
    if "root" in config:
        with _explained("root logger", None):
            _replace_handlers(logging.getLogger(), config["root"], filters)


class _explained:  # noqa: N801
    """Names what could not be configured."""

    def __init__(self, kind, name):
        self.what = kind if name is None else f"{kind} {name!r}"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, Exception):
            raise ValueError(f"Unable to configure {self.what}") from error


def _made(kind, config, make, takes=lambda given: True):
    made = {}
    for name, given in config.get(f"{kind}s", {}).items():
        if takes(given):
            with _explained(kind, name):
                made[name] = make(given, config)
                if kind == "handler":
                    made[name].set_name(name)
    return made


def _reset(loggers, disables):
    """What becomes of the loggers that there are: those below a configured one start anew."""
    for logger in host_loggers():
        if logger.name in loggers:
            logger.disabled = False
        elif any(logger.name.startswith(f"{name}.") for name in loggers):
            logger.level = logging.NOTSET
            logger.handlers = []
            logger.propagate = True
            logger.disabled = False
        else:
            logger.disabled = bool(disables)


def _set_logger(logger, given):
    if given.get("level") is not None:
        logger.setLevel(given["level"])
    if given.get("propagate") is not None:
        logger.propagate = given["propagate"]


def _replace_handlers(logger, given, filters):
    logger.handlers = []
    _set_logger(logger, given)
    for name in given.get("handlers", ()):
        logger.addHandler(_known(_handlers, name, "handler"))
    for each in given.get("filters", ()):
        logger.addFilter(_filter_of(filters, each))
    logger.disabled = False


def _known(made, name, kind):
    if name not in made:
        raise ValueError(f"there is no {kind} {name!r}")
    return made[name]


def _filter_of(filters, given):
    return given if callable(getattr(given, "filter", given)) else _known(filters, given, "filter")


def _called(given, config, factory):
    """The result of `factory` with the rest of a description as arguments by name."""
    arguments = {
        name: _value(value, config) for name, value in given.items() if name not in _OWN_KEYS
    }
    made = factory(**arguments)
    for name, value in given.get(".", {}).items():
        setattr(made, name, _value(value, config))
    return made


def _make_formatter(given, config):
    if "()" in given:
        return _called(given, config, _found(given["()"]))
    factory = _found(given["class"]) if "class" in given else logging.Formatter
    options = {name: given[name] for name in ("validate", "defaults") if name in given}
    return factory(given.get("format"), given.get("datefmt"), given.get("style", "%"), **options)


def _make_filter(given, config):
    if "()" in given:
        return _called(given, config, _found(given["()"]))
    return logging.Filter(given.get("name", ""))


def _make_handler(given, config, formatters, filters):
    given = {name: given[name] for name in given}
    if "target" in given and isinstance(given["target"], str):
        given["target"] = _known(_handlers, given["target"], "handler")
    handler = _called(given, config, _found(given["()"] if "()" in given else given["class"]))
    if given.get("formatter"):
        handler.setFormatter(_known(formatters, given["formatter"], "formatter"))
    if given.get("level") is not None:
        handler.setLevel(given["level"])
    for each in given.get("filters") or ():
        handler.addFilter(_filter_of(filters, each))
    return handler


# --- names and values -----------------------------------------------------------------------------


def _found(name):
    """What a dotted name stands for, imported as the program would import it."""
    if not isinstance(name, str):
        return name
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ValueError(f"Cannot resolve {name!r}: there is no module {parts[0]!r}")


def _value(value, config):
    if isinstance(value, dict):
        if "()" in value:
            return _called(value, config, _found(value["()"]))
        return {name: _value(each, config) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_value(each, config) for each in value)
    if isinstance(value, str) and value.startswith("ext://"):
        return _found(value[6:])
    if isinstance(value, str) and value.startswith("cfg://"):
        found = config
        for name, key in _STEP.findall(f".{value[6:]}"):
            found = found[
                int(key) if key.isdigit() and not isinstance(found, dict) else name or key
            ]
        return _value(found, config)
    return value
