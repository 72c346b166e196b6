"""The site of these pages: `./dev docs` builds it in build/site, with search."""

import re

from sphinx.application import Sphinx

project = html_title = "Belljar"
html_theme = "furo"
html_show_copyright = html_copy_source = html_show_sourcelink = False
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 5
# Examples have … where something varies, and cells of IPython.
suppress_warnings = ["misc.highlighting_failure"]
SOURCE = "https://github.com/belljar/belljar/blob/main/"


def contents(index: str) -> str:
    """The sidebar: the tutorials, and the groups of pages that the index has."""
    groups = {"By reader": re.findall(r"\[tutorial\]\(([\w-]+)\.md\)", index)}
    for title, pages in re.findall(r"^\*\*([^*]+)\*\*: (.*?)\n\n", index + "\n\n", re.M | re.S):
        groups[title] = re.findall(r"\]\(([\w-]+)\.md\)", pages)
    made = (
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"])
        for title, pages in groups.items()
    )
    return "\n\n".join(made)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Links that leave this folder lead to the repository."""
    if page == root_doc:
        source[0] += "\n\n" + contents(source[0])
    source[0] = re.sub(r"\]\(\.\./", f"]({SOURCE}", source[0])


def setup(app: Sphinx) -> None:
    app.connect("source-read", read)
