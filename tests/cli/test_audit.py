"""belljar audit and belljar receipt, on logs and receipts that the other commands have made."""

import base64
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

CALLS = ["print(6 * 7)", "import ctypes", "1 / 0"]


def pre_authentication(kind: str, payload: bytes) -> bytes:
    """PAE of the DSSE specification."""
    return f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload


def openssl_verifies(folder: Path, key: Path, kind: str, payload: bytes, signature: bytes) -> bool:
    """Another implementation of Ed25519."""
    (folder / "signed").write_bytes(pre_authentication(kind, payload))
    (folder / "signature").write_bytes(signature)
    done = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin"]
        + ["-in", folder / "signed", "-sigfile", folder / "signature"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.returncode == 0


def serve(program: Path, home: Path, codes: list[str], *options: str) -> list[dict]:
    """What a server over stdio answers to one call for each of the programs."""
    calls = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "execute_code", "arguments": {"code": code}},
        }
        for number, code in enumerate(codes)
    ]
    # The end of its input would cancel what still runs.
    with subprocess.Popen(
        [program, "serve", "--audit", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    ) as server:
        server.stdin.write("".join(json.dumps(call) + "\n" for call in calls))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in calls]
        server.stdin.close()
        assert server.wait(timeout=60) == 0
    return answers


@pytest.fixture
def home(tmp_path, program):
    """Of a user whose server has answered some calls, and keeps its log in the usual place."""
    assert len(serve(program, tmp_path, CALLS)) == len(CALLS)
    return tmp_path


@pytest.fixture
def log(home) -> Path:
    return home / ".local/state/belljar/audit"


@pytest.fixture
def audit(home, belljar):
    def run(*words: str | Path):
        env = {"HOME": str(home), "XDG_STATE_HOME": ""}
        return belljar("audit", *words, cwd=home, env=env)

    return run


def entries(audit, *words: str | Path) -> list[dict]:
    return [json.loads(line) for line in audit("search", "--json", *words).stdout.splitlines()]


def test_show_has_what_the_server_did(audit):
    done = audit("show")
    assert (done.code, done.stderr) == (0, "")
    kinds = [line.split()[2] for line in done.stdout.splitlines()]
    assert sorted(kinds) == ["execution", "execution", "refusal", "start", "stop"]
    assert (kinds[0], kinds[-1]) == ("start", "stop")
    assert "  local  execute_code  basic  ok  seconds " in done.stdout
    assert len(audit("show", "--last", "2").stdout.splitlines()) == 2
    (stop,) = audit("show", "--last", "1", "--json").stdout.splitlines()
    assert json.loads(stop)["kind"] == "stop"


def test_search_finds_by_what_an_entry_has(audit, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CALLS[0])
    (found,) = entries(audit, "--code", program)
    execution = found["execution"]
    assert execution["status"] == "ok"
    assert execution["stdout"] == {"bytes": 3, "sha256": hashlib.sha256(b"42\n").hexdigest()}
    assert {layer["name"] for layer in execution["isolation"]["layers"] if layer["held"]} >= {
        "namespaces",
        "landlock",
        "seccomp",
    }
    (refused,) = entries(audit, "--kind", "refusal")
    assert refused["execution"]["rules"] == ["BJ201"]
    (failed,) = entries(audit, "--status", "exception", "--caller", "local")
    assert failed["execution"]["reason"] == "ZeroDivisionError"
    assert entries(audit, "--execution", failed["execution"]["id"]) == [failed]
    assert audit("search", "--caller", "nobody").code == 1
    assert audit("search", "--until", "2020").code == 1


def test_the_log_has_no_code_and_no_output(log, home, program):
    text = "".join(file.read_text() for file in log.glob("*.jsonl"))
    assert "print(6" not in text and "ctypes" not in text
    serve(program, home, ["print('hun' + 'ter2')"])
    serve(program, home, ["print(1)"], "--log-code")
    text = "".join(file.read_text() for file in log.glob("*.jsonl"))
    assert "hunter2" not in text and "print(1)" not in text


def test_verify_finds_what_was_changed(audit, log):
    done = audit("verify")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("5 entries in 1 segment, signed with key ")
    head = re.search(r"^head (\w{64})$", done.stdout, re.M)[1]
    assert audit("verify", "--expect-head", head, "--key", log / "key.pub").code == 0
    assert audit("verify", "--expect-head", "0" * 64).code == 1

    segment = log / "audit-00000001.jsonl"
    lines = segment.read_text().splitlines(keepends=True)
    segment.write_text("".join(lines[:2] + lines[3:]))
    done = audit("verify")
    assert done.code == 1
    assert f"{segment}:3: entries were removed before it: 3\n" in done.stdout
    found = json.loads(audit("verify", "--json").stdout)
    assert not found["ok"]
    assert [(fault["file"], fault["line"]) for fault in found["faults"]] == [(str(segment), 3)]


def test_another_key_does_not_verify(audit, home):
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", home / "other.pem"],
        check=True,
        timeout=60,
    )
    subprocess.run(
        ["openssl", "pkey", "-in", home / "other.pem", "-pubout", "-out", home / "other.pub"],
        check=True,
        timeout=60,
    )
    done = audit("verify", "--key", "other.pub")
    assert done.code == 1
    assert "which is an unknown key" in done.stdout
    done = audit("verify", "--key", "other.pem")
    assert done.code == 5
    assert "openssl pkey -in key.pem -pubout" in done.stderr


def test_a_key_of_openssl_signs_the_log(home, program, belljar):
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", home / "own.pem"],
        check=True,
        timeout=60,
    )
    (home / "own.pem").chmod(0o600)
    (home / "c.toml").write_text('[audit]\nfolder = "own"\nkey_file = "own.pem"\n')
    serve(program, home, ["1"], "--config", "c.toml")
    assert belljar("audit", "verify", "--folder", home / "own").code == 0
    assert not list((home / "own").glob("key.pem"))


def test_export_is_a_log_that_can_be_verified_elsewhere(audit, home, log):
    done = audit("export", "exported")
    assert done.code == 0
    assert "nothing was modified" in done.stdout
    assert audit("verify", "--folder", "exported", "--key", log / "key.pub").code == 0
    assert not list((home / "exported").glob("*.pem"))
    done = audit("export", "exported")
    assert done.code == 5
    assert "name a folder that does not exist yet" in done.stderr


def test_openssl_verifies_a_segment(log, tmp_path):
    """The format as docs/audit.md has it, with nothing of ours."""
    lines = (log / "audit-00000001.jsonl").read_bytes().splitlines()
    previous = "0" * 64
    for line in lines:
        body, digest = line.rsplit(b',"hash":"', 1)
        entry = json.loads(line)
        assert entry["previous"] == previous
        previous = hashlib.sha256(body).hexdigest()
        assert digest == f'{previous}"}}'.encode()
    signed = lines[-1].split(b',"signature":')[0]
    signature = base64.b64decode(json.loads(lines[-1])["signature"])
    kind = "application/vnd.belljar.audit-segment"
    assert openssl_verifies(tmp_path, log / "key.pub", kind, signed, signature)
    assert not openssl_verifies(tmp_path, log / "key.pub", kind, signed[:-1], signature)
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", log / "key.pub", "-outform", "DER"],
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    assert json.loads(lines[-1])["key"] == hashlib.sha256(der).hexdigest()


def test_control_characters_do_not_reach_the_terminal(audit, home, program):
    code = "open('/workspace/a\\x1b[2Jb.txt', 'w').write('x')"
    serve(program, home, [code], "--profile", "filesystem")
    for words in (["show"], ["show", "--json"], ["search"]):
        assert b"\x1b" not in audit(*words).out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["show", "--folder", "/nowhere"], 5, "read the audit log in"),
        (["verify", "--folder", "/nowhere"], 5, "read the audit log in"),
        (["search", "--since", "yesterday"], 2, "write a UTC timestamp or a prefix of one"),
        (["search", "--kind", "exec"], 2, "is none of"),
        (["search", "--code", "/nowhere.py"], 2, "/nowhere.py"),
        (["show", "--last", "0"], 2, "--last"),
        (["export"], 2, "DIR"),
        (["verify", "--key", "/nowhere.pub"], 5, "/nowhere.pub"),
        ([], 2, "audit"),
    ],
)
def test_what_cannot_be_done_is_said(audit, words, code, says):
    done = audit(*words)
    assert done.code == code
    assert says in done.stderr
    assert done.stdout == ""


def test_a_second_server_cannot_write_the_same_log(home, program, log):
    first = subprocess.Popen(
        [program, "serve", "--audit"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )
    try:
        assert b'"started"' in first.stderr.readline()
        second = subprocess.run(
            [program, "serve", "--audit"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            env={"HOME": str(home), "PATH": os.environ["PATH"]},
            timeout=60,
        )
        assert second.returncode == 5
        assert "another server is writing to it" in second.stderr
    finally:
        first.communicate(timeout=60)


# --- receipts -------------------------------------------------------------------------------------


@pytest.fixture
def receipt(tmp_path, belljar):
    """Runs `belljar receipt` as a user of their own."""

    def run(*words: str | Path):
        env = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}
        return belljar("receipt", *words, cwd=tmp_path, env=env)

    return run


@pytest.fixture
def made(tmp_path, belljar) -> Path:
    """A receipt of a program that reads its input and writes a file."""
    (tmp_path / "program.py").write_text("print(input())\nopen('a.txt', 'w').write('hello')\n7")
    (tmp_path / "input.txt").write_text("hi\n")
    done = belljar(
        *("run", "program.py", "--stdin", "input.txt", "--profile", "filesystem"),
        *("--receipt", "receipt.json", "--save-artifacts", "made"),
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""},
    )
    assert (done.code, done.stdout) == (0, "hi\n")
    (tmp_path / "output.txt").write_text(done.stdout)
    return tmp_path / "receipt.json"


def test_a_program_with_a_receipt_runs_once(receipt, tmp_path, belljar):
    """Without one it is started over for a module that its text does not name."""
    # sleeps: until what it printed is shown
    code = "import time\nprint(time.time_ns())\ntime.sleep(1)\n__import__('statis' + 'tics')"
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    control = belljar("run", "-c", code, cwd=tmp_path, env=env)
    assert "was restarted" in control.stderr
    assert control.stdout.count("\n") == 2
    done = belljar("run", "--receipt", "receipt.json", "-c", code, cwd=tmp_path, env=env)
    assert (done.code, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    (tmp_path / "output.txt").write_text(done.stdout)
    assert receipt("verify", "receipt.json", "--stdout", "output.txt").code == 0


def test_a_receipt_is_verified_with_what_it_is_about(receipt, made):
    done = receipt(
        *("verify", "receipt.json", "--code", "program.py", "--stdin", "input.txt"),
        *("--stdout", "output.txt", "--artifact", "a.txt=made/a.txt"),
    )
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.endswith("the signature is valid\n")
    assert "isolation  strict, language policy on; observed: " in done.stdout


@pytest.mark.parametrize(
    ("option", "what"),
    [
        ("--code=input.txt", "code"),
        ("--stdin=program.py", "stdin"),
        ("--stdout=program.py", "stdout"),
        ("--artifact=a.txt=program.py", "artifacts/a.txt"),
        ("--artifact=b.txt=program.py", "artifacts/b.txt"),
    ],
)
def test_it_is_not_about_other_files(receipt, made, option, what):
    done = receipt("verify", "receipt.json", option)
    assert done.code == 1
    assert what in done.stdout.splitlines()[-1]
    found = json.loads(receipt("verify", "receipt.json", option, "--json").stdout)
    assert not found["ok"] and len(found["faults"]) == 1


def test_every_byte_of_a_receipt_counts(receipt, made):
    original = made.read_bytes()
    envelope = json.loads(original)
    for at in range(0, len(original) - 1, 97):
        changed = bytearray(original)
        changed[at] ^= 1
        made.write_bytes(changed)
        done = receipt("verify", "receipt.json")
        # The id of a key is a hint that nothing depends on.
        is_hint = at in range(original.index(b'"keyid"'), original.index(b'"sig"'))
        assert done.code == 1 or is_hint, at
    assert envelope["payloadType"] == "application/vnd.in-toto+json"


def test_openssl_verifies_a_receipt(made, tmp_path):
    envelope = json.loads(made.read_text())
    payload = base64.b64decode(envelope["payload"], validate=True)
    (signature,) = envelope["signatures"]
    key = tmp_path / ".local/state/belljar/receipt-key.pub"
    raw = base64.b64decode(signature["sig"], validate=True)
    assert openssl_verifies(tmp_path, key, envelope["payloadType"], payload, raw)
    assert not openssl_verifies(tmp_path, key, "text/plain", payload, raw)
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    digests = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
    assert digests["stdout"] == hashlib.sha256(b"hi\n").hexdigest()
    assert digests["artifacts/a.txt"] == hashlib.sha256(b"hello").hexdigest()
    assert digests["result"] == hashlib.sha256(b"7").hexdigest()
    execution = statement["predicate"]["execution"]
    assert (
        execution["code"]["sha256"]
        == hashlib.sha256((tmp_path / "program.py").read_bytes()).hexdigest()
    )
    assert execution["limits"]["timeout"] > 0
    assert execution["isolation"]["layers"]
    assert "print" not in payload.decode() and "hello" not in payload.decode()


@pytest.mark.parametrize(
    ("code", "exit_code", "status"),
    [
        ("import ctypes", 3, "refused"),
        ("while True: pass", 4, "timeout"),
        ("1 / 0", 1, "exception"),
    ],
)
def test_a_program_that_fails_has_a_receipt_too(
    tmp_path, belljar, receipt, code, exit_code, status
):
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    words = ("run", "-c", code, "--timeout", "0.5", "--receipt", "r.json")
    assert belljar(*words, cwd=tmp_path, env=env).code == exit_code
    done = receipt("verify", "r.json")
    assert done.code == 0
    assert f": {status}" in done.stdout.splitlines()[0]


def test_a_key_of_ones_own(tmp_path, belljar, receipt):
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}
    words = ("run", "-c", "1", "--receipt", "r.json", "--receipt-key", "own.pem")
    assert belljar(*words, cwd=tmp_path, env=env).code == 0
    assert (tmp_path / "own.pem").stat().st_mode & 0o777 == 0o600
    assert receipt("verify", "r.json", "--key", "own.pub").code == 0
    done = receipt("verify", "r.json")
    assert done.code == 2
    assert "name the signer's public key with --key" in done.stderr
    (tmp_path / "own.pem").chmod(0o644)
    done = belljar(*words, cwd=tmp_path, env=env)
    assert done.code == 2
    assert "chmod 600" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "-c", "1", "--receipt-key", "k.pem"], "--receipt-key requires --receipt"),
        (["receipt", "verify"], "FILE"),
        (["receipt"], "receipt"),
    ],
)
def test_usage_errors(tmp_path, belljar, words, says):
    done = belljar(*words, cwd=tmp_path, env={"HOME": str(tmp_path)})
    assert done.code == 2
    assert says in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"payload":1,"payloadType":2,"signatures":3}',
        b'{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[]}',
        b'{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[1,{"sig":2}]}',
        b'{"payload":"' + b"A" * 100_000 + b'","payloadType":"application/vnd.in-toto+json"}',
        b"[" * 100_000,
    ],
    ids=range(9),
)
def test_what_is_no_receipt(receipt, made, text):
    made.write_bytes(text)
    done = receipt("verify", "receipt.json")
    assert (done.code, done.stderr) == (1, "")
    assert json.loads(receipt("verify", "receipt.json", "--json").stdout)["ok"] is False
