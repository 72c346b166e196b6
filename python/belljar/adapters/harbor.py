"""An environment of Harbor without Docker: `BelljarEnvironment`.

    harbor run -p TASK --agent oracle --env belljar.adapters.harbor:BelljarEnvironment

A trial has a session for commands, in processes that are sealed by the kernel. No image is built:
what this machine's /usr has is there. Of a Dockerfile WORKDIR, ENV and COPY are followed, and a
task whose Dockerfile installs something is refused, unless `ignore_run` says that this machine has
it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path, PurePosixPath
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import (
    EnvironmentCapabilities,
    EnvironmentResourceCapabilities,
)
from harbor.models.task.config import NetworkMode
from harbor.models.trial.config import ResourceMode

from belljar.adapters._shell import MOST_SECONDS, Shell

# Folders at the root that tasks, agents and Harbor write to: links to the workspace.
_FOLDERS = (
    "app",
    "data",
    "home",
    "installed-agent",
    "logs",
    "mnt",
    "opt",
    "root",
    "runtime",
    "solution",
    "srv",
    "tests",
)
_WITHOUT_EFFECT = (
    "FROM",
    "ARG",
    "CMD",
    "ENTRYPOINT",
    "EXPOSE",
    "LABEL",
    "MAINTAINER",
    "SHELL",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
)


class BelljarEnvironment(BaseEnvironment):
    """For `--env belljar.adapters.harbor:BelljarEnvironment`.

    Args:
        ignore_run: `--ek ignore_run=true`: RUN in a Dockerfile is skipped, instead of refused.
    """

    def __init__(self, *args: Any, ignore_run: bool = False, **kwargs: Any) -> None:
        self._ignore_run = ignore_run
        self._workdir = PurePosixPath("/app")
        self._image_env: dict[str, str] = {}
        self._copies: list[tuple[Path, str]] = []
        self._shell: Shell | None = None
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        return "belljar"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(memory_limit=True)

    # --- the definition ---------------------------------------------------------------------------

    def _validate_definition(self) -> None:
        if (self.environment_dir / "docker-compose.yaml").exists():
            raise ValueError("belljar runs one environment, and no docker-compose.yaml")
        file = self.environment_dir / "Dockerfile"
        if file.exists():
            for line in _instructions(file.read_text()):
                self._follow(line)
        if self.task_env_config.workdir:
            self._workdir = PurePosixPath(self.task_env_config.workdir)
        if self._network_policy.network_mode == NetworkMode.PUBLIC:
            self.logger.warning("belljar: the task may use the internet, and has no network here")

    def _follow(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        match name.upper():
            case "WORKDIR":
                self._workdir /= rest.strip("\"'")
            case "ENV" if "=" in rest:
                self._image_env |= dict(each.split("=", 1) for each in shlex.split(rest))
            case "COPY" | "ADD" if not rest.startswith("--"):
                *sources, target = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
                for source in sources:
                    self._copy(source, target, is_folder=len(sources) > 1)
            case "RUN" if self._ignore_run:
                self.logger.warning(f"belljar: not run: {line}")
            case known if known in _WITHOUT_EFFECT:
                pass
            case _:
                raise ValueError(
                    f"{self.environment_dir / 'Dockerfile'}: belljar builds no image and cannot "
                    f"follow: {line}\nIf this machine has what it installs: --ek ignore_run=true"
                )

    def _copy(self, source: str, target: str, *, is_folder: bool) -> None:
        root = self.environment_dir.resolve()
        path = (root / source).resolve()
        if not path.is_relative_to(root) or not path.exists():
            raise ValueError(f"COPY {source}: there is no such file in {root}")
        to = self._workdir / target
        if path.is_file() and (is_folder or target == "." or target.endswith("/")):
            to /= path.name
        self._copies.append((path, str(to)))

    # --- its life ---------------------------------------------------------------------------------

    async def start(self, force_build: bool) -> None:
        named = [self._workdir, *(PurePosixPath(target) for _, target in self._copies)]
        tops = {path.parts[1] for path in named if len(path.parts) > 1}
        memory = self._resource_limit_value("memory", auto_mode=ResourceMode.LIMIT)
        self._shell = await Shell(
            memory=None if memory is None else f"{memory}m", folders={*_FOLDERS, *tops}
        ).open()
        await self._shell.session.command(["mkdir", "-p", str(self._workdir)], check=True)
        for source, target in self._copies:
            await self._opened().session.upload(source, target)
        await self.ensure_dirs(self._mount_targets(writable_only=True))
        await self._upload_environment_dir_after_start()

    async def stop(self, delete: bool) -> None:
        shell, self._shell = self._shell, None
        if shell is not None:
            await shell.close()

    def _opened(self) -> Shell:
        if self._shell is None:
            raise RuntimeError("the environment was not started, or has been stopped")
        return self._shell

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """There is one user, whoever is asked for."""
        directory = cwd or str(self._workdir)
        ran = await self._opened().run(
            ["/bin/bash", "-c", command],
            directory=directory,
            # PWD, or shells would name the folder that the link leads to.
            env={"PWD": directory, **self._image_env, **(self._merge_env(env) or {})},
            timeout=timeout_sec,
        )
        if ran.timed_out:
            raise RuntimeError(f"Command timed out after {timeout_sec or MOST_SECONDS} seconds")
        if (emit := self._output_callback()) is not None:
            await emit(ran.stdout, "stdout")
            await emit(ran.stderr, "stderr")
        return ExecResult(stdout=ran.stdout, stderr=ran.stderr, return_code=ran.code)

    # --- files ------------------------------------------------------------------------------------

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self._opened().session.upload(source_path, target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self._opened().session.upload(source_dir, target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._opened().session.download(source_path, target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        left_out = await self._opened().session.download(source_dir, target_dir)
        if left_out:
            self.logger.warning(f"belljar: links and special files are left out: {left_out[:10]}")

    # The folders at the root are links, which are not removed.

    def _reset_dirs_command(
        self, *, remove_dirs: Any, create_dirs: Any, chmod_dirs: Any = None
    ) -> str:
        return str(self._empty_dirs_command([*remove_dirs, *create_dirs], chmod=False))

    def _empty_dirs_command(self, dirs: Any, *, chmod: bool = True) -> str:
        paths = [shlex.quote(f"{path}/") for path in dirs]
        return " && ".join(f"mkdir -p {path} && find {path} -mindepth 1 -delete" for path in paths)


def _instructions(text: str) -> list[str]:
    """Those of a Dockerfile, each in one line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip()]
