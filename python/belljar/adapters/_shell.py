"""What the adapters share: a sandbox with one session, and how a command of it went."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from belljar import AsyncSandbox, AsyncSession, BelljarError, SessionClosed
from belljar._options import Size

# Agents set limits of their own, or want none. This is the highest that the language allows.
MOST_SECONDS = 3600
_NOT_STARTED = 127  # as shells say


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended, or could not be started."""

    stdout: str
    stderr: str
    """With a last line that says why, if it was stopped or not started."""
    code: int
    timed_out: bool = False


class Shell:
    """Opens by `await shell.open()`.

    Args:
        memory: Of all commands together. None: 1 GiB.
        folders: Names of folders at the root, which are links into the workspace.
    """

    def __init__(self, *, memory: Size | None = None, folders: Iterable[str] = ()) -> None:
        # /tmp and /workspace are there.
        self._folders = sorted({*folders} - {"tmp", "workspace"})
        self._own = tempfile.TemporaryDirectory(prefix="belljar-")
        language = "shell"
        if self._folders:
            file = Path(self._own.name) / "language.toml"
            file.write_text(_with_links(self._folders))
            language = str(file)
        self._sandbox = AsyncSandbox(language=language, memory=memory)
        self.session: AsyncSession = self._sandbox.session()

    async def open(self) -> Self:
        try:
            await self.session
            if self._folders:
                await self.session.command(["mkdir", "--", *self._folders], check=True)
        except BaseException:
            await self.close()
            raise
        return self

    async def close(self) -> None:
        await self._sandbox.close()
        self._own.cleanup()

    async def run(
        self,
        arguments: str | Iterable[str],
        *,
        directory: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout: float | None = None,
        output: Size = "10m",
        stream: Callable[[str, str], object] | None = None,
    ) -> Ran:
        """Without a timeout: an hour.

        Raises:
            SessionClosed: The session has ended.
        """
        try:
            result = await self.session.command(
                arguments,
                directory=directory or "",
                env=env,
                stdin=stdin,
                output=output,
                stream=stream,
                timeout=MOST_SECONDS if timeout is None else min(timeout, MOST_SECONDS),
                cpu=MOST_SECONDS,
            )
        except SessionClosed:
            raise
        except BelljarError as error:
            return Ran("", f"{error}\n", _NOT_STARTED)
        status = result.status
        if status.state == "lost":
            with contextlib.suppress(BelljarError):
                await self.session.close()
            what = "run a command"
            raise SessionClosed(what, f"{what}: {status.reason}")
        why = "" if status.state == "exited" else f"belljar: {status.reason}\n"
        code = status.exit_code if status.exit_code is not None else 137
        return Ran(result.stdout, result.stderr + why, code, status.state == "timeout")


def _with_links(folders: Iterable[str]) -> str:
    """A language's file, as docs/own-languages.md describes it."""
    paths = "".join(
        f"[[paths]]\npath = {json.dumps(f'/{each}')}\nlink = {json.dumps(f'/workspace/{each}')}\n"
        'why = "programs write there"\n'
        for each in folders
    )
    head = 'schema = 1\nname = "shell-with-folders"\nextends = "shell"\nsummary = "Commands."\n'
    return head + paths
