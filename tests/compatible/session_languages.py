"""Programs of the languages besides Python by the clients of other services, in one process.
Prints what the services list, and then for each line of standard input the results of its programs,
each as one line of JSON.

    session_languages.py URL TOKEN

{"language": "bash", "programs": {"ok": {"code": "echo hello", "ways": ["fusion", "piston"]}}}
{"fusion": {"ok": {…}}, "piston": {"ok": {…}}}
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import judge0
import sandbox_fusion as fusion
import ultra_piston
from piston import piston_client

URL, TOKEN = sys.argv[1:]
WITH_TOKEN = f"http://any:{TOKEN}@{urlsplit(URL).netloc}"

# What the services call them. SandboxFusion's client has neither C nor Octave.
FUSION = {"javascript": "nodejs", "r": "R", "sqlite": "sql", "c": None, "octave": None}
PISTON = {"cpp": "c++", "r": "rscript", "sqlite": "sqlite3"}

Asked = dict[str, Any]
piston = piston_client(WITH_TOKEN)
judge = judge0.Client(URL, {"X-Auth-Token": TOKEN})


def by_fusion(language: str, program: Asked) -> Asked | None:
    named = FUSION.get(language, language)
    if named is None:
        return None
    request = fusion.RunCodeRequest(
        code=program["code"],
        language=named,
        stdin=program.get("stdin"),
        run_timeout=program.get("seconds", 20),
        compile_timeout=program.get("compile_seconds", 30),
        fetch_files=["out.txt"],
    )
    response = fusion.run_code(request, endpoint=WITH_TOKEN, max_attempts=1)
    mapping = fusion.SummaryMapping(
        CompileFailed="compile", CompileTimeout="compile time", RunFailed="run", RunTimeout="time"
    )
    return json.loads(response.json()) | {
        "summary": fusion.summary_run_code_result(response, mapping)
    }


def by_piston(language: str, program: Asked) -> Asked:
    output = piston.post_execute(
        PISTON.get(language, language),
        "*",
        ultra_piston.File(content=program["code"]),
        stdin=program.get("stdin"),
        args=program.get("args"),
        run_timeout=1000 * program.get("seconds", 20),
        compile_timeout=1000 * program.get("compile_seconds", 30),
    )
    return output.model_dump()


def by_judge0(language: str, program: Asked) -> Asked:
    done = judge0.run(
        client=judge,
        source_code=program["code"],
        language=judge0.LanguageAlias[language.upper()],
        stdin=program.get("stdin"),
        command_line_arguments=" ".join(program.get("args", [])),
        **({"cpu_time_limit": program["seconds"], "cpu_extra_time": 0} if "seconds" in program
           else {"cpu_time_limit": 20, "wall_time_limit": 60}),
    )  # fmt: skip
    return {
        "status": int(done.status),
        "stdout": done.stdout,
        "stderr": done.stderr,
        "compile_output": done.compile_output,
        "exit_code": done.exit_code,
        "exit_signal": done.exit_signal,
        "language": done.language.name if done.language else None,
    }


WAYS = {"fusion": by_fusion, "piston": by_piston, "judge0": by_judge0}

if __name__ == "__main__":
    runtimes = {each.language: each.model_dump() for each in piston.get_runtimes()}
    names = {each.id: each.name for each in judge.languages}
    print(json.dumps({"runtimes": runtimes, "languages": names}), flush=True)
    with ThreadPoolExecutor(3) as threads:
        for line in sys.stdin:
            asked = json.loads(line)
            running = {
                (way, name): threads.submit(run, asked["language"], program)
                for name, program in asked["programs"].items()
                for way, run in WAYS.items()
                if way in program.get("ways", WAYS)
            }
            results: dict[str, dict[str, Asked | None]] = {way: {} for way in WAYS}
            for (way, name), future in running.items():
                results[way][name] = future.result()
            print(json.dumps(results), flush=True)
