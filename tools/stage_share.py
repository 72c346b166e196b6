"""Lay out share/belljar in a build tree, as it will be when installed.

Copies only files that differ and removes files without a source, so that a belljar running from the
same tree never misses a file. Byte code is compiled ahead of time and marked "unchecked": the
interpreter neither compares time stamps nor writes, so a read-only tree with different time stamps
starts equally fast.
"""

import argparse
import filecmp
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

DATA_SUFFIXES = {".js", ".json", ".py", ".toml"}


def wanted_files(source: Path) -> dict[Path, Path]:
    """Target path inside share/belljar -> its source."""
    wanted: dict[Path, Path] = {}
    trees = [
        (source / "policy/belljar_policy", Path("policy/belljar_policy")),
        (source / "engine/inside/runner", Path("runner/belljar_runner")),
    ]
    for tree, target in trees:
        for path in sorted(tree.rglob("*")):
            if path.suffix in DATA_SUFFIXES and path.is_file():
                wanted[target / path.relative_to(tree)] = path
    runner = source / "engine/inside/runner.py"
    if runner.is_file():
        wanted[Path("runner/belljar_runner.py")] = runner
    for path in sorted((source / "profiles").glob("*.toml")):
        wanted[Path("profiles") / path.name] = path
    for path in sorted((source / "languages").glob("*.toml")):
        wanted[Path("languages") / path.name] = path
    for path in sorted((source / "profiles" / "exports").glob("*.txt")):
        wanted[Path("profiles/exports") / path.name] = path
    for path in sorted((source / "container" / "packages").glob("install*")):
        if path.suffix in DATA_SUFFIXES:
            wanted[Path("installer") / path.name] = path
    for name in package_sets(source):
        requirements = source / "requirements" / f"{name}.txt"
        wanted[Path("requirements") / requirements.name] = requirements
    return wanted


def package_sets(source: Path) -> list[str]:
    """The package sets named by profiles."""
    found: set[str] = set()
    for path in (source / "profiles").glob("*.toml"):
        found |= tomllib.loads(path.read_text(encoding="utf-8")).get("packages", {}).keys()
    return sorted(found)


def copy_if_different(source: Path, target: Path) -> bool:
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(target.name + ".new")
    shutil.copyfile(source, scratch)
    os.replace(scratch, target)
    return True


COMPILER = """
import json, py_compile, sys
for path, shown in json.load(sys.stdin):
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(path, dfile=shown, doraise=True, invalidation_mode=mode)
"""


def compile_ahead(shown: Mapping[Path, str | None]) -> None:
    """`shown`: for each file the path in tracebacks, stored in the byte code; None: its own.

    Without column numbers, which only tracebacks of our own code would show: a quarter less in a
    wheel. An interpreter leaves them out of all that it compiles, or of nothing.
    """
    if not shown:
        return
    subprocess.run(
        [sys.executable, "-I", "-X", "no_debug_ranges", "-c", COMPILER],
        input=json.dumps([(str(path), name) for path, name in shown.items()]),
        text=True,
        check=True,
    )


def byte_code_of(path: Path) -> Path:
    return path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"


def remove_leftovers(share: Path, wanted: dict[Path, Path]) -> None:
    keep = {share / name for name in wanted}
    keep |= {byte_code_of(path) for path in keep if path.suffix == ".py"}
    keep |= {path.with_suffix(".pins") for path in keep if path.parent.name == "requirements"}
    for room in ("policy", "runner", "profiles", "languages", "installer", "requirements"):
        for path in sorted((share / room).rglob("*"), reverse=True):
            if path.is_dir():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path not in keep:
                path.unlink()


def write_rules(source: Path, share: Path) -> None:
    """Writes the policy's rules as data for the command, which has no Python."""
    table = runpy.run_path(str(source / "policy/belljar_policy/rules.py"))["RULES"]
    rules = [{"id": rule_id, **rule._asdict()} for rule_id, rule in table.items()]
    scratch = share / "rules.json.new"
    scratch.write_text(json.dumps(rules, indent=1, ensure_ascii=False) + "\n")
    os.replace(scratch, share / "rules.json")


def pins_of(requirements: str, origin: str) -> str:
    """A line "name version" for each pin in a file written by pip-compile."""
    lines = []
    for line in requirements.splitlines():
        pin = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)\s*(;?)", line)
        if pin is None:
            continue
        if pin[3]:
            sys.exit(f"stage_share: {origin}: cannot evaluate the marker of {pin[1]}: {line}")
        lines.append(f"{pin[1]} {pin[2]}\n")
    return "".join(lines)


def write_pins(share: Path) -> None:
    """Writes the contents of package sets, for installations where they are mixed with others."""
    for path in (share / "requirements").glob("*.txt"):
        text = pins_of(path.read_text(encoding="utf-8"), path.name)
        pins = path.with_suffix(".pins")
        if not pins.is_file() or pins.read_text() != text:
            scratch = path.with_suffix(".new")
            scratch.write_text(text)
            os.replace(scratch, pins)


def link_to(link: Path, target: Path) -> None:
    if link.is_symlink() and os.readlink(link) == str(target):
        return
    scratch = link.with_name(link.name + ".new")
    scratch.unlink(missing_ok=True)
    scratch.symlink_to(target)
    os.replace(scratch, link)


def link_package_sets(folder: Path, sets: list[str], packages: str) -> None:
    """Links to packages that may be installed later, so that they are found then."""
    folder.mkdir(exist_ok=True)
    for name in sets:
        link_to(folder / name, Path(packages.replace("{set}", name)))
    for path in folder.iterdir():
        if path.name not in sets:
            path.unlink()


def stage(
    source: Path, share: Path, site_packages: Path, set_packages: str, shown: str | None = None
) -> int:
    """`shown`: the path in tracebacks instead of `share`; None: its path."""
    share.mkdir(parents=True, exist_ok=True)
    wanted = wanted_files(source)
    changed = 0
    to_compile: dict[Path, str | None] = {}
    for name, origin in wanted.items():
        copied = copy_if_different(origin, share / name)
        changed += copied
        if name.suffix == ".py" and (copied or not byte_code_of(share / name).is_file()):
            to_compile[share / name] = f"{shown}/{name}" if shown else None
    compile_ahead(to_compile)
    remove_leftovers(share, wanted)
    write_rules(source, share)
    write_pins(share)
    if not site_packages.is_dir():
        print(f"stage_share: {site_packages} is missing: run `./dev setup`", file=sys.stderr)
    link_to(share / "site-packages", site_packages)
    link_package_sets(share / "packages", package_sets(source), set_packages)
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--share", type=Path, required=True)
    parser.add_argument("--site-packages", type=Path, required=True)
    parser.add_argument("--set-packages", required=True, help="of a set, {set}: its name")
    parser.add_argument("--shown", help="path in tracebacks instead of the share's path")
    parser.add_argument("--stamp", type=Path, required=True)
    options = parser.parse_args()
    stage(options.source, options.share, options.site_packages, options.set_packages, options.shown)
    options.stamp.write_text("")


if __name__ == "__main__":
    main()
