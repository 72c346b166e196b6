"""An exec-server for OpenAI's Codex, over stdio: its commands and files are those of a session.

    # ~/.codex/environments.toml
    default = "belljar"
    include_local = false
    [[environments]]
    id = "belljar"
    program = "python3"
    args = ["-m", "belljar.adapters.codex", "/home/me/project"]

    codex --sandbox danger-full-access -C /home/me/project

The folder is copied into a session, at the path that it has here; with `--write-back` its files are
copied out again after each command and each change. One JSON object a line, as `codex exec-server
--listen stdio` has them."""

from __future__ import annotations

import argparse
import asyncio
import base64
import errno
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from belljar import AsyncCommand, AsyncSession, BelljarError
from belljar.adapters._shell import Shell

_INVALID_REQUEST, _NO_SUCH_METHOD, _INVALID_PARAMS, _FAILED = -32600, -32601, -32602, -32603
_NOT_FOUND = -32004
_KEPT = 1 << 20  # bytes of a process that can still be read
_MAX_LINE = 64 << 20
_MAX_CHUNKS = 4096
_MAX_PROCESSES = 256
_MOST_BACK = "1g"  # the size of a workspace

Params = dict[str, Any]


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class _Process:
    command: AsyncCommand
    has_terminal: bool
    chunks: deque[tuple[int, str, bytes]] = field(default_factory=deque)
    size: int = 0
    seq: int = 0
    exit_code: int | None = None
    failure: str | None = None
    closed: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def add(self, stream: str, content: bytes) -> int:
        self.seq += 1
        self.chunks.append((self.seq, stream, content))
        self.size += len(content)
        while self.size > _KEPT or len(self.chunks) > _MAX_CHUNKS:
            self.size -= len(self.chunks.popleft()[2])
        return self.seq


class ExecServer:
    """Answers one client. `send` gets what is to be written, without its line end. `changed` is
    called when files may have changed, before the client hears of it."""

    def __init__(
        self,
        session: AsyncSession,
        send: Callable[[str], Awaitable[None]],
        changed: Callable[[], Awaitable[None]],
        directory: str,
    ) -> None:
        self._session = session
        self._send = send
        self._changed = changed
        self._directory = directory
        self._processes: dict[str, _Process] = {}
        self._files: dict[str, bytes] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._methods: dict[str, Callable[[Params], Awaitable[Any]]] = {
            "initialize": self._initialize,
            "environment/info": self._info,
            "environment/status": self._status,
            "environmentConfig/read": self._config,
            "process/start": self._start,
            "process/read": self._read,
            "process/write": self._write,
            "process/signal": self._signal,
            "process/terminate": self._terminate,
            "fs/getMetadata": self._metadata,
            "fs/canonicalize": self._canonicalize,
            "fs/readFile": self._read_file,
            "fs/writeFile": self._write_file,
            "fs/open": self._open_file,
            "fs/readBlock": self._read_block,
            "fs/close": self._close_file,
            "fs/createDirectory": self._create_directory,
            "fs/readDirectory": self._read_directory,
            "fs/remove": self._remove,
            "fs/copy": self._copy,
        }

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Until the client ends. Requests are answered as soon as they can be, in any order."""
        while line := await reader.readline():
            self._spawn(self._answer(line))
        for task in list(self._tasks):
            task.cancel()

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            method, params = message["method"], message.get("params") or {}
        except (ValueError, KeyError, TypeError):
            return await self._error(-1, _INVALID_REQUEST, "not a request")
        if "id" not in message:
            return
        try:
            result = await self._call(method, params)
        except _Refused as error:
            await self._error(message["id"], error.code, str(error))
        except FileNotFoundError as error:
            await self._error(message["id"], _NOT_FOUND, str(error))
        except (OSError, BelljarError, ValueError) as error:
            await self._error(message["id"], _FAILED, str(error))
        except (KeyError, TypeError) as error:
            await self._error(message["id"], _INVALID_PARAMS, f"{method}: {error!r}")
        else:
            await self._send(json.dumps({"id": message["id"], "result": result}))

    async def _call(self, method: str, params: Params) -> Any:
        if method not in self._methods:
            raise _Refused(_NO_SUCH_METHOD, f"belljar does not implement `{method}`")
        if params.get("sandbox") or params.get("enforceManagedNetwork"):
            raise _Refused(
                _INVALID_REQUEST,
                "belljar's session is the sandbox, and has no other in it: run codex with "
                "--sandbox danger-full-access",
            )
        result = await self._methods[method](params)
        if method in ("fs/writeFile", "fs/createDirectory", "fs/remove", "fs/copy"):
            await self._changed()
        return result

    async def _error(self, identity: Any, code: int, message: str) -> None:
        await self._send(json.dumps({"id": identity, "error": {"code": code, "message": message}}))

    async def _notify(self, method: str, **params: Any) -> None:
        await self._send(json.dumps({"method": method, "params": params}))

    # --- the environment --------------------------------------------------------------------------

    async def _initialize(self, params: Params) -> Any:
        return {"sessionId": self._session.id, "environmentInfo": await self._info(params)}

    async def _info(self, params: Params) -> Any:
        return {
            "shell": {"name": "bash", "path": "/bin/bash"},
            "executorVersion": "belljar",
            "cwd": _uri(self._directory),
            "userHomeDir": _uri("/workspace"),
            "platformOs": "linux",
            "prependPathDirs": [],
            "temporaryDirectories": [],
            "tempDir": _uri("/tmp"),
            "capabilities": {},
        }

    async def _status(self, params: Params) -> Any:
        return {"status": "ready"}

    async def _config(self, params: Params) -> Any:
        nothing = {"layers": [], "cloudInsertionIndex": 0}
        return {
            "userHomeDir": _uri("/workspace"),
            "codexHomeDir": _uri("/workspace/.codex"),
            "hostname": "belljar",
            "config": nothing,
            "requirements": nothing,
        }

    # --- processes --------------------------------------------------------------------------------

    async def _start(self, params: Params) -> Any:
        name = params["processId"]
        if name in self._processes:
            raise _Refused(_INVALID_REQUEST, f"process {name} already exists")
        environment = {**((params.get("envPolicy") or {}).get("set") or {}), **params["env"]}
        terminal = params["tty"]
        is_open = terminal or params.get("pipeStdin")
        command = await self._session.spawn(
            params["argv"],
            directory=_path(params["cwd"]),
            env=environment,
            terminal=terminal,
            stdin=None if is_open else "",
        )
        for each in [key for key, old in self._processes.items() if old.closed][:-_MAX_PROCESSES]:
            del self._processes[each]
        process = self._processes[name] = _Process(command, terminal)
        self._spawn(self._follow(name, process))
        return {"processId": name, "sandboxType": "none"}

    async def _follow(self, name: str, process: _Process) -> None:
        streams: list[Literal["stdout", "stderr"]] = ["stdout", "stderr"]
        code, failure = None, None
        try:
            await asyncio.gather(*(self._follow_stream(name, process, each) for each in streams))
            status = await process.command.wait()
            code = status.exit_code
            failure = None if status.state == "exited" else status.reason
            await self._changed()
        except BelljarError as error:
            failure = str(error)
        async with process.changed:
            process.exit_code = 137 if code is None else code
            process.failure = failure
            process.closed = True
            process.seq += 2
            process.changed.notify_all()
        await self._notify(
            "process/exited",
            processId=name,
            seq=process.seq - 1,
            exitCode=process.exit_code,
            sandboxDenied=False,
        )
        await self._notify("process/closed", processId=name, seq=process.seq)

    async def _follow_stream(
        self, name: str, process: _Process, stream: Literal["stdout", "stderr"]
    ) -> None:
        end, last = 0, False
        shown = "pty" if process.has_terminal else stream
        while not last:
            piece = await process.command.read(end, stream=stream)
            end, last = piece.end, piece.last
            if piece.content:
                async with process.changed:
                    seq = process.add(shown, piece.content)
                    process.changed.notify_all()
                await self._notify(
                    "process/output",
                    processId=name,
                    seq=seq,
                    stream=shown,
                    chunk=_text(piece.content),
                )

    async def _read(self, params: Params) -> Any:
        process = self._process(params)
        after, most = params.get("afterSeq") or 0, params.get("maxBytes") or _KEPT

        def is_new() -> bool:
            return process.closed or (bool(process.chunks) and process.chunks[-1][0] > after)

        try:
            async with asyncio.timeout((params.get("waitMs") or 0) / 1000), process.changed:
                await process.changed.wait_for(is_new)
        except TimeoutError:
            pass
        chunks: list[Params] = []
        size, upto = 0, after
        for seq, stream, content in process.chunks:
            if seq > after and (not chunks or size + len(content) <= most):
                chunks.append({"seq": seq, "stream": stream, "chunk": _text(content)})
                size, upto = size + len(content), seq
        return {
            "chunks": chunks,
            "nextSeq": upto + 1,
            "exited": process.closed,
            "exitCode": process.exit_code,
            "closed": process.closed,
            "failure": process.failure,
            "sandboxDenied": False,
        }

    async def _write(self, params: Params) -> Any:
        if params["processId"] not in self._processes:
            return {"status": "unknownProcess"}
        try:
            await self._process(params).command.write(_bytes(params["chunk"]))
        except BrokenPipeError:
            return {"status": "stdinClosed"}
        return {"status": "accepted"}

    async def _signal(self, params: Params) -> Any:
        if params["signal"] != "interrupt":
            raise _Refused(_INVALID_PARAMS, f"signal {params['signal']!r} is not known")
        self._process(params).command.signal(signal.SIGINT)
        return {}

    async def _terminate(self, params: Params) -> Any:
        process = self._processes.get(params["processId"])
        running = process is not None and not process.closed
        if process is not None and running:
            process.command.kill()
        return {"running": running}

    def _process(self, params: Params) -> _Process:
        name = params["processId"]
        if name not in self._processes:
            raise _Refused(_INVALID_REQUEST, f"unknown process id {name}")
        return self._processes[name]

    # --- files ------------------------------------------------------------------------------------

    async def _run(self, script: str, *words: str) -> bytes:
        """A line of Bash, which ends with the number of an error where it knows it."""
        result = await self._session.command(["/bin/bash", "-c", script, "belljar", *words])
        if not result.ok:
            code = result.exit_code if result.exit_code == errno.ENOENT else errno.EIO
            why = result.stderr.strip().rpartition("\n")[2] or os.strerror(code or errno.EIO)
            raise OSError(code, why, words[0])
        return result.stdout_bytes

    async def _metadata(self, params: Params) -> Any:
        script = f"""
[ -e "$1" ] || [ -L "$1" ] || exit {errno.ENOENT}
[ -L "$1" ] && echo link || echo -
[ -d "$1" ] && echo folder || {{ [ -f "$1" ] && echo file || echo -; }}
exec stat -L -c '%s %Y' -- "$1"
"""
        link, kind, size, modified = (await self._run(script, _path(params["path"]))).split()
        return {
            "isDirectory": kind == b"folder",
            "isFile": kind == b"file",
            "isSymlink": link == b"link",
            "size": int(size),
            "createdAtMs": 0,
            "modifiedAtMs": int(modified) * 1000,
        }

    async def _canonicalize(self, params: Params) -> Any:
        script = f'[ -e "$1" ] || exit {errno.ENOENT}; exec realpath -z -- "$1"'
        path = await self._run(script, _path(params["path"]))
        return {"path": _uri(os.fsdecode(path.rstrip(b"\0")))}

    async def _read_file(self, params: Params) -> Any:
        return {"dataBase64": _text(await self._session.read_file(_path(params["path"])))}

    async def _write_file(self, params: Params) -> Any:
        await self._session.write_file(_path(params["path"]), _bytes(params["dataBase64"]))
        return {}

    async def _open_file(self, params: Params) -> Any:
        handle = params["handleId"]
        if len(self._files) >= _MAX_PROCESSES:
            raise _Refused(_INVALID_REQUEST, f"{_MAX_PROCESSES} files are open; close some")
        self._files[handle] = await self._session.read_file(_path(params["path"]))
        return {"handleId": handle}

    async def _read_block(self, params: Params) -> Any:
        content, begin = self._files[params["handleId"]], params["offset"]
        piece = content[begin : begin + params["len"]]
        return {"chunk": _text(piece), "eof": begin + len(piece) >= len(content)}

    async def _close_file(self, params: Params) -> Any:
        self._files.pop(params["handleId"], None)
        return {}

    async def _create_directory(self, params: Params) -> Any:
        option = ["-p"] if params.get("recursive", True) else []
        await self._run('exec mkdir "${@:2}" -- "$1"', _path(params["path"]), *option)
        return {}

    async def _read_directory(self, params: Params) -> Any:
        script = f"""
[ -e "$1" ] || exit {errno.ENOENT}
cd -- "$1" && exec find . -mindepth 1 -maxdepth 1 -printf '%f\\0%Y\\0'
"""
        names = (await self._run(script, _path(params["path"]))).split(b"\0")
        return {
            "entries": [
                {
                    "fileName": name.decode("utf-8", "replace"),
                    "isDirectory": kind == b"d",
                    "isFile": kind == b"f",
                }
                for name, kind in zip(names[::2], names[1::2], strict=False)
            ]
        }

    async def _remove(self, params: Params) -> Any:
        options = ["-r"] if params.get("recursive", True) else ["-d"]
        if params.get("force", True):
            options.append("-f")
        script = f"""
[ -e "$1" ] || [ -L "$1" ] || [[ " $* " == *" -f "* ]] || exit {errno.ENOENT}
exec rm "${{@:2}}" -- "$1"
"""
        await self._run(script, _path(params["path"]), *options)
        return {}

    async def _copy(self, params: Params) -> Any:
        option = ["-r"] if params.get("recursive") else []
        script = f'[ -e "$1" ] || exit {errno.ENOENT}; exec cp "${{@:3}}" -T -- "$1" "$2"'
        source, target = _path(params["sourcePath"]), _path(params["destinationPath"])
        await self._run(script, source, target, *option)
        return {}


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise _Refused(_INVALID_PARAMS, f"{uri!r} is not a file URI of this environment")
    return unquote(parts.path, errors="surrogateescape")


def _uri(path: str) -> str:
    return "file://" + quote(path, errors="surrogateescape")


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


# --- the program ----------------------------------------------------------------------------------


async def _serve(folder: Path | None, write_back: bool, memory: str | None) -> None:
    directory = "/workspace" if folder is None else str(folder)
    shell = await Shell(memory=memory, folders=[] if folder is None else [folder.parts[1]]).open()
    try:
        if folder is not None:
            await shell.session.upload(folder, directory)
        reader = asyncio.StreamReader(limit=_MAX_LINE)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        sending, copying = asyncio.Lock(), asyncio.Lock()

        async def send(text: str) -> None:
            async with sending:
                await asyncio.to_thread(_put, text)

        async def changed() -> None:
            # Not at the end: Codex kills its servers.
            if folder is not None and write_back:
                async with copying:
                    try:
                        await shell.session.download(directory, folder, most=_MOST_BACK)
                    except (OSError, BelljarError) as error:
                        print(f"belljar: {folder} was not written: {error}", file=sys.stderr)

        await ExecServer(shell.session, send, changed, directory).serve(reader)
    finally:
        await shell.close()


def _put(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python3 -m belljar.adapters.codex",
        description="An exec-server for Codex, over stdio.",
    )
    parser.add_argument("folder", nargs="?", type=Path, help="is copied into the session")
    parser.add_argument("--write-back", action="store_true", help="copy it back, too")
    parser.add_argument("--memory", help='of all commands together, such as "4g"')
    options = parser.parse_args()
    folder = options.folder and options.folder.resolve(strict=True)
    asyncio.run(_serve(folder, options.write_back, options.memory))


if __name__ == "__main__":
    main()
