"""belljar.adapters.swerex: what SWE-ReX's own tests ask of a runtime."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from belljar.adapters.swerex import BelljarDeployment
from swerex.exceptions import (
    BashIncorrectSyntaxError,
    CommandTimeoutError,
    DeploymentNotStartedError,
    NonZeroExitCodeError,
    SessionDoesNotExistError,
    SessionExistsError,
)
from swerex.runtime.abstract import (
    BashAction,
    BashInterruptAction,
    CloseBashSessionRequest,
    Command,
    CreateBashSessionRequest,
    ReadFileRequest,
    UploadRequest,
    WriteFileRequest,
)


@asynccontextmanager
async def runtime():
    deployment = BelljarDeployment()
    await deployment.start()
    try:
        yield deployment.runtime
    finally:
        await deployment.stop()


@asynccontextmanager
async def shell():
    async with runtime() as it:
        await it.create_session(CreateBashSessionRequest())

        async def run(command, **options):
            return await it.run_in_session(BashAction(command=command, **options))

        yield it, run


def in_shell(test):
    """Runs a coroutine function with a runtime that has a shell, and what runs a line in it."""

    def call():
        async def main():
            async with shell() as (it, run):
                await test(it, run)

        asyncio.run(main())

    call.__name__ = test.__name__
    return call


def test_a_deployment_starts_and_stops():
    async def main():
        deployment = BelljarDeployment(memory="256m")
        with pytest.raises(DeploymentNotStartedError):
            _ = deployment.runtime
        assert not await deployment.is_alive()
        await deployment.start()
        assert await deployment.is_alive()
        await deployment.stop()
        assert not await deployment.is_alive()

    asyncio.run(main())


@in_shell
async def test_a_shell_keeps_its_state(it, run):
    await run("cd /tmp && export GREETING=hello && f() { echo f $1; }")
    seen = await run("pwd; echo $GREETING; f 2")
    assert (seen.output, seen.exit_code) == ("/tmp\nhello\nf 2\n", 0)
    assert (await run("echo one\necho two")).output == "one\ntwo\n"
    assert (await run("cat <<'END'\n$HOME `x`\nEND\n")).output == "$HOME `x`\n"
    assert (await run("printf 'no end'")).output == "no end"
    assert (await run("")).output == ""
    long = (await run("head -c 6000000 /dev/zero | tr '\\0' x; echo end")).output
    assert long.endswith("xend\n") and set(long[:-4]) == {"x"} and len(long) < 5_000_000


@in_shell
async def test_exit_codes(it, run):
    with pytest.raises(NonZeroExitCodeError, match="while listing: .*exit code 2"):
        await run("ls /nothing", error_msg="while listing")
    assert (await run("(exit 7)", check="silent")).exit_code == 7
    assert (await run("(exit 7)", check="ignore")).exit_code is None
    with pytest.raises(BashIncorrectSyntaxError, match="unexpected EOF"):
        await run("echo 'open")
    assert (await run("true")).exit_code == 0


@in_shell
async def test_a_command_that_takes_too_long_is_interrupted(it, run):
    with pytest.raises(CommandTimeoutError):
        await run("echo begun; sleep 1000", timeout=0.3)
    seen = await it.run_in_session(BashInterruptAction(timeout=5))
    assert seen.exit_code == 0
    assert (await run("echo after")).output == "after\n"


@in_shell
async def test_one_that_ignores_interrupts_is_killed(it, run):
    with pytest.raises(CommandTimeoutError):
        await run("bash -c 'trap \"\" INT TSTP; while :; do sleep 0.1; done'", timeout=0.5)
    await it.run_in_session(BashInterruptAction(timeout=1, n_retry=1))
    assert (await run("echo after")).output == "after\n"


@in_shell
async def test_interactive_programs(it, run):
    seen = await run("python3 -q", is_interactive_command=True, expect=[">>> "])
    assert seen.expect_string == ">>> "
    seen = await run("6 * 7", is_interactive_command=True, expect=[">>> "])
    assert "42" in seen.output
    await run("quit()", is_interactive_quit=True)
    assert (await run("echo back")).output == "back\n"


@in_shell
async def test_shells_have_names_and_ends(it, run):
    with pytest.raises(SessionExistsError):
        await it.create_session(CreateBashSessionRequest())
    await it.write_file(WriteFileRequest(path="/tmp/rc", content="X=sourced; echo hi\n"))
    made = await it.create_session(
        CreateBashSessionRequest(session="other", startup_source=["/tmp/rc"])
    )
    assert made.output == "hi\n"
    seen = await it.run_in_session(BashAction(command="echo $X", session="other"))
    assert seen.output == "sourced\n"
    await it.close_session(CloseBashSessionRequest(session="other"))
    for session in ("other", "default"):
        with pytest.raises(SessionDoesNotExistError):
            await it.run_in_session(BashAction(command="exit", session=session, check="ignore"))
    await it.create_session(CreateBashSessionRequest())
    assert (await run("echo new")).output == "new\n"


def test_commands():
    async def main():
        async with runtime() as it:
            done = await it.execute(Command(command=["printf", "%s", "a b"]))
            assert (done.stdout, done.exit_code) == ("a b", 0)
            done = await it.execute(
                Command(
                    command="echo $A; pwd; echo err >&2; exit 3",
                    shell=True,
                    env={"A": "x"},
                    cwd="/tmp",
                    merge_output_streams=True,
                )
            )
            assert (done.stdout, done.stderr, done.exit_code) == ("x\n/tmp\nerr\n", "", 3)
            with pytest.raises(NonZeroExitCodeError, match="why"):
                await it.execute(Command(command=["false"], check=True, error_msg="why"))
            with pytest.raises(CommandTimeoutError):
                await it.execute(Command(command=["sleep", "1000"], timeout=0.3))
            assert (await it.execute(Command(command="nothing-like-it"))).exit_code == 127

    asyncio.run(main())


def test_files(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.txt").write_text("c")
    (tmp_path / "tool").write_text("#!/bin/sh\necho tool\n")

    async def main():
        async with runtime() as it:
            await it.write_file(WriteFileRequest(path="/tmp/new/x.txt", content="é"))
            read = await it.read_file(ReadFileRequest(path="/tmp/new/x.txt"))
            assert read.content == "é"
            read = await it.read_file(
                ReadFileRequest(path="/tmp/new/x.txt", encoding="ascii", errors="replace")
            )
            assert read.content == "\ufffd\ufffd"
            with pytest.raises(FileNotFoundError):
                await it.read_file(ReadFileRequest(path="/etc/passwd"))
            for source, target in (("a", "/workspace/copy"), ("tool", "/workspace")):
                request = UploadRequest(source_path=str(tmp_path / source), target_path=target)
                await it.upload(request)
            found = await it.execute(Command(command="find . -type f | sort", shell=True))
            assert found.stdout == "./copy/b/c.txt\n./tool\n"

    asyncio.run(main())
