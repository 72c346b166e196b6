"""belljar.adapters.inspect_ai under Inspect's own checks of sandboxes, and in an evaluation."""

import pytest
from belljar.adapters.inspect_ai import BelljarConfig, BelljarSandboxEnvironment
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import SandboxEnvironmentSpec, SandboxUnavailableError
from inspect_ai.util._sandbox.self_check import *  # noqa: F403

pytestmark = [pytest.mark.anyio]

NOT_HERE = {
    "test_exec_as_user": "a session has one user",
    "test_exec_permission_error": "there is no /etc/passwd in a session",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def sandbox_env(request):
    name = request.node.originalname
    if name in NOT_HERE:
        request.node.add_marker(pytest.mark.xfail(reason=NOT_HERE[name], strict=True))
    environments = await BelljarSandboxEnvironment.sample_init("task", None, {})
    yield environments["default"]
    await BelljarSandboxEnvironment.sample_cleanup("task", None, environments, False)


async def test_what_cannot_be_started_is_a_result(sandbox_env):
    done = await sandbox_env.exec(["pythno3"])
    assert (done.success, done.returncode) == (False, 127)
    assert 'did you mean "python3"' in done.stderr


async def test_limits_say_why():
    config = BelljarConfig(memory="200m")
    environments = await BelljarSandboxEnvironment.sample_init("task", config, {})
    # sleeps: it waits for its end
    hungry = "x = bytearray(80 << 20); import time; time.sleep(1000)"
    line = f"for i in 1 2 3; do python3 -c '{hungry}' & done; wait"
    done = await environments["default"].exec(["bash", "-c", line])
    await BelljarSandboxEnvironment.sample_cleanup("task", config, environments, False)
    assert (done.success, done.returncode) == (False, 137)
    assert "belljar: stopped" in done.stderr and "200" in done.stderr


async def test_a_sandbox_that_has_ended_is_unavailable(sandbox_env):
    await sandbox_env._shell.session.close()
    with pytest.raises(SandboxUnavailableError):
        await sandbox_env.exec(["true"])


async def test_a_file_is_no_configuration():
    with pytest.raises(ValueError, match="BelljarConfig"):
        await BelljarSandboxEnvironment.sample_init("task", "compose.yaml", {})


def test_an_evaluation(tmp_path):
    """Files and a set-up script of the sample, a tool, and a score."""
    sample = Sample(
        input="Count the lines.",
        target="3",
        files={"data/lines.txt": "a\nb\n"},
        setup="#!/bin/bash\necho c >> data/lines.txt\n",
    )
    model = "mockllm/model"
    asked = ModelOutput.for_tool_call(model, "bash", {"command": "wc -l < data/lines.txt; id -u"})
    task = Task(
        dataset=[sample],
        solver=[use_tools(bash(timeout=30)), generate()],
        scorer=includes(),
        sandbox=SandboxEnvironmentSpec("belljar", BelljarConfig(memory="256m")),
    )
    answered = ModelOutput.from_content(model, "There are 3.")
    for output in (asked, answered):  # or it would be counted, with a table from the internet
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    mock = get_model(model, custom_outputs=[asked, answered])
    (log,) = eval(task, model=mock, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    (done,) = log.samples
    (output,) = (each for each in done.messages if each.role == "tool")
    assert output.error is None
    assert output.text == "3\n65534\n"
    assert done.scores["includes"].value == "C"
