"""How long someone waits who has only a wheel: installing it, and running it without installing.

    ./dev bench wheel dist/belljar_sandbox-….whl

Medians of ten, after one that is not counted:

- `pip install`: into a new environment, which is not part of the time
- `uvx --from WHEEL belljar run -c 'print(1)'`: with the environment that uv keeps
- `belljar run -c 'print(1)'`: what the command itself takes of that
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TIMES = 10


def took(command: list[str | Path], **variables: str) -> float:
    began = time.monotonic()
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, env=os.environ | variables
    )
    seconds = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return seconds


def median(what: str, once: Callable[[], float]) -> None:
    once()
    seconds = [once() for _ in range(TIMES)]
    print(
        f"{what:12} median {statistics.median(seconds):.3f} s"
        f"  ({min(seconds):.3f} to {max(seconds):.3f}, {TIMES} times)"
    )


def main() -> None:
    uv, python, wheel = sys.argv[1:]
    print(f"size         {Path(wheel).stat().st_size / 1e6:.2f} MB  {Path(wheel).name}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "environment")

        def install() -> float:
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([python, "-I", "-m", "venv", folder], check=True)
            pip = [folder / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check"]
            return took([*pip, "install", "--no-index", wheel])

        median("pip install", install)
        run = ["belljar", "run", "-c", "print(1)"]
        cache = {"UV_CACHE_DIR": str(Path(name, "uv")), "UV_OFFLINE": "1"}
        uvx = [uv, "tool", "run", "--python", python, "--from", wheel, *run]
        median("uvx", lambda: took(uvx, **cache))
        median("belljar run", lambda: took([folder / "bin/belljar", *run[1:]]))


if __name__ == "__main__":
    main()
