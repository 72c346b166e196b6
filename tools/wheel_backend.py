"""The build backend of pyproject.toml: scikit-build-core, plus what its wheels lack.

It adds two things below `belljar/_installation`:

- Byte code. The interpreter writes none, and installers other than pip may not compile any either;
  each zygote would then compile the policy, which is half of its start-up time.
- The metadata of packages (`*.dist-info`), with their licences and versions.

With the setting `published=true` it compiles nothing: the result is the wheel of this version that
pip finds in its index. For tools that install a clone and cannot be told to install a package
instead, such as pre-commit:

    pip install --config-settings=published=true .
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from scikit_build_core import build as backend
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist

sys.path.insert(0, str(Path(__file__).parent))

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
    import stage_share  # not for a Python that is too old, of which pip tells after its other calls

    sources: dict[Path, str | None] = {}
    for name in wheel.namelist():
        if name.startswith(f"{SHARE}/") and name.endswith(".py"):
            wheel.extract(name, scratch)
            sources[scratch / name] = name
    stage_share.compile_ahead(sources)
    compiled = [stage_share.byte_code_of(source) for source in sources]
    return {path.relative_to(scratch).as_posix(): path.read_bytes() for path in compiled}


def metadata_of_packages(scratch: Path) -> dict[str, bytes]:
    import copy_packages

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
    """Rewrites the wheel with the added files, in the order of their names: the same wheel from any
    file system. RECORD must be the last file."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as wheel:
        added = byte_code(wheel, Path(folder, "sources"))
        added |= metadata_of_packages(Path(folder, "packages"))
        record = next(
            each
            for each in wheel.infolist()
            if re.fullmatch(r"[^/]+\.dist-info/RECORD", each.filename)
        )
        contents = {each.filename: (each, wheel.read(each)) for each in wheel.infolist()}
        del contents[record.filename]
        for name, content in added.items():
            info = zipfile.ZipInfo(name, record.date_time)
            info.external_attr = record.external_attr
            info.compress_type = zipfile.ZIP_DEFLATED
            contents[name] = (info, content)
        scratch = path.with_suffix(".new")
        lines = ""
        with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as target:
            for name, (info, content) in sorted(contents.items()):
                target.writestr(info, content)
                lines += record_line(name, content)
            target.writestr(record, f"{lines}{record.filename},,\n")
    scratch.replace(path)


# --- the published wheel --------------------------------------------------------------------------

Settings = dict[str, list[str] | str] | None


def wants_published(settings: Settings) -> bool:
    return (settings or {}).get("published") == "true"


def version() -> str:
    text = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(belljar VERSION ([0-9.]+)", text)
    assert found
    return found[1]


def download(wheel_directory: str) -> str:
    """The source is up to pip's own settings: its configuration and PIP_… variables."""
    wanted = f"belljar-sandbox=={version()}"
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
        options = ["--no-deps", "--only-binary=:all:", "--dest", folder]
        if subprocess.run([*pip, *options, wanted], check=False).returncode != 0:
            sys.exit(
                f"belljar: pip finds no wheel of {wanted} for this Python and system; "
                "without the setting 'published', this clone is compiled instead"
            )
        (found,) = Path(folder).glob("*.whl")
        Path(wheel_directory, found.name).write_bytes(found.read_bytes())
    return found.name


# --- the backend ----------------------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    # The first of these functions that a frontend calls.
    if platform.libc_ver()[0] != "glibc":
        sys.exit(
            "belljar: there is no wheel for this system, and it cannot be compiled here: Belljar "
            "needs Linux with glibc, as Debian, Ubuntu and Fedora have it; Alpine's is musl"
        )
    if wants_published(config_settings):
        return ["pip"]
    return backend.get_requires_for_build_wheel(config_settings)


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Common to both: the published wheel has this version, and the same name."""
    settings = None if wants_published(config_settings) else config_settings
    return backend.prepare_metadata_for_build_wheel(metadata_directory, settings)


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    if wants_published(config_settings):
        return download(wheel_directory)
    name = backend.build_wheel(wheel_directory, config_settings, metadata_directory)
    add_to(Path(wheel_directory, name))
    return name
