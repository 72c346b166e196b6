"""A zygote for tests: builds the policy, then forks once per program. Started by harness.py.

Reads one JSON object a line, writes one a line:
    {source, plain, stdin, allowed_imports, filename, folder, modules, files, written,
     package} ->
    {stdout, result, loot, error, message, lines, findings, warnings, signal, violations}
"""

from __future__ import annotations
import __future__

import ast
import importlib
import importlib.util
import io
import json
import os
import re
import signal
import sys
import traceback
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_POLICY_PATHS = [str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]
sys.path[:0] = [str(ROOT), *_POLICY_PATHS]
from tests.policy import verifier  # noqa: E402 (before the freeze)
from tools.profile_document import read_profile  # noqa: E402

sys.path.remove(str(ROOT))  # no program under test imports our folders


def is_loot(value: object) -> bool:
    """True for what no guest may ever hold, and for the word that an attack says when it did what
    it may not, where no object shows it."""
    import builtins
    import pathlib

    outside = (open, eval, exec, compile, __import__, globals, locals)
    if type(value) is str and value == "escaped":
        return True
    if type(value) in (types.ModuleType, types.FrameType, types.CodeType, types.CellType):
        return True
    # Since Python 3.13 this is no dict, and writes through to the frame (PEP 667).
    if type(value) is type(sys._getframe().f_locals) is not dict:
        return True
    if any(value is thing for thing in outside):
        return True
    if type(value) in (types.BuiltinFunctionType, types.FunctionType):
        return getattr(value, "__module__", None) in {"posix", "os", "subprocess", "importlib"}
    if isinstance(value, type):
        kinds = (types.ModuleType, io.FileIO, os._Environ, pathlib.PurePath)
        return any(base in kinds for base in type.__dict__["__mro__"].__get__(value))
    if type(value) is dict:
        return (
            value is vars(builtins)
            or (type(value.get("__builtins__")) in (dict, types.ModuleType))
            or any(type(item) is types.ModuleType for item in list(value.values()))
        )
    if type(value) in (list, tuple):
        return any(is_loot(item) for item in value)
    return False


own_tops: set[str] = set()
"""Outermost names of the modules that a request brings."""
later_violations: list[str] = []
"""Of code that was compiled while the program ran."""


def verify_later_code(belljar_policy: types.ModuleType, policy) -> None:
    """Lets the verifier read what the policy compiles for a running program, too."""
    original = belljar_policy._compile_tree

    def compile_tree(*args, **kwargs) -> types.CodeType:
        code = original(*args, **kwargs)
        later_violations.extend(violations_of(code, policy.modules))
        return code

    belljar_policy._compile_tree = compile_tree


def violations_of(code: types.CodeType, modules) -> list[str]:
    """What the verifier says of code that the policy let through: each fails the test."""
    exports = {name: modules.exports(name) for name in modules.proxies if name in modules}
    exports["__future__"] = frozenset(__future__.all_feature_names)
    exports.update(verifier.OF_THE_PROGRAM)
    try:
        return [str(violation) for violation in verifier.verify(code, exports, own_tops)]
    except Exception:
        return [traceback.format_exc()]


def compile_plain(source: str, filename: str) -> types.CodeType:
    """CPython's own, but for the value of the last expression, which is kept."""
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        target = ast.copy_location(ast.Name("@result", ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(3 * limit)  # as deep as text may be
    try:
        return compile(tree, filename, "exec", dont_inherit=True)
    finally:
        sys.setrecursionlimit(limit)


def write_files(folder: str, files: dict[str, str]) -> None:
    """`files`: by path, bytes as Latin-1; what begins with "-> " is where a link leads."""
    os.chdir(folder)
    for path, text in files.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if text.startswith("-> "):
            os.symlink(text.removeprefix("-> "), path)
        else:
            Path(path).write_bytes(text.encode("latin-1"))


def lines_of(error: BaseException, filename: str) -> list[int]:
    """Where the program's own frames stood, outermost first."""
    return [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename and frame.lineno is not None
    ]


def execute(request: dict, policy) -> dict:
    report: dict = {"error": None, "message": "", "findings": [], "warnings": [], "loot": False}
    stdin = request.get("stdin")
    sys.stdin = None if stdin is None else io.StringIO(stdin)
    sys.stdout = captured = sys.__stdout__ if request.get("real_stdout") else io.StringIO()
    source, filename = request["source"], request.get("filename", "main.py")
    allowed = request.get("allowed_imports")
    scope: dict = {}
    folder = request.get("folder")
    given = request.get("modules", {})
    try:
        if folder is not None:
            write_files(folder, {**request.get("files", {}), **(given if request["plain"] else {})})
        if request["plain"]:
            main = types.ModuleType("__main__")
            sys.modules["__main__"] = main
            scope = vars(main)
            sys.path[:] = [path for path in sys.path if path not in _POLICY_PATHS]
            if folder is not None:
                sys.path.insert(0, folder)
                importlib.invalidate_caches()
            if "package" in request:
                scope["__package__"] = request["package"]
            exec(compile_plain(source, filename), scope)
        else:
            if folder is not None:
                paths = (*given, *request.get("files", ()), *request.get("written", ()))
                own_tops.update(path.partition("/")[0].removesuffix(".py") for path in paths)
                policy.begin_files(
                    {path: text.encode("latin-1") for path, text in given.items()},
                    looks=True,
                    package=request.get("package"),
                    root=folder,
                )
            compiled = policy.compile(
                source, filename, None if allowed is None else frozenset(allowed)
            )
            report["findings"] = [finding.as_dict() for finding in compiled.findings]
            report["warnings"] = list(compiled.warnings)
            if compiled.code is not None:
                report["violations"] = violations_of(compiled.code, policy.modules)
                if not report["violations"]:  # it might not come back to tell
                    scope = policy.guest_globals()
                    if "package" in request:
                        scope["__package__"] = request["package"]
                    try:
                        exec(compiled.code, scope)
                    finally:
                        policy.finish_threads()
    except BaseException as error:
        report["error"] = type(error).__name__
        report["message"] = str(error)
        report["traceback"] = traceback.format_exc()
        report["lines"] = lines_of(error, filename)
    if later_violations:
        report["violations"] = later_violations
    sys.stdout = sys.__stdout__
    report["stdout"] = captured.getvalue() if type(captured) is io.StringIO else ""
    result = scope.get("@result", scope.get("result"))
    try:
        report["result"] = repr(result)
    except Exception as error:  # as in a worker, where the program's code runs after its end too
        report["result"] = f"<{type(error).__name__}>"
    report["loot"] = is_loot(scope.get("loot"))
    return report


def of_runner(name: str) -> types.ModuleType:
    """A module of the runner, without the rest: what shows exceptions in a worker, and what reads
    source files."""
    path = ROOT / "engine" / "inside" / "runner" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"belljar_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# What a profile of this name has loaded ahead, in the controls too.
_PLAIN_PACKAGES = {
    "data-science": (
        "matplotlib.pyplot", "pandas", "sklearn.linear_model", "statsmodels.api", "sympy",
        "plotly.express", "scipy.stats", "seaborn",
    ),
    "network": ("aiohttp", "httpx", "requests", "websocket", "websockets.asyncio.client"),
}  # fmt: skip


def words_of(source: str) -> list[str]:
    """As engine/outside/start_plan.h takes them: the profile's names are chosen later."""
    return re.findall(r"\w+", source, re.ASCII)


def in_child(make_reply, seconds: float) -> tuple[str, int]:
    """The reply that a forked child makes, or none, and the child's wait status."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        pipe = os.fdopen(sending, "w", errors="surrogatepass")  # later the policy may object
        signal.alarm(int(seconds))
        try:
            reply = json.dumps(make_reply())
        except BaseException:
            reply = json.dumps({"error": "HarnessError", "message": traceback.format_exc()})
        with pipe:
            pipe.write(reply)
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, errors="replace") as pipe:
        reply = pipe.read()
    return reply, os.waitpid(child, 0)[1]


def died(status: int) -> str:
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return json.dumps({"error": "Died", "message": "", "signal": number})


STARTED_OVER = 99  # exit code of a child whose program needs another policy


def execute_named(make_policy, request) -> str:
    """In a policy of its own, which has loaded what the program names, as in `belljar run`; if it
    starts over, in one that has loaded all."""

    def reply_of(named):
        policy = make_policy(named)
        policy.start_over_by(lambda: os._exit(STARTED_OVER))
        return execute(request, policy)

    reply, status = in_child(lambda: reply_of(words_of(request["source"])), 120)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == STARTED_OVER:
        reply, status = in_child(lambda: reply_of(None), 120)
    return reply or died(status)


def serve() -> None:
    # "plain" builds no policy: the controls must not be held by a hardened interpreter.
    # "restricted:NAME" and "plain:NAME": another profile, with its packages.
    policy = None
    kind, _, profile_name = sys.argv[1].partition(":")
    of_named = kind == "restricted" and os.environ.get("POLICY_OF_NAMED") == "1"
    if profile_name and "POLICY_SET_PACKAGES" in os.environ:
        sys.path.append(os.environ["POLICY_SET_PACKAGES"])
    if kind == "plain":
        for name in _PLAIN_PACKAGES.get(profile_name, ()):
            importlib.import_module(name)
    if kind in ("restricted", "open", "forgetful"):
        import belljar_policy

        if kind == "forgetful":  # a policy with a hole, for the verifier to find
            from belljar_policy import transformer

            transformer._HANDLERS[ast.Attribute] = lambda self, node: self._push(node.value)

        if kind == "open":  # as if graphlib were numpy
            from belljar_policy import reviewed

            reviewed.OPEN_PACKAGES = frozenset({"graphlib"})

        profile = read_profile(ROOT / "profiles" / f"{profile_name or 'basic'}.toml")
        others = {"filesystem": ["os", "tempfile"], "data-science": ["numpy"]}

        def make_policy(named=None):
            made = belljar_policy.Policy(
                profile,
                other_profiles=others,
                named=named,
                tracebacks=of_runner("tracebacks"),
                decode=of_runner("source").decode,
            )
            verify_later_code(belljar_policy, made)
            return made

        if not of_named:
            policy = make_policy()
    replies = os.fdopen(os.dup(1), "w")
    requests = sys.stdin
    seconds = 60 * float(os.environ.get("BELLJAR_TEST_SLOWNESS", "1"))
    for line in requests:
        if of_named:
            reply = execute_named(make_policy, json.loads(line))
        else:
            reply, status = in_child(lambda line=line: execute(json.loads(line), policy), seconds)
            reply = reply or died(status)
        replies.write(reply + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
    os._exit(0)  # there is nothing to clear up, and hundreds of modules to take down
