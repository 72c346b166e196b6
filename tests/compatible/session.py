"""Every operation of the clients of other services against one server. Runs in the environment of
requirements/compatible.txt; prints the results as one JSON object.

    session.py URL TOKEN SOURCES

SOURCES: the folder of requirements/sources.txt.
"""

import asyncio
import base64
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import judge0
import sandbox_fusion as fusion
import ultra_piston
from piston import piston_client

URL, TOKEN, SOURCES = sys.argv[1:]
WITH_TOKEN = f"http://any:{TOKEN}@{urlsplit(URL).netloc}"
SOLUTION = "a, b = map(int, input().split())\nprint(a + b)"


def reward_functions() -> ModuleType:
    """verl's own, from its files: the package itself would import torch."""
    folder = Path(SOURCES) / "verl/utils/reward_score/sandbox_fusion"
    spec = importlib.util.spec_from_file_location(
        "reward", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reward"] = module
    spec.loader.exec_module(module)
    return module


# --- SandboxFusion ------------------------------------------------------------------------------


def run_code(code: str, **more: Any) -> dict[str, Any]:
    request = fusion.RunCodeRequest(code=code, language="python", **more)
    response = fusion.run_code(request, endpoint=WITH_TOKEN, max_attempts=1)
    mapping = fusion.SummaryMapping(RunTimeout="Timeout", RunFailed="RunFailed")
    return json.loads(response.json()) | {
        "summary": fusion.summary_run_code_result(response, mapping)
    }


def with_fusion() -> dict[str, Any]:
    files = {"in.txt": base64.b64encode(b"from the client").decode(), "none": None}
    notebook = fusion.RunJupyterRequest(
        cells=[
            "a = 123",
            "a",
            "print(a)",
            'import sys; sys.stderr.write("stderr message"); None',
            'raise RuntimeError("error message")',
            "open('out.txt', 'w').write(str(a)); None",
        ],
        files={"in.txt": files["in.txt"]},
        fetch_files=["out.txt", "in.txt"],
    )
    endless = fusion.RunJupyterRequest(cells=["1", "while True: pass", "3"], cell_timeout=0.5)
    asynchronous = fusion.run_code_async(
        fusion.RunCodeRequest(code="print('async')", language="python"),
        endpoint=WITH_TOKEN,
        max_attempts=1,
    )
    try:
        fusion.run_code(
            fusion.RunCodeRequest(code="int main() {}", language="cpp"),
            endpoint=WITH_TOKEN,
            max_attempts=1,
        )
        other_language = "it was run"
    except Exception as error:
        other_language = str(error)
    return {
        "ok": run_code("print(input()[::-1])", stdin="olleh"),
        "exception": run_code("print('before')\n1/0"),
        "syntax": run_code("print('before')\nprint("),
        "refused": run_code("import ctypes"),
        "exit": run_code("import sys\nsys.exit(7)"),
        "endless": run_code("while True: pass", run_timeout=0.5),
        "files": run_code(
            "open('out.txt', 'w').write(open('in.txt').read().upper())",
            files=files,
            fetch_files=["./out.txt", "in.txt", "missing"],
        ),
        "async": json.loads(asyncio.run(asynchronous).json()),
        "other_language": other_language,
        "notebook": json.loads(
            fusion.run_jupyter(notebook, endpoint=WITH_TOKEN, max_attempts=1).json()
        ),
        "endless_notebook": json.loads(
            fusion.run_jupyter(endless, endpoint=WITH_TOKEN, max_attempts=1).json()
        ),
    }


def with_rewards() -> dict[str, Any]:
    reward = reward_functions()
    cases = {"inputs": ["1 2\n", "3 4\n", "5 -5\n"], "outputs": ["3\n", "7\n", "0\n"]}
    as_function = {
        "inputs": ["[1, 2]\n3", "[]\n4"],
        "outputs": ["6", "4"],
        "fn_name": "total",
    }

    def score(solution: str, tests: dict[str, Any], timeout: int = 5) -> list[Any]:
        value, metadata = reward.compute_score(
            f"{WITH_TOKEN}/run_code", None, 1024, f"```python\n{solution}\n```", tests,
            continuous=False, timeout=timeout,
        )  # fmt: skip
        return [value, [each["status"] for each in metadata]]

    function = "def total(numbers, more):\n    return sum(numbers) + more"
    return {
        "right": score(SOLUTION, cases),
        "wrong": score(SOLUTION.replace("+", "*"), cases),
        "raises": score("1/0", cases),
        "syntax": score("print(", cases),
        "endless": score("while True: pass", {"inputs": [""], "outputs": [""]}, timeout=1),
        "memory": score("x = bytearray(4 << 30)", {"inputs": [""], "outputs": [""]}),
        "function": score(function, as_function),
        "asserts": score(
            "def f(x): return x", {"assert_case": ["assert f(1) == 1", "assert f(1) == 2"]}
        ),
    }


# --- Piston -------------------------------------------------------------------------------------


def with_piston() -> dict[str, Any]:
    client = piston_client(WITH_TOKEN)

    def execute(code: str, **more: Any) -> dict[str, Any]:
        file = ultra_piston.File(name="main.py", content=code)
        output = client.post_execute(
            more.pop("language", "python"), more.pop("version", "3.10.0"), file, **more
        )
        return output.model_dump()

    def failure(call: Any) -> str:
        try:
            return f"no error: {call()}"
        except Exception as error:
            return type(error).__name__

    return {
        "runtimes": [each.model_dump() for each in client.get_runtimes()],
        "packages": [each.model_dump() for each in client.get_packages()],
        "ok": execute("import sys\nprint(input(), sys.argv[1:])", stdin="in", args=["a", "b"]),
        "exception": execute("1/0"),
        "endless": execute("while True: pass", run_timeout=500),
        "memory": execute("x = bytearray(1 << 30)", run_memory_limit=64 << 20),
        "other_language": failure(lambda: execute("1", language="rust")),
        "install": failure(lambda: client.post_packages("python", "3.12.0")),
        "uninstall": failure(lambda: client.delete_packages("python", "3.12.0")),
        "async": asyncio.run(
            client.post_execute_async("py", "*", ultra_piston.File(content="print('async')"))
        ).model_dump(),
    }


# --- Judge0 -------------------------------------------------------------------------------------


def with_judge0() -> dict[str, Any]:
    client = judge0.Client(URL, {"X-Auth-Token": TOKEN})

    def told(submission: judge0.Submission) -> dict[str, Any]:
        return {
            "status": int(submission.status),
            "stdout": submission.stdout,
            "stderr": submission.stderr,
            "message": submission.message,
            "exit_code": submission.exit_code,
            "exit_signal": submission.exit_signal,
            "time": submission.time,
            "memory": submission.memory,
            "finished": submission.finished_at is not None,
            "language": submission.language,
        }

    def run(source: str, **more: Any) -> Any:
        done = judge0.run(
            client=client, source_code=source, language=judge0.LanguageAlias.PYTHON, **more
        )
        return [told(each) for each in done] if isinstance(done, list) else told(done)

    waits = client.client.post(
        "/submissions/?wait=true&fields=status_id,stdout",
        headers=client.headers,
        json={"source_code": "print('now')", "language_id": 71},
    )
    return {
        "version": client.version,
        "languages": [each.model_dump() for each in client.languages],
        "supported": [
            client.is_language_supported(judge0.LanguageAlias.PYTHON),
            client.is_language_supported(judge0.LanguageAlias.RUST),
        ],
        "statuses": len(client.get_statuses()),
        "ok": run("print(input().upper())", stdin="häß\n"),
        "tests": run(
            SOLUTION,
            test_cases=[judge0.TestCase("1 2", "3"), judge0.TestCase("1 2", "4")],
        ),
        "exception": run("1/0"),
        "endless": run("while True: pass", wall_time_limit=0.5),
        "memory": run("x = bytearray(1 << 30)", memory_limit=64 << 10),
        "arguments": run("import sys\nprint(sys.argv[1:])", command_line_arguments="a 'b c'"),
        "waits": [waits.status_code, waits.json()],
    }


if __name__ == "__main__":
    print(
        json.dumps(
            {
                "fusion": with_fusion(),
                "rewards": with_rewards(),
                "piston": with_piston(),
                "judge0": with_judge0(),
            }
        )
    )
