"""string.Formatter, for guests: the attributes that a format string names are guarded."""

from __future__ import annotations

import string
from _string import formatter_field_name_split, formatter_parser
from typing import Any

import _belljar_guards as guards

from .objects import its_own_only

_MAX_NESTING = 2
_ = string.Template.pattern  # since 3.14 made, and stored in the class, at the first use


@its_own_only
class Formatter:
    """string.Formatter."""

    def format(self, format_string: Any, /, *args: Any, **kwargs: Any) -> str:
        """Formats with these arguments."""
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string: Any, args: Any, kwargs: Any) -> str:
        """Formats with the arguments in a sequence and a mapping."""
        used: set[Any] = set()
        result, _ = self._vformat(format_string, args, kwargs, used, _MAX_NESTING)
        self.check_unused_args(used, args, kwargs)
        return result

    def _vformat(
        self, text: Any, args: Any, kwargs: Any, used: set[Any], depth: int, auto: Any = 0
    ) -> tuple[str, Any]:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        result: list[str] = []
        for literal, field, spec, conversion in self.parse(text):
            if literal:
                result.append(literal)
            if field is None:
                continue
            if field == "":
                if auto is False:
                    raise ValueError(
                        "cannot switch from manual field specification to automatic field numbering"
                    )
                field, auto = str(auto), auto + 1
            elif field.isdigit():
                if auto:
                    raise ValueError(
                        "cannot switch from manual field specification to automatic field numbering"
                    )
                auto = False
            value, first = self.get_field(field, args, kwargs)
            used.add(first)
            value = self.convert_field(value, conversion)
            spec, auto = self._vformat(spec, args, kwargs, used, depth - 1, auto)
            result.append(self.format_field(value, spec))
        return "".join(result), auto

    def get_value(self, key: Any, args: Any, kwargs: Any) -> Any:
        """An argument by its number or name."""
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(self, used_args: Any, args: Any, kwargs: Any) -> None:
        """For subclasses: what to do about arguments that were not used."""

    def format_field(self, value: Any, format_spec: Any) -> Any:
        """Formats one value."""
        return format(value, format_spec)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """Applies !s, !r or !a."""
        if conversion is None:
            return value
        convert: Any = {"s": str, "r": repr, "a": ascii}.get(conversion)
        if convert is None:
            raise ValueError(f"Unknown conversion specifier {conversion!s}")
        return convert(value)

    def parse(self, format_string: Any) -> Any:
        """The parts of a format string."""
        return formatter_parser(format_string)

    def get_field(self, field_name: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """A value by a field's name, as "0.name[key]"."""
        first, rest = formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = guards.getattr(value, name) if is_attribute else value[name]
        return value, first
