"""belljar info and belljar doctor."""

import json
import shutil
import subprocess


def test_info_as_text(belljar):
    done = belljar("info")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("belljar 0.1.0\nCPython 3.")
    assert "\nRestrictedPython 9" in done.stdout
    assert "\nProfile basic\n" in done.stdout
    assert "\n  timeout       30s       300s\n" in done.stdout
    assert " math," in done.stdout
    modules = [line for line in done.stdout.splitlines() if line.startswith("    ")]
    assert modules
    assert all(len(line) <= 100 for line in modules)


def test_info_with_names(belljar):
    text = belljar("info", "--names").stdout
    after = text[text.index("\n    math\n") :]
    assert " sqrt" in after[: after.index("\n    numbers\n")]


def test_info_as_json(belljar):
    done = belljar("info", "--json")
    assert (done.code, done.stderr) == (0, "")
    info = json.loads(done.stdout)
    assert set(info) == {"version", "python", "restricted_python", "layers", "profiles"}
    assert [layer["name"] for layer in info["layers"]] == [
        "kernel",
        "namespaces",
        "landlock",
        "cgroup",
        "seccomp",
    ]
    basic = {profile["name"]: profile for profile in info["profiles"]}["basic"]
    assert set(basic) == {"name", "summary", "limits", "modules"}
    assert basic["limits"]["default"]["timeout"] == 30.0
    assert basic["limits"]["maximum"]["memory_bytes"] == 4 << 30
    assert "sqrt" in basic["modules"]["math"]
    # The same keys as in a result.
    outcome = json.loads(belljar("run", "--json", "-c", "1").stdout)
    assert outcome["limits"] == basic["limits"]["default"]


def test_doctor_as_text(belljar):
    done = belljar("doctor")
    assert (done.code, done.stderr) == (0, "")
    for name in ("kernel", "namespaces", "landlock", "seccomp", "installation", "strict"):
        assert f"\n  yes  {name} " in done.stdout
    assert done.stdout.count("why: ") >= 10
    assert done.stdout.endswith("\nStrict isolation works here.\n")


def test_doctor_as_json(belljar):
    report = json.loads(belljar("doctor", "--json").stdout)
    assert set(report) == {"version", "python", "ok", "checks"}
    assert report["ok"] is True
    for check in report["checks"]:
        assert set(check) == {"name", "needed", "found", "detail", "why", "how"}
        assert check["needed"] in {"always", "strict", "optional"}
        assert check["why"]
        assert check["found"] == (check["how"] is None)
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["strict"]["detail"].startswith(
        "held by namespaces, privileges, rlimits, landlock"
    )
    assert checks["standard"]["found"]


def test_doctor_without_an_installation(program, tmp_path):
    shutil.copy(program, tmp_path / "belljar")
    done = subprocess.run([tmp_path / "belljar", "doctor"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\n  NO   installation " in done.stdout
    assert "\n  NO   strict        not tried: there is no installation\n" in done.stdout
    assert "how: build with ./dev build" in done.stdout
    assert done.stdout.endswith("\nStrict isolation does not work here.\n")
