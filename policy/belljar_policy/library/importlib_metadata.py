"""importlib.metadata, for guests: versions of the packages that can be imported."""

from __future__ import annotations

from typing import Any

from .program import running


class PackageNotFoundError(ModuleNotFoundError):
    """The package is not available."""


def version(distribution_name: str) -> str:
    """The package's version."""
    name = distribution_name.replace("-", "_") if type(distribution_name) is str else ""
    found: Any = running.load_module({"scikit_learn": "sklearn"}.get(name, name))
    text = getattr(found, "__version__", None)
    if type(text) is not str:
        raise PackageNotFoundError(f"No package metadata was found for {distribution_name}")
    return text
