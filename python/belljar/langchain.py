"""A LangChain tool that runs programs written by a model in a sandbox.

    tool = BelljarTool(timeout=5)              # or BelljarTool(sandbox=box), to share one
    agent = create_agent(model, tools=[tool])
    tool.invoke({"code": "6 * 7"})             # 'value:\\n42'

All calls are cells of one session (`Sandbox.session`), whose variables stay; with `session=False`
each call runs in its own process. The model gets output, value and error as text; the message's
`artifact` is the `Result`. A failing program is a normal answer, so that the model can correct it;
a BelljarError is raised.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, BaseModel, Field, PrivateAttr, model_validator

from belljar import _host
from belljar._async import AsyncSandbox, around
from belljar._kept_session import KeptSession, offer_of
from belljar._options import seconds
from belljar._result import MAX_CHARACTERS, Result
from belljar._sandbox import Sandbox


class Program(BaseModel):
    """The arguments that the model passes."""

    code: str = Field(
        description="Python code. Its output and the value of its last expression are returned."
    )


class BelljarTool(BaseTool):
    """Runs all programs in one live Python or, without `session`, each in its own process.

    Opens a sandbox unless one is given. `close()`, or the end of `with`, closes the session and
    only that sandbox.
    """

    name: str = "python"
    description: str = ""
    """Empty: generated from what the sandbox offers."""
    args_schema: type[BaseModel] = Program
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    sandbox: Sandbox | None = Field(default=None, exclude=True, repr=False)
    """An existing sandbox to use, with its profile."""
    profile: str | None = None
    """Profile of the tool's own sandbox. None: as for `Sandbox`."""
    timeout: float | str | None = None
    """Timeout of a run, in seconds or as "500ms". None: the sandbox's."""
    session: bool = True
    """Whether all calls are cells of one session, which all users of the tool and of its shallow
    copies share. It opens with the first call."""
    max_characters: int = Field(
        default=MAX_CHARACTERS,
        ge=100,
        validation_alias=AliasChoices("max_characters", "most_characters"),  # the latter: formerly
    )
    """Maximum length of each part that the model gets; the middle is cut out. The artifact is
    complete."""

    _is_ours: bool = PrivateAttr(default=False)
    _async: AsyncSandbox | None = PrivateAttr(default=None)
    _session: KeptSession | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.sandbox is not None and self.profile is not None:
            raise ValueError("profile: the given sandbox already has one; give only one of the two")
        if self.timeout is not None:
            seconds("timeout", self.timeout)
        limits = {"timeout": self.timeout}
        self._is_ours = self.sandbox is None
        if self.sandbox is None:
            self.sandbox = Sandbox(self.profile)
        self._async = around(self.sandbox)
        if self.session:
            self._session = KeptSession(self.sandbox, limits)
        if not self.description:
            self.description = f"{_host.tool_text(self.session)} {self._offer(limits)}"
        return self

    def _offer(self, limits: dict[str, Any]) -> str:
        assert self.sandbox is not None
        if self._session is not None:
            return self._session.offer()
        return offer_of(self.sandbox._open(), limits)

    def _run(self, code: str, **_: Any) -> tuple[str, Result]:
        assert self.sandbox is not None
        if self._session is not None:
            return self._answer(self._session.open().run(code))
        return self._answer(self.sandbox.run(code, timeout=self.timeout))

    async def _arun(self, code: str, **_: Any) -> tuple[str, Result]:
        assert self._async is not None
        if self._session is not None:
            session = self._async._session(self._session.open)
            return self._answer(await session.run(code))
        return self._answer(await self._async.run(code, timeout=self.timeout))

    def _answer(self, result: Result) -> tuple[str, Result]:
        return result.for_model(self.max_characters), result

    def close(self) -> None:
        """Closes the session, and the sandbox if it is the tool's own."""
        if self._session is not None:
            self._session.close()
        if self._is_ours and self.sandbox is not None and self._async is not None:
            self.sandbox.close()
            self._async._threads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
