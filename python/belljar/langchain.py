"""A tool for LangChain: the programs that a model writes, run sealed.

    tool = BelljarTool(timeout=5)              # or BelljarTool(sandbox=box), to share one
    agent = create_agent(model, tools=[tool])
    tool.invoke({"code": "6 * 7"})             # 'value:\\n42'

The model reads output, value and error as text; the message's `artifact` is the `Result`. What a
program does wrong is an answer for the model to fix; a BelljarError is raised.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field, PrivateAttr, model_validator

from belljar._async import AsyncSandbox, around
from belljar._options import seconds
from belljar._result import Result
from belljar._result_text import MAX_CHARACTERS, result_text, surroundings
from belljar._sandbox import Sandbox

_DESCRIPTION = (
    "Runs a Python program and returns what it printed, the value of its last expression, and its "
    "error with a hint. Each call is a fresh process: variables and imports of earlier calls are "
    "gone. "
)


class Program(BaseModel):
    """What a model passes."""

    code: str = Field(
        description="The whole program, with its imports. The value of its last expression comes "
        "back, as does what it prints."
    )


class BelljarTool(BaseTool):
    """Runs a program, each time in a process of its own.

    Opens a sandbox unless it is given one, and closes only its own: `close()`, or a `with`.
    """

    name: str = "python"
    description: str = ""
    """Empty: made of what the sandbox has."""
    args_schema: type[BaseModel] = Program
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    sandbox: Sandbox | None = Field(default=None, exclude=True, repr=False)
    """One to share with others; its profile is what programs get."""
    profile: str | None = None
    """Of the sandbox that is opened where none is given; None: "basic"."""
    timeout: float | str | None = None
    """Of a run: seconds, or "500ms"; None: the sandbox's."""
    most_characters: int = Field(default=MAX_CHARACTERS, ge=100)
    """Of each part that the model reads; the middle is left out. The artifact has all of it."""

    _is_ours: bool = PrivateAttr(default=False)
    _async: AsyncSandbox | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.sandbox is not None and self.profile is not None:
            raise ValueError("profile: the sandbox that is given has one; give either")
        limit = None if self.timeout is None else seconds("timeout", self.timeout) / 1000
        self._is_ours = self.sandbox is None
        if self.sandbox is None:
            self.sandbox = Sandbox(self.profile or "basic")
        self._async = around(self.sandbox)
        if not self.description:
            self.description = _DESCRIPTION + surroundings(self.sandbox.info(), limit)
        return self

    def _run(self, code: str, **_: Any) -> tuple[str, Result]:
        assert self.sandbox is not None
        return self._answer(self.sandbox.run(code, timeout=self.timeout))

    async def _arun(self, code: str, **_: Any) -> tuple[str, Result]:
        assert self._async is not None
        return self._answer(await self._async.run(code, timeout=self.timeout))

    def _answer(self, result: Result) -> tuple[str, Result]:
        return result_text(result, self.most_characters), result

    def close(self) -> None:
        """Ends the sandbox, if it is this tool's own."""
        if self._is_ours and self.sandbox is not None and self._async is not None:
            self.sandbox.close()
            self._async._threads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
