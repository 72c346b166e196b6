"""Plain Python with the packages of the profile: what programs give there, and images compared.

Imported by the tests, it starts itself with the interpreter of the packages' environment. There it
reads a JSON object a line and writes one a line:

    {"run": source}               -> {"stdout", "result", "error", "figures": [base64 of PNG]}
    {"compare": [base64, base64]} -> {"mean", "off"}
    {"shrink": base64}            -> {"image": base64}
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class PlainPython:
    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [str(python), "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                "MPLBACKEND": "agg",
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "SM_FORMULA_ENGINE": "patsy",
                "TZ": "UTC",
            },
        )

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "plain Python is gone"
        return json.loads(line)

    def run(self, source: str) -> dict[str, Any]:
        return self._ask(run=source)

    def compare(self, one: bytes, other: bytes) -> dict[str, float]:
        """`mean`: how far apart the channels are, of 255; `off`: the share of pixels that differ
        for anybody to see. Images of two sizes are as different as can be.
        """
        return self._ask(compare=[base64.b64encode(each).decode() for each in (one, other)])

    def shrink(self, image: bytes) -> bytes:
        """Half the size and few colours: what is kept in the repository."""
        return base64.b64decode(self._ask(shrink=base64.b64encode(image).decode())["image"])

    def close(self) -> None:
        self._process.kill()
        self._process.wait(timeout=10)


def run(source: str) -> dict[str, Any]:
    import ast
    import contextlib
    import io
    import types

    import matplotlib.pyplot as plt

    tree = ast.parse(source)
    if isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.Assign([ast.copy_location(ast.Name("_result", ast.Store()), last)], last.value),
            last,
        )
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    scope, printed, error = vars(main), io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "main.py", "exec"), scope)
    except BaseException as failure:
        error = f"{type(failure).__name__}: {failure}"
    figures = []
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(drawn, format="png")
        figures.append(base64.b64encode(drawn.getvalue()).decode())
    result = scope.get("_result")
    return {
        "stdout": printed.getvalue(),
        "result": None if result is None else repr(result),
        "error": error,
        "figures": figures,
    }


def _image(encoded: str) -> Any:
    import io

    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGB")


def compare(one: str, other: str) -> dict[str, float]:
    import numpy as np
    from PIL import ImageFilter

    images = [_image(each) for each in (one, other)]
    if images[0].size != images[1].size:
        return {"mean": 255.0, "off": 1.0}
    # A blur of a pixel: letters that sit half a pixel aside look the same to anybody.
    left, right = (
        np.asarray(each.filter(ImageFilter.GaussianBlur(1)), dtype=float) for each in images
    )
    apart = np.abs(left - right)
    return {"mean": float(apart.mean()), "off": float((apart.max(axis=2) > 40).mean())}


def shrink(encoded: str) -> dict[str, str]:
    import io

    from PIL import Image

    image = _image(encoded)
    small = image.resize((image.width // 2, image.height // 2), Image.Resampling.BOX)
    kept = io.BytesIO()
    small.quantize(64, dither=Image.Dither.NONE).save(kept, format="png", optimize=True)
    return {"image": base64.b64encode(kept.getvalue()).decode()}


def in_child(call: Any, argument: Any) -> str:
    """Each program in a process of its own, with the packages loaded already."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        with os.fdopen(sending, "w") as pipe:
            pipe.write(json.dumps(call(argument)))
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer or json.dumps({"stdout": "", "result": None, "error": "died", "figures": []})


def serve() -> None:
    import matplotlib.pyplot  # noqa: F401
    import plotly.express  # noqa: F401
    import scipy.stats  # noqa: F401
    import seaborn  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    import statsmodels.api  # noqa: F401
    import sympy  # noqa: F401

    for line in sys.stdin:
        request = json.loads(line)
        if "run" in request:
            answer = in_child(run, request["run"])
        elif "compare" in request:
            answer = json.dumps(compare(*request["compare"]))
        else:
            answer = json.dumps(shrink(request["shrink"]))
        print(answer, flush=True)


if __name__ == "__main__":
    serve()
