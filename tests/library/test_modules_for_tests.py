"""Modules that only refuse, for programs whose tests patch them: [for_tests] of basic.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.policy.harness import assert_refused, assert_runs, assert_same, run

ROOT = Path(__file__).resolve().parents[2]
BASIC = tomllib.loads((ROOT / "profiles/basic.toml").read_text(encoding="utf-8"))
MODULES = sorted(BASIC["for_tests"])
LIBRARYS = [name for name in MODULES if name.partition(".")[0] != "requests"]

MAIL = """
import smtplib, ssl, unittest
from unittest.mock import patch
def send(text):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with smtplib.SMTP("smtp.example.com", 587) as server:
        server.starttls(context=context)
        server.sendmail("a@x.org", "b@y.org", text)
class Tests(unittest.TestCase):
    @patch("smtplib.SMTP")
    def test_sent(self, smtp):
        send("hello")
        smtp.assert_called_once_with("smtp.example.com", 587)
        server = smtp.return_value.__enter__.return_value
        self.assertEqual(server.sendmail.call_args[0][2], "hello")
    @patch("smtplib.SMTP", side_effect=smtplib.SMTPAuthenticationError(535, b"no"))
    def test_refused(self, smtp):
        with self.assertRaises(smtplib.SMTPException) as caught: send("hello")
        self.assertEqual((caught.exception.smtp_code, str(caught.exception)), (535, "(535, b'no')"))
    @patch("smtplib.SMTP", autospec=True)
    def test_specification(self, smtp):
        send("hello")
        self.assertFalse(hasattr(smtp.return_value, "nothing"))
done = unittest.main(argv=["t"], exit=False).result
print(done.testsRun, done.errors, done.failures)
"""
WEB = """
import http.client, io, json, unittest, urllib.request
from unittest.mock import MagicMock, patch
from urllib.error import HTTPError
def names(url):
    request = urllib.request.Request(url, headers={"User-agent": "me"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            if response.status != http.client.OK: return http.client.responses[response.status]
            return json.loads(response.read())
    except HTTPError as error: return f"{error}, {error.code}, {error.read()}"
    except urllib.error.URLError as error: return str(error)
class Tests(unittest.TestCase):
    @patch("urllib.request.urlopen")
    def test_answers(self, urlopen):
        answer = urlopen.return_value.__enter__.return_value = MagicMock(status=200)
        answer.read.return_value = b"[1]"
        self.assertEqual(names("http://a.test/b?c=d"), [1])
        sent = urlopen.call_args[0][0]
        print(sent.full_url, sent.host, sent.type, sent.selector, sent.get_method())
        print(sent.header_items(), sent.get_header("User-agent"), sent.has_header("X"))
        print(sent.data, sent.get_full_url())
        answer.status = 404
        self.assertEqual(names("http://a.test"), "Not Found")
    @patch("urllib.request.urlopen")
    def test_errors(self, urlopen):
        urlopen.side_effect = HTTPError("http://a", 404, "none", {}, io.BytesIO(b"page"))
        print(names("http://a"))
        urlopen.side_effect = urllib.error.URLError("no net")
        print(names("http://a"))
    @patch("http.client.HTTPSConnection")
    def test_connection(self, connection):
        connection.return_value.getresponse.return_value.status = http.client.FORBIDDEN
        print(http.client.HTTPSConnection("a").getresponse().status)
unittest.main(argv=["t"], exit=False)
print(urllib.request.Request("http://a", data=b"x").get_method())
"""
SOCKETS = """
import ftplib, socket, unittest
from unittest.mock import Mock, patch
def is_open(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(1)
        try: return sock.connect_ex((host, port)) == 0
        except (socket.timeout, socket.gaierror, socket.error) as error: return type(error).__name__
class Tests(unittest.TestCase):
    @patch("socket.socket")
    def test_socket(self, made):
        sock = made.return_value.__enter__.return_value
        sock.connect_ex.return_value = 0
        self.assertTrue(is_open("a", 80))
        made.assert_called_once_with(socket.AF_INET, socket.SOCK_STREAM)
        for error in (socket.timeout(), socket.gaierror(-2, "unknown"), socket.herror()):
            sock.connect_ex.side_effect = error
            print(is_open("a", 80))
    @patch("socket.gethostbyname", return_value="10.0.0.1")
    def test_names(self, found): print(socket.gethostbyname("a"))
    @patch("ftplib.FTP")
    def test_ftp(self, ftp):
        ftp.return_value.login.side_effect = ftplib.error_perm("530")
        with self.assertRaises(ftplib.all_errors): ftplib.FTP("a").login()
unittest.main(argv=["t"], exit=False)
sock = Mock(spec=socket.socket)
sock.recv.return_value = b"x"
print(sock.recv(1), hasattr(sock, "nothing"))
print(socket.AF_INET.name, int(socket.SOCK_DGRAM), socket.timeout is TimeoutError)
"""


@pytest.mark.parametrize("source", [MAIL, WEB, SOCKETS], ids=["mail", "web", "sockets"])
def test_tests_that_patch_them_run_as_in_plain_python(source: str) -> None:
    assert assert_same(source).stdout


def test_requests_without_the_package() -> None:
    ran = assert_runs("""
    import requests, unittest
    from requests.exceptions import RequestException
    from unittest.mock import patch
    def status(url):
        try:
            found = requests.get(url, timeout=5)
            found.raise_for_status()
            return found.status_code == requests.codes.ok
        except RequestException as error:
            return f"{type(error).__name__} {error} {error.response}"
    class Tests(unittest.TestCase):
        @patch("requests.get")
        def test_status(self, get):
            get.return_value.status_code = 200
            print(status("http://a"))
            undecodable = requests.exceptions.JSONDecodeError("a", "b", 0)
            for error in (requests.exceptions.Timeout("late"), requests.HTTPError(response=404),
                          requests.ConnectTimeout(), undecodable):
                get.side_effect = error
                print(status("http://a"))
    unittest.main(argv=["t"], exit=False)
    """)
    assert ran.stdout.splitlines() == [
        "True",
        "Timeout late None",
        "HTTPError  404",
        "ConnectTimeout  None",
        "JSONDecodeError a: line 1 column 1 (char 0) None",
    ]


CALLS = """
import unittest.mock, importlib
module = importlib.import_module(NAME)
for name in dir(module):
    value = getattr(module, name)
    if callable(value) and name not in DATA and not (
        isinstance(value, type) and issubclass(value, BaseException)):
        try: print("called", name, value("http://a", 1))
        except PermissionError as error: print(error)
"""
DATA = {
    "AddressFamily", "CompletedProcess", "Request", "SSLContext", "SocketKind", "VerifyMode",
    "create_default_context",
}  # fmt: skip
"""What can be made without a network."""


@pytest.mark.parametrize("name", MODULES)
def test_every_call_refuses_and_says_what_to_do(name: str) -> None:
    source = CALLS.replace("NAME", repr(name)).replace("DATA", repr(sorted(DATA)))
    shown = assert_runs(f"import {name}\n{source}").stdout.splitlines()
    what = (
        "would start a process" if name == "subprocess" else "or run the program with the profile"
    )
    assert all(f"[BJ502] {name}." in line and what in line for line in shown), shown
    assert all("in a test" in line for line in shown)
    assert shown or name.endswith(("error", "exceptions"))


@pytest.mark.parametrize("name", LIBRARYS)
def test_the_errors_are_related_as_in_the_library(name: str) -> None:
    assert_same(f"""
    import unittest.mock
    import {name} as module
    names = {BASIC["for_tests"][name]["exports"]!r}
    for name in names:
        value = getattr(module, name)
        if isinstance(value, type) and issubclass(value, BaseException):
            print(name, [each.__name__ for each in value.__mro__
                         if each.__module__ not in ("tempfile", "urllib.response")])
        elif isinstance(value, int):
            print(name, int(value))
    """)


NO_NETWORK = "The network is not available; pass the data as standard input."
HINTS = {
    "requests": f"'requests' is not installed here. {NO_NETWORK}",
    "requests.exceptions": f"'requests' is not installed here. {NO_NETWORK}",
    "subprocess": "Other processes are not available; call the code directly.",
    "urllib.error": "Available in 'urllib': urllib.parse.",
}


@pytest.mark.parametrize("name", MODULES)
def test_a_program_without_mocks_is_told_what_it_was(name: str) -> None:
    others = ("", "import unittest\n", "unittest = 1\nmock = unittest\n")
    for before in others:
        finding = assert_refused(f"{before}import {name}", "BJ201", before.count("\n") + 1)
        assert finding["hint"] == HINTS.get(name, NO_NETWORK)
    ran = assert_runs(f"""
    import importlib, sys
    try: import {name}
    except ImportError as error: print(error)
    try: importlib.import_module({name!r})
    except ImportError as error: print(error)
    print({name!r} in sys.modules)
    """)
    missing = f"[BJ201] module {name!r} is not available in this sandbox"
    assert ran.stdout.splitlines() == [missing, missing, "False"]


def test_packages_have_no_such_part_without_mocks() -> None:
    source = """
    import http, urllib.parse
    print(hasattr(urllib, "request"), hasattr(http, "client"), dir(urllib))
    try: from urllib import request
    except ImportError as error: print(error)
    """
    assert assert_runs(source).stdout.splitlines() == [
        "False False ['__doc__', '__name__', 'parse']",
        "[BJ202] cannot import name 'request' from 'urllib' in this sandbox",
    ]
    assert_same("""
    import unittest.mock
    from http import client, HTTPStatus
    from urllib import error, request
    print(client.OK is HTTPStatus.OK, error.HTTPError.__name__, request.Request.__module__)
    """)


def test_a_later_text_of_the_same_program_may_import_them() -> None:
    assert_runs("""
    import unittest.mock
    exec("import smtplib\\nsmtplib.SMTPException")
    import urllib.parse
    import urllib.request
    print(urllib.parse.quote("a b"), urllib.request.Request)
    """)


def test_the_call_allows_them() -> None:
    program = "import unittest.mock, smtplib"
    assert run(program, allowed_imports=["unittest"]).rules == ["BJ205"]
    assert_runs(program, allowed_imports=["unittest", "smtplib"])
    assert run("import smtplib", allowed_imports=["unittest", "smtplib"]).rules == ["BJ201"]


def test_own_modules_of_a_program_with_mocks(tmp_path: Path) -> None:
    files = {"mailer.py": "import smtplib\ndef send(): smtplib.SMTP('a')\n"}
    source = """
    from unittest.mock import patch
    import mailer
    with patch("smtplib.SMTP") as smtp:
        mailer.send()
        smtp.assert_called_once_with("a")
    """
    assert_runs(source, folder=str(tmp_path), modules=files)
    assert run("import mailer", folder=str(tmp_path), modules=files).rules == ["BJ201"]


def test_methods_take_no_other_object_and_do_nothing_for_it() -> None:
    for source in (
        "smtplib.SMTP.__new__(smtplib.SMTP)",
        "object.__new__(smtplib.SMTP).quit()",
        "class Mine(smtplib.SMTP): pass\nMine()",
        "smtplib.SMTP.sendmail(1)",
        "ssl.SSLContext.__init__(Exception())",
        "urllib.request.Request.add_header(Exception(), 'a', 'b')",
        "urllib.error.URLError.__init__(Exception(), 'a')",
    ):
        ran = run(f"import smtplib, ssl, unittest.mock, urllib.request\n{source}\nprint('made')")
        assert "made" not in ran.stdout, source
        assert ran.findings or ran.error in {"PermissionError", "TypeError"}, (source, ran)
