"""Packages and files together: paths work, and lead nowhere but into the workspace; without the
filesystem profile they are refused, and the words say which profile has them.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session, artifacts_of

JOINED = "data-science+filesystem"


# What ends with an assertion about what came back. Each line with a path is what a lesson has.
WITH_PATHS = {
    "np.save": "np.save('a.npy', x)\nassert (np.load('a.npy') == x).all()",
    "np.save mapped": "np.save('a.npy', x)\nassert np.load('a.npy', mmap_mode='r').sum() == 15",
    "np.savez": "np.savez_compressed('a.npz', x=x)\nassert (np.load('a.npz')['x'] == x).all()",
    "np.savetxt": "np.savetxt('a.txt', x)\nassert (np.loadtxt('a.txt') == x).all()",
    "np.savetxt packed": "np.savetxt('a.gz', x)\nassert (np.genfromtxt('a.gz') == x).all()",
    "array.tofile": "x.tofile('a.bin')\nassert (np.fromfile('a.bin') == x).all()",
    "np.memmap": """
        kept = np.memmap('a.map', dtype=float, mode='w+', shape=3)
        kept[:] = 7
        kept.flush()
        assert np.memmap('a.map', dtype=float, mode='r', shape=3).sum() == 21
        """,
    "to_csv": "frame.to_csv('a.csv', index=False)\nassert pd.read_csv('a.csv').equals(frame)",
    "to_csv by the Python engine": """
        frame.to_csv('a.csv', index=False)
        assert pd.read_csv('a.csv', engine='python').equals(frame)
        """,
    "to_csv of a Path": """
        import pathlib
        path = pathlib.Path('d') / 'a.csv.gz'
        path.parent.mkdir()
        frame.to_csv(path, index=False)
        assert pd.read_csv(path).equals(frame)
        """,
    "to_csv into an archive": """
        frame.to_csv('a.zip', index=False)
        assert pd.read_csv('a.zip').equals(frame)
        """,
    "to_excel": """
        frame.to_excel('a.xlsx', index=False)
        assert pd.read_excel('a.xlsx').equals(frame)
        """,
    "openpyxl": """
        from openpyxl import Workbook, load_workbook
        book = Workbook()
        book.active["A1"] = 5
        book.save('b.xlsx')
        assert load_workbook('b.xlsx').active["A1"].value == 5
        """,
    "lxml": """
        from lxml import etree
        etree.ElementTree(etree.fromstring('<a><b/></a>')).write('a.xml', xml_declaration=True)
        assert etree.parse('a.xml').getroot()[0].tag == 'b'
        """,
    "bs4": """
        from bs4 import BeautifulSoup
        with open('a.html', 'w') as file:
            file.write('<p>x')
        with open('a.html') as file:
            assert BeautifulSoup(file, 'lxml').p.text == 'x'
        """,
    "read_csv in chunks": """
        frame.to_csv('a.csv', index=False)
        assert sum(len(part) for part in pd.read_csv('a.csv', chunksize=2)) == 3
        """,
    "to_json": "frame.to_json('a.json')\nassert pd.read_json('a.json').equals(frame)",
    "to_html": "frame.to_html('a.html')\nassert 'table' in open('a.html').read()",
    "to_sql": """
        import sqlite3
        database = sqlite3.connect('a.db')
        frame.to_sql('t', database, index=False)
        assert pd.read_sql_query('SELECT * FROM t', database).equals(frame)
        assert pd.read_sql('SELECT sum(n) AS s FROM t', database)['s'][0] == 6
        """,
    "to_pickle writes": "frame.to_pickle('a.pkl')\nassert open('a.pkl', 'rb').read(1) == b'\\x80'",
    "read_pickle of what the run has saved": """
        frame.to_pickle('a.pkl')
        assert pd.read_pickle('a.pkl').equals(frame)
        """,
    "scipy.io": """
        from scipy import io
        io.savemat('a.mat', {'x': x})
        assert (io.loadmat('a.mat')['x'].ravel() == x).all()
        """,
    "sound": """
        from scipy.io import wavfile
        wavfile.write('a.wav', 8000, x.astype('int16'))
        assert wavfile.read('a.wav')[1].tolist() == x.tolist()
        """,
    "tempfile.mkstemp": """
        import os, tempfile
        number, path = tempfile.mkstemp(suffix='.csv', dir='.')
        os.close(number)
        frame.to_csv(path, index=False)
        assert pd.read_csv(path).equals(frame)
        """,
    "savefig": """
        plt.plot([1, 2, 3])
        for name in ('a.png', 'a.svg', 'a.pdf', 'a.jpg'):
            plt.savefig(name)
        assert open('a.png', 'rb').read(4) == b'\\x89PNG'
        plt.close()
        """,
    "imsave": """
        plt.imsave('a.png', np.eye(4))
        assert plt.imread('a.png').shape == (4, 4, 4)
        """,
    "write_html": """
        import plotly.express as px
        px.line(x=[1, 2], y=[3, 4]).write_html('a.html', include_plotlyjs=False)
        assert 'plotly' in open('a.html').read()
        """,
    "svmlight": """
        from sklearn.datasets import dump_svmlight_file, load_svmlight_file
        dump_svmlight_file(np.eye(3), [0, 1, 2], 'a.svm')
        assert load_svmlight_file('a.svm')[0].toarray().sum() == 3
        """,
}
HEAD = """
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
x = np.arange(6.0)
frame = pd.DataFrame({'n': [1, 2, 3], 's': ['a', 'b', 'c']})
"""


@pytest.mark.parametrize("name", WITH_PATHS)
def test_paths_of_the_workspace_work(name: str, joined: Session) -> None:
    outcome = joined.run(HEAD + textwrap.dedent(WITH_PATHS[name]))
    assert outcome["error"] is None, outcome["error"]
    files = [each for each in outcome["artifacts"] if each["origin"] == "file"]
    assert files
    assert all(len(each["sha256"]) == 64 for each in outcome["artifacts"])


WITHOUT_FILES = {
    "np.save": "np.save('a.npy', x)",
    "np.load": "np.load('a.npy')",
    "np.savetxt": "np.savetxt('a.txt', x)",
    "np.loadtxt": "np.loadtxt('a.txt')",
    "np.memmap": "np.memmap('a.map', mode='w+', shape=3)",
    "to_csv": "frame.to_csv('a.csv')",
    "read_csv": "pd.read_csv('a.csv')",
    "read_json": "pd.read_json('/a.json')",
    "savefig": "plt.plot([1])\nplt.savefig('a.png')",
    "imread": "plt.imread('a.png')",
}


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_a_path_without_files_names_the_profile_that_has_them(name: str, sandbox: Session) -> None:
    error = sandbox.run(HEAD + WITHOUT_FILES[name])["error"]
    said = f"{error['message']} {error['hint']}"
    assert "combine it with filesystem" in said, error
    assert JOINED in said


# Whoever loads it makes a folder.
PICKLED = """
    PICKLE = b"cposix\\nmkdir\\n(S'escaped'\\ntR."
    open('a.pkl', 'wb').write(PICKLE)
    """
UNPICKLING = {
    "np.load": "np.load('a.pkl', allow_pickle=True)",
    "np.load of a member": """
        import zipfile
        with zipfile.ZipFile('a.npz', 'w') as archive:
            head = str({'descr': '|O', 'fortran_order': False, 'shape': (1,)}).encode()
            head += b' ' * (118 - len(head) - 1) + b'\\n'
            member = b'\\x93NUMPY\\x01\\x00' + len(head).to_bytes(2, 'little') + head + PICKLE
            archive.writestr('x.npy', member)
        np.load('a.npz', allow_pickle=True)['x']
        """,
    "read_pickle": "pd.read_pickle('a.pkl')",
    "read_pickle by its module": "from pandas.io.pickle import read_pickle; read_pickle('a.pkl')",
    "joblib": "import joblib; joblib.load('a.pkl')",
    "joblib by a pipeline's cache": """
        import os, pathlib
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.linear_model import LinearRegression
        def fit():
            make_pipeline(StandardScaler(), LinearRegression(), memory='cache').fit(
                np.arange(8.0).reshape(4, 2), [1, 2, 3, 4])
        fit()
        for path in pathlib.Path('cache').rglob('output.pkl'):
            path.write_bytes(PICKLE)
        fit()
        """,
    "statsmodels": "import statsmodels.api as sm; sm.load_pickle('a.pkl')",
    "a model's own load": """
        import statsmodels.api as sm
        sm.OLS([1.0, 2.0], [[1.0], [3.0]]).fit().load('a.pkl')
        """,
}


def attempt(body: str) -> str:
    tried = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"""{HEAD}{textwrap.dedent(PICKLED)}
import os
try:
{tried}
except Exception as error:
    print(type(error).__name__, error)
if os.path.isdir('escaped'):
    print('escaped', 'here')
"""


@pytest.mark.parametrize("name", UNPICKLING)
def test_nothing_is_unpickled(
    name: str, joined: Session, plain: PlainPython, tmp_path: Path
) -> None:
    source = attempt(UNPICKLING[name])
    control = plain.run(f"import os\nos.chdir({str(tmp_path)!r})\n{source}")
    assert "escaped here" in control["stdout"], control
    outcome = joined.run(source)
    assert "escaped here" not in outcome["stdout"], outcome
    assert outcome["status"] in ("ok", "refused"), outcome


OUTSIDE = (
    "np.loadtxt('/etc/passwd', str, delimiter='\\0')",
    "np.genfromtxt('../' * 12 + 'etc/passwd', str, delimiter=':')",
    "np.fromfile('/etc/passwd', 'u1')",
    "np.memmap('/etc/passwd', 'u1', 'r')",
    "pd.read_csv('/etc/passwd', sep='\\x01', engine='python')",
    "pd.read_csv('file:///etc/passwd', sep=':')",
    "pd.read_csv('/proc/self/environ')",
    "np.save('/tmp/../x.npy', x)",
    "frame.to_csv('/var/tmp/x.csv')",
    "plt.savefig('/x.png')",
)


@pytest.mark.parametrize("line", OUTSIDE)
@pytest.mark.parametrize("kind", ["joined", "jail"])
def test_nothing_outside_is_seen(line: str, kind: str, request: pytest.FixtureRequest) -> None:
    session: Session = request.getfixturevalue(kind)
    outcome = session.run(HEAD + line + "\nprint('escaped')")
    assert "escaped" not in outcome["stdout"]
    assert outcome["status"] == "exception", outcome


def test_a_figure_that_is_shown_and_a_file_of_its_name_are_both_kept(joined: Session) -> None:
    outcome: dict[str, Any] = joined.run(
        HEAD + "plt.plot(x)\nwith open('figure-1.png', 'wb') as file: file.write(b'another')"
    )
    names = {each["name"]: each["origin"] for each in outcome["artifacts"]}
    assert names == {"figure-1.png": "file", "displayed-figure-1.png": "display"}
    assert len(artifacts_of(outcome, "image/png")) == 2


def test_a_figure_that_was_saved_is_shown_once(joined: Session) -> None:
    """As the file, unless it was changed after that."""
    outcome = joined.run(
        "import matplotlib.pyplot as plt\n"
        "plt.figure(figsize=(2, 1)); plt.plot([1]); plt.savefig('a.png', bbox_inches='tight')\n"
        "plt.show()\n"
        "plt.figure(figsize=(2, 1)); plt.plot([1]); plt.savefig('b')\n"
        "plt.figure(figsize=(3, 1)); plt.plot([1]); plt.savefig('c.png'); plt.title('later')\n"
        "plt.figure(figsize=(4, 1)); plt.savefig('/tmp/d.png')\n"
        "plt.figure(figsize=(5, 1)); plt.savefig('e.png'); import os; os.remove('e.png')\n"
    )
    names = [each["name"] for each in outcome["artifacts"]]
    assert names == [
        "figure-1.png", "figure-2.png", "figure-3.png", "a.png", "b.png", "c.png",
    ], outcome["error"]  # fmt: skip
