"""Reads a profile as engine/profiles/loader.cc does, merged with the profiles that it extends."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any


class ProfileError(Exception):
    """The file is not a profile; the message is for the user."""


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProfileError(f"{path}: {error}") from error


def chain(path: Path) -> list[Path]:
    """The files that make up the profile at `path`, extended ones first, without duplicates."""
    found: list[Path] = []
    names = read_toml(path).get("extends", "")
    for name in filter(None, names.split("+")):
        found += [other for other in chain(path.with_name(f"{name}.toml")) if other not in found]
    return [*found, path]


def merge(into: dict[str, Any], added: dict[str, Any]) -> None:
    """Merges tables, joins lists without duplicates, and takes other values from `added`."""
    for key, value in added.items():
        known = into.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merge(known, value)
        elif isinstance(known, list) and isinstance(value, list):
            known.extend(item for item in value if item not in known)
        else:
            into[key] = value


def exports_path(path: Path) -> Path:
    """The file with the names of modules whose exports are "public"."""
    return path.parent / "exports" / f"{path.stem}.txt"


def read_exports(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            module, name = line.split()
            found.setdefault(module, []).append(name)
    return found


def spell_out_exports(document: dict[str, Any], path: Path) -> None:
    """Replaces `exports = "public"` with the recorded names of the module."""
    recorded = read_exports(exports_path(path))
    for name, entry in document.get("modules", {}).items():
        if entry.get("exports") == "public":
            entry["exports"] = recorded.get(name, [])


def drop_later_modules(document: dict[str, Any], python: tuple[int, ...]) -> None:
    """Removes modules that only later Pythons have: `since = "3.14"`."""
    modules = document.get("modules", {})
    for name, entry in list(modules.items()):
        if tuple(map(int, entry.get("since", "3.0").split("."))) > python:
            del modules[name]


def read_profile(
    path: Path, python: tuple[int, ...] | None = sys.version_info[:2]
) -> dict[str, Any]:
    """`python`: the minor version whose modules it has, or None for those of all versions."""
    document: dict[str, Any] = {}
    for part in chain(path):
        read = read_toml(part)
        if python is not None:
            drop_later_modules(read, python)
        spell_out_exports(read, part)
        merge(document, read)
    return document
