"""Runs the Python half of a worker in this process: no jail, and a policy small enough to read."""

import ast
import contextlib
import gc
import importlib.util
import io
import json
import linecache
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

RUNNER = Path(__file__).resolve().parents[2] / "engine/inside/runner"


def load_runner() -> ModuleType:
    """The package under the name that it has at run time (see tools/stage_share.py)."""
    if "belljar_runner" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "belljar_runner", RUNNER / "__init__.py", submodule_search_locations=[str(RUNNER)]
        )
        sys.modules["belljar_runner"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["belljar_runner"]


load_runner()


class FakeFinding(SimpleNamespace):
    def as_dict(self):
        return dict(vars(self))


class FakePolicy:
    """Refuses `import os`, line by line; compiles all else as it is."""

    RESULT_NAME = "@result"
    DISPLAY = staticmethod(print)
    missing_packages = ("absent",)

    def __init__(self, profile, other_profiles, missing_modules, named, tracebacks, decode):
        self.profile = profile
        self.other_profiles = other_profiles
        self.fails_with = None

    def finish_threads(self):
        pass

    def show_by(self, shown):
        pass

    def await_host_by(self, calls):
        pass

    def begin_files(self, given, **_):
        self.given = given

    def check(self, source, filename, allowed_imports, see_tree=None):
        if self.fails_with:
            raise self.fails_with
        if see_tree is not None:
            with contextlib.suppress(SyntaxError):  # of which the real one sees no tree either
                see_tree(compile(source, filename, "exec", ast.PyCF_ONLY_AST))
        refused = {"os"} if allowed_imports is None else {"os", "math"} - allowed_imports
        findings = []
        for number, line in enumerate(source.split("\n"), 1):
            for name in sorted(refused):
                if line == f"import {name}":
                    findings.append(
                        FakeFinding(
                            rule="BJ201",
                            name="import-not-allowed",
                            line=number,
                            column=1,
                            end_line=number,
                            end_column=len(line) + 1,
                            reason=f"import of {name!r} is not allowed",
                            hint="leave it out",
                            profile="",
                        )
                    )
        return findings

    def forget_program(self):
        pass

    def arrange_surroundings(self, arguments, environment):
        pass

    def compile(self, source, filename, allowed_imports):
        from belljar_runner.source import compile_full

        findings = self.check(source, filename, allowed_imports)
        code = None if findings else compile_full(source, filename)
        return SimpleNamespace(code=code, findings=findings)

    def start_python_by(self, start):
        self.starts_python = start

    def guest_globals(self, name="__main__"):
        builtins = {k: v for k, v in vars(__import__("builtins")).items() if k != "open"}
        return {"__name__": name, "__builtins__": builtins, "@_write_": lambda target: target}


@pytest.fixture
def stand_in(monkeypatch):
    """Prepares the runner, as the zygote does."""
    fake = ModuleType("belljar_policy")
    fake.Policy = FakePolicy
    monkeypatch.setitem(sys.modules, "belljar_policy", fake)
    guards = SimpleNamespace(is_guest_class=lambda cls: cls.__module__ == "__main__")
    monkeypatch.setitem(sys.modules, "_belljar_guards", guards)
    where = "belljar_policy.library.interruptible"  # the real one, which needs no policy
    file = Path(__file__).resolve().parents[2] / "policy" / f"{where.replace('.', '/')}.py"
    spec = importlib.util.spec_from_file_location(where, file)
    monkeypatch.setitem(sys.modules, where, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(sys.modules[where])
    import belljar_runner

    belljar_runner.prepare({"name": "basic"}, {"data-science": ["numpy"], "network": ["requests"]})
    return sys.modules["belljar_runner.execute"]._prepared.policy


@pytest.fixture(autouse=True)
def no_end_of_this_process(monkeypatch):
    """A worker without the policy ends its threads as an interpreter does. This process goes on:
    after threading's own _shutdown() no executor takes work any more."""
    monkeypatch.setattr(threading, "_shutdown", lambda: None)


@pytest.fixture
def run(stand_in, monkeypatch):
    """run(source, **request) -> the report, with what was printed as `.stdout` and `.stderr`.

    A worker is killed after its one request; here everything is put back by hand.
    """
    import belljar_runner

    class Ran(dict):
        stdout = stderr = ""
        raw = b""

    def run_once(source, policy="off", **changes):
        request = {
            "mode": "run",
            "policy": policy,
            "filename": "main.py",
            "allowed_imports": None,
            "stdin": None,
            "max_source": 1 << 20,
            "max_result": 1 << 20,
            "max_report": 1 << 21,
            **changes,
        }
        streams = io.StringIO(), io.StringIO()
        saved = sys.stdout, sys.stderr, sys.stdin, sys.argv, sys.modules["__main__"]
        limit = sys.getrecursionlimit()
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        try:
            raw = belljar_runner.execute(
                request, source.encode() if isinstance(source, str) else source
            )
        finally:
            sys.stdout, sys.stderr, sys.stdin, sys.argv, sys.modules["__main__"] = saved
            sys.setrecursionlimit(limit)
            gc.enable()
            if linecache.cache is not None:
                linecache.cache.pop(request["filename"], None)
        assert type(raw) is bytes
        report = Ran(json.loads(raw.decode("utf-8")))
        report.raw = raw
        report.stdout, report.stderr = (stream.getvalue() for stream in streams)
        return report

    return run_once


@pytest.fixture
def cpython(tmp_path):
    """cpython(source) -> what this CPython prints to stderr when it runs that as main.py."""

    def run_file(source):
        path = tmp_path / "main.py"
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        done = subprocess.run(
            [sys.executable, "-I", "-X", "utf8", str(path)],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            timeout=60,
        )
        return done.stderr.decode("utf-8", "surrogateescape").replace(f"{tmp_path}/", "")

    return run_file
