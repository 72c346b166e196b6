"""Copies the packages of a requirements file from the environment of this Python.

    copy_packages.py --requirements requirements/runtime.txt --target FOLDER

For wheels: pip creates a build environment with the requirements of pyproject.toml, which include
the packages that the policy needs. They are copied rather than installed here because that
environment has no pip, and the user has already told their pip where to install from. Refuses any
version other than the reviewed one.
"""

import argparse
import importlib.metadata
import shutil
import sys
from pathlib import Path

from stage_share import compile_ahead, pins_of


def pins(requirements: str) -> dict[str, str]:
    """Name -> version from a file written by pip-compile."""
    found = (line.partition(" ") for line in pins_of(requirements, "requirements").splitlines())
    return {name: version for name, _, version in found}


def copy_package(name: str, version: str, target: Path) -> None:
    try:
        package = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(
            f"copy_packages: {name} is not in the environment of {sys.executable}; without build "
            f"isolation it must be installed first: pip install {name}=={version}"
        )
    if package.version != version:
        sys.exit(f"copy_packages: {name} is version {package.version}, but {version} is required")
    to_compile: dict[Path, str | None] = {}
    for file in package.files or ():
        # Files outside belong to the installer, and byte code contains the path of the environment.
        if ".." in file.parts or file.suffix == ".pyc":
            continue
        copy = target / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.locate(), copy)
        if copy.suffix == ".py":
            to_compile[copy] = str(file)
    compile_ahead(to_compile)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requirements", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.target, ignore_errors=True)
    for name, version in pins(options.requirements.read_text(encoding="utf-8")).items():
        copy_package(name, version, options.target)


if __name__ == "__main__":
    main()
