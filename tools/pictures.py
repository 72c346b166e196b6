"""Takes the screenshots in docs/pictures: a notebook in JupyterLab, and a server's / and /docs.

    python tools/pictures.py build/release

It needs Debian's chromium, and in the environment of this Python jupyterlab, ipykernel and
playwright. Take them again when a page looks different; no test can see that.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs/pictures"
WIDTH = 900
SECONDS = 60
CELLS = [
    "import pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome'], 'people': [709_000, 2_748_000]})\ndf",
    "df.plot.bar(x='city', y='people', figsize=(4, 2), rot=0);",
    "name = input('Who are you? ')\nopen('names.txt', 'w').write(f'{name}\\nBob\\n')",
    "%%bash\nsort -r names.txt",
    "while True: pass",
    "name",
    "import subprocess",
]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(command: list[str | Path], url: str, **options: Any) -> Iterator[None]:
    """A server, until it answers and then until the end."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    try:
        give_up = time.monotonic() + SECONDS
        while True:
            try:
                with urllib.request.urlopen(url):
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > give_up:
                    sys.exit(f"{command[0]} does not answer at {url}")
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def take_notebook(page: Page, build: Path, folder: Path) -> None:
    variables = os.environ | {
        "PYTHONPATH": str(build / "python"),
        "HOME": str(folder),
        "JUPYTER_PATH": str(folder / "share/jupyter"),
    }
    install = [sys.executable, "-m", "belljar.kernel", "install", "--prefix", folder]
    install += ["--profile", "data-science+filesystem", "--timeout", "2", "--language", "bash"]
    subprocess.run(install, env=variables, check=True, stdout=subprocess.DEVNULL)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "id": f"c{n}", "source": source} for n, source in enumerate(CELLS)]
    kernel = {"name": "belljar", "display_name": "Python in Belljar", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    notebook["nbformat_minor"] = 5
    (folder / "cities.ipynb").write_text(json.dumps(notebook))
    url = f"http://127.0.0.1:{(port := free_port())}"
    lab = [Path(sys.executable).parent / "jupyter", "lab", "--no-browser", "--allow-root"]
    lab += ["--port", str(port), "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    with running(lab, f"{url}/api", env=variables):
        page.goto(f"{url}/doc/tree/cities.ipynb")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.wait_for_selector("text=Python in Belljar")
        for number, source in enumerate(CELLS):
            page.click(f".jp-Notebook .jp-CodeCell >> nth={number}")
            page.keyboard.press("Shift+Enter")
            if "input(" in source:
                page.wait_for_selector("input.jp-Stdin-input").click()
                page.keyboard.type("Ada\n")
            page.wait_for_selector(f".jp-InputPrompt:text-is('[{number + 1}]:')")
        page.wait_for_timeout(1000)
        cells = [each.bounding_box() for each in page.locator(".jp-Notebook .jp-CodeCell").all()]
        first, end = cells[0], cells[len(CELLS)]
        assert first is not None and end is not None
        clip = {**first, "height": end["y"] - first["y"]}
        page.screenshot(path=FOLDER / "notebook.png", clip=clip)


def take_pages(page: Page, build: Path) -> None:
    url = f"http://127.0.0.1:{(port := free_port())}"
    with running([build / "belljar", "serve", "--http", f"127.0.0.1:{port}"], url):
        for path, name in (("/", "front"), ("/docs", "reference")):
            page.goto(url + path)
            page.screenshot(path=FOLDER / f"{name}.png")


def main() -> None:
    (build,) = map(Path, sys.argv[1:])
    build = build.resolve()
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 1400})
        page.set_default_timeout(SECONDS * 1000)
        take_notebook(page, build, Path(folder))
        page.set_viewport_size({"width": WIDTH, "height": 600})
        take_pages(page, build)
        browser.close()


if __name__ == "__main__":
    main()
