"""The build backend of pyproject.toml: scikit-build-core, plus what its wheels lack.

It adds two things below `belljar/_installation`:

- Byte code. The interpreter writes none, and installers other than pip may not compile any either;
  each zygote would then compile the policy, which is half of its start-up time.
- The metadata of packages (`*.dist-info`), with their licences and versions.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from scikit_build_core import build as backend
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

sys.path.insert(0, str(Path(__file__).parent))
import copy_packages  # noqa: E402
import stage_share  # noqa: E402

__all__ = [
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

SOURCE = Path(__file__).parent.parent
SHARE = "belljar/_installation/share/belljar"


def byte_code(wheel: zipfile.ZipFile, scratch: Path) -> dict[str, bytes]:
    """Byte code for each Python source of the installation: path in the wheel -> content."""
    compiled = {}
    for name in wheel.namelist():
        if not name.startswith(f"{SHARE}/") or not name.endswith(".py"):
            continue
        source = scratch / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(wheel.read(name))
        stage_share.compile_ahead(source, name)
        path = stage_share.byte_code_of(source)
        compiled[path.relative_to(scratch).as_posix()] = path.read_bytes()
    return compiled


def metadata_of_packages(scratch: Path) -> dict[str, bytes]:
    requirements = (SOURCE / "requirements/runtime.txt").read_text(encoding="utf-8")
    for name, version in copy_packages.pins(requirements).items():
        copy_packages.copy_package(name, version, scratch)
    return {
        f"{SHARE}/site-packages/{path.relative_to(scratch).as_posix()}": path.read_bytes()
        for path in sorted(scratch.glob("*.dist-info/**/*"))
        if path.is_file()
    }


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def add_to(path: Path) -> None:
    """Rewrites the wheel with the added files before RECORD, which must be the last file."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as wheel:
        added = byte_code(wheel, Path(folder, "sources"))
        added |= metadata_of_packages(Path(folder, "packages"))
        record = next(
            each
            for each in wheel.infolist()
            if re.fullmatch(r"[^/]+\.dist-info/RECORD", each.filename)
        )
        scratch = path.with_suffix(".new")
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as target:
            for each in wheel.infolist():
                if each is not record:
                    target.writestr(each, wheel.read(each))
            lines = wheel.read(record).decode()
            for name, content in added.items():
                info = zipfile.ZipInfo(name, record.date_time)
                info.external_attr = record.external_attr
                info.compress_type = zipfile.ZIP_DEFLATED
                target.writestr(info, content)
                lines += record_line(name, content)
            target.writestr(record, lines)
    scratch.replace(path)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, list[str] | str] | None = None,
    metadata_directory: str | None = None,
) -> str:
    name = backend.build_wheel(wheel_directory, config_settings, metadata_directory)
    add_to(Path(wheel_directory, name))
    return name
