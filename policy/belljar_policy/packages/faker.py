"""faker: providers are its own modules, or a program's classes, and formatters public methods."""

from __future__ import annotations

import importlib
import types
from typing import Any

from . import by_name, late


def _import_provider(name: str, package: str | None = None) -> Any:
    # A subclass of str could be equal to one name and imported by another.
    if type(name) is not str or not name.startswith("faker.providers.") or package is not None:
        by_name.refuse("only faker's own providers can be named; pass the class to add_provider()")
    return importlib.import_module(name)


def _adapt_factory(module: Any) -> None:
    module.import_module = _import_provider
    module.getattr = getattr  # of provider modules: two fixed names


def _adapt_loading(module: Any) -> None:
    module.getattr = getattr  # of sys and of provider modules: fixed names


def _adapt_generator(module: Any) -> None:
    add_provider = module.Generator.add_provider

    def add_checked(self: Any, provider: Any) -> None:
        """A module's public functions would become methods."""
        if issubclass(type(provider), types.ModuleType):
            by_name.refuse("a provider must be a class, such as faker.providers.BaseProvider")
        add_provider(self, provider)

    module.getattr = late.public_getattr
    module.Generator.add_provider = add_checked


def prepare_late() -> None:
    late.adapt_on_import(
        {
            "faker.factory": _adapt_factory,
            "faker.utils.loading": _adapt_loading,
            "faker.generator": _adapt_generator,
        }
    )
