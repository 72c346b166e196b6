"""A package index for tests (PEP 503) at /simple, and a registry of npm's at /npm: packages that
are made here, good ones and hostile ones.

`python3 -I package_index.py LOG` prints its port and serves until its standard input ends; LOG gets
the path of each request.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LINK_MODE = 0o120777 << 16  # of a zip's entry that is a symbolic link
HUGE = 400 << 20
TO_BUILD = "to-build-1.0.tar.gz"


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def wheel(
    name: str,
    version: str,
    files: dict[str, bytes],
    *,
    requires: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
    scripts: bool = False,
) -> bytes:
    """One that any installer takes, whatever `files` are called; those in `links` are links."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {each}\n" for each in requires)
    files = {
        **files,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if scripts:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{name} = {name}:main\n".encode()
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = LINK_MODE if path in links else 0o644 << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def source_archive(name: str, version: str) -> bytes:
    """What pip would have to build, by running what is in it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        text = f"import setuptools\nsetuptools.setup(name={name!r}, version={version!r})\n".encode()
        entry = tarfile.TarInfo(f"{name}-{version}/setup.py")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


def package(name: str, text: str) -> dict[str, bytes]:
    return {f"{name}/__init__.py": text.encode()}


GREETING = """\
from greeting.words import HELLO

def greet(name):
    return f"{HELLO}, {name}"
"""
GUESTS = """\
import greeting
LIST = [greeting.greet("you")]
"""
ESCAPE = b"raise SystemExit"
EXIT = b"import os; os._exit(3)\n"
DEEP = f"deep/{'d' * 120}/{'e' * 120}.py"
MANY = {f"many/m{number}.txt": b"" for number in range(3000)}


def wheels(port: int) -> dict[str, dict[str, bytes]]:
    """Name of a distribution -> name of its file -> content."""
    found: dict[str, dict[str, bytes]] = {}

    def add(name: str, files: dict[str, bytes], version: str = "1.0", **options: Any) -> None:
        project = name.replace("-", "_")
        file = f"{project}-{version}-py3-none-any.whl"
        found.setdefault(name, {})[file] = wheel(project, version, files, **options)

    words = {"greeting/words.py": b"HELLO = 'good day'\n", "greeting/_hidden.py": b"SECRET = 1\n"}
    for version in ("1.0", "2.0"):
        add("greeting", package("greeting", GREETING) | words, version)
    add("host-of-guests", package("guests", GUESTS), requires=("greeting<2",))
    add("needs-nothing-there", package("needs", ""), requires=("no-such-thing",))
    add("climbs", package("climbs", "") | {"../../escape.py": ESCAPE})
    add("absolute", package("absolute", "") | {"/tmp/escape.py": ESCAPE})
    link = "linked/passwd"
    add("linked", package("linked", "x = 1\n") | {link: b"/etc/passwd"}, links=(link,))
    start = {"starts.pth": EXIT, "sitecustomize.py": EXIT}
    add("starts-itself", package("starts_itself", "x = 1\n") | start)
    add("scripted", package("scripted", "def main(): pass\n"), scripts=True)
    shadow = {"json.py": b"dumps = lambda _: 'shadowed'\n"}
    add("shadows", package("shadows", "x = 1\n") | package("math", "pi = 3\n") | shadow)
    add("exits", package("exits", "raise SystemExit('no')\n"))
    add("deep", package("deep", "") | {DEEP: b""})
    add("many", package("many", "") | MANY)
    add("huge", {"huge/__init__.py": bytes(HUGE)})
    add("wrong-digest", package("wrong_digest", ""))
    archive = f"to-build @ http://127.0.0.1:{port}/files/{TO_BUILD}"
    add("needs-a-build", package("needs_a_build", ""), requires=(archive,))
    return found


def distributions(port: int) -> dict[str, dict[str, bytes]]:
    return {
        **wheels(port),
        "to-build": {TO_BUILD: source_archive("to-build", "1.0")},
        "source-only": {"source-only-1.0.tar.gz": b"\x1f\x8b not looked at"},
        "not-a-wheel": {"not_a_wheel-1.0-py3-none-any.whl": b"not even a zip"},
    }


# --- npm's --------------------------------------------------------------------------------------

Npm = dict[str, dict[str, dict[str, bytes]]]  # name -> version -> files
SHOUT = b"module.exports = (text) => require('left').pad(text.toUpperCase(), 8);\n"
LEFT = b"exports.pad = (text, width) => text.padStart(width);\n"
COMMAND = b"#!/usr/bin/env node\nconsole.log(require('.')(process.argv[2]));\n"


def about(name: str, version: str, **more: Any) -> bytes:
    return json.dumps({"name": name, "version": version, "main": "index.js"} | more).encode()


def npm_packages() -> Npm:
    def left(version: str, code: bytes = LEFT) -> dict[str, bytes]:
        return {"package.json": about("left", version), "index.js": code}

    runs = {"install": "touch /workspace/ran", "postinstall": "touch /workspace/ran"}
    return {
        "left": {"1.0.0": left("1.0.0"), "2.0.0": left("2.0.0", b"exports.pad = () => 'two';\n")},
        "shout": {
            "1.0.0": {
                "package.json": about(
                    "shout", "1.0.0", dependencies={"left": "^1"}, bin={"shout": "cli.js"}
                ),
                "index.js": SHOUT,
                "cli.js": COMMAND,
            }
        },
        "@own/scoped": {
            "1.0.0": {
                "package.json": about("@own/scoped", "1.0.0", type="module"),
                "index.js": b"export default 'scoped';\n",
            }
        },
        "with-scripts": {
            "1.0.0": {
                "package.json": about("with-scripts", "1.0.0", scripts=runs),
                "index.js": b"module.exports = 'not run';\n",
            }
        },
        "bad-bin": {
            "1.0.0": {
                "package.json": about(
                    "bad-bin", "1.0.0", bin={"../../up": "index.js", "out": "../../../usr/bin/id"}
                ),
                "index.js": b"",
            }
        },
        "needs-git": {
            "1.0.0": {
                "package.json": about(
                    "needs-git", "1.0.0", dependencies={"far": "git+https://127.0.0.1/far.git"}
                )
            }
        },
        "wrong-integrity": {"1.0.0": {"package.json": about("wrong-integrity", "1.0.0")}},
    }


def npm_archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(content)
            entry.mode = 0o755 if path == "cli.js" else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def npm_pages(port: int) -> dict[str, bytes]:
    pages = {}
    for name, versions in npm_packages().items():
        document: dict[str, Any] = {"name": name, "versions": {}}
        for version, files in versions.items():
            archive = npm_archive(files)
            path = f"/npm/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
            pages[path] = archive
            hashed = b"other" if name == "wrong-integrity" else archive
            sha512 = base64.b64encode(hashlib.sha512(hashed).digest()).decode()
            dist = {"tarball": f"http://127.0.0.1:{port}{path}", "integrity": f"sha512-{sha512}"}
            document["versions"][version] = json.loads(files["package.json"]) | {"dist": dist}
            document["dist-tags"] = {"latest": version}
        pages[f"/npm/{name.replace('/', '%2f')}"] = json.dumps(document).encode()
    return pages


def page(name: str, files: dict[str, bytes]) -> bytes:
    links = ""
    for file, content in files.items():
        sha256 = "0" * 64 if name == "wrong-digest" else hashlib.sha256(content).hexdigest()
        links += f'<a href="/files/{file}#sha256={sha256}">{file}</a>\n'
    return f"<!DOCTYPE html><html><body>{links}</body></html>".encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: dict[str, bytes]
    log: Path

    def do_GET(self) -> None:
        with self.log.open("a") as log:
            log.write(f"{self.path}\n")
        content = self.pages.get(self.path)
        self.send_response(404 if content is None else 200)
        kind = "text/html" if self.path.endswith("/") else "application/octet-stream"
        if self.path.startswith("/npm/") and not self.path.endswith(".tgz"):
            kind = "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Handler.log = Path(sys.argv[1])
    Handler.pages = npm_pages(server.server_address[1])
    for name, files in distributions(server.server_address[1]).items():
        Handler.pages[f"/simple/{name}/"] = page(name, files)
        Handler.pages.update({f"/files/{file}": content for file, content in files.items()})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
