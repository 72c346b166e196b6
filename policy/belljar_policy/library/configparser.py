"""configparser, for guests.

Its getters' names come from the keys of `converters`: "get" + key, whatever that gives.
"""

from __future__ import annotations

import configparser
import functools
from typing import Any

from .objects import is_a, refuses


def reduce(has_files: bool) -> None:
    """Zygote, before the freeze: getters only accept parsers, and no file is read."""
    mapping: Any = configparser.ConverterMapping
    proxy: Any = configparser.SectionProxy
    parser: Any = configparser.RawConfigParser
    init_mapping = mapping.__init__
    delete_item = mapping.__delitem__

    def getter_of(key: Any) -> str:
        if type(key) is not str:
            raise TypeError("[BJ306] a converter's name must be a plain str")
        if not key:
            raise ValueError(f'Incompatible key: {key!r} (cannot have "" as a converter name)')
        return f"get{key}"

    def of_parser(value: Any) -> Any:
        if not is_a(value, parser):
            raise TypeError("[BJ502] converters only work on parsers")
        return value

    def __init__(self: Any, given: Any) -> None:  # noqa: N807
        if type(self) is not mapping:  # it looks up what a pattern of `self` lets through
            raise TypeError("[BJ502] only a parser creates its ConverterMapping")
        init_mapping(self, of_parser(given))

    def __setitem__(self: Any, key: Any, value: Any) -> None:  # noqa: N807
        name = getter_of(key)
        owner = of_parser(self._parser)
        self._data[key] = value
        func: Any = functools.partial(owner._get_conv, conv=value)
        func.converter = value
        setattr(owner, name, func)
        for section in owner.values():
            if type(section) is proxy:
                setattr(section, name, functools.partial(section.get, _impl=func))

    def __delitem__(self: Any, key: Any) -> None:  # noqa: N807
        getter_of(key)
        of_parser(self._parser)
        delete_item(self, key)

    def init_proxy(self: Any, given: Any, name: Any) -> None:
        if type(self) is not proxy:
            raise TypeError("[BJ502] only a parser creates its sections")
        self._parser = of_parser(given)
        self._name = name
        for key in given.converters:
            getter = getter_of(key)
            setattr(self, getter, functools.partial(self.get, _impl=getattr(given, getter)))

    mapping.__init__ = __init__
    mapping.__setitem__ = __setitem__
    mapping.__delitem__ = __delitem__
    proxy.__init__ = init_proxy
    if not has_files:
        parser.read = refuses("ConfigParser.read", "use read_string() or read_dict()")
