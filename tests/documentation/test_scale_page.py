"""docs/scale.md: its figures are those that were measured, and its sums are right."""

import math
import re

import pytest
import yaml

from tests.documentation.conftest import ROOT, page, section, table

PAGE = page("docs/scale.md")
MEASURED = page("docs/performance.md")
MACHINES = section(PAGE, "How many machines")
MS = {
    name.strip("*"): float(ms.strip("*"))
    for name, ms in table(MACHINES, "of one run of `1+1`", "CPU, ms")
}
LIBRARY, HTTP = MS["the library, together"], MS["over HTTP, together"]
UTILISATION, CPUS_OF_A_SERVER = 0.7, 4


def median(row: str) -> float:
    """Of the first row of that name, in columns of least, median and p99."""
    return float(re.search(rf"^\| {re.escape(row)} \| [^|]+ \| ([^|]+) \|", MEASURED, re.M)[1])


def test_the_cost_is_what_was_measured():
    parts = {
        "worker, from clone to reaped": "CPU of a worker, clone to reaped",
        "zygote": "CPU of the zygote a run",
        "host": "CPU of the host a run",
        "the server's own process, over HTTP (on an AMD EPYC)": "CPU of the server's own process "
        "a call, 8 clients",
    }
    for name, row in parts.items():
        assert MS[name] == pytest.approx(median(row), abs=0.005), name
    worker, zygote, host, server = (median(row) for row in parts.values())
    assert LIBRARY == pytest.approx(worker + zygote + host, abs=0.005)
    assert HTTP == pytest.approx(worker + zygote + host + server, abs=0.005)
    best = median("belljar, executions a second, 2 clients")
    assert (
        f"{best:,.0f} were measured, {best / (2000 / LIBRARY):.0%}".replace("%", " %") in MACHINES
    )
    assert f"{round(1000 / zygote, -1):,.0f} a second, which keeps" in MACHINES.replace("\n", " ")


def test_the_sums_are_right():
    lines = MACHINES.partition("\n| | 1,000 a second")[2].split("\n\n")[0].splitlines()[2:]
    rows = {name: cells for name, *cells in (line[2:-2].split(" | ") for line in lines)}
    loads = [(1_000, 0), (1_000, 50), (100_000, 0), (100_000, 50)]

    def number(text: str) -> float:
        return float(re.match(r"[\d.,]+", text)[0].replace(",", ""))

    for i, (rate, own) in enumerate(loads):
        cpus = rate * (HTTP + own) / 1000 / UTILISATION
        at_a_time = rate * (LIBRARY + own) / 1000
        memory = at_a_time / 4  # GiB
        assert number(rows["CPUs, library"][i]) == pytest.approx(
            rate * (LIBRARY + own) / 1000 / UTILISATION, rel=0.02
        )
        assert number(rows["CPUs, over HTTP"][i]) == pytest.approx(cpus, rel=0.02)
        assert number(rows["servers of 4 CPUs"][i]) == math.ceil(cpus / CPUS_OF_A_SERVER)
        assert number(rows["running at a time"][i]) == math.ceil(at_a_time) or number(
            rows["running at a time"][i]
        ) == pytest.approx(at_a_time, rel=0.01)
        said = rows["memory for them, each at its limit of 256 MiB"][i]
        assert number(said) * (1024 if "TiB" in said else 1) == pytest.approx(memory, rel=0.2)
        # One zygote suffices for what such a server is asked for.
        assert rate / math.ceil(cpus / CPUS_OF_A_SERVER) < 1000 / MS["zygote"]


def test_the_chart_is_as_the_page_says():
    values = yaml.safe_load((ROOT / "deploy/helm/belljar/values.yaml").read_text())
    kubernetes = section(PAGE, "Kubernetes")
    for name in re.findall(r"`(\w+(?:\.\w+)?)(?:: \w+)?`", kubernetes):
        first, _, second = name.partition(".")
        if first in values:
            assert not second or second in values[first], name
    settings = re.findall(r"--set ([\w.]+)=", kubernetes)
    assert settings
    for given in settings:
        first, _, second = given.partition(".")
        assert second in values[first]
    (shown,) = re.findall(r"^```nginx\n(.*?)```$", kubernetes, re.M | re.S)
    assert shown.strip() in (ROOT / "deploy/helm/belljar/values.yaml").read_text()
    (rules,) = re.findall(r"^```yaml\n(.*?)```$", kubernetes, re.M | re.S)
    (rule,) = yaml.safe_load(rules)["rules"]["custom"]
    assert rule["name"]["matches"] in (ROOT / "server/operations/metrics.cc").read_text()
