"""belljar config: what holds, where it is from, and that docs/configuration.md and
docs/settings*.md say the same."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "configuration.md").read_text(encoding="utf-8")
SETTINGS = [
    (DOCS / name).read_text(encoding="utf-8") for name in ("settings.md", "settings-logs.md")
]
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def config(program, tmp_path):
    """Runs a command with only the variables that are given; HOME is empty."""

    def run(*arguments: str, command: str = "config", cwd=tmp_path, **environment: str):
        home = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        return subprocess.run(
            [program, command, *arguments],
            env={**home, **environment},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def settings(config):
    """Every effective setting by its key."""

    def read(*arguments: str, **environment: str) -> dict:
        done = config("--json", *arguments, **environment)
        assert done.returncode == 0, done.stderr
        return {setting["key"]: setting for setting in json.loads(done.stdout)["settings"]}

    return read


def token_file(tmp_path, secret: str = SECRET, mode: int = 0o600, name: str = "token") -> Path:
    path = tmp_path / name
    path.write_text(secret + "\n")
    path.chmod(mode)
    return path


# --- the answers ------------------------------------------------------------------------------


def test_the_table_names_every_setting_and_its_source(config, settings):
    done = config(SANDBOX_TIMEOUT="5")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "configuration file: none"
    rows = {line.split()[0]: line for line in lines[3:]}
    assert list(rows) == list(settings())
    assert re.fullmatch(
        r"execution\.timeout +5s +environment SANDBOX_TIMEOUT", rows["execution.timeout"]
    )
    assert re.fullmatch(r"execution\.memory +the profile's +default", rows["execution.memory"])


def test_as_json(config, tmp_path):
    file = tmp_path / "b.toml"
    file.write_text("[execution]\nmemory = '64m'\n[http]\nallowed_hosts = ['a', 'b']\n")
    done = config("--json", "--config", str(file), SANDBOX_API_TOKEN=SECRET)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert set(shown) == {"file", "settings", "tokens", "webhooks", "warnings"}
    assert shown["file"] == str(file)
    by_key = {setting["key"]: setting for setting in shown["settings"]}
    assert by_key["execution.memory"]["value"] == "64m"
    assert by_key["execution.memory"]["source"] == f"file {file}:2"
    assert by_key["http.allowed_hosts"]["value"] == ["a", "b"]
    assert by_key["execution.timeout"]["value"] is None
    assert by_key["execution.timeout"]["text"] == "the profile's"
    assert by_key["log.code"]["value"] is False
    assert by_key["execution.spares"]["value"] == 4
    assert shown["tokens"] == [
        {
            "name": "default",
            "from": "environment SANDBOX_API_TOKEN",
            "source": "environment SANDBOX_API_TOKEN",
            "profiles": None,
            "rate": 0.0,
            "burst": 0,
            "concurrency": 0,
            "operator": False,
        }
    ]


def test_the_printed_file_loads_to_the_same(config, settings, tmp_path):
    token = token_file(tmp_path)
    token_file(tmp_path, "whsec_" + "c2VjcmV0" * 5, name="hook")
    file = tmp_path / "b.toml"
    file.write_text(
        '[http]\nlisten = "127.0.0.1:0"\ntoken_file = "token"\n[log]\ncode = true\n'
        '[[tokens]]\nname = "t"\nenv = "T"\nrate = 1.5\nprofiles = ["basic"]\n'
        '[[webhooks]]\nname = "w"\nurl = "http://127.0.0.1:1/x"\nfile = "hook"\ntokens = ["t"]\n'
    )
    others = {"SANDBOX_TIMEOUT": "1.5", "SANDBOX_ALLOWED_IMPORTS": "math,json"}
    team = {"T": SECRET[::-1]}
    before = config("--json", "--config", str(file), **team, **others)
    printed = config("--toml", "--config", str(file), **team, **others)
    assert (printed.returncode, printed.stderr) == (0, "")
    again = tmp_path / "again" / "b.toml"
    again.parent.mkdir()
    again.write_text(printed.stdout)
    after = config("--json", "--config", str(again), **team)
    assert after.returncode == 0, after.stderr

    def values(done):
        shown = json.loads(done.stdout)
        tokens = [{**token, "source": ""} for token in shown["tokens"]]
        webhooks = [{**webhook, "source": ""} for webhook in shown["webhooks"]]
        return {s["key"]: s["value"] for s in shown["settings"]}, tokens, webhooks

    assert values(before) == values(after)
    assert values(after)[0]["http.token_file"] == str(token)
    (webhook,) = values(after)[2]
    assert (webhook["name"], webhook["url"], webhook["tokens"]) == (
        "w",
        "http://127.0.0.1:1/x",
        ["t"],
    )
    assert "whsec_" not in before.stdout + printed.stdout.replace("(whsec_…)", "")
    assert config("--toml", "--config", str(again), **team).stdout == printed.stdout


def test_secrets_are_never_printed(config, tmp_path):
    token_file(tmp_path, SECRET[::-1], 0o640)
    file = tmp_path / "b.toml"
    file.write_text('[[tokens]]\nname = "team"\nfile = "token"\nconcurrency = 2\n')
    for form in ((), ("--json",), ("--toml",)):
        done = config("--config", str(file), *form, SANDBOX_API_TOKEN=SECRET)
        assert done.returncode == 0
        for secret in (SECRET, SECRET[::-1]):
            assert secret not in done.stdout + done.stderr
    text = config("--config", str(file), SANDBOX_API_TOKEN=SECRET)
    assert "token default" in text.stdout
    assert re.search(rf"token team +set, from file {tmp_path}/token, concurrency: 2", text.stdout)
    assert "chmod 600" in text.stderr


def test_defaults_read_nothing(config, settings, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("[")
    done = config("--defaults", BELLJAR_CONFIG=str(broken), SANDBOX_TIMEOUT="-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.endswith("default") for line in done.stdout.splitlines()[3:])


def test_a_tier_that_is_not_there_is_shown(config, settings, belljar):
    installed = {p["name"]: p for p in json.loads(belljar("info", "--json").stdout)["profiles"]}
    for variable, key, profile in [
        ("SANDBOX_ENABLE_NETWORK", "execution.enable_network", "network"),
        ("SANDBOX_ENABLE_FILESYSTEM", "execution.enable_filesystem", "filesystem"),
        ("SANDBOX_ENABLE_DATA_SCIENCE", "execution.enable_data_science", "data-science"),
        ("SANDBOX_ENABLE_FULL", "execution.enable_full", "full"),
    ]:
        found = settings(**{variable: "true"})
        enabled = found["execution.profiles"]["value"]
        hosts = {"BELLJAR_NETWORK_ALLOWED_DOMAINS": "a.org"} if profile == "network" else {}
        said = config(**{variable: "true"}, **hosts).stderr
        if profile in installed:
            assert enabled == ["basic", profile]
            missing = installed[profile]["missing"]
            assert found[key]["note"] == ("its packages are not installed" if missing else None)
            assert bool(said) == bool(missing)
            assert all(each["command"] in said for each in missing)
        else:
            assert enabled == ["basic"]
            assert found[key]["note"] == "not in this version: has no effect"
            assert said.startswith(f'belljar: warning: {variable}: profile "{profile}" is not in')


# --- where it looks ---------------------------------------------------------------------------


def test_files_are_looked_for_in_order(settings, tmp_path):
    places = [tmp_path / "home/.config/belljar/config.toml", tmp_path / "xdg/belljar/config.toml"]
    for number, place in enumerate(places, start=1):
        place.parent.mkdir(parents=True)
        place.write_text(f"execution.timeout = {number}")
    named = tmp_path / "named.toml"
    named.write_text("execution.timeout = 3")
    given = tmp_path / "given.toml"
    given.write_text("execution.timeout = 4")

    def timeout(*arguments, **environment):
        return settings(*arguments, **environment)["execution.timeout"]["text"]

    assert timeout() == "1s"
    xdg = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert timeout(**xdg) == "2s"
    assert timeout(BELLJAR_CONFIG=str(named), **xdg) == "3s"
    assert timeout("--config", "given.toml", BELLJAR_CONFIG=str(named), **xdg) == "4s"


def test_a_dot_env_is_read_only_when_asked_for(settings, tmp_path):
    (tmp_path / ".env").write_text("export SANDBOX_TIMEOUT='7' # seconds\n")
    assert settings()["execution.timeout"]["value"] is None
    asked = settings("--env-file", ".env")["execution.timeout"]
    assert (asked["value"], asked["source"]) == ("7s", "file .env:1 SANDBOX_TIMEOUT")
    stronger = settings("--env-file", ".env", SANDBOX_TIMEOUT="8")["execution.timeout"]
    assert (stronger["value"], stronger["source"]) == ("8s", "environment SANDBOX_TIMEOUT")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[execution]\ntimout = 5", '{file}:2: unknown key "execution.timout"; did you mean'),
        ("timeout = 5", '{file}:1: unknown key "timeout"; did you mean "execution.timeout"?'),
        ("[http]\nmax_body = 1", '{file}:2: http.max_body "1": write one from 1k to 1g'),
        ("[log]\ncode = 1", "{file}:2: log.code 1: write true or false"),
        ("[log]\nlevel = 'loud'", '{file}:2: log.level "loud": write one of debug|info'),
        ("[log\n", "{file}:1:"),
        ("x = '\ud800'", "{file}:1:"),
        ("x = '\x00'", "{file}:1:"),
        # Its half a million tables would overflow the stack when they are destroyed.
        ("a." * 500_000 + "b = 1", "{file}:1: a key of more than 32 names"),
        (
            "[[tokens]]\nname = 'a'\nsecret = 'hunter2'",
            "{file}:3: tokens.secret: do not put a secret",
        ),
    ],
)
def test_what_is_wrong_with_a_file(config, tmp_path, toml, said):
    file = tmp_path / "b.toml"
    file.write_bytes(toml.encode(errors="surrogatepass"))
    for command in ("config", "serve"):
        done = config("--config", str(file), command=command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"belljar {command}: " + said.format(file=file)), done.stderr
        assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "/nowhere"], "configuration: open /nowhere: No such file or directory"),
        (["--config", "/"], "configuration: read /: Is a directory"),
        (["--config", "/dev/zero"], "configuration: read /dev/zero: File too large"),
        (["--env-file", "/nowhere"], "environment file: open /nowhere: No such file"),
        (["--json", "--toml"], "--json and --toml are mutually exclusive"),
        (["--defaults", "--config", "x"], "--defaults cannot be combined with --config"),
    ],
)
def test_what_is_wrong_with_the_arguments(config, arguments, said):
    done = config(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"belljar config: {said}"), done.stderr


# --- docs/configuration.md, docs/settings*.md --------------------------------------------------


def rows_of_the_page() -> dict[str, list[str]]:
    rows = re.findall(r"^\| `(\w+\.\w+)` \|(.*)\|$", "".join(SETTINGS), re.MULTILINE)
    return {key: re.split(r"(?<!\\)\|", rest) for key, rest in rows}


def test_the_pages_have_every_setting_and_no_other(settings):
    shown = settings("--defaults")
    rows = rows_of_the_page()
    assert sorted(rows) == sorted(shown)
    for key, (kind, default, variables, flag, help_) in rows.items():
        setting = shown[key]
        assert kind.strip().removesuffix(" …").replace("\\|", "|") == setting["type"], key
        assert default.strip() == setting["text"], key
        assert re.findall(r"`(\w+)`", variables) == setting["environment"], key
        assert flag.strip().strip("`") == (setting["flag"] or ""), key
        assert help_.strip() == setting["help"], key


def test_the_example_of_the_page_loads(config, tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "b.toml"
    file.write_text(example)
    token_file(tmp_path, name="team-a.token")
    done = config("--json", "--config", str(file), TEAM_B_TOKEN=SECRET[::-1])
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert [token["name"] for token in shown["tokens"]] == ["team-a", "team-b"]
    assert shown["tokens"][0]["burst"] == 100


def test_the_page_has_every_familiar_variable(settings):
    migration = PAGE.split("## Coming from SANDBOX_…")[1]
    for setting in settings().values():
        for variable in setting["environment"]:
            if variable.startswith("SANDBOX_"):
                assert f"| `{variable}` | `{setting['key']}` |" in migration
    assert "| `SANDBOX_API_TOKEN` |" in migration


def test_the_messages_of_the_page_are_real(config, tmp_path):
    (messages,) = re.findall(r"```\n(belljar serve: .*?)```", PAGE, re.DOTALL)
    unknown, wrong = messages.splitlines()
    file = tmp_path / "config.toml"
    file.write_text("\n" * 6 + "execution.timout = 1")
    done = config("--config", str(file), command="serve")
    assert done.stderr.splitlines()[0] == unknown.replace("/etc/belljar", str(tmp_path))
    assert config(command="serve", SANDBOX_TIMEOUT="5 s").stderr.splitlines()[0] == wrong
