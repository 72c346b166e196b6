"""The sandbox environment `belljar` of Inspect: `Task(…, sandbox="belljar")`.

    inspect eval task.py --sandbox belljar

Each sample has a session of its own, in processes that are sealed by the kernel, without Docker."""

from __future__ import annotations

import errno
from typing import Any, Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict

from belljar import SessionClosed
from belljar.adapters._shell import Shell

_USERS = ("sandbox", "65534")


class BelljarConfig(BaseModel):
    """For `SandboxEnvironmentSpec("belljar", BelljarConfig(memory="4g"))`."""

    model_config = ConfigDict(frozen=True)

    memory: int | str | None = None
    """Of all commands of a sample together. None: 1 GiB."""


@sandboxenv(name="belljar")
class BelljarSandboxEnvironment(SandboxEnvironment):
    """One session for commands. Relative paths are below its workspace."""

    @classmethod
    async def sample_init(
        cls, task_name: str, config: Any, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        if config is None:
            config = BelljarConfig()
        if not isinstance(config, BelljarConfig):
            raise ValueError(f"belljar takes no configuration file, but a BelljarConfig: {config}")
        return {"default": cls(await Shell(memory=config.memory).open())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: Any,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for each in environments.values():
            await each.as_type(cls)._shell.close()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        return BelljarConfig.model_validate(config)

    def __init__(self, shell: Shell) -> None:
        super().__init__()
        self._shell = shell

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        if user is not None and user not in _USERS:
            raise SandboxUserUnsupportedError(f"belljar has one user, sandbox, and no {user!r}")
        try:
            ran = await self._shell.run(
                cmd,
                directory=cwd,
                env=env,
                stdin=input,
                timeout=timeout,
                output=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE,
            )
        except SessionClosed as error:
            raise SandboxUnavailableError(str(error)) from error
        if ran.timed_out:
            raise TimeoutError(ran.stderr)
        return ExecResult(ran.code == 0, ran.code, ran.stdout, ran.stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        await self._shell.session.write_file(file, contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        try:
            content = await self._shell.session.read_file(file, most=limit)
        except OSError as error:
            if error.errno == errno.EFBIG:
                limit_text = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
                raise OutputLimitExceededError(limit_text, None) from error
            raise
        return content.decode() if text else content

    def default_polling_interval(self) -> float:
        return 0.2  # nothing is remote
