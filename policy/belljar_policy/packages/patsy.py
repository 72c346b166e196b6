"""patsy, the formulas of statsmodels: "y ~ np.log(x)" is evaluated as Python."""

from __future__ import annotations

import importlib
from typing import Any

from . import judged


def adapt() -> None:
    environment = importlib.import_module("patsy.eval").EvalEnvironment
    captured = environment.__dict__["capture"].__func__

    def capture(cls: Any, eval_env: Any = 0, reference: int = 0) -> Any:
        """The program's names, from any depth: the library's frames contain modules."""
        frame = judged.program_frame()
        if isinstance(eval_env, environment) or frame is None:
            return captured(cls, eval_env, reference + 1)
        names = (frame.f_locals, frame.f_globals)
        return cls([judged.program_names(each) for each in names], 0)

    def evaluate(
        self: Any, expr: str, source_name: str = "<string>", inner_namespace: Any = None
    ) -> Any:
        def look_up(name: str) -> Any:
            for names in (inner_namespace or {}, *self._namespaces):
                try:
                    return names[name]
                except KeyError:
                    continue
            return judged.MISSING

        return judged.evaluate(expr, look_up)

    environment.capture = classmethod(capture)
    environment.eval = evaluate
