"""Scores what the tools say of themselves: python3 -m tests.descriptions.score"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.descriptions.tasks import TASKS, Task

BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
ALL = {f"SANDBOX_ENABLE_{name}": "true" for name in ("DATA_SCIENCE", "FILESYSTEM", "NETWORK")}

MAX_LIST = 12  # items
# What an engineer of Belljar would say.
INTERNAL = (
    "worker",
    "zygote",
    "seccomp",
    "landlock",
    "namespace",
    "cgroup",
    "spare",
    "fork",
    "E[A-Z]{4,}",
)
_PHRASE = 6  # words in a row that may not be said twice


@dataclass(frozen=True)
class Texts:
    """What a server says."""

    instructions: str
    tools: dict[str, dict[str, Any]]

    def prose(self) -> list[str]:
        """Each text for itself."""
        texts = [self.instructions]
        for tool in self.tools.values():
            texts.append(tool["description"])
            texts += [each["description"] for each in arguments(tool).values()]
        return texts

    def everything(self) -> str:
        schemas = [
            json.dumps(tool["inputSchema"], separators=(",", ":")) for tool in self.tools.values()
        ]
        return "\n".join([*self.prose(), *schemas])


def arguments(tool: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = tool["inputSchema"]["properties"]
    return properties


def texts_of(**environment: str) -> Texts:
    """Of a server with these settings."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [BELLJAR, "serve", "--config", "/dev/null", "--log-level", "off"],
        input="".join(json.dumps(each) + "\n" for each in requests),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | environment,
    )
    welcome, listed = (json.loads(line)["result"] for line in done.stdout.splitlines())
    return Texts(welcome["instructions"], {tool["name"]: tool for tool in listed["tools"]})


def missing(task: Task, texts: Texts) -> list[str]:
    """What the task needs and the texts do not say."""
    everything = texts.everything()
    absent = []
    for need in task.needs:
        kind, _, name = need.partition(":")
        if kind == "argument":
            if not any(name in arguments(tool) for tool in texts.tools.values()):
                absent.append(need)
        elif not re.search(need, everything):
            absent.append(need)
    return absent


def said_twice(texts: Texts) -> list[str]:
    """Phrases that are in two places, and arguments that a description explains again."""
    places: dict[str, int] = {}
    for text in texts.prose():
        words = re.findall(r"[\w.+]+", text.lower())
        phrases = {" ".join(words[at : at + _PHRASE]) for at in range(len(words) - _PHRASE + 1)}
        for phrase in phrases:
            places[phrase] = places.get(phrase, 0) + 1
    return sorted(phrase for phrase, count in places.items() if count > 1)


def long_lists(texts: Texts) -> list[str]:
    """Lists of more than MAX_LIST items, in prose or as the choices of an argument."""
    found = [text for text in texts.prose() if re.search(rf"(?:[\w.+-]+, ){{{MAX_LIST}}}", text)]
    for tool in texts.tools.values():
        found += [
            name for name, each in arguments(tool).items() if len(each.get("enum", ())) > MAX_LIST
        ]
    return found


def internal_words(texts: Texts) -> list[str]:
    prose = "\n".join(texts.prose())
    return [word for word in INTERNAL if re.search(rf"\b{word}", prose)]


def main() -> int:
    default, everything = texts_of(), texts_of(**ALL)
    failed = 0
    for task in TASKS:
        absent = missing(task, everything if task.all_profiles else default)
        failed += bool(absent)
        print(f"{'-' if absent else '+'} {task.asked}", *absent, sep="\n      missing: ")
    print(f"{len(TASKS) - failed} of {len(TASKS)} tasks")
    for name, texts in (("default", default), ("all profiles", everything)):
        for kind, judge in (
            ("said twice", said_twice),
            ("long lists", long_lists),
            ("internal words", internal_words),
        ):
            found = judge(texts)
            failed += bool(found)
            print(f"{name}, {kind}: {found or 'none'}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
