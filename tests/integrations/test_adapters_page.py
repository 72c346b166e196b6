"""docs/adapters.md: its examples do what they show, and its versions are those that are tested."""

import json
import re

from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from tests.integrations.conftest import ROOT

PAGE = (ROOT / "docs/adapters.md").read_text()


def example(section: str) -> str:
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    (block,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    return block


def test_inspect(tmp_path):
    from belljar.adapters import inspect_ai  # noqa: F401

    names = {}
    exec(example("Inspect"), names)
    model = "mockllm/model"
    outputs = [
        ModelOutput.for_tool_call(model, "bash", {"command": "wc -l < lines.txt"}),
        ModelOutput.from_content(model, "2"),
    ]
    for output in outputs:  # or it would be counted, with a table from the internet
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    mock = get_model(model, custom_outputs=outputs)
    (log,) = eval(names["task"], model=mock, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    (done,) = log.samples
    assert [each.text for each in done.messages if each.role == "tool"] == ["2\n"]
    assert done.scores["includes"].value == "C"


def test_swerex(capsys):
    exec(example("SWE-ReX"), {})
    assert capsys.readouterr().out == "hello world from /tmp\n\n"


def test_versions_are_those_that_are_tested():
    pins = "".join(
        (ROOT / f"requirements/{name}.in").read_text() for name in ("adapters", "harbor")
    )
    for name, version in re.findall(r"\| (inspect-ai|swe-rex|harbor) ([\d.]+) \|", PAGE):
        assert f"{name}=={version}\n" in pins
    npm = json.loads((ROOT / "tests/clients/package.json").read_text())["dependencies"]
    assert f"| @openai/codex {npm['@openai/codex']} |" in PAGE
