"""What runs in the installer's sandbox or container: pip, once, in this interpreter, and what it
has installed as one archive.

Standard input: {"requirements", "index", "trusted_host", "connect_timeout"}. The result, which the
host takes for hostile as it does everything from there:

    {"packages": [{"name", "version", "file", "sha256"}, ...]}     and /workspace/packages.tar.z
    {"fault": "unknown" | "no-wheel" | "space" | "pip" | "path", "what": text}

Nothing of a package is run: only wheels are taken, what they hold is unpacked and no more, and no
program is started.
"""

from __future__ import annotations

import base64
import configparser
import errno
import glob
import io
import json
import os
import py_compile
import re
import shutil
import stat
import sys
import urllib.parse
import zlib
from collections.abc import Iterator
from typing import Any

WHEELS = "/usr/share/python-wheels/pip-*.whl"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SITE = "/tmp/site"
BIN = f"{SITE}/bin"
REPORT = "/tmp/report.json"
REQUIREMENTS = "/tmp/requirements.txt"
HASH = " --hash="
ARCHIVE = "/workspace/packages.tar.z"
IN_IMAGE = "/opt/belljar/share/belljar/packages/installed"  # where tracebacks find their lines
BLOCK = 512
PROGRAMS = ("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen")
MAX_NAME, MAX_PREFIX = 100, 155  # of a ustar header
MAX_TEXT = 200  # characters of a fault: the host takes 1000 bytes
NO_SPACE = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)


class Fault(Exception):
    """What is wrong, for the host: its kind and a text."""


# --- pip --------------------------------------------------------------------------------------


def find_pip() -> None:
    wheels = sorted(glob.glob(WHEELS))
    if not wheels:
        raise Fault("no-pip", f"there is no {WHEELS}")
    sys.path.insert(0, wheels[-1])


def refuse_programs(event: str, _: tuple[Any, ...]) -> None:
    """What a wheel requires by the address of a source archive pip builds, although it is told to
    take only wheels; and to build it is to run it. Also where no filter would stop that.
    """
    if event in PROGRAMS:
        raise PermissionError(errno.EPERM, "nothing is built here, and no program is started")


def arguments(asked: dict[str, Any]) -> list[str]:
    """All of it: pip reads no configuration and no environment (--isolated)."""
    found = [
        "install", "--isolated", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
        "--only-binary=:all:", "--no-compile", "--no-warn-conflicts", "--progress-bar=off",
        "--root-user-action=ignore", "--retries=1", f"--timeout={asked['connect_timeout']}",
        f"--target={SITE}", f"--report={REPORT}", f"--index-url={asked['index']}",
    ]  # fmt: skip
    if os.path.exists(CERTIFICATES):
        found.append(f"--cert={CERTIFICATES}")
    if asked["trusted_host"]:
        found.append(f"--trusted-host={asked['trusted_host']}")
    if not any(HASH in each for each in asked["requirements"]):
        return [*found, "--", *asked["requirements"]]
    with open(REQUIREMENTS, "w", encoding="utf-8") as file:  # pip takes digests only from there
        file.write("\n".join(asked["requirements"]))
    return [*found, f"--requirement={REQUIREMENTS}"]


def run_pip(asked: dict[str, Any]) -> None:
    """pip's own messages go to standard error, which the host keeps the end of."""
    from pip._internal.cli.main import main

    sys.addaudithook(refuse_programs)
    shown, sys.stdout = sys.stdout, sys.stderr
    told, sys.stderr = sys.stderr, Tee(sys.stderr)
    sys.stdout = sys.stderr
    try:
        code = main(arguments(asked))
        text = sys.stderr.text()
    finally:
        sys.stdout, sys.stderr = shown, told
    if code:
        raise explain(text, asked)


class Tee(io.TextIOBase):
    """What is written goes on, and the end of it is kept."""

    KEPT = 65536

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._kept = ""

    def write(self, text: str) -> int:
        self._kept = (self._kept + text)[-self.KEPT :]
        self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def text(self) -> str:
        return self._kept


def explain(text: str, asked: dict[str, Any]) -> Fault:
    if "No space left on device" in text or "File too large" in text:
        return Fault("space", "")
    missing = re.search(r"No matching distribution found for ([^\s;(]+)", text)
    if missing:
        name = re.match(r"[A-Za-z0-9._-]+", missing[1])
        versions = re.search(r"\(from versions: ([^)]*)\)", text)
        if name and versions and versions[1] == "none" and not is_known(asked, name[0]):
            return Fault("unknown", missing[1][:MAX_TEXT])
        return Fault("no-wheel", missing[1][:MAX_TEXT])
    errors = re.findall(r"^ERROR: (.+)$", text, re.MULTILINE)
    said = (errors or text.strip().splitlines() or ["pip said nothing"])[-1]
    return Fault("pip", said[:MAX_TEXT])


def is_known(asked: dict[str, Any], name: str) -> bool:
    """Whether the index has a page of it: it may have no wheel for this Python."""
    import http.client
    import urllib.error
    import urllib.request

    page = f"{asked['index'].rstrip('/')}/{re.sub('[-_.]+', '-', name).lower()}/"
    parts = urllib.parse.urlsplit(page)
    account, at, place = parts.netloc.rpartition("@")
    request = urllib.request.Request(parts._replace(netloc=place).geturl())
    if at:  # as pip sends it: urllib would take it for a part of the host's name
        user, _, password = account.partition(":")
        plain = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}".encode()
        basic = base64.b64encode(plain).decode()
        request.add_unredirected_header("Authorization", f"Basic {basic}")
    try:
        with urllib.request.urlopen(request, timeout=asked["connect_timeout"]) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        return error.code not in (404, 410)
    except (OSError, ValueError, http.client.HTTPException):
        return True  # nobody knows: pip's own words stand


def installed() -> list[dict[str, str]]:
    with open(REPORT, encoding="utf-8") as file:
        report = json.load(file)
    return [
        {
            "name": re.sub("[-_.]+", "-", entry["metadata"]["name"]).lower(),
            "version": entry["metadata"]["version"],
            "file": file_of(entry["download_info"]),
            "sha256": digest_of(entry["download_info"]),
        }
        for entry in report["install"]
    ]


def file_of(download: dict[str, Any]) -> str:
    # Behind it an index may have a digest, or who may have it until when.
    return os.path.basename(urllib.parse.urlsplit(download["url"]).path)


def digest_of(download: dict[str, Any]) -> str:
    archive = download.get("archive_info", {})  # of a folder or a repository there is none
    kind, _, digest = archive.get("hash", "").partition("=")
    digest = digest if kind == "sha256" else archive.get("hashes", {}).get("sha256", "")
    if not digest:
        raise Fault("pip", f"nobody gives a SHA-256 of {file_of(download)}"[:MAX_TEXT])
    return str(digest)


# --- scripts ----------------------------------------------------------------------------------
# What pip makes names this interpreter, which is none of the place where they are run.

SCRIPT = """\
#!/usr/bin/env python3
import sys
from {module} import {top}
sys.exit({function}())
"""


def write_scripts() -> None:
    """bin/NAME of each `console_scripts`: nothing else that a package has for a command line."""
    shutil.rmtree(BIN, ignore_errors=True)
    for listed in sorted(glob.glob(f"{SITE}/*.dist-info/entry_points.txt")):
        for name, place in console_scripts(listed):
            os.makedirs(BIN, exist_ok=True)
            path = os.path.join(BIN, name)
            with open(path, "w", encoding="utf-8") as file:
                top = place["function"].partition(".")[0]
                file.write(SCRIPT.format(**place, top=top))
            os.chmod(path, 0o755)


def console_scripts(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Those of a plain form (Entry points specification of PyPA); extras behind it are left out."""
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, ValueError):
        return
    if not parser.has_section("console_scripts"):
        return
    for name, value in parser.items("console_scripts"):
        form = re.fullmatch(r"([\w.]+)\s*:\s*([\w.]+)\s*(\[.*\])?", value.strip(), re.ASCII)
        if form and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            yield name, {"module": form[1], "function": form[2]}


# --- the archive ------------------------------------------------------------------------------
# A tar of the one form that the host reads: entries in order of their paths, of nobody's, without
# dates. What a package needs no more when it has been installed is left out.


def header(path: bytes, mode: int, size: int, kind: bytes) -> bytes:
    name = path + (b"/" if kind == b"5" else b"")
    prefix = b""
    if len(name) > MAX_NAME:
        slash = name.find(b"/", len(name) - MAX_NAME - 1)
        if slash < 0 or slash + 1 >= len(name) or slash > MAX_PREFIX:
            raise Fault("path", os.fsdecode(path)[-200:])
        prefix, name = name[:slash], name[slash + 1 :]
    parts = [
        name.ljust(100, b"\0"), b"%07o\0" % mode, b"%07o\0" % 0, b"%07o\0" % 0, b"%011o\0" % size,
        b"%011o\0" % 0, b" " * 8, kind, bytes(100), b"ustar\x0000", bytes(64), b"%07o\0" % 0,
        b"%07o\0" % 0, prefix.ljust(155, b"\0"), bytes(12),
    ]  # fmt: skip
    parts[6] = b"%06o\0 " % sum(b"".join(parts))
    return b"".join(parts)


def entries(root: bytes) -> list[tuple[bytes, os.stat_result]]:
    """(path below root, what lstat says), sorted by path."""
    found = []
    folders = [b""]
    while folders:
        below = folders.pop()
        with os.scandir(os.path.join(root, below)) as listed:
            for entry in listed:
                path = os.path.join(below, entry.name)
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    folders.append(path)
                elif not stat.S_ISREG(status.st_mode):
                    raise Fault("path", os.fsdecode(path)[-200:])
                found.append((path, status))
    return sorted(found, key=lambda each: each[0])


def compile_ahead() -> None:
    """Every interpreter that loads them would do it anew: a container keeps nothing. Compiling runs
    nothing; what is no Python of this version stays as it is.
    """
    for source in python_files(SITE):
        shown = IN_IMAGE + source.removeprefix(SITE)
        try:
            py_compile.compile(
                source,
                dfile=shown,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        except (py_compile.PyCompileError, ValueError, RecursionError, MemoryError):
            continue
        except OSError as error:  # a file called __pycache__, a name that is too long with .pyc
            if error.errno in NO_SPACE:
                raise


def python_files(root: str) -> Iterator[str]:
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def write_archive() -> None:
    packed = zlib.compressobj(1)
    root = os.fsencode(SITE)
    with open(ARCHIVE, "wb") as out:
        for path, status in entries(root):
            if stat.S_ISDIR(status.st_mode):
                out.write(packed.compress(header(path, 0o555, 0, b"5")))
                continue
            mode = 0o555 if status.st_mode & 0o100 else 0o444
            out.write(packed.compress(header(path, mode, status.st_size, b"0")))
            with open(os.path.join(root, path), "rb") as file:
                while piece := file.read(1 << 18):
                    out.write(packed.compress(piece))
            out.write(packed.compress(bytes(-status.st_size % BLOCK)))
        out.write(packed.compress(bytes(2 * BLOCK)))
        out.write(packed.flush())


def install(asked: dict[str, Any]) -> dict[str, Any]:
    try:
        find_pip()
        run_pip(asked)
        packages = installed()
        compile_ahead()
        write_scripts()
        write_archive()
    except Fault as fault:
        kind, what = fault.args
        return {"fault": kind, "what": what}
    except OSError as error:
        if error.errno in NO_SPACE:
            return {"fault": "space", "what": ""}
        raise
    return {"packages": packages}


result = install(json.load(sys.stdin))
