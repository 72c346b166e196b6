"""One request: compile, run, report."""

import _thread
import builtins
import gc
import importlib
import io
import linecache
import os
import sys
import time
import warnings
from _sitebuiltins import Quitter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType, MappingProxyType, ModuleType, TracebackType
from typing import Any

from . import (
    denied_calls,
    forking,
    host_calls,
    host_functions,
    interrupts,
    live_input,
    locality,
    shown,
    tracebacks,
)
from . import report as reports
from .analysis import Analyst
from .bounded_repr import bounded_repr
from .comments import addressed_comments
from .display import Display, forget_shown
from .display import prepare as prepare_display
from .hints import Surroundings, hint_for, hint_for_syntax
from .own_files import make_importable, package_of, run_package
from .plain_data import decode as decode_value
from .plain_data import encode, know_packages
from .randomness import find_generators, reseed
from .report import Report, bounded_findings, error_fields, finding_fields, refusal
from .source import (
    RESULT_NAME,
    compile_full,
    complete_location,
    decode,
    hides_its_value,
    nested_too_deeply,
)
from .sources import Sources
from .tracebacks import (
    NOWHERE,
    describe,
    describe_barely,
    exact_text,
    message_of,
    place_of,
    place_of_syntax_error,
    traceback_of,
)

MAX_REPR = 16_384
_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE
_MAX_NAME = 256  # of a variable that is handed over
_NO_RESULT = object()
# Of threads with the policy off. libc's default of 8 MiB would use up the address space of a few;
# this is enough for the default recursion limit.
_STACK_SIZE = 1 << 20

_exit_argument_of = vars(SystemExit)["code"].__get__

# Nothing was refused, and the source is in the request: only its size is left to say.
_REHEARSAL = {
    "mode": "run",
    "policy": "on",
    "filename": "main.py",
    "allowed_imports": None,
    "stdin": b"",
    "max_source": 1 << 20,
    "max_result": 1 << 20,
    "max_report": 1 << 20,
}
# What nearly every request touches, and no more: each page that this writes to is memory that every
# waiting spare holds.
_REHEARSAL_SOURCE = b"1\n"

# CPython 3.11 rewrites the bytecode it runs until it is specialised. Done in the zygote it is done
# once and on shared pages; so this goes wide, and often enough for the interpreter's counters: code
# is quickened by its eighth run, and specialised by the next.
_SPECIALISING_RUNS = 12
_SPECIALISING_SOURCE = b"""\
class Point:
    def __init__(self, x: int) -> None:
        self.x = x
def total(points):
    result = 0
    for point in points:
        result += point.x
        point.x -= 1
    return result
values = {"a": [Point(i).x + 1.5 for i in range(3)], "b": f"{total([Point(1)])}"}
values
"""

# What else is frequent: an uncaught exception, a refused program, and a validation. Their code lies
# together and is specialised, and a spare that waits takes their page faults (hot_pages.h); nothing
# of theirs is pinned, since every clone would copy it.
_FAILING_SOURCE = b"""\
def half(x):
    return x / 0
half(2)
"""
_REFUSED_SOURCE = b"import socket\n"
_VALIDATION = {**_REHEARSAL, "mode": "validate"}


class _NoInput(io.TextIOWrapper):
    """sys.stdin when none was given: empty for readers, a clear error for input()."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self._is_input_next = False

    def fileno(self) -> int:
        # input() asks for this right before it reads a line, and survives the exception.
        self._is_input_next = True
        return super().fileno()

    def readline(self, size: int = -1, /) -> str:
        if self._is_input_next:
            self._is_input_next = False
            raise EOFError("no standard input was given")
        return super().readline(size)


class _Prepared:
    """What the zygote hands down to its workers."""

    policy: Any = None
    modules: frozenset[str] = frozenset()  # of the profile
    modules_elsewhere: Mapping[str, str] = {}
    missing_modules: Mapping[str, str] = {}
    module_types: tuple[type, ...] = (ModuleType,)
    no_input: Any = None
    recursion_limit = 1000
    recursion_limit_of_guest = 1000
    has_packages = False  # the profile
    has_workspace = False  # likewise
    rehearsals: Sequence[bytes] = ()  # of the profile's packages
    profiler: Any = None  # sees the code that runs after the guest, for gather()
    kept: Any = None  # the guest's last exception; released, it would run the guest's finalizers


_prepared = _Prepared()


class _Session:
    """What stays from cell to cell."""

    namespace: dict[str, Any] | None = None  # made by the first cell, with its policy
    given: frozenset[str] = frozenset()  # names that are not the program's
    beginning: Mapping[str, Any] = {}  # the namespace before the first cell
    recursion_limit = 1000

    def __init__(self) -> None:
        self.sources = Sources()


_session = _Session()


def prepare(
    profile: dict[str, Any],
    other_profiles: dict[str, list[str]],
    missing_modules: Mapping[str, str] = MappingProxyType({}),
    named: Collection[str] | None = None,
) -> None:
    """Zygote, once: builds the policy. `other_profiles`: profile name -> its modules;
    `missing_modules`: packages of the profile that are not there -> the command that installs them;
    `named`: modules that the program names, if it is the only one (belljar_policy/preload.py).
    """
    policy_package = importlib.import_module("belljar_policy")
    policy = policy_package.Policy(
        profile,
        other_profiles=other_profiles,
        missing_modules=missing_modules,
        named=named,
        tracebacks=tracebacks,
        decode=decode,
    )
    if policy.RESULT_NAME != RESULT_NAME:
        raise RuntimeError(f"belljar_policy stores the result in {policy.RESULT_NAME!r}")
    _prepared.policy = policy
    _prepared.modules = frozenset(profile.get("modules", ()))
    _prepared.modules_elsewhere = {
        module: name for name, modules in reversed(other_profiles.items()) for module in modules
    }
    _prepared.missing_modules = missing_modules
    _prepared.rehearsals = [
        packages["rehearsal"].encode()
        for packages in profile.get("packages", {}).values()
        if "rehearsal" in packages
    ]
    prepare_display()
    know_packages()
    _prepared.has_packages = bool(profile.get("packages"))
    _prepared.has_workspace = "workspace" in profile
    # What `import` hands to restricted code is not a real module.
    proxies = getattr(policy_package, "MODULE_TYPES", ())
    _prepared.module_types = (ModuleType, *proxies)
    _prepared.no_input = _NoInput()
    _prepared.recursion_limit = sys.getrecursionlimit()
    forking.restore()
    denied_calls.restore()


def warm() -> None:
    """Zygote of a single run: what only the first run does is done before the seal."""
    _execute_into_the_void(_REHEARSAL_SOURCE)


def specialise() -> None:
    """Zygote: makes the interpreter rewrite our code to its final form, before any clone."""
    find_generators(_prepared.has_packages)
    warm()
    locality.gather(locality.watch(_rehearse_watched))
    for _ in range(_SPECIALISING_RUNS):
        reseed()
        _execute_into_the_void(_SPECIALISING_SOURCE)
        rehearse_others()


def _rehearse_watched(profiler: Any) -> None:
    """What a worker runs, with `profiler` also where the guest's own profiler is taken off. First
    what every worker runs, so that this lies together."""
    _prepared.profiler = profiler
    try:
        reseed()
        _execute_into_the_void(_REHEARSAL_SOURCE)
        rehearse_others()
    finally:
        _prepared.profiler = None


def rehearse() -> None:
    """A clone that is thrown away: writes to the pages that nearly every request will write to."""
    for source in _prepared.rehearsals or (_REHEARSAL_SOURCE,):
        _execute_into_the_void(source)


def rehearse_others() -> None:
    """What else is frequent."""
    _execute_into_the_void(_FAILING_SOURCE)
    _execute_into_the_void(_REFUSED_SOURCE)
    _execute_into_the_void(_SPECIALISING_SOURCE, _VALIDATION)


def _execute_into_the_void(source: bytes, request: dict[str, Any] = _REHEARSAL) -> None:
    """One whole request, and everything as it was before."""
    main = sys.modules.get("__main__")
    stdin, argv = sys.stdin, sys.argv
    collects = gc.isenabled()
    try:
        execute(request, source)
    finally:
        _prepared.policy.forget_program()
        linecache.cache.pop(request["filename"], None)
        sys.stdin, sys.argv = stdin, argv
        if main is None:
            sys.modules.pop("__main__", None)
        else:
            sys.modules["__main__"] = main
        if collects:
            gc.enable()


def execute(
    request: dict[str, Any],
    source: bytes,
    *,
    _out_of_memory: bytes = reports.OUT_OF_MEMORY,
    _unreportable: bytes = reports.UNREPORTABLE,
) -> bytes:
    """Worker, once: the report. Raises nothing, whatever the guest has done.

    With the policy off that includes deleting our globals and the built-ins, so the last resort
    uses neither: its answers are defaults of parameters, and its `except` names nothing.
    """
    try:
        try:
            return _execute(request, source, _run).to_bytes(request["max_report"])
        except MemoryError:
            return _out_of_memory
    except:  # noqa: E722
        return _unreportable


def execute_cell(
    request: dict[str, Any],
    source: bytes,
    *,
    _out_of_memory: bytes = reports.OUT_OF_MEMORY,
    _unreportable: bytes = reports.UNREPORTABLE,
) -> bytes:
    """Worker of a session, for each cell: the same as execute(), except that variables stay."""
    try:
        try:
            return _execute(request, source, _run_cell).to_bytes(request["max_report"])
        except MemoryError:
            return _out_of_memory
    except:  # noqa: E722
        return _unreportable


def begin_session() -> None:
    """Worker of a session, before its first cell."""
    _session.recursion_limit = sys.getrecursionlimit()
    interrupts.install()


def namespace_of_session() -> tuple[dict[str, Any], frozenset[str]]:
    """For questions.py: the session's variables, and the names among them that are not the
    program's."""
    return _session.namespace or {}, _session.given


def prepared_for_questions() -> tuple[Any, frozenset[str], tuple[type, ...]]:
    """For questions.py: the policy, the profile's modules, and the types that stand for modules
    under it."""
    return _prepared.policy, _prepared.modules, _prepared.module_types[1:]


def after_copy(reseeds: bool) -> None:
    """A copy of a session's worker that goes on. With `reseeds` its random numbers are new ones,
    as a branch's are; without, it goes on as the worker would have, as after a roll-back."""
    if reseeds:
        reseed()


_Run = Callable[[CodeType | None, str, str, dict[str, Any]], Report]


def _execute(request: dict[str, Any], source: bytes, run: _Run) -> Report:
    if "start_over" in request:
        _prepared.policy.start_over_by(request["start_over"])
    _give_files(request, is_cell=run is _run_cell)
    validates = request["mode"] == "validate"
    filename = request.get("filename") or "main.py"
    if len(source) > request["max_source"]:
        return _refused([_too_large(len(source), request["max_source"])], validates)
    text = ""
    analyst = Analyst() if validates and request.get("analysis", True) else None
    try:
        text = decode(source, filename)
        code, findings = _compile(text, filename, request, analyst)
    except SyntaxError as error:
        complete_location(error, text, filename)
        return _not_compiled(error, filename, validates)
    except (RecursionError, MemoryError):
        return _not_compiled(nested_too_deeply(filename), filename, validates)
    except Exception as error:
        # No code without a verdict: a source that the policy chokes on is a refused source.
        findings = [_not_checked(error)]
    if validates:
        return _validated(findings, text, request, analyst)
    if findings:
        return _refused(findings, validates)
    return run(code, text, filename, request)


def _give_files(request: dict[str, Any], *, is_cell: bool) -> None:
    """Makes the program's own files importable. A run without files skips it."""
    modules = request.get("modules")
    is_given = modules is not None or "files" in request
    if is_given and not is_cell:
        request["package"] = package_of(request.get("filename") or "main.py", modules)
    if request["policy"] == "off":
        make_importable(modules, _prepared.has_workspace)
    elif is_given or is_cell:
        package = request.get("package", "")
        _prepared.policy.begin_files(modules, looks=is_cell or is_given, package=package)


def _compile(
    text: str, filename: str, request: dict[str, Any], analyst: Analyst | None
) -> tuple[CodeType | None, list[dict[str, Any]]]:
    # CPython's warnings about the source quote its line.
    lines = io.StringIO(text).readlines()
    linecache.cache[filename] = (len(text), None, lines, filename)
    if request["policy"] == "off":
        if analyst is not None:
            analyst.parse(text, filename)
        return compile_full(text, filename), []
    allowed = request["allowed_imports"]
    if allowed is not None:
        allowed = frozenset(allowed)
    policy = _prepared.policy
    if request["mode"] == "validate":
        see_tree = None if analyst is None else analyst.see
        return None, [f.as_dict() for f in policy.check(text, filename, allowed, see_tree)]
    compiled = policy.compile(text, filename, allowed)
    if compiled.findings:
        return None, [finding.as_dict() for finding in compiled.findings]
    return compiled.code, []


def _run(code: CodeType | None, text: str, filename: str, request: dict[str, Any]) -> Report:
    variables = _given_variables(request)  # ours, so made before what is the guest's begins
    _connect_stdin(request)
    namespace = _new_namespace(request["policy"], filename)
    namespace.update(variables)
    given = frozenset(namespace)
    _arrange_surroundings(filename, request)
    _prepared.policy.show_by(kept := shown.begin(request))
    failure = _run_code(code, namespace, request["policy"], request.get("package", ""))
    failure = _finish_threads(request["policy"], failure)
    _prepared.kept = failure
    _leave_guest()
    report = _ended(failure, text, filename, namespace, request)
    if report.status == "memory_limit":
        return report
    report.variables = _variables(namespace, given)
    functions = request.get("functions", ())
    if host_functions.TAKES_VARIABLES in functions:
        left = _left_behind(namespace, [name.lstrip(host_calls.BEGINS_CALL) for name in functions])
        host_functions.hand_over(left, request["call_host"], request["max_result"])
    value = None
    if failure is None or report.exit_code is not None:
        value = _result_of(namespace, variables)
        if value is _NO_RESULT:
            value = None
        else:
            _add_result(report, value, request)
    _add_artifacts(report, value, request, kept)
    return report


def _run_cell(code: CodeType | None, text: str, filename: str, request: dict[str, Any]) -> Report:
    """As a cell of a notebook: in the session's namespace, `_` is its value, and only the value of
    its last expression is its result, unless a semicolon follows. Threads are not waited for: they
    go on with the next cell."""
    variables = _given_variables(request)
    is_quiet = hides_its_value(text)
    _connect_stdin(request)
    if _session.namespace is None:
        _session.namespace = _new_namespace(request["policy"], filename)
        _session.namespace["display"] = _prepared.policy.DISPLAY
        _session.given = frozenset(_session.namespace)
        _session.beginning = dict(_session.namespace)
    namespace = _session.namespace
    namespace.pop(RESULT_NAME, None)
    namespace.update(variables)
    _session.sources.remember(filename, text)
    _session.given |= variables.keys()
    _arrange_surroundings(filename, request)
    _prepared.policy.show_by(kept := shown.begin(request))
    _enter_guest()
    failure = _run_code(code, namespace, request["policy"])
    _prepared.kept = failure
    _leave_guest()
    _session.recursion_limit = _prepared.recursion_limit_of_guest
    report = _ended(failure, text, filename, namespace, request)
    if report.status == "memory_limit":  # the namespace was emptied, of its __builtins__ too
        namespace.update(_session.beginning)
        return report
    report.variables = _variables(namespace, _session.given)
    value = None
    if failure is None and not is_quiet:
        value = namespace.get(RESULT_NAME)
        if value is not None:
            namespace["_"] = value
            _add_result(report, value, request)
            kept.show_value(value)
    _add_artifacts(report, value, request, kept)
    forget_shown()
    del failure  # its frames reach this one by f_back: a cycle, which only a collection would end
    return report


def _run_code(
    code: CodeType | None, namespace: dict[str, Any], policy: str, package: str = ""
) -> BaseException | None:
    """How it failed, if it did. Only what runs in here can be interrupted. `package`: the one whose
    `__main__` it is."""
    try:
        interrupts.begin(None if policy == "off" else namespace.get("__builtins__", {}))
        if package:
            namespace["__package__"] = package
            (run_package if policy == "off" else _prepared.policy.run_package)(package)
        if code is not None and code.co_flags & _CO_COROUTINE:
            _run_coroutine(code, namespace, policy)
        else:
            exec(code, namespace)
    except BaseException as error:
        return error
    finally:
        interrupts.end()
    return None


interrupts.never_in(_run_code)


def _ended(
    failure: BaseException | None,
    text: str,
    filename: str,
    namespace: dict[str, Any],
    request: dict[str, Any],
) -> Report:
    """The report so far; all that was printed is in the capture."""
    if failure is None:
        report = Report("ok")
    elif issubclass(type(failure), SystemExit):
        report = _exited(failure, text, filename)
    elif issubclass(type(failure), MemoryError):
        return _memory_ran_out(failure, text, filename, namespace, request)
    else:
        report = _failed("exception", failure, text, filename, request)
    _flush()
    return report


def _add_artifacts(
    report: Report, value: object, request: dict[str, Any], kept: shown.Shown
) -> None:
    if request.get("keep_artifact") is None:
        return
    display = Display(request["keep_artifact"])
    display.show_kept(kept.kept, kept.left_out)
    display.show_figures(value)
    display.show_plotly()
    display.show_value(value)
    report.artifacts, report.artifacts_left_out = display.artifacts, display.left_out


def _given_variables(request: dict[str, Any]) -> dict[str, Any]:
    variables: dict[str, Any] = {}
    if "inputs" in request:
        variables = {name: decode_value(form) for name, form in request["inputs"].items()}
    call_host, max_bytes = request.get("call_host"), request["max_result"]
    host_calls.calls.begin(call_host)
    functions = request.get("functions", ())
    if request["policy"] != "off":
        starts = host_functions.STARTS_PYTHON
        start = host_functions.make(starts, call_host, max_bytes) if starts in functions else None
        _prepared.policy.start_python_by(start)
    for name in functions:
        if name[:1] == "@":  # for the runner, not for the program
            continue
        if name[:1] == host_calls.BEGINS_CALL:
            name = name[1:]
            variables[name] = host_functions.make_coroutine(name, max_bytes)
            _prepared.policy.await_host_by(host_calls.calls)
        else:
            variables[name] = host_functions.make(name, call_host, max_bytes)
    return variables


def _new_namespace(policy: str, filename: str) -> dict[str, Any]:
    """The globals of a new `__main__`, which dataclasses and pickle look up by that name."""
    if policy != "off":
        namespace = _prepared.policy.guest_globals(name="__main__")
        main = sys.modules.get("__main__")
        if main is not None and main.__dict__ is namespace:
            return namespace
        main = ModuleType("__main__")
        main.__dict__.update(namespace)
    else:
        main = ModuleType("__main__")
        main.__dict__.update(__builtins__=builtins, __file__=filename)
        _thread.stack_size(_STACK_SIZE)
        # The `site` module, which would do this, is not loaded.
        for name in ("exit", "quit"):
            setattr(builtins, name, Quitter(name, "Ctrl-D"))
    sys.modules["__main__"] = main
    return main.__dict__


def _connect_stdin(request: dict[str, Any]) -> None:
    data = request["stdin"]
    if live_input.ASKS in request.get("functions", ()):
        sys.stdin = live_input.open_stream(request["call_host"], request["new_output"])
        return
    # Strict, as CPython's own in a UTF-8 locale: sys.stdin.buffer is there for other bytes.
    if data is None:
        sys.stdin = _prepared.no_input
    else:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="strict")


def _run_coroutine(code: CodeType, namespace: dict[str, Any], policy: str) -> None:
    """A program with `await` at its top level, as in a notebook."""
    coroutine = eval(code, namespace)
    if policy == "off":
        importlib.import_module("asyncio").run(coroutine)
    else:
        _prepared.policy.run_coroutine(coroutine)


def _arrange_surroundings(filename: str, request: dict[str, Any]) -> None:
    """sys.argv and os.environ: what the caller gives, and nothing of the host's."""
    sys.argv = [filename, *request.get("arguments", ())]
    given: dict[str, str] = {}
    if "environment" in request:
        given = dict(variable.split("=", 1) for variable in request["environment"])
    if request["policy"] == "off":
        os.environ.update(given)
        if "TZ" in given:
            time.tzset()
    else:
        # Not the process's own, from which libraries take names of files and modules.
        _prepared.policy.arrange_surroundings(sys.argv, given)


def _finish_threads(policy: str, failure: BaseException | None) -> BaseException | None:
    """As CPython at the end of a program, however it ended. The failure to report."""
    if failure is not None and issubclass(type(failure), MemoryError):
        return failure  # there may be none for the threads either
    try:
        if policy != "off":
            _prepared.policy.finish_threads()
        elif "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
    except BaseException as error:
        return error if failure is None else failure
    return failure


def _enter_guest() -> None:
    """Undoes _leave_guest() before the next cell."""
    sys.setrecursionlimit(_session.recursion_limit)
    gc.enable()
    _prepared.kept = None  # here the finalizers of the last failure are the guest's again


def _leave_guest() -> None:
    """From here on only our code runs, but for what we ask of the guest's objects."""
    sys.settrace(None)
    sys.setprofile(_prepared.profiler)
    gc.disable()  # a collection would run the guest's finalizers among our frames
    _prepared.recursion_limit_of_guest = sys.getrecursionlimit()
    sys.setrecursionlimit(_prepared.recursion_limit)


def _flush() -> None:
    """The streams may be the guest's own by now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            continue


def _variables(namespace: dict[str, Any], given: frozenset[str]) -> list[str]:
    names = []
    for name, value in list(namespace.items()):
        if (
            type(name) is str
            and name not in given
            and name[:1] not in {"_", "@"}
            and not issubclass(type(value), _prepared.module_types)
        ):
            names.append(name)
            if len(names) == reports.MAX_VARIABLES:
                break
    return names


def _left_behind(namespace: dict[str, Any], functions: Sequence[str]) -> dict[str, Any]:
    """What another program could be given by the same names; what was given may have changed."""
    return {
        name: value
        for name, value in list(namespace.items())
        if type(name) is str
        and name[:1] not in {"_", "@"}
        and len(name) <= _MAX_NAME
        and name not in functions
    }


def _result_of(namespace: dict[str, Any], given: Mapping[str, Any]) -> Any:
    """The last expression, or else the global `result`, or else _NO_RESULT."""
    value = namespace.get(RESULT_NAME)
    if value is not None:
        return value
    if "result" not in namespace:
        return _NO_RESULT
    value = namespace["result"]
    # One of the caller's own variables or functions, as the program found it, is no result.
    return _NO_RESULT if "result" in given and value is given["result"] else value


def _add_result(report: Report, value: object, request: dict[str, Any]) -> None:
    report.has_result = True
    try:
        report.result_json, report.truncated["result"] = encode(
            value, request["max_result"], request.get("exact_types", False)
        )
    except RecursionError:  # the guest has left little of the stack
        report.result_json = None
    report.result_repr, report.truncated["result_repr"] = bounded_repr(value, MAX_REPR)


def _failed(
    status: str, failure: BaseException, text: str, filename: str, request: dict[str, Any]
) -> Report:
    lines = text.split("\n")
    around = Surroundings(
        is_restricted=request["policy"] != "off",
        has_stdin=request["stdin"] is not None or live_input.ASKS in request.get("functions", ()),
        modules_elsewhere=_prepared.modules_elsewhere,
        missing_modules=_prepared.missing_modules,
        recursion_limit=_prepared.recursion_limit_of_guest,
    )
    try:
        # Again: the guest may have emptied the cache.
        _session.sources.restore()
        linecache.cache[filename] = (len(text), None, [line + "\n" for line in lines], filename)
        described = describe(failure, filename, lines)
    except Exception:
        described = describe_barely(failure)
    report = Report(
        status,
        error=error_fields(
            described.type,
            described.message,
            described.place,
            described.text,
            hint_for(failure, around),
        ),
    )
    report.truncated["message"] = described.message_was_cut
    report.truncated["traceback"] = described.text_was_cut
    return report


def _exited(failure: BaseException, text: str, filename: str) -> Report:
    """sys.exit, as CPython's own main treats its argument."""
    argument = _exit_argument_of(failure)
    if argument is None:
        return Report("ok", exit_code=0)
    if issubclass(type(argument), int):
        code = int.__index__(argument)
        if not -(2**31) <= code < 2**31:
            code = 255
    else:
        code = 1
        try:
            sys.stderr.write(exact_text(str(argument)) + "\n")
        except BaseException:
            pass  # as CPython does
    if code == 0:
        return Report("ok", exit_code=0)
    place = place_of(failure, filename, text.split("\n"))
    message = message_of(failure)[:1000]
    return Report("exception", exit_code=code, error=error_fields("SystemExit", message, place))


def _memory_ran_out(
    failure: BaseException,
    text: str,
    filename: str,
    namespace: dict[str, Any],
    request: dict[str, Any],
) -> Report:
    """Frees what the guest holds, then says where it was."""
    warnings.simplefilter("ignore")  # of coroutines that now end unawaited
    namespace.clear()
    entry: TracebackType | None = traceback_of(failure)
    while entry is not None:
        try:
            entry.tb_frame.clear()
        except RuntimeError:  # ours, which still run
            pass
        entry = entry.tb_next
    report = _failed("memory_limit", failure, text, filename, request)
    _flush()
    return report


def _validated(
    findings: list[dict[str, Any]],
    text: str,
    request: dict[str, Any],
    analyst: Analyst | None,
) -> Report:
    if findings and findings[0]["rule"] == "BJ001":  # then it is the only one
        lines = io.StringIO(text, newline=None).readlines()  # as Python's own parser ends them
        at = findings[0]["line"] - 1
        line = lines[at] if 0 <= at < len(lines) else None
        hint = hint_for_syntax(line, findings[0]["reason"])
        findings = [{**findings[0], "hint": hint or findings[0]["hint"]}]
    report = _refused(findings, validates=True) if findings else Report("ok")
    if analyst is not None:
        if request["policy"] != "off":
            analyst.take_missing(_prepared.policy.missing_packages)
        report.analysis, report.truncated["imports"] = analyst.fields, analyst.was_cut
    if request.get("comments", False):
        report.comments = addressed_comments(text)
    return report


def _refused(findings: list[dict[str, Any]], validates: bool) -> Report:
    bounded = bounded_findings(findings)
    report = Report("refused", findings=bounded)
    report.truncated["findings"] = len(bounded) < len(findings)
    if not validates:
        report.error = refusal(bounded)
    return report


def _not_compiled(error: SyntaxError, filename: str, validates: bool) -> Report:
    place = place_of_syntax_error(error)
    # What the compiler was doing when it met the error is nobody's business.
    error.__cause__ = None
    described = describe(error.with_traceback(None), filename, ())
    if validates:
        kind = described.type
        reason = described.message if kind == "SyntaxError" else f"{kind}: {described.message}"
        return _refused([finding_fields("BJ001", "syntax-error", place, reason, "")], validates)
    hint = hint_for_syntax(error.text, error.msg)
    fields = error_fields(described.type, described.message, place, described.text, hint)
    return Report("exception", error=fields)


def _too_large(size: int, limit: int) -> dict[str, Any]:
    return finding_fields(
        "BJ003",
        "source-too-large",
        NOWHERE,
        f"source is {_megabytes(size)}; the limit is {_megabytes(limit)}",
        "Pass large data as standard input instead of embedding it in the program.",
    )


def _not_checked(error: Exception) -> dict[str, Any]:
    return finding_fields(
        "BJ004",
        "source-not-checked",
        NOWHERE,
        f"the language policy could not check this source ({type(error).__name__})",
        "please report this source; it should have been judged",
    )


def _megabytes(size: int) -> str:
    if size < 1 << 20:
        return f"{size} bytes" if size < 1 << 10 else f"{size / (1 << 10):.1f} KB"
    return f"{size / (1 << 20):.1f} MB"
