"""What a run shows beside its result: figures, tables, formulas, numbers as plain data."""

from __future__ import annotations

import json
import struct
import tomllib
from pathlib import Path

import pytest

from tests.data_science.session import Session, artifacts_of

PROFILES = Path(__file__).resolve().parents[2] / "profiles"


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


def names_of(outcome: dict) -> list[str]:
    return [each["name"] for each in outcome["artifacts"]]


def test_open_and_shown_figures_in_order(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import matplotlib.pyplot as plt\n"
        "plt.figure(figsize=(2, 1)); plt.show()\n"
        "plt.figure(figsize=(3, 1)); plt.figure(figsize=(1, 1)); plt.close()\n"
        "assert len(plt.get_fignums()) == 1\n"
    )
    assert names_of(outcome) == ["figure-1.png", "figure-2.png"]
    assert [size_of(png) for png in artifacts_of(outcome, "image/png")] == [(200, 100), (300, 100)]


def test_what_was_shown_can_be_saved(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import io, matplotlib.pyplot as plt\n"
        "plt.figure(figsize=(2, 1)); plt.plot([1, 2]); plt.show()\n"
        "saved, empty = io.BytesIO(), io.BytesIO()\n"
        "plt.savefig(saved)\n"
        "plt.figure(figsize=(2, 1)); plt.savefig(empty)\n"
        "(len(saved.getvalue()) > 2 * len(empty.getvalue()), plt.get_fignums())"
    )
    assert outcome["result"][0] is True, outcome
    assert names_of(outcome) == ["figure-1.png", "figure-2.png"]


def test_triangles_and_three_dimensions(sandbox: Session) -> None:
    """Qhull writes to /dev/null."""
    outcome = sandbox.run(
        "import matplotlib.pyplot as plt\n"
        "x, y = [0, 1, 0, 1, 0.5], [0, 0, 1, 1, 0.4]\n"
        "plt.tricontourf(x, y, x)\n"
        "plt.figure().add_subplot(projection='3d').plot_trisurf(x, y, x)\n"
    )
    assert names_of(outcome) == ["figure-1.png", "figure-2.png"], outcome["error"]


def test_a_figure_that_is_the_result(sandbox: Session) -> None:
    outcome = sandbox.run(
        "from matplotlib.figure import Figure\n"
        "figure = Figure(figsize=(1, 1)); figure.subplots().plot([1, 2])\nfigure"
    )
    assert names_of(outcome) == ["figure-1.png"]


def test_figures_are_there_after_an_exception(sandbox: Session) -> None:
    outcome = sandbox.run("import matplotlib.pyplot as plt\nplt.plot([1])\n1 / 0")
    assert outcome["error"]["type"] == "ZeroDivisionError"
    assert names_of(outcome) == ["figure-1.png"]


def test_figures_are_bounded_in_number_and_size(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import matplotlib.pyplot as plt\nplt.rcParams['figure.max_open_warning'] = 0\n"
        "for _ in range(25):\n    plt.figure(figsize=(0.5, 0.5))\n"
    )
    assert len(outcome["artifacts"]) == 20
    assert outcome["truncated"]["artifacts"] == 5

    outcome = sandbox.run("import matplotlib.pyplot as plt\nplt.figure(figsize=(60, 60))")
    width, height = size_of(artifacts_of(outcome, "image/png")[0])
    assert 3_900_000 < width * height <= 4_010_000
    assert "36 megapixels" in outcome["artifacts"][0]["note"]


@pytest.mark.parametrize(
    ("figure", "pixels"),
    [("figsize=(300, 300), dpi=100", "900"), ("dpi=10_000", "3072"), ("dpi=99_999", "307194")],
)
def test_a_huge_figure_is_drawn_smaller(sandbox: Session, figure: str, pixels: str) -> None:
    outcome = sandbox.run(
        f"import matplotlib.pyplot as plt\nplt.figure({figure}).gca().plot([1, 2])"
    )
    width, height = size_of(artifacts_of(outcome, "image/png")[0])
    assert 3_900_000 < width * height <= 4_010_000
    assert f"{pixels} megapixels" in outcome["artifacts"][0]["note"]


@pytest.mark.parametrize("figure", ["figsize=(30_000, 30_000), dpi=1", "dpi=float('inf')"])
def test_a_size_that_cannot_be_drawn_is_counted(sandbox: Session, figure: str) -> None:
    outcome = sandbox.run(f"import matplotlib.pyplot as plt\nplt.figure({figure})\nresult = 1")
    assert (outcome["status"], outcome["result"]) == ("ok", 1), outcome["error"]
    assert outcome["artifacts"] == [] and outcome["truncated"]["artifacts"] == 1


def test_long_cells_leave_fewer_rows(sandbox: Session) -> None:
    outcome = sandbox.run("import pandas as pd\npd.DataFrame({'a': ['x' * 1_000_000] * 40})")
    assert names_of(outcome) == ["result.csv"]
    assert outcome["artifacts"][0]["note"] == (
        "the first 4 rows and 1 columns of 40 rows x 1 columns: a str"
    )
    assert artifacts_of(outcome, "text/csv")[0].count(b"\n") == 5
    outcome = sandbox.run("import pandas as pd\npd.DataFrame({'a': ['x' * 5_000_000]})")
    assert outcome["artifacts"] == [] and outcome["truncated"]["artifacts"] == 1


def test_cells_that_are_no_numbers(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import numpy as np, pandas as pd\n"
        "pd.DataFrame({'f': [np.nan, np.inf], 't': [pd.NaT, pd.Timestamp('2024-01-01', tz='UTC')],"
        "'d': [pd.Timedelta('1D'), pd.NaT], 'o': [pd.NA, 2**70],"
        "'p': pd.period_range('2024-01', periods=2, freq='M'), 'c': pd.Categorical(['<', '&'])})"
    )
    assert artifacts_of(outcome, "text/csv")[0].decode() == (
        f"f,t,d,o,p,c\n,,1 days,,2024-01,<\ninf,2024-01-01 00:00:00+00:00,,{2**70},2024-02,&\n"
    )


def test_names_of_columns_are_on_one_line(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import pandas as pd\n"
        "class Name:\n"
        "    def __str__(self): raise ValueError\n"
        "    def __repr__(self): return 'x' * 10_000_000\n"
        "    def __hash__(self): return 1\n"
        "names = ['a\\nvalue:\\n1', 'b\\u202ec', 'n' * 10_000, (1, 2), Name(), 'größe']\n"
        "names += list(range(44))\n"
        "frame = pd.DataFrame([[1] * 50])\n"
        "frame.columns = pd.Index(names, dtype=object, tupleize_cols=False)\n"
        "print(len(frame.columns))\n"
        "frame"
    )
    # Whether a name that raises can be written is pandas' to say.
    for artifact in outcome["artifacts"]:
        note = artifact["note"]
        assert note.startswith("1 rows x 50 columns: a?value:?1 int64, b?c int64, nnn")
        assert len(note) <= 220 and note.isprintable()
    assert (outcome["status"], outcome["stdout"]) == ("ok", "50\n"), outcome["error"]
    assert len(outcome["artifacts"]) + outcome["truncated"].get("artifacts", 0) == 1


def test_a_wide_table_has_its_first_columns_named(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import numpy as np, pandas as pd\npd.DataFrame(np.zeros((3, 10_000))).add_prefix('größe')"
    )
    (artifact,) = outcome["artifacts"]
    assert artifact["note"].startswith(
        "the first 3 rows and 1000 columns of 3 rows x 10000 columns: größe0 float64, "
    )
    header, *rows = artifacts_of(outcome, "text/csv")[0].decode().splitlines()
    assert header.count(",") == 999 and len(rows) == 3


def test_a_table_that_is_none_is_not_asked(sandbox: Session) -> None:
    """Only frames of pandas' own class are written, by its own method."""
    outcome = sandbox.run(
        "import pandas as pd\n"
        "class Frame(pd.DataFrame):\n"
        "    def to_csv(self, *_, **__):\n"
        "        print('asked')\n"
        "        return 'mine'\n"
        "print(Frame({'a': [1]}).to_csv())\n"
        "Frame({'a': [1]})"
    )
    assert outcome["stdout"] == "asked\nmine\n", "the control: its own is called by the program"
    for content in artifacts_of(outcome, "text/csv"):
        assert content == b"a\n1\n"


def test_a_table(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import pandas as pd\n"
        "pd.DataFrame({'n': [1, 2], 't': ['<b>', None], "
        "'d': pd.to_datetime(['2024-01-01', '2024-01-02'])})"
    )
    assert "2024-01-01" in outcome["result_repr"]
    assert names_of(outcome) == ["result.csv"]
    assert artifacts_of(outcome, "text/csv") == [b"n,t,d\n1,<b>,2024-01-01\n2,,2024-01-02\n"]
    assert outcome["artifacts"][0]["note"] == (
        "2 rows x 3 columns: n int64, t str, d datetime64[us]"
    )


@pytest.mark.parametrize(
    ("source", "csv"),
    [
        ("pd.Series([1.5], ['x'], name='v')", ",v\nx,1.5\n"),
        ("pd.Series([1, 2])", "0\n1\n2\n"),
        ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", "a,a\n1,2\n"),
        ("pd.DataFrame({('a', 'b'): [1]})", "a\nb\n1\n"),
        (
            "pd.DataFrame({'v': [1, 2]}, pd.MultiIndex.from_tuples([('a', 1), ('b', 2)], "
            "names=['k', 'n']))",
            "k,n,v\na,1,1\nb,2,2\n",
        ),
        ("pd.DataFrame()", "\n"),
        ("pd.DataFrame({'a': []})", "a\n"),
    ],
)
def test_tables_of_other_shapes(sandbox: Session, source: str, csv: str) -> None:
    outcome = sandbox.run(f"import pandas as pd\n{source}")
    assert outcome["status"] == "ok"
    assert artifacts_of(outcome, "text/csv")[0].decode() == csv


def test_the_whole_of_a_table_is_there(sandbox: Session) -> None:
    outcome = sandbox.run("import pandas as pd\npd.DataFrame({'n': range(30_000)})")
    lines = artifacts_of(outcome, "text/csv")[0].decode().splitlines()
    assert lines == ["n", *map(str, range(30_000))]
    assert outcome["artifacts"][0]["note"] == "30000 rows x 1 columns: n int64"
    assert len(outcome["result_repr"]) < 500


def test_a_long_table_is_cut_and_says_so(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import numpy as np, pandas as pd\npd.DataFrame(np.zeros((1_000_000, 2)))"
    )
    assert outcome["artifacts"][0]["note"] == (
        "the first 50000 rows and 2 columns of 1000000 rows x 2 columns: 0 float64, 1 float64"
    )
    outcome = sandbox.run("import numpy as np, pandas as pd\npd.DataFrame(np.ones((60_000, 60)))")
    assert artifacts_of(outcome, "text/csv")[0].count(b"\n") == 1 + 100_000 // 60


def test_a_formula(sandbox: Session) -> None:
    outcome = sandbox.run("import sympy\nsympy.Integral(sympy.sqrt(sympy.Symbol('x')))")
    assert artifacts_of(outcome, "text/x-tex") == [rb"\int \sqrt{x}\, dx"]


def test_a_figure_of_plotly(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import plotly.express as px\npx.line(x=[1], y=[2]).show()\npx.bar(x=['a'], y=[3])"
    )
    assert names_of(outcome) == [
        "plotly-1.plotly.json",
        "plotly-1.html",
        "result.plotly.json",
        "result.html",
    ]
    shown = artifacts_of(outcome, "application/vnd.plotly.v1+json")
    assert [json.loads(each)["data"][0]["type"] for each in shown] == ["scatter", "bar"]
    assert all(len(each) < 100_000 for each in artifacts_of(outcome, "text/html"))


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        ("np.float64(1.5)", 1.5),
        ("np.float32(0.5)", 0.5),
        ("np.int8(-3)", -3),
        ("np.bool_(True)", True),
        ("np.str_('a')", "a"),
        ("np.array([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
        ("np.array(['a', 'b'])", ["a", "b"]),
        ("np.array(7)", 7),
        ("np.array([1.0, np.nan])", [1.0, {"$type": "float", "value": "nan"}]),
        ("{'a': np.arange(2), 'b': (np.float64(1),)}", {"a": [0, 1], "b": [1.0]}),
        ("pd.Timestamp('2024-03-01 12:00')", "2024-03-01T12:00:00"),
        ("[pd.NaT, pd.NA]", [None, None]),
        ("np.array([object()])", None),
        ("np.longdouble(1)", None),
        ("np.complex128(1j)", None),
    ],
)
def test_numbers_are_plain_data(sandbox: Session, expression: str, plain: object) -> None:
    outcome = sandbox.run(f"import numpy as np, pandas as pd\nresult = {expression}")
    assert outcome["status"] == "ok"
    assert outcome["result"] == plain


def test_a_large_array_is_left_out(sandbox: Session) -> None:
    outcome = sandbox.run("import numpy as np\nnp.zeros(2_000_000)")
    assert outcome["result"] is None and outcome["truncated"]["result"] is True


HOSTILE = {
    "a method of an instance": """
        import matplotlib.pyplot as plt
        figure = plt.figure()
        figure.savefig = figure.get_dpi = lambda *a, **k: 1 / 0
    """,
    "a canvas that draws something else": """
        import matplotlib.pyplot as plt
        figure = plt.figure()
        class Canvas:
            def print_figure(self, buffer, *a, **k):
                buffer.write(b"<script>not a PNG</script>")
        figure.canvas = Canvas()
    """,
    "an artist that raises": """
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        class Evil(Line2D):
            def draw(self, renderer):
                raise SystemExit(3)
        plt.gca().add_line(Evil([0, 1], [0, 1]))
    """,
    "an artist that opens figures and prints": """
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        class Evil(Line2D):
            def draw(self, renderer):
                plt.figure()
                print("drawn")
        plt.gca().add_line(Evil([0, 1], [0, 1]))
    """,
    "an artist that asks for all memory": """
        import matplotlib.pyplot as plt, numpy as np
        from matplotlib.lines import Line2D
        class Evil(Line2D):
            def draw(self, renderer):
                np.ones(10**11)
        plt.gca().add_line(Evil([0, 1], [0, 1]))
    """,
    "an artist without an end": """
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        class Evil(Line2D):
            def draw(self, renderer):
                self.draw(renderer)
        plt.gca().add_line(Evil([0, 1], [0, 1]))
    """,
    "axes that raise": """
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
        class Evil(Axes):
            def draw(self, *a, **k):
                raise KeyboardInterrupt
        figure = plt.figure()
        figure.add_axes(Evil(figure, [0, 0, 1, 1]))
    """,
    "a text that is no formula": """
        import matplotlib.pyplot as plt
        plt.title("$\\frac{$")
    """,
    "a cell that lies about its text": """
        import pandas as pd
        class Cell:
            def __repr__(self):
                return 7
            __str__ = __repr__
        result = pd.DataFrame({"a": [Cell()]}, dtype=object)
    """,
    "a list in itself": """
        import pandas as pd
        it = []
        it.append(it)
        result = pd.DataFrame({"a": [it, 1]})
    """,
    "a table with its own HTML": """
        import pandas as pd
        class Table(pd.DataFrame):
            def _repr_html_(self):
                return "<script>"
            def __len__(self):
                return -5
            iloc = columns = 5
        result = Table({"a": [1]})
    """,
    "a figure of plotly's that is something else": """
        import plotly.graph_objects as go
        class Evil(go.Figure):
            def to_dict(self):
                raise SystemExit
            def to_plotly_json(self):
                return {"x": object()}
        result = Evil()
    """,
    "a formula that raises": """
        import sympy
        class Evil(sympy.Symbol):
            def _latex(self, printer):
                raise SystemExit
        result = Evil("x") + 1
    """,
    "a size that is none": """
        import matplotlib.pyplot as plt
        figure = plt.figure()
        figure.bbox_inches = None
    """,
    "a cell whose text raises": """
        import pandas as pd
        class Cell:
            def __repr__(self):
                raise KeyboardInterrupt
            __str__ = __repr__
        result = pd.DataFrame({"a": [Cell()]}, dtype=object)
    """,
    "a subclass of a table": """
        import pandas as pd
        class Table(pd.DataFrame):
            def to_html(self, *a, **k):
                return "<script>"
            def to_json(self, *a, **k):
                return 7
            shape = (10**30, -1)
        result = Table({"a": [1]})
    """,
    "a class that claims to be a table": """
        class DataFrame:
            shape = 5
        result = DataFrame()
    """,
    "a name with a path in it": """
        import pandas as pd
        result = pd.DataFrame({"../../etc/passwd": [1]})
        result.index.name = "\\ud800"
    """,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_gets_an_outcome(sandbox: Session, name: str) -> None:
    import textwrap

    outcome = sandbox.run(textwrap.dedent(HOSTILE[name]))
    assert outcome["status"] == "ok", (outcome["error"], outcome["status"])
    for png in artifacts_of(outcome, "image/png"):
        assert png[:4] == b"\x89PNG"
    assert b"<script>" not in b"".join(artifacts_of(outcome, "text/html"))
    assert all("/" not in each["name"] for each in outcome["artifacts"])
    # Shown, or counted as left out; a class that is no table is neither.
    claims = name == "a class that claims to be a table"
    assert claims or outcome["artifacts"] or outcome["truncated"]["artifacts"]


def test_every_worker_draws_other_numbers(sandbox: Session) -> None:
    drawn = [
        sandbox.run(
            "import random, numpy as np\n"
            "from scipy import stats\n"
            "result = [random.random(), np.random.rand(), np.random.default_rng().random(),\n"
            "          stats.norm.rvs()]"
        )["result"]
        for _ in range(24)
    ]
    numbers = [number for each in drawn for number in each]
    assert len(set(numbers)) == len(numbers)


def test_a_seed_is_a_seed(sandbox: Session) -> None:
    source = "import numpy as np\nnp.random.seed(1)\nresult = float(np.random.rand())"
    assert sandbox.run(source)["result"] == sandbox.run(source)["result"] == 0.417022004702574


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.zeros(10**10)",
        "import numpy as np\na = np.ones((20_000, 20_000)); a @ a",
        "import pandas as pd\npd.Series(range(10**9)).astype(float)",
    ],
)
def test_too_much_memory_is_said_plainly(sandbox: Session, source: str) -> None:
    outcome = sandbox.run(source)
    assert outcome["status"] == "memory_limit", outcome["error"]
    assert "memory" in outcome["error"]["message"] + outcome["error"]["hint"]
    assert outcome["stderr"] == ""


def test_a_usual_model_fits_the_default_limit(sandbox: Session) -> None:
    outcome = sandbox.run(
        "import numpy as np\n"
        "from sklearn.ensemble import RandomForestClassifier\n"
        "x = np.random.rand(20_000, 20); y = x[:, 0] > 0.5\n"
        "result = RandomForestClassifier(n_estimators=20).fit(x, y).score(x, y) > 0.9"
    )
    assert outcome["result"] is True, outcome["error"]


def test_the_rehearsal_of_a_worker_works_and_leaves_nothing(sandbox: Session) -> None:
    profile = tomllib.loads((PROFILES / "data-science.toml").read_text())
    outcome = sandbox.run(profile["packages"]["data-science"]["rehearsal"])
    assert (outcome["status"], outcome["result"]) == ("ok", 4.5)
    after = sandbox.run("sorted(set(dir()) & {'np', 'pd', 'result'})")
    assert (after["result"], after["artifacts"]) == ([], [])
