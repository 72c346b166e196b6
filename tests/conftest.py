"""The order in which test files are assigned to the processes of `./dev test python`, which of them
share one, and which tests CI may repeat."""

import datetime
import os
import signal
from typing import Any

import pytest
from repeat_failed import quarantined

from tests.machine import EngineLater, engines_later

# The slowest files come first, so that no core waits for a slow file at the end. Check it with
# `pytest --durations`.
LONGEST = (
    "jail/test_attacks.py",
    "integrations/test_ray.py",
    "data_science/test_gallery.py",
    "places/test_behaviour.py",
    "packaging/test_wheel.py",
    "jail/test_limits.py",
    "jail/test_channel.py",
    "jail/test_tiers.py",
    "places/test_attacks.py",
    "places/test_packages.py",
    "python/test_container_sessions.py",
    "search/test_search.py",
    "programs/test_programs.py",
    "clients/test_official_clients.py",
    "server/test_jobs.py",
    "server/test_events.py",
    "clients/test_openapi.py",
    "python/test_processes.py",
    "python/test_plain_data.py",
    "files/test_attacks.py",
    "policy/test_verifier.py",
)

# Files that one process runs, since they share what takes seconds to start: a zygote with all
# packages, plain Python with them, the policy for them.
TOGETHER = {
    f"tests/data_science/test_{name}.py": group
    for group, names in {
        "in the jail": (
            *("combined", "examples", "fonts", "gallery", "jail", "late_library", "modules"),
            *("results", "star_imports", "tasks"),
        ),
        "without it": ("escapes", "forwarders", "policy"),
    }.items()
    for name in names
}

# A failure of an attack is never called random: these are not repeated.
ATTACKS = (
    "tests/escapes/",
    "tests/files/",
    "tests/jail/",
    "tests/languages/test_attacks.py",
    "tests/languages/test_limits.py",
    "tests/places/test_attacks.py",
    "tests/policy/",
    "tests/search/",
)


def pytest_configure() -> None:
    # A shell without job control starts what is to run in the background with these ignored, which
    # programs inherit: those that tests start would outlast an interrupt.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) == signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


@pytest.hookimpl(optionalhook=True)  # integrations have no xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return TOGETHER.get(file, file)

    return Together(config, log)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is not None and isinstance(call.excinfo.value, EngineLater):
        with open(engines_later(), "a", encoding="utf-8") as file:
            file.write(f"{item.nodeid}\n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    place = {f"tests/{name}": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))
    # Tests of integrations run in an environment without the plugin, as one test each of another.
    if os.environ.get("CI") == "true" and config.pluginmanager.hasplugin("rerunfailures"):
        known = quarantined(datetime.date.today())
        for item in items:
            if item.nodeid.startswith(ATTACKS):
                continue
            item.add_marker(pytest.mark.flaky(reruns=1))
            if why := known.get(item.nodeid.partition("[")[0]):
                item.add_marker(pytest.mark.xfail(reason=f"in quarantine: {why}", strict=False))
