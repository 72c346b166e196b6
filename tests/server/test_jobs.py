"""Jobs of real servers: they survive the end of their server, whatever it is; none is lost, and
none is run twice without being said to have been interrupted."""

import json
from pathlib import Path

import pytest

from tests.clients.server import HttpServer
from tests.clocks import UNTIL_KILLED, until, within
from tests.server.test_rest import ANNA, BERT, TOKENS, ask, write_config

ASYNC = {"Prefer": "respond-async"}
RUN_TIMEOUT = 60
CONFIG = f"""
[jobs]
store = "state/jobs.db"
lease = "5s"
[execution]
concurrency = 2
{TOKENS}"""


class Servers:
    """Those of one folder, one after the other or beside each other."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.config = write_config(folder, CONFIG)
        self.all: list[HttpServer] = []

    def start(self, config: Path | None = None) -> HttpServer:
        log = self.folder / f"log-{len(self.all)}.txt"
        arguments = ["--config", str(config or self.config)]
        self.all.append(HttpServer(log, arguments=arguments))
        return self.all[-1]

    def stop(self) -> None:
        for server in self.all:
            if server.process.poll() is None:
                server.stop()


@pytest.fixture
def servers(tmp_path):
    servers = Servers(tmp_path)
    yield servers
    servers.stop()


def submit(server, code, token=ANNA, query="", **headers) -> str:
    answer = ask(
        server, "POST", f"/v1/executions{query}", {"code": code}, token=token, **ASYNC, **headers
    )
    assert answer.status == 202, answer.body
    assert answer.headers["Preference-Applied"] == "respond-async"
    return answer.headers["Location"]


def read(server, path, token=ANNA) -> dict:
    answer = ask(server, "GET", path, token=token)
    assert answer.status == 200, answer.body
    return answer.json()


def wait_for(server, path, *states, token=ANNA) -> dict:
    job: dict = {}

    def has_come() -> bool:
        job.update(read(server, path, token))
        return job["state"] in states

    until(has_come, lambda: job)
    return job


def test_a_job_has_its_outcome(servers):
    server = servers.start()
    job = wait_for(server, submit(server, "print('hello')\n6 * 7"), "succeeded")
    assert job["execution"]["result"] == 42
    assert job["execution"]["stdout"] == "hello\n"
    assert job["attempts"] == 1 and job["submitted"] <= job["started"] <= job["ended"]
    raised = wait_for(server, submit(server, "1 / 0"), "succeeded")
    assert raised["execution"]["status"] == "exception"


def test_jobs_outlive_a_server_that_is_stopped(servers):
    server = servers.start()
    # sleeps: it ends while the server waits for it
    running = [submit(server, "import time\ntime.sleep(0.5)\n'done'") for _ in range(2)]
    queued = [submit(server, f"{number}") for number in range(20)]
    for path in running:
        wait_for(server, path, "running", "succeeded")
    server.stop()
    server = servers.start()
    # What ran was given the time to end.
    assert [wait_for(server, path, "succeeded")["attempts"] for path in running] == [1, 1]
    results = [wait_for(server, path, "succeeded")["execution"]["result"] for path in queued]
    assert results == list(range(20))


@pytest.mark.parametrize("retry", [False, True])
def test_jobs_outlive_a_server_that_is_killed(servers, retry):
    server = servers.start()
    query = f"?retry={str(retry).lower()}"
    # sleeps: the first attempt of each is the one that the server does not survive
    code = f"import time\ntime.sleep({min(within(1), 20)})\n'done'"
    running = [submit(server, code, query=query) for _ in range(2)]
    queued = [submit(server, f"{number}", query=query) for number in range(20)]
    for path in running:
        wait_for(server, path, "running")
    server.kill()
    server = servers.start()
    for path in running:
        job = wait_for(server, path, "succeeded" if retry else "interrupted")
        assert job["attempts"] == (2 if retry else 1)
        assert ("failure" in job) is not retry
    for number, path in enumerate(queued):
        job = wait_for(server, path, "succeeded")
        assert (job["execution"]["result"], job["attempts"]) == (number, 1)


def test_two_servers_run_each_job_once(servers):
    first, second = servers.start(), servers.start()
    paths = [submit((first, second)[n % 2], f"print({n})\n{n}") for n in range(60)]
    for number, path in enumerate(paths):
        job = wait_for((second, first)[number % 2], path, "succeeded")
        assert (job["execution"]["result"], job["attempts"]) == (number, 1)


def test_a_server_takes_over_from_one_that_died(servers):
    first, second = servers.start(), servers.start()
    # sleeps: it runs when the server dies
    code = "import time\ntime.sleep(2)\n'done'"
    paths = [submit(first, code, query="?retry=true") for _ in range(4)]
    for path in paths:
        wait_for(first, path, "running", "succeeded")
    first.kill()
    for path in paths:
        assert wait_for(second, path, "succeeded")["execution"]["result"] == "done"


def test_a_job_is_cancelled(servers):
    server = servers.start()
    endless = [submit(server, "while True: pass") for _ in range(2)]
    queued = submit(server, "1")
    wait_for(server, endless[0], "running")
    assert ask(server, "DELETE", queued).status == 204
    assert read(server, queued)["state"] == "cancelled"
    for path in endless:
        assert ask(server, "DELETE", path).status == 204
        wait_for(server, path, "cancelled")
    assert ask(server, "DELETE", queued).status == 409
    assert ask(server, "DELETE", "/v1/executions/" + "0" * 32).status == 404


def test_jobs_belong_to_their_token(servers):
    server = servers.start()
    path = submit(server, "'of anna'")
    wait_for(server, path, "succeeded")
    unknown = "/v1/executions/" + "0" * 32
    for method in ("GET", "DELETE"):
        theirs, nowhere = (ask(server, method, each, token=BERT) for each in (path, unknown))
        assert theirs.status == nowhere.status == 404
        mine = path.rsplit("/", 1)[1]
        assert theirs.json()["detail"].replace(mine, "0" * 32) == nowhere.json()["detail"]
    assert read(server, "/v1/executions", token=BERT)["executions"] == []
    assert len(read(server, "/v1/executions")["executions"]) == 1


def test_a_repeated_key_is_one_job(servers):
    server = servers.start()
    path = submit(server, "1", Idempotency_Key="k")
    again = ask(server, "POST", "/v1/executions", {"code": "1"}, **ASYNC, Idempotency_Key="k")
    assert again.headers["Location"] == path
    assert again.headers["Idempotency-Replayed"] == "true"
    other = ask(server, "POST", "/v1/executions", {"code": "2"}, **ASYNC, Idempotency_Key="k")
    assert other.status == 422
    assert submit(server, "1", token=BERT, Idempotency_Key="k") != path
    server.kill()
    assert submit(servers.start(), "1", Idempotency_Key="k") == path


def test_lists_have_pages(servers):
    server = servers.start()
    paths = [submit(server, f"{number}") for number in range(7)]
    for path in paths:
        wait_for(server, path, "succeeded")
    found, url = [], "/v1/executions?limit=3&state=succeeded"
    while url:
        answer = ask(server, "GET", url)
        page = answer.json()
        found += [f"/v1/executions/{job['id']}" for job in page["executions"]]
        link = answer.headers["Link"]
        assert (link is None) == (page["next"] is None)
        url = link and link.split(">")[0].removeprefix("<")
    assert found == paths[::-1]
    for query in ("limit=0", "limit=x", "state=none", "cursor=%00", "curser=1"):
        assert ask(server, "GET", f"/v1/executions?{query}").status == 400, query


def test_batches(servers):
    server = servers.start()
    body = {
        "program": {"code": "int(input()) ** 2"},
        "inputs": [{"stdin": str(n)} for n in range(30)],
    }
    answer = ask(server, "POST", "/v1/batches", body, **ASYNC)
    assert answer.status == 202
    path = answer.headers["Location"]
    results, url = {}, f"{path}/results?limit=7"
    while len(results) < 30:
        page = ask(server, "GET", url)
        for line in page.body.splitlines():
            job = json.loads(line)
            assert job["index"] not in results
            results[job["index"]] = job["execution"]["result"]
        url = page.headers["Link"].split(">")[0].removeprefix("<")
    assert results == {n: n * n for n in range(30)}
    batch = read(server, path)
    assert (batch["total"], batch["ended"], batch["states"]["succeeded"]) == (30, 30, 30)
    assert ask(server, "GET", path, token=BERT).status == 404
    assert ask(server, "GET", f"{path}/results", token=BERT).status == 404


def test_terms_that_are_wrong_are_refused(servers):
    server = servers.start()
    for query in ("priority=11", "priority=x", "deadline=0", "retry=1", "later=1", "priority=%"):
        answer = ask(server, "POST", f"/v1/executions?{query}", {"code": "1"}, **ASYNC)
        assert answer.status == 400, query
    unknown = ask(server, "POST", "/v1/executions", {"cod": "1"}, **ASYNC)
    assert unknown.status == 422


def test_what_its_token_may_no_longer_do_is_not_run(servers):
    server = servers.start()
    blockers = [submit(server, UNTIL_KILLED, token=BERT) for _ in range(2)]
    for blocker in blockers:
        wait_for(server, blocker, "running", token=BERT)
    path = submit(server, "1")
    server.kill()
    without = servers.folder / "without"
    without.mkdir()
    text = CONFIG.replace('[[tokens]]\nname = "anna"\nfile = "anna.token"\n', "")
    text = text.replace("state/", f"{servers.folder}/state/")
    config = write_config(without, text)
    server = servers.start(config)
    done = submit(server, "1", token=BERT)
    wait_for(server, done, "succeeded", token=BERT)
    server.stop()
    job = wait_for(servers.start(), path, "failed")
    assert job["failure"] == "its token is no longer configured"


def test_a_store_that_cannot_be_opened_stops_the_start(servers):
    broken = servers.folder / "state"
    broken.mkdir(mode=0o700)
    (broken / "jobs.db").write_text("no database, but long enough to be read as one " * 50)
    with pytest.raises(AssertionError, match=r"jobs\.db"):
        servers.start()
    assert (broken / "jobs.db").read_text().startswith("no database")


def test_the_store_is_its_owners_alone(servers):
    server = servers.start()
    wait_for(server, submit(server, "1"), "succeeded")
    folder = servers.folder / "state"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in folder.iterdir())
