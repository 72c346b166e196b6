"""A sandbox without a profile gives each program the enabled profiles that it uses."""

from __future__ import annotations

import pytest

from tests.machine import need_packages

FILES = "open('a', 'w').write('b')\nopen('a').read()"


@pytest.fixture
def enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_ENABLE_FILESYSTEM", "true")


def test_each_program_gets_what_it_uses(enabled: None) -> None:
    from belljar import Sandbox

    with Sandbox(spares=1) as box:
        assert box.run("1 + 1").value == 2
        assert box._others == {}  # nothing waits for what nobody has asked for
        assert box.run(FILES).value == "b"
        assert box.run("open('b').read()", files={"b": "given"}).value == "given"
        assert box.run("1", files={"b": "given"}).ok
        assert list(box._others) == ["filesystem"]
        assert box.validate("import tempfile").ok
        assert not box.run("import ctypes").ok
    from belljar import BelljarError

    with pytest.raises(BelljarError, match="it is closed"):
        box.run(FILES)


def test_a_named_profile_is_what_it_is(enabled: None) -> None:
    from belljar import Sandbox

    with Sandbox("basic", spares=1) as box:
        result = box.run("import tempfile")
    assert result.status == "refused"
    assert result.findings[0].hint == (
        "The 'filesystem' profile has it. Pass profile=\"filesystem\"."
    )


def test_what_nobody_enables_is_refused() -> None:
    from belljar import Sandbox

    with Sandbox(spares=1) as box:
        assert 'Pass profile="filesystem".' in str(box.run("import tempfile").findings[0].hint)


def test_an_asynchronous_one_too(enabled: None) -> None:
    import asyncio

    from belljar import AsyncSandbox

    async def main() -> object:
        async with AsyncSandbox(spares=1) as box:
            return (await box.run(FILES)).value

    assert asyncio.run(main()) == "b"


def test_a_variable_that_says_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from belljar import Sandbox

    monkeypatch.setenv("SANDBOX_ENABLE_FILESYSTEM", "perhaps")
    with pytest.raises(ValueError, match="write true or false"):
        Sandbox()
    with pytest.raises(ValueError, match="names none"):
        Sandbox("")


def test_allowed_imports_of_a_profile_that_is_enabled() -> None:
    from belljar import Sandbox

    need_packages("data-science")
    with Sandbox(allowed_imports=["numpy"], spares=1) as box:
        assert box.run("import numpy\nint(numpy.arange(4).sum())").value == 6
        assert box.run("import json").status == "refused"
    with pytest.raises(ValueError, match="allowed_imports"):
        Sandbox(allowed_imports=["nothing_of_that_name"])


def test_full_says_that_no_policy_held() -> None:
    from belljar import Sandbox

    with Sandbox("full", spares=1) as box:
        result = box.run("import ctypes\nctypes.sizeof(ctypes.c_int)")
        assert (result.value, result.isolation.policy) == (4, "off")
        assert box.info().policy == "off"
        with pytest.raises(ValueError, match='profile="full", which turns it off'):
            box.run("1", allowed_imports=["math"])
