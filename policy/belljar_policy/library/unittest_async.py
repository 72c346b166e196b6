"""unittest.IsolatedAsyncioTestCase, for guests: each test on an event loop of its own."""

from __future__ import annotations

import contextvars
from typing import Any

import _belljar_guards as guards

from .asyncio import package as asyncio
from .inspect import iscoroutinefunction
from .objects import its_own_only
from .unittest_case import TestCase


@its_own_only
class IsolatedAsyncioTestCase(TestCase):
    """unittest.IsolatedAsyncioTestCase."""

    def __init__(self, methodName: Any = "runTest") -> None:  # noqa: N803
        super().__init__(methodName)
        self._runner: Any = None
        self._context: Any = contextvars.copy_context()

    async def asyncSetUp(self) -> None:  # noqa: N802
        """Runs after setUp."""

    async def asyncTearDown(self) -> None:  # noqa: N802
        """Runs before tearDown."""

    def addAsyncCleanup(self, func: Any, /, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Awaits `func` after tearDown, the last one first."""
        self.addCleanup(func, *args, **kwargs)

    async def enterAsyncContext(self, cm: Any) -> Any:  # noqa: N802
        """Enters an asynchronous context, and leaves it after tearDown."""
        cls = type(cm)
        enter = guards.getattr(cls, "__aenter__", None)
        leave = guards.getattr(cls, "__aexit__", None)
        if enter is None or leave is None:
            raise TypeError(
                f"'{cls.__module__}.{cls.__qualname__}' object does not support the asynchronous "
                "context manager protocol"
            )
        result = await enter(cm)
        self.addAsyncCleanup(leave, cm, None, None, None)
        return result

    def _step(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        if iscoroutinefunction(function):
            return self._runner.run(function(*args, **kwargs), context=self._context)
        return self._context.run(function, *args, **kwargs)

    def _call_set_up(self) -> None:
        self._runner.get_loop()  # setUp() may ask for it
        self._step(self.setUp)
        self._runner.run(self.asyncSetUp(), context=self._context)

    def _call_test(self, method: Any) -> Any:
        return self._step(method)

    def _call_tear_down(self) -> None:
        self._runner.run(self.asyncTearDown(), context=self._context)
        self._step(self.tearDown)

    def _call_cleanup(self, function: Any, args: Any, kwargs: Any) -> None:
        self._step(function, *args, **kwargs)

    def run(self, result: Any = None) -> Any:
        """Runs the test; the outcome goes to `result`."""
        with asyncio.Runner(debug=False) as runner:
            self._runner = runner
            try:
                return super().run(result)
            finally:
                self._runner = None

    def debug(self) -> None:
        """Runs the test without a result: exceptions propagate."""
        with asyncio.Runner(debug=False) as runner:
            self._runner = runner
            super().debug()


IsolatedAsyncioTestCase.__module__ = "unittest.async_case"
