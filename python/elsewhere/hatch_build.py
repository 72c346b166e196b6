"""What pyproject.toml cannot express: the systems that the wheel is for, and the metadata that it
shares with the wheels for Linux."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_SYSTEMS = ("macosx_10_13_x86_64", "macosx_11_0_arm64", "win_amd64", "win_arm64")


class Tag(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_data["tag"] = "py3-none-" + ".".join(_SYSTEMS)


class Metadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root) / "../.."
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for key in ("description", "keywords"):
            metadata[key] = project[key]
        # The packages of profiles belong to where programs run.
        metadata["optional-dependencies"] = {
            name: needed
            for name, needed in project["optional-dependencies"].items()
            if not (root / f"requirements/{name}.txt").exists()
        }
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
