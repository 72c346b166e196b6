"""A deployment of SWE-ReX, the runtime of SWE-agent, in a session for commands.

    deployment = BelljarDeployment()
    await deployment.start()
    await deployment.runtime.create_session(CreateBashSessionRequest())

Its shells are in terminals, as those of SWE-ReX's own runtimes are, in processes that are sealed by
the kernel."""

from __future__ import annotations

import asyncio
import codecs
import logging
import re
import secrets
from pathlib import Path
from typing import Any

from swerex.deployment.abstract import AbstractDeployment
from swerex.deployment.hooks.abstract import CombinedDeploymentHook, DeploymentHook
from swerex.exceptions import (
    BashIncorrectSyntaxError,
    CommandTimeoutError,
    DeploymentNotStartedError,
    NonZeroExitCodeError,
    SessionDoesNotExistError,
    SessionExistsError,
)
from swerex.runtime.abstract import (
    AbstractRuntime,
    BashAction,
    BashInterruptAction,
    BashObservation,
    CloseBashSessionResponse,
    CloseResponse,
    CloseSessionRequest,
    Command,
    CommandResponse,
    CreateBashSessionRequest,
    CreateBashSessionResponse,
    IsAliveResponse,
    ReadFileRequest,
    ReadFileResponse,
    UploadRequest,
    UploadResponse,
    WriteFileRequest,
    WriteFileResponse,
)
from swerex.utils.log import get_logger

from belljar._options import Size
from belljar.adapters._shell import Shell

_BASH = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"]
_OUTPUT = "4m"  # that may be waiting to be read
_MOST = 4 << 20  # characters of one answer: the end of it
_NEAR = 1 << 16  # characters that an expected text, or a prompt, may stretch over
_TERMINAL = (200, 50)
_STARTUP = 30.0  # seconds, at least: `startup_timeout` of a request is a second
_ESCAPES = re.compile(r"\x1B[@-_][0-?]*[ -/]*[@-~]")


class _Ended(Exception):
    """The shell has ended."""


class _BashSession:
    """A Bash in a terminal. Its prompt tells where the output of a line ends, and with which exit
    code."""

    def __init__(self, shell: Shell, name: str) -> None:
        self._shell = shell
        self._name = name
        word = secrets.token_hex(16)
        # Written such that echoing the line that sets it does not look like it.
        self._prompt = f"{word[:16]}''{word[16:]}"
        self._at_prompt = f"{word}:([0-9]{{1,3}}):"
        self._end = 0
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    async def start(self, request: CreateBashSessionRequest) -> str:
        self._bash = await self._shell.session.spawn(_BASH, terminal=_TERMINAL, output=_OUTPUT)
        first = f"stty -echo -onlcr; PS2= PS0= PROMPT_COMMAND= PS1={self._prompt}:'$?': HISTFILE=\n"
        await self._bash.write(first)
        timeout = max(request.startup_timeout, _STARTUP)
        await self._until([], timeout, first)
        self._pid = int((await self.line("echo $$", [], timeout))[0])
        output = ""
        for path in request.startup_source:
            output += (await self.line(f"source {path}", [], timeout))[0]
        return output

    async def run(self, action: BashAction) -> BashObservation:
        if action.is_interactive_command or action.is_interactive_quit:
            output, expected, _ = await self.line(action.command, action.expect, action.timeout)
            output = output.lstrip().removeprefix(action.command).strip()
            return BashObservation(output=output, exit_code=0, expect_string=expected)
        await self._check_syntax(action.command)
        # From a file, so that its lines are neither read by what it starts nor prompted for.
        file = f"/tmp/.swerex-{secrets.token_hex(8)}"
        await self._shell.session.write_file(file, action.command + "\n")
        output, expected, code = await self.line(
            f"source {file}", action.expect, action.timeout, action.command
        )
        if action.check == "ignore":
            code = None
        elif action.check == "raise" and code != 0:
            _raise_for(action.error_msg, action.command, code, output)
        return BashObservation(output=output, exit_code=code, expect_string=expected)

    async def line(
        self, text: str, expect: list[str], timeout: float | None, shown: str | None = None
    ) -> tuple[str, str, int | None]:
        """Types a line. Returns output, what of `expect` came, and the exit code."""
        await self._bash.write(text + "\n")
        return await self._until(expect, timeout, text if shown is None else shown)

    async def _until(
        self, expect: list[str], timeout: float | None, what: str
    ) -> tuple[str, str, int | None]:
        patterns = {each: re.compile(each) for each in [*expect, self._at_prompt]}
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        searched = 0
        while True:
            # As in pexpect: the one that is first in the text.
            begin = max(0, searched - _NEAR)
            found = [(each, it.search(self._rest, begin)) for each, it in patterns.items()]
            searched = len(self._rest)
            matches = [(match.start(), each, match) for each, match in found if match]
            if matches:
                _, pattern, match = min(matches, key=lambda each: each[0])
                output, self._rest = self._rest[: match.start()], self._rest[match.end() :]
                is_prompt = pattern == self._at_prompt
                code = int(match[1]) & 255 if is_prompt else None
                return _plain(output), "" if is_prompt else pattern, code
            left = None if end is None else max(0.001, end - loop.time())
            try:
                piece = await self._bash.read(self._end, timeout=left)
            except TimeoutError:
                raise CommandTimeoutError(
                    f"timeout after {timeout} seconds while running command {what!r}"
                ) from None
            self._end = piece.end
            self._rest += self._decoder.decode(piece.content, piece.last)
            if (over := len(self._rest) - _MOST) > 0:
                self._rest = self._rest[over:]
                searched = max(0, searched - over)
            if piece.last and not re.search(self._at_prompt, self._rest):
                raise _Ended(self._bash.status.reason or f"{what!r} has ended it")

    async def interrupt(self, action: BashInterruptAction) -> BashObservation:
        for attempt in range(action.n_retry + 1):
            if attempt < action.n_retry:
                await self._bash.write("\x03")
            else:
                # It ignores that.
                await self._shell.run(["pkill", "-KILL", "-P", str(self._pid)])
            try:
                timeout = max(action.timeout, 0.2)
                output, expected, _ = await self._until(action.expect, timeout, "an interrupt")
                # Each interrupt may bring a prompt. The next line's is not to be taken for it.
                word = secrets.token_hex(16)
                await self.line(f"echo {word}", [word], _STARTUP)
                await self._until([], _STARTUP, "an interrupt")
            except CommandTimeoutError:
                continue
            return BashObservation(output=output.strip(), exit_code=0, expect_string=expected)
        raise CommandTimeoutError(f"session {self._name!r} could not be interrupted")

    async def _check_syntax(self, command: str) -> None:
        checked = await self._shell.run(["/bin/bash", "-n"], stdin=command + "\n")
        if checked.code != 0:
            raise BashIncorrectSyntaxError(
                f"Error (exit code {checked.code}) while checking bash command \n{command!r}\n"
                f"---- Stderr ----\n{checked.stderr}\n---- Stdout ----\n{checked.stdout}",
                extra_info={"bash_stdout": checked.stdout, "bash_stderr": checked.stderr},
            )

    def close(self) -> None:
        self._bash.kill()


class BelljarRuntime(AbstractRuntime):
    """What `BelljarDeployment.runtime` is."""

    def __init__(self, shell: Shell, logger: logging.Logger) -> None:
        self._shell = shell
        self.logger = logger
        self._sessions: dict[str, _BashSession] = {}

    async def is_alive(self, *, timeout: float | None = None) -> IsAliveResponse:
        why = self._shell.session.closed
        return IsAliveResponse(is_alive=why is None, message=why or "")

    async def create_session(self, request: CreateBashSessionRequest) -> CreateBashSessionResponse:
        if request.session in self._sessions:
            raise SessionExistsError(f"session {request.session} already exists")
        made = self._sessions[request.session] = _BashSession(self._shell, request.session)
        try:
            return CreateBashSessionResponse(output=await made.start(request))
        except BaseException:
            del self._sessions[request.session]
            raise

    async def run_in_session(self, action: BashAction | BashInterruptAction) -> BashObservation:
        session = self._session(action.session)
        try:
            if isinstance(action, BashInterruptAction):
                return await session.interrupt(action)
            return await session.run(action)
        except (_Ended, BrokenPipeError) as error:
            self._sessions.pop(action.session, None)
            raise SessionDoesNotExistError(
                f"session {action.session!r} has ended: {error}"
            ) from error

    async def close_session(self, request: CloseSessionRequest) -> CloseBashSessionResponse:
        self._session(request.session).close()
        del self._sessions[request.session]
        return CloseBashSessionResponse()

    def _session(self, name: str) -> _BashSession:
        if name not in self._sessions:
            raise SessionDoesNotExistError(f"session {name!r} does not exist")
        return self._sessions[name]

    async def execute(self, command: Command) -> CommandResponse:
        given = command.command
        words = ["/bin/sh", "-c", given] if command.shell and isinstance(given, str) else given
        if isinstance(words, str):
            words = [words]
        if command.merge_output_streams:
            words = ["/bin/bash", "-c", 'exec "$@" 2>&1', "bash", *words]
        ran = await self._shell.run(
            words, directory=command.cwd, env=command.env, timeout=command.timeout
        )
        if ran.timed_out:
            raise CommandTimeoutError(
                f"Timeout ({command.timeout}s) exceeded while running command"
            )
        if command.check and ran.code != 0:
            _raise_for(command.error_msg, given, ran.code, ran.stdout + ran.stderr)
        return CommandResponse(stdout=ran.stdout, stderr=ran.stderr, exit_code=ran.code)

    async def read_file(self, request: ReadFileRequest) -> ReadFileResponse:
        content = await self._shell.session.read_file(request.path)
        text = content.decode(request.encoding or "utf-8", request.errors or "strict")
        return ReadFileResponse(content=text)

    async def write_file(self, request: WriteFileRequest) -> WriteFileResponse:
        await self._shell.session.write_file(request.path, request.content)
        return WriteFileResponse()

    async def upload(self, request: UploadRequest) -> UploadResponse:
        source = Path(request.source_path)
        try:
            await self._shell.session.upload(source, request.target_path)
        except IsADirectoryError:
            await self._shell.session.upload(source, f"{request.target_path}/{source.name}")
        return UploadResponse()

    async def close(self) -> CloseResponse:
        self._sessions.clear()
        await self._shell.close()
        return CloseResponse()


class BelljarDeployment(AbstractDeployment):
    """For `SWEEnv(deployment=BelljarDeployment(), …)`.

    Args:
        memory: Of all commands together. None: 1 GiB.
    """

    def __init__(self, *, memory: Size | None = None, logger: logging.Logger | None = None) -> None:
        self.logger = logger or get_logger("rex-deploy")
        self._memory = memory
        self._hooks = CombinedDeploymentHook()
        self._runtime: BelljarRuntime | None = None

    def add_hook(self, hook: DeploymentHook) -> None:
        self._hooks.add_hook(hook)

    async def is_alive(self, *, timeout: float | None = None) -> IsAliveResponse:
        if self._runtime is None:
            return IsAliveResponse(is_alive=False, message="it was not started")
        return await self._runtime.is_alive(timeout=timeout)

    async def start(self, *args: Any, **kwargs: Any) -> None:
        if self._runtime is None:
            self._hooks.on_custom_step("Opening a session")
            self._runtime = BelljarRuntime(await Shell(memory=self._memory).open(), self.logger)

    async def stop(self, *args: Any, **kwargs: Any) -> None:
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            await runtime.close()

    @property
    def runtime(self) -> BelljarRuntime:
        if self._runtime is None:
            raise DeploymentNotStartedError
        return self._runtime


def _plain(text: str) -> str:
    return _ESCAPES.sub("", text).replace("\r\n", "\n")


def _raise_for(message: str, command: object, code: int | None, output: str) -> None:
    text = f"Command {command!r} failed with exit code {code}. Here is the output:\n{output!r}"
    raise NonZeroExitCodeError(f"{message}: {text}" if message else text)
