"""Counts tokens as the models of the o200k encoding do, with a tokenizer that ships its ranks."""

import json
import subprocess
from pathlib import Path

_PROGRAM = """
const {encode} = require("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const plain = {disallowedSpecial: new Set()};
console.log(JSON.stringify(texts.map(text => encode(text, plain).length)));
"""


def count(build: Path, texts: list[str]) -> list[int]:
    """The number of tokens of each text. `build`: the folder with the clients."""
    done = subprocess.run(
        [build / "clients/node", "-e", _PROGRAM],
        cwd=build / "clients",
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    counts: list[int] = json.loads(done.stdout)
    return counts
