"""belljar info and belljar doctor."""

import json
import os
import shutil
import subprocess

import pytest

from tests.jail.test_modes import NO_NAMESPACES
from tests.machine import need_wrapper


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
        "policy",
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
    assert "\n  NO   strict        not run: no installation\n" in done.stdout
    assert "how: build with ./dev build" in done.stdout
    assert done.stdout.endswith("\nStrict isolation does not work here.\n")


# In a user namespace that holds no other: with what an AppArmor that refuses them looks like.
LIKE_UBUNTU = """
mount -t tmpfs none /proc/sys/kernel
echo 1 > /proc/sys/kernel/apparmor_restrict_unprivileged_userns
exec "$@"
"""


@pytest.mark.parametrize(
    ("wrapper", "advice"),
    [
        ([], "as root: sysctl user.max_user_namespaces=10000"),
        (
            ["/usr/bin/unshare", "--mount", "sh", "-e", "-c", LIKE_UBUNTU, "sh"],
            "allow them only for this program: belljar doctor --apparmor > /etc/apparmor.d/belljar "
            "&& apparmor_parser --replace /etc/apparmor.d/belljar",
        ),
    ],
    ids=["a limit of 0", "AppArmor"],
)
def test_doctor_without_namespaces(wrapper, advice, program):
    need_wrapper(*NO_NAMESPACES, *wrapper)
    command = [*NO_NAMESPACES, *wrapper, program, "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert not checks["namespaces"]["found"]
    assert advice in checks["namespaces"]["how"]
    assert checks["namespaces"]["how"].endswith("; or do without them: --isolation standard")
    # Nothing that opens the machine for every program.
    assert "userns=0" not in checks["namespaces"]["how"]
    assert (checks["strict"]["found"], checks["standard"]["found"]) == (False, True)
    assert checks["standard"]["detail"].endswith("without namespaces, cgroup")


def test_the_apparmor_profile_is_for_this_program(belljar, program):
    done = belljar("doctor", "--apparmor")
    assert (done.code, done.stderr) == (0, "")
    assert f'profile belljar "{program}" flags=(unconfined) {{\n  userns,\n' in done.stdout


@pytest.mark.parametrize("name", ["a b", "a*?b", "[a]{b,c}^@!#", 'a"b\\c'])
def test_a_path_is_no_pattern_in_the_profile(name, program, tmp_path):
    (tmp_path / name).mkdir()
    copy = shutil.copy(program, tmp_path / name / "belljar")
    done = subprocess.run(
        [copy, "doctor", "--apparmor"], capture_output=True, text=True, check=True
    )
    (quoted,) = [line for line in done.stdout.splitlines() if line.startswith("profile ")]
    path = quoted.removeprefix('profile belljar "').removesuffix('" flags=(unconfined) {')
    plain = path.replace("\\\\", "\0")
    for special in '*?[]{}^,@!#"':
        assert plain.count(special) == plain.count("\\" + special)
        plain = plain.replace("\\" + special, special)
    assert plain.replace("\0", "\\") == str(copy)
    parser = shutil.which("apparmor_parser")
    if parser and os.path.exists("/etc/apparmor.d/abi/4.0"):
        subprocess.run([parser, "-Q", "-K"], input=done.stdout, text=True, check=True)
