"""Information about a sandbox, as in `belljar info --json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from belljar import _host
from belljar._result import Limits, former_policy


@dataclass(frozen=True, slots=True)
class Package:
    """A package that is installed for the profile."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class MissingPackages:
    """A package set of the profile that is not installed."""

    set: str
    modules: tuple[str, ...]
    """The modules that cannot be imported without it."""
    command: str
    """The shell command that installs it."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The private file system of each run, if the profile has one."""

    path: str
    size_bytes: int
    inodes: int


@dataclass(frozen=True, slots=True)
class LimitsOfProfile:
    """The default limits of a run, and the maximum that it may request."""

    default: Limits
    maximum: Limits


@dataclass(frozen=True, slots=True)
class Info:
    """What programs may use in a sandbox, and how they are isolated."""

    version: str
    """The version of Belljar."""
    python: str
    """The version of the Python that runs the programs."""
    profile: str
    summary: str
    tiers: tuple[str, ...]
    attack_surface: tuple[str, ...]
    """What the profile adds to the attack surface, one sentence each."""
    limits: LimitsOfProfile
    modules: dict[str, tuple[str, ...]]
    """Module name -> the names that it exports."""
    packages: tuple[Package, ...]
    missing: tuple[MissingPackages, ...]
    workspace: Workspace | None
    has_network: bool
    isolation: str
    """"strict" or "standard"."""
    policy: str
    """The language policy: "on" or "off"."""
    container: bool

    @property
    def language(self) -> str:
        """Deprecated: `policy` by its former name, "restricted" or "full"."""
        return former_policy(self.policy)


def info_of(facts: str, *, isolation: str, policy: str, container: bool) -> Info:
    """Parses `_host.Engine.facts`. `policy`: the sandbox's, which a profile may turn off."""
    profile: Mapping[str, Any] = json.loads(facts)
    workspace = profile["workspace"]
    limits = profile["limits"]
    return Info(
        version=_host.VERSION,
        python=_host.PYTHON_VERSION,
        profile=profile["name"],
        summary=profile["summary"],
        tiers=tuple(profile["tiers"]),
        attack_surface=tuple(profile["attack_surface"]),
        limits=LimitsOfProfile(Limits(**limits["default"]), Limits(**limits["maximum"])),
        modules={name: tuple(names) for name, names in profile["modules"].items()},
        packages=tuple(Package(**each) for each in profile["packages"]),
        missing=tuple(
            MissingPackages(each["set"], tuple(each["modules"]), each["command"])
            for each in profile["missing"]
        ),
        workspace=None if workspace is None else Workspace(**workspace),
        has_network=profile["network"] is not None,
        isolation=isolation,
        policy="off" if profile["policy"] == "off" else policy,
        container=container,
    )
