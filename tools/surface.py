"""Maintains the reviewed surface of every profile: its modules' names, and what they lead to.

    tools/surface.py check [--python PATH]     fails on every unreviewed name
    tools/surface.py record [--python PATH]    writes the list of reachable names, reports new ones

Compares two things with a real interpreter:

    profiles/NAME.toml and profiles/surface/NAME.toml   each public name of each module is exported
                                                        by the first or withheld, with a reason, by
                                                        the second
    profiles/surface/NAME.txt and NAME-3.11.txt         each public attribute that exports lead to,
                                                        one per line: those of all recorded Pythons,
                                                        and additional ones of each minor version

The build runs `check` for the interpreter that it embeds, so a new Python or package cannot expose
unreviewed names to a guest. See docs/policy-surface.md, and profiles/README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from profile_document import (  # noqa: E402
    ProfileError,
    chain,
    exports_path,
    read_exports,
    read_profile,
    read_toml,
)

WALKER = ROOT / "tools" / "walk_surface.py"
VERSION = ".".join(map(str, sys.version_info[:2]))
SET_PACKAGES = str(ROOT / "build" / "venv-{set}" / "lib" / f"python{VERSION}" / "site-packages")
"""Where `./dev setup SET` installs them."""


class SurfaceError(ProfileError):
    """An interpreter that cannot be checked, or contradictory lists."""


@dataclass
class Report:
    """Problems and notes for one profile on one Python."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Profile:
    """The files that define one profile."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def withheld_path(self) -> Path:
        return self.path.parent / "surface" / self.path.name

    @property
    def samples_path(self) -> Path:
        return self.path.parent / "surface" / f"{self.name}-samples.py"

    def recorded(self, python: str) -> set[str] | None:
        """The reachable names recorded for this profile and those that it extends; None if this
        Python has no list."""
        own = self.recorded_lists().get(minor_version(python))
        if own is None:
            return None
        return own.union(*(other.recorded(python) or set() for other in self.extended()))

    def recorded_lists(self) -> dict[str, set[str]]:
        """The names that this profile adds, by minor version of Python."""
        folder = self.path.parent / "surface"
        common = read_names(folder / f"{self.name}.txt")
        return {
            path.stem.removeprefix(f"{self.name}-"): common | read_names(path)
            for path in folder.glob(f"{self.name}-3.*.txt")
        }

    def record_list(self, python: str, names: set[str]) -> Path:
        """Writes the list of one Python. Names common to all recorded versions are stored once, so
        the lists of other versions may be rewritten too, without changing their contents."""
        lists = self.recorded_lists() | {minor_version(python): names}
        common = set.intersection(*lists.values())
        folder = self.path.parent / "surface"
        folder.mkdir(parents=True, exist_ok=True)
        write_names(folder / f"{self.name}.txt", common)
        for minor, each in lists.items():
            write_names(folder / f"{self.name}-{minor}.txt", each - common)
        return self.recorded_path(python)

    def recorded_path(self, python: str) -> Path:
        """The names of this minor version besides the common ones. The file exists, possibly
        empty, for each recorded version."""
        return self.path.parent / "surface" / f"{self.name}-{minor_version(python)}.txt"

    def package_sets(self) -> list[str]:
        return list(read_profile(self.path, None).get("packages", {}))

    def exports(self) -> dict[str, frozenset[str]]:
        """The exported names of each module, by module."""
        modules = read_profile(self.path, None).get("modules", {})
        return {
            name: frozenset(entry.get("exports", ()))
            for name, entry in modules.items()
            if not entry.get("synthetic")
        }

    def public_modules(self) -> set[str]:
        """Its own modules that export their public names, except for withheld ones."""
        modules = read_toml(self.path).get("modules", {})
        return {name for name, entry in modules.items() if entry.get("exports") == "public"}

    @property
    def exports_path(self) -> Path:
        return exports_path(self.path)

    def extended(self) -> list[Profile]:
        return [Profile(path) for path in chain(self.path)[:-1]]

    def withheld(self) -> dict[str, dict[str, str]]:
        """The reason for each withheld name, by module; other profiles may export these names."""
        found = self.own_withheld()
        exports = self.exports()
        for other in self.extended():
            for module, reasons in other.own_withheld().items():
                given = exports.get(module, frozenset())
                mine = found.setdefault(module, {})
                for name in reasons.keys() - given:
                    mine.setdefault(name, reasons[name])
        return found

    def own_withheld(self) -> dict[str, dict[str, str]]:
        if not self.withheld_path.is_file():
            return {}
        found: dict[str, dict[str, str]] = {}
        for module, groups in read_toml(self.withheld_path).items():
            reasons = found.setdefault(module, {})
            for reason, names in groups.items():
                for name in names.split():
                    if name in reasons:
                        raise SurfaceError(f"{self.withheld_path}: {module}.{name} is listed twice")
                    reasons[name] = reason
        return found


def minor_version(python: str) -> str:
    """The minor version of a full version: it has one common list."""
    return ".".join(python.split(".")[:2])


def read_names(path: Path) -> set[str]:
    return set(path.read_text(encoding="utf-8").split()) if path.is_file() else set()


def write_names(path: Path, names: set[str]) -> None:
    path.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")


def profiles_in(folder: Path) -> list[Profile]:
    """The files with modules: seccomp.toml is not a profile."""
    found = [
        Profile(path)
        for path in sorted(folder.glob("*.toml"))
        # Without the language policy every name is a program's.
        if "modules" in read_toml(path) and "policy" not in read_toml(path)
    ]
    if not found:
        raise SurfaceError(f"{folder} contains no profile")
    return found


def walk(
    profile: Profile, options: argparse.Namespace, *, records_exports: bool = False
) -> dict[str, Any] | None:
    """The result of tools/walk_surface.py with the given interpreter; None if packages of the
    profile are not installed, since no guest can reach them then.
    """
    python = options.python
    command = [str(python), "-I", str(WALKER), "--profile", str(profile.path)]
    for folder in options.path:
        command += ["--path", str(folder)]
    for name in profile.package_sets():
        folder = Path(options.set_packages.replace("{set}", name))
        if not folder.is_dir():
            print(f"surface: note: profile {profile.name!r}: its packages are not installed")
            return None
        command += ["--path", str(folder)]
    if options.word == "record" and records_exports:
        command.append("--record")
    if profile.samples_path.is_file():
        command += ["--samples", str(profile.samples_path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SurfaceError(f"{python} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise SurfaceError(f"profile {profile.name!r} on {python}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def judge_modules(profile: Profile, found: dict[str, Any], report: Report) -> None:
    """Every public name of every module: exported, or withheld for a reason."""
    exports, withheld, python = profile.exports(), profile.withheld(), found["python"]
    public = {name for each in (*profile.extended(), profile) for name in each.public_modules()}
    for module, names in found["modules"].items():
        if module in public:  # non-public names are not exported
            names = found["public"][module]
        elif module.partition(".")[0] in found["open"]:  # an explicit list is exact
            names = []
        given, kept = exports.get(module, frozenset()), withheld.get(module, {})
        report.problems += [
            f"module {module!r} has {name!r} in Python {python}, which has not been reviewed. "
            f"Add it to the exports of [modules.{module}] in {profile.path}, or to "
            f"{profile.withheld_path} with a reason."
            for name in names
            # A submodule that is a module of the profile is exported with its parent.
            if name not in given and name not in kept and f"{module}.{name}" not in exports
        ]
        report.problems += [
            f"module {module!r}: {name!r} is both exported and withheld. Remove it from "
            f"{profile.path} or from {profile.withheld_path}."
            for name in sorted(given & kept.keys())
        ]
    # exports: of modules that only later Pythons have, too
    for module in sorted(withheld.keys() - found["modules"].keys() - exports.keys()):
        report.problems.append(
            f"{profile.withheld_path} withholds names of {module!r}, which is not a module of the "
            "profile. Remove the table."
        )


def judge_reachable(profile: Profile, found: dict[str, Any], report: Report) -> None:
    """Every public attribute that the exports lead to is in the list for this Python."""
    path, python = profile.recorded_path(found["python"]), found["python"]
    recorded = profile.recorded(python)
    if recorded is None:
        report.problems.append(
            f"Python {python} has no recorded surface: {path} does not exist. Review its names "
            "and run `tools/surface.py record` with it, or build with a recorded Python."
        )
        return
    reachable = set(found["reachable"])
    report.problems += [
        f"{name!r} is reachable in Python {python} but has not been reviewed: it is not in "
        f"{path}. Review what it does with guest input; then run `tools/surface.py record`."
        for name in sorted(reachable - recorded)
    ]
    # Only its own list: extended profiles are walked separately, with their own samples.
    own = profile.recorded_lists().get(minor_version(python), set())
    report.notes += [
        f"{name!r} of {path} is not in Python {python}" for name in sorted(own - reachable)
    ]


def check_profile(profile: Profile, found: dict[str, Any]) -> Report:
    report = Report()
    judge_modules(profile, found, report)
    judge_reachable(profile, found, report)
    report.problems += [
        f"Python {found['python']}: {leak}, which no guest may reach. Remove the export, or "
        "replace it (`replace`)."
        for leak in found["leaks"]
    ]
    return report


def check(profiles: list[Profile], options: argparse.Namespace) -> int:
    problems = 0
    for profile in profiles:
        found = walk(profile, options)
        if found is None:
            continue
        report = check_profile(profile, found)
        for note in report.notes:
            print(f"surface: note: profile {profile.name!r}: {note}")
        for problem in report.problems:
            print(f"surface: profile {profile.name!r}: {problem}", file=sys.stderr)
        problems += len(report.problems)
    if problems:
        print(
            f"surface: {problems} to be reviewed; see profiles/README.md"
            + (" (not fatal: BELLJAR_SURFACE=warn)" if options.warn else ""),
            file=sys.stderr,
        )
        return 0 if options.warn else 1
    if options.stamp is not None:
        options.stamp.write_text("")
    return 0


def record_exports(profile: Profile, found: dict[str, Any]) -> None:
    """Writes the names of the modules whose exports are "public"."""
    withheld = profile.withheld()
    names = {
        (module, name)
        for module in profile.public_modules()
        for name in found["public"][module]
        if name not in withheld.get(module, {})
    }
    path = profile.exports_path
    before = {(module, name) for module, each in read_exports(path).items() for name in each}
    for module, name in sorted(names - before) if before else ():
        print(f"new: {module}.{name}")
    for module, name in sorted(before - names):
        print(f"gone: {module}.{name}")
    if names:
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{module} {name}\n" for module, name in sorted(names)))


def record(profiles: list[Profile], options: argparse.Namespace) -> int:
    status = 0
    for profile in profiles:
        found = walk(profile, options, records_exports=True)
        if found is not None and profile.public_modules():
            record_exports(profile, found)
            found = walk(profile, options)
        if found is None:
            status = 1
            continue
        python, reachable = found["python"], set(found["reachable"])
        for other in profile.extended():
            reachable -= other.recorded(python) or set()
        before = profile.recorded_lists().get(minor_version(python), set())
        for name in sorted(reachable - before) if before else ():
            print(f"new: {name}")
        for name in sorted(before - reachable):
            print(f"gone: {name}")
        path = profile.record_list(python, reachable)
        print(f"wrote {path}: {len(reachable)} names of Python {python}; review the diff")
        for problem in check_profile(profile, found).problems:
            print(f"surface: profile {profile.name!r}: {problem}", file=sys.stderr)
            status = 1
    return status


def build_packages() -> list[Path]:
    """Where `./dev setup` installs the pinned packages: the policy imports RestrictedPython."""
    return sorted((ROOT / "build" / "venv").glob("lib/python*/site-packages"))[:1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("word", choices=("check", "record"))
    parser.add_argument("--python", type=Path, default=Path(sys.executable), metavar="PATH",
                        help="the interpreter to check (default: this one)")  # fmt: skip
    parser.add_argument("--profiles", type=Path, default=ROOT / "profiles", metavar="DIR")
    parser.add_argument("--path", type=Path, action="append", metavar="DIR",
                        help="the packages to import from (default: build/venv)")  # fmt: skip
    parser.add_argument("--set-packages", default=SET_PACKAGES, metavar="DIR",
                        help="of a set, {set}: its name (default: build/venv-{set})")  # fmt: skip
    parser.add_argument("--profile", action="append", metavar="NAME", help="only this one")
    parser.add_argument("--warn", action="store_true", help="report problems, but succeed")
    parser.add_argument("--stamp", type=Path, metavar="FILE", help="written on success")
    options = parser.parse_args()
    options.path = options.path or build_packages()
    try:
        profiles = [
            profile
            for profile in profiles_in(options.profiles)
            if not options.profile or profile.name in options.profile
        ]
        return check(profiles, options) if options.word == "check" else record(profiles, options)
    except ProfileError as error:
        print(f"surface: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
