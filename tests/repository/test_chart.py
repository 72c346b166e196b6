"""deploy/helm/belljar: what Helm makes of it is valid for Kubernetes, holds what it says, and
agrees with the server. There is no cluster here. Run by ./dev chart."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.machine import need

pytestmark = pytest.mark.chart

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve()
BELLJAR = BUILD / "belljar"
CHART = ROOT / "deploy/helm/belljar"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMAS = BUILD.parent / "sources/kubernetes_validate/kubernetes-json-schema"
TOKEN = "0123456789abcdef" * 4

EVERYTHING = {
    "isolation": "strict",
    "strictSeccompProfile": "profiles/belljar.json",
    "profiles": ["basic", "filesystem"],
    "settings": {"BELLJAR_EXECUTION_TIMEOUT": "10s"},
    "config": "[sessions]\nper_token = 4\n",
    "token": {"existingSecret": "mine", "key": "bearer"},
    "allowedHosts": ["gateway.example.com"],
    "image": {"tag": "1", "pullSecrets": [{"name": "registry"}]},
    "ingress": {"enabled": True, "tlsSecret": "certificate"},
    "autoscaling": {"enabled": True, "waitingCalls": 4},
    "networkPolicy": {
        "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
        "egress": [{"ports": [{"port": 53, "protocol": "UDP"}]}],
    },
    "serviceAccount": {"name": "another"},
    "runtimeClassName": "gvisor",
    "podAnnotations": {"a": "b"},
    "nodeSelector": {"pool": "sandboxes"},
    "tolerations": [{"key": "sandboxes", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "extraVolumes": [{"name": "state", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "state", "mountPath": "/var/lib/belljar"}],
}
SETS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "strict": {"isolation": "strict"},
    "everything": EVERYTHING,
    "least": {
        "autoscaling": {"enabled": True},
        "service": {"affinitySeconds": 0},
        "networkPolicy": {"enabled": False},
    },
}


OTHER_FILE = r'"/api/_definitions\.json#/\$defs/'
KINDS = (
    "deployment-apps-v1", "service-v1", "serviceaccount-v1", "secret-v1", "ingress-networking-v1",
    "networkpolicy-networking-v1", "poddisruptionbudget-policy-v1",
    "horizontalpodautoscaler-autoscaling-v2",
)  # fmt: skip


def tool(name: str) -> str:
    path = BUILD.parent / "chart" / name
    need(path.exists(), f"not there: {path} (./dev chart makes it)")
    return str(path)


def helm(
    *arguments: str | Path, values: dict[str, Any] | None = None
) -> subprocess.CompletedProcess:
    # JSON is YAML. Nothing of the user's, such as a cluster, is asked.
    return subprocess.run(
        [tool("helm"), *arguments, "--values", "-"],
        input=json.dumps(values or {}),
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def rendered(values: dict[str, Any]) -> str:
    done = helm("template", "tried", CHART, "--namespace", "tools", values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By kind; there is one of each but of Secrets, whose names follow."""
    found = {}
    for each in yaml.safe_load_all(rendered(values)):
        if each is not None:
            kind, name = each["kind"], each["metadata"]["name"]
            found[f"Secret {name}" if kind == "Secret" else kind] = each
    return found


def pod(values: dict[str, Any]) -> dict[str, Any]:
    return objects(values)["Deployment"]["spec"]["template"]["spec"]


def environment(values: dict[str, Any]) -> dict[str, str]:
    (server,) = pod(values)["containers"]
    return {each["name"]: each.get("value", "") for each in server["env"]}


# --- valid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_helm_finds_nothing_wrong(name):
    done = helm("lint", "--strict", CHART, values=SETS[name])
    assert done.returncode == 0, done.stdout + done.stderr


def self_contained(version: str, kind: str, folder: Path) -> None:
    """Writes the schema of a kind as kubeconform reads it: with the definitions that it refers to,
    which are in a file of their own there."""
    there = SCHEMAS / f"v{version}-local-strict"
    definitions = json.loads((there / "_definitions.json").read_text())["$defs"]
    unread = [(there / f"{kind}.json").read_text()]
    schema = json.loads(inside := re.sub(OTHER_FILE, '"#/$defs/', unread[0]))
    assert inside != unread[0]
    schema.pop("$id", None)  # references are resolved against it
    needed = schema["$defs"] = {}
    while unread:
        for name in re.findall(rf'(?:{OTHER_FILE}|"#/\$defs/)([^"]+)"', unread.pop()):
            if name not in needed:
                unread.append(json.dumps(definitions[name]))
                needed[name] = json.loads(re.sub(OTHER_FILE, '"#/$defs/', unread[-1]))
    (folder / f"{kind}.json").write_text(json.dumps(schema))


@pytest.fixture(scope="module", params=["1.30.0", "1.37.0"])
def conforms(request, tmp_path_factory):
    """Checks objects against the schemas of a version of Kubernetes. Nothing is downloaded."""
    need(SCHEMAS.exists(), f"not there: {SCHEMAS} (./dev chart makes it)")
    folder = tmp_path_factory.mktemp("schemas")
    for kind in KINDS:
        self_contained(request.param, kind, folder)

    def check(text: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [tool("kubeconform"), "-strict", "-summary", "-output", "json"]
            + ["-kubernetes-version", request.param]
            + ["-schema-location", f"{folder}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"],
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return check


@pytest.mark.parametrize("name", SETS)
def test_kubernetes_would_take_its_objects(name, conforms):
    done = conforms(rendered(SETS[name]))
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert summary["valid"] == len(objects(SETS[name])) >= 5
    assert summary["invalid"] == summary["errors"] == summary["skipped"] == 0


def test_an_object_that_it_would_not_take_is_noticed(conforms):
    done = conforms(rendered({}).replace("maxUnavailable: 0}", "maxUnavailible: 0}"))
    assert done.returncode == 1 and "maxUnavailible" in done.stdout


@pytest.mark.parametrize(
    "values",
    [
        {"isolaton": "strict"},
        {"isolation": "none"},
        {"profiles": []},
        {"profiles": ["basic", "filesystem"]},  # needs strict
        {"profiles": ["data-science+network"]},
        {"replicas": "2"},
        {"settings": {"PATH": "/"}},
        {"token": {"value": "secret"}},
        {"ingress": {"enabled": "yes"}},
        {"ingress": {"enabled": True, "paths": ["/"]}},
        {"autoscaling": {"waitingCalls": -1}},
        {"maxUnavailable": 0},
    ],
)
def test_values_that_are_wrong_are_refused(values):
    done = helm("template", "tried", CHART, values=values)
    assert done.returncode != 0
    assert "schema" in done.stderr and next(iter(values)) in done.stderr


def test_the_schema_knows_every_value():
    known = json.loads((CHART / "values.schema.json").read_text())["properties"]
    assert known.keys() == VALUES.keys() | {"global"}
    for name, value in VALUES.items():
        if isinstance(value, dict) and "properties" in known[name]:
            assert value.keys() <= known[name]["properties"].keys(), name


# --- what it holds --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["as it is", "least"])
def test_in_standard_a_pod_is_within_pod_securitys_restricted(name):
    spec = pod(SETS[name])
    security = spec["securityContext"]
    assert security["runAsNonRoot"] is True and security["runAsUser"] > 0
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not spec.keys() & {"hostNetwork", "hostPID", "hostIPC", "initContainers"}
    (server,) = spec["containers"]
    assert server["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "hostPort" not in server["ports"][0]
    assert {next(iter(each.keys() - {"name"})) for each in spec["volumes"]} <= {
        "emptyDir", "secret",
    }  # fmt: skip


def test_strict_changes_one_setting():
    standard, strict = pod({}), pod({"isolation": "strict"})
    assert strict["securityContext"].pop("seccompProfile") == {"type": "Unconfined"}
    assert standard["securityContext"].pop("seccompProfile") == {"type": "RuntimeDefault"}
    environments = [each["containers"][0].pop("env") for each in (standard, strict)]
    differ = [a for a, b in zip(*environments, strict=True) if a != b]
    assert [each["name"] for each in differ] == ["BELLJAR_EXECUTION_ISOLATION"]
    assert standard == strict
    profile = pod(EVERYTHING)["securityContext"]["seccompProfile"]
    assert profile == {"type": "Localhost", "localhostProfile": "profiles/belljar.json"}


def test_nobody_uses_the_clusters_api():
    found = objects({})
    assert found["ServiceAccount"]["automountServiceAccountToken"] is False
    assert pod({})["automountServiceAccountToken"] is False
    assert not found.keys() & {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}


def test_the_token_is_a_secret_that_only_the_server_reads():
    found = objects({})
    secret = found["Secret tried-belljar-token"]
    import base64

    token = base64.b64decode(secret["data"]["token"])
    assert re.fullmatch(rb"[A-Za-z0-9]{64}", token)
    assert objects({})["Secret tried-belljar-token"]["data"] != secret["data"]
    assert not [name for name in objects(EVERYTHING) if name.endswith("-token")]
    (volume,) = [each["secret"] for each in pod(EVERYTHING)["volumes"] if each["name"] == "token"]
    assert volume["secretName"] == "mine"
    assert volume["items"] == [{"key": "bearer", "path": "token"}]
    assert volume["defaultMode"] & 0o007 == 0
    for name, value in environment(EVERYTHING).items():
        assert "TOKEN" not in name or value.startswith("/run/belljar/token/")


def test_connections():
    policy = objects({})["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"] and policy["egress"] == []
    assert policy["ingress"] == [
        {"ports": [{"port": "http", "protocol": "TCP"}], "from": [{"podSelector": {}}]}
    ]
    assert objects(EVERYTHING)["NetworkPolicy"]["spec"]["ingress"][0]["from"] == [
        {"namespaceSelector": {"matchLabels": {"name": "ingress"}}}
    ]
    (rule,) = objects(EVERYTHING)["Ingress"]["spec"]["rules"]
    assert [(each["path"], each["pathType"]) for each in rule["http"]["paths"]] == [
        ("/mcp", "Prefix"), ("/v1", "Prefix"), ("/openapi.json", "Prefix"),
    ]  # fmt: skip


def test_who_is_selected():
    found = objects(EVERYTHING)
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    selectors = [
        found["Deployment"]["spec"]["selector"]["matchLabels"],
        found["Service"]["spec"]["selector"],
        found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        pod(EVERYTHING)["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ]
    for selector in selectors:
        assert selector == selectors[0] and selector.items() <= labels.items()
    scaled = found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert scaled["kind"] == "Deployment"
    assert scaled["name"] == found["Deployment"]["metadata"]["name"]


def test_the_autoscaler_alone_says_how_many_there_are():
    assert objects({})["Deployment"]["spec"]["replicas"] == VALUES["replicas"]
    assert "HorizontalPodAutoscaler" not in objects({})
    found = objects(EVERYTHING)
    assert "replicas" not in found["Deployment"]["spec"]
    cpu, waiting = found["HorizontalPodAutoscaler"]["spec"]["metrics"]
    assert cpu["resource"]["name"] == "cpu"
    assert waiting["pods"]["target"] == {"type": "AverageValue", "averageValue": "4"}
    metric = waiting["pods"]["metric"]["name"]
    assert f'"{metric}"' in (ROOT / "server/operations/metrics.cc").read_text()
    assert len(objects(SETS["least"])["HorizontalPodAutoscaler"]["spec"]["metrics"]) == 1
    # Processors are compared with what is requested.
    assert pod({})["containers"][0]["resources"]["requests"]["cpu"]


# --- agrees with the server -----------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_the_server_knows_every_setting(name, tmp_path):
    values = SETS[name]
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    ours = {k: v for k, v in environment(values).items() if k.startswith("BELLJAR_")}
    ours["BELLJAR_HTTP_TOKEN_FILE"] = str(token)
    ours["BELLJAR_HTTP_ALLOWED_HOSTS"] = ours["BELLJAR_HTTP_ALLOWED_HOSTS"].replace(
        "$(POD_IP)", "10.0.0.1"
    )
    config = tmp_path / "config.toml"
    config.write_text(values.get("config", ""))
    done = subprocess.run(
        [BELLJAR, "serve", "--config", config, "--check"], env=ours, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # A variable that is none of its own would be a warning.
    assert done.stderr.startswith("belljar: the configuration is valid: http://0.0.0.0:9015")


def test_ports_probes_and_paths():
    (server,) = pod({})["containers"]
    (port,) = server["ports"]
    assert environment({})["BELLJAR_HTTP_LISTEN"].endswith(f":{port['containerPort']}")
    known = (ROOT / "server/http/request_check.cc").read_text()
    for probe, path in [("startup", "/readyz"), ("readiness", "/readyz"), ("liveness", "/healthz")]:
        assert server[f"{probe}Probe"]["httpGet"] == {"path": path, "port": port["name"]}
        assert f'"{path}"' in known
    assert objects({})["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    dockerfile = (ROOT / "deploy/Dockerfile").read_text()
    user = pod({})["securityContext"]["runAsUser"]
    assert f"USER {user}:{pod({})['securityContext']['fsGroup']}" in dockerfile
    assert (
        f"version: {json.loads((ROOT / 'server.json').read_text())['version']}\n"
        in (CHART / "Chart.yaml").read_text()
    )


def test_there_is_time_to_drain():
    values = {"drainSeconds": 90, "leaveSeconds": 7}
    spec = pod(values)
    assert environment(values)["BELLJAR_SERVER_DRAIN_TIMEOUT"] == "90s"
    assert spec["containers"][0]["lifecycle"]["preStop"] == {"sleep": {"seconds": 7}}
    assert spec["terminationGracePeriodSeconds"] > 97


def test_what_is_said_after_it_is_installed():
    def said(values: dict[str, Any]) -> str:
        done = helm("install", "tried", CHART, "--dry-run=client", values=values)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("NOTES:")[2]

    assert "Isolation is standard: no private root" in said({})
    assert "{{index" in said({}) or '{{index .data "token"' in said({})
    assert "seccomp profile is Unconfined, which it needs" in said({"isolation": "strict"})
    assert "plain text" in said({"ingress": {"enabled": True}})
    assert "plain text" not in said({"ingress": {"enabled": True, "tlsSecret": "a"}})
    assert "Prometheus adapter" in said({"autoscaling": {"enabled": True, "waitingCalls": 1}})
