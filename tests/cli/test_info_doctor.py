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
    basic = done.stdout.split("\nProfile basic\n")[1].split("\nProfile ")[0]
    modules = basic.split("  modules (")[1].splitlines()[1:]
    assert modules
    assert all(line.startswith("    ") and len(line) <= 100 for line in modules)


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
    assert set(basic) == {
        "name",
        "summary",
        "tiers",
        "attack_surface",
        "language",
        "packages",
        "missing",
        "workspace",
        "network",
        "limits",
        "modules",
    }
    assert (basic["tiers"], basic["workspace"], basic["network"]) == ([], None, None)
    assert basic["limits"]["default"]["timeout"] == 30.0
    assert basic["limits"]["maximum"]["memory_bytes"] == 4 << 30
    assert "sqrt" in basic["modules"]["math"]
    # The same keys as in a result.
    outcome = json.loads(belljar("run", "--json", "-c", "1").stdout)
    assert outcome["limits"] == basic["limits"]["default"]


def test_info_of_the_tiers(belljar):
    profiles = {p["name"]: p for p in json.loads(belljar("info", "--json").stdout)["profiles"]}
    for name in ("data-science", "filesystem", "network"):
        assert profiles[name]["tiers"] == [name]
        assert profiles[name]["attack_surface"]
        assert set(profiles["basic"]["modules"]) <= set(profiles[name]["modules"])
    assert profiles["filesystem"]["workspace"]["path"] == "/workspace"
    assert profiles["network"]["network"]["proxy_port"] > 0
    packages = {each["name"]: each["version"] for each in profiles["data-science"]["packages"]}
    missing = profiles["data-science"]["missing"]
    if missing:
        assert packages == {}
        assert "numpy" in missing[0]["modules"]
        assert "data-science" in missing[0]["command"]
    else:
        assert packages["numpy"][0].isdigit()
        assert "scikit-learn" in packages


def test_info_of_the_tiers_as_text(belljar):
    text = belljar("info").stdout
    start = text.index("\nProfile data-science\n")
    end = text.find("\nProfile ", start + 1)
    of_tier = text[start : end if end > 0 else None]
    assert "\n  attack surface that it adds\n    " in of_tier
    assert "\n  packages (" in of_tier or "\n  missing\n    the packages of data-science" in of_tier
    assert ", in addition to those of basic)\n" in of_tier
    assert " math," not in of_tier
    files = text[text.index("\nProfile filesystem\n") :]
    assert "\n  workspace     /workspace and /tmp, 64m and 4096 files" in files


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
