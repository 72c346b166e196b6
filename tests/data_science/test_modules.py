"""Modules as people import them, parts that load on first use, and what is said of missing ones."""

from __future__ import annotations

import textwrap

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session

OLD_NAMES = """
import numpy as np, pandas as pd
frame = pd.DataFrame({"a": [1]})
groups = frame.groupby("a")
values = frame.values
(isinstance(frame, pd.core.frame.DataFrame), isinstance(frame.a, pd.core.series.Series),
 isinstance(groups, pd.core.groupby.DataFrameGroupBy),
 isinstance(groups, pd.core.groupby.generic.DataFrameGroupBy),
 isinstance(frame.index, pd.core.indexes.base.Index),
 pd.core.indexes.datetimes.DatetimeIndex is pd.DatetimeIndex,
 isinstance(values, np.core.multiarray.ndarray), np.core.ndarray is np.ndarray)
"""
ACCESSORS = """
import pandas as pd
from pandas.api.extensions import register_dataframe_accessor
@register_dataframe_accessor("geo")
class Geo:
    def __init__(self, frame):
        self._frame = frame
    def total(self):
        return int(self._frame.sum().sum())
@pd.api.extensions.register_series_accessor("twice")
class Twice:
    def __init__(self, series):
        self.values = [2 * each for each in series]
frame = pd.DataFrame({"a": [1, 2]})
frame.geo.total(), pd.DataFrame.geo is Geo, pd.Series([1, 2]).twice.values
"""
OWN_TYPES = """
import numpy as np, pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype, register_extension_dtype, take
@register_extension_dtype
class Mine(ExtensionDtype):
    name, type, na_value = "mine", int, None
    @classmethod
    def construct_array_type(cls):
        return Mines
class Mines(ExtensionArray):
    dtype = property(lambda self: Mine())
    nbytes = property(lambda self: self._data.nbytes)
    def __init__(self, values):
        self._data = np.asarray(values)
    def __len__(self):
        return len(self._data)
    def __getitem__(self, key):
        found = self._data[key]
        return type(self)(found) if isinstance(found, np.ndarray) else found
    def isna(self):
        return np.zeros(len(self._data), dtype=bool)
    def take(self, indices, *, allow_fill=False, fill_value=None):
        return type(self)(take(self._data, indices))
    def copy(self):
        return type(self)(self._data.copy())
    @classmethod
    def _from_sequence(cls, scalars, *, dtype=None, copy=False):
        return cls(scalars)
    @classmethod
    def _concat_same_type(cls, parts):
        return cls(np.concatenate([each._data for each in parts]))
series = pd.Series(Mines([1, 2, 3]))
str(series.dtype), int(series.iloc[1]), int(pd.Series([4, 5], dtype="mine")[0]), len(series[1:])
"""

# Each is a program of its own: what one loads, another would find loaded.
USES = {
    "scipy.stats by attribute": "import scipy\nscipy.stats.norm.cdf(0)",
    "scipy.optimize by attribute": "import scipy\nscipy.optimize.brentq(lambda x: x - 1, 0, 3)",
    "scipy parts": "from scipy import signal, sparse\nsparse.eye(3).sum()",
    "sklearn.ensemble": "import sklearn.ensemble\n"
    "sklearn.ensemble.RandomForestRegressor().n_estimators",
    "linear_model": "from sklearn import linear_model\n"
    "linear_model.LinearRegression().fit([[0], [1]], [1, 3]).coef_.round(6)",
    "metrics": "from sklearn import metrics, svm\nmetrics.accuracy_score([1, 0], [1, 1])",
    "experimental": "from sklearn.experimental import enable_iterative_imputer\n"
    "from sklearn.impute import IterativeImputer\nIterativeImputer().max_iter",
    "statsmodels.api": "import statsmodels.api as sm\n"
    "sm.OLS([1, 2, 3.5], sm.add_constant([0, 1, 2])).fit().params.round(6)",
    "statsmodels.formula.api": "import statsmodels.formula.api as smf\n"
    "smf.ols('y ~ x', {'x': [0, 1, 2], 'y': [1, 2, 3.5]}).fit().params.round(6).tolist()",
    "statespace": "from statsmodels.tsa.statespace.sarimax import SARIMAX\n"
    "SARIMAX([1, 2, 3, 4.5, 5], order=(1, 0, 0)).k_ar",
    "plotly.express": "import plotly.express as px\npx.data.iris().shape",
    "plotly.graph_objects": "import plotly.graph_objects as go\nlen(go.Figure(go.Bar(y=[1])).data)",
    "seaborn": "import seaborn as sns\nsns.color_palette('deep', 2)[0]",
    "sympy": "import sympy\nsympy.integrate('x', ('x', 0, 1))",
    "sympy.vector": "from sympy.vector import CoordSys3D\nN = CoordSys3D('N')\nN.i.cross(N.j)",
    "pyplot": "import matplotlib.pyplot as plt\nplt.rcParams['figure.dpi']",
    "matplotlib by parts": "import matplotlib\nimport matplotlib.ticker as ticker\n"
    "matplotlib.colors.to_hex('red'), ticker.MaxNLocator(3).tick_values(0, 1).tolist()",
    "mplot3d": "from mpl_toolkits.mplot3d import Axes3D\nAxes3D.name",
    "mplot3d by parts": "from mpl_toolkits.mplot3d.art3d import Poly3DCollection\n"
    "from mpl_toolkits.mplot3d import axes3d, proj3d\n"
    "Poly3DCollection([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]]).get_alpha(), axes3d.Axes3D.name",
    "the module of Axes": "import matplotlib.axes._axes as axes, matplotlib.pyplot as plt\n"
    "isinstance(plt.gca(), axes.Axes)",
    "classes of figures, by their modules": "import matplotlib.pyplot as plt\n"
    "from matplotlib.container import BarContainer\nfrom matplotlib.legend import Legend\n"
    "axes = plt.subplot()\nbars = axes.bar([1], [2], label='b')\n"
    "isinstance(bars, BarContainer), isinstance(axes.legend(), Legend), plt.close()",
    "cycler": "from cycler import cycler\nlist(cycler(color=['r', 'g']))",
    "seaborn.axisgrid": "import seaborn as sns\nsns.axisgrid.PairGrid is sns.PairGrid",
    "the backend": "import matplotlib\nmatplotlib.get_backend().lower()",
    "turned images": "from PIL import Image\n"
    "image = Image.new('L', (2, 1)).transpose(Image.ROTATE_90)\nimage.size",
    "the figure after show": "import matplotlib.pyplot as plt\nimport warnings\n"
    "warnings.simplefilter('ignore')\n"
    "plt.plot([1, 2])\nplt.title('t')\nplt.show()\n"
    "seen = plt.gca().get_title(), len(plt.gcf().axes), plt.gcf() is plt.gca().figure\n"
    "plt.close('all')\nseen",
    "mocks": "import pandas as pd\nfrom unittest.mock import patch\n"
    "with patch('pandas.read_csv', return_value=7) as read:\n    found = pd.read_csv('a.csv')\n"
    "read.assert_called_once_with('a.csv')\nfound",
    "np.emath": "import numpy as np\nnp.emath.sqrt(-1), np.emath.log(-1).imag.round(6)",
    "old names": OLD_NAMES,
    "accessors": ACCESSORS,
    "types of the program's": OWN_TYPES,
    "transforms by their old name": "import numpy as np, scipy.fftpack\n"
    "from scipy.fftpack import dct, fft\n"
    "(np.allclose(fft([1, 2, 3]), np.fft.fft([1, 2, 3])), dct([1.0, 2.0]).round(3).tolist(),\n"
    "      scipy.fftpack.fftfreq(4).tolist())",
    "types of columns": "import pandas as pd\nfrom pandas.api.types import is_numeric_dtype\n"
    "is_numeric_dtype(pd.Series([1])), pd.api.types.is_string_dtype(pd.Series(['a']))",
    "PIL": "from PIL import Image, ImageDraw, ImageFilter, ImageOps\nimport io\n"
    "image = Image.new('RGB', (8, 8), 'red')\nImageDraw.Draw(image).line((0, 0, 7, 7), 'blue')\n"
    "data = io.BytesIO()\nimage.filter(ImageFilter.BLUR).save(data, 'PNG')\n"
    "again = Image.open(io.BytesIO(data.getvalue()))\n"
    "again.size, again.mode, ImageOps.grayscale(image).getpixel((0, 7)), image.getpixel((3, 3))",
    "text in PIL": "from PIL import Image, ImageDraw, ImageFont\n"
    "image = Image.new('L', (40, 20))\n"
    "font = ImageFont.load_default()\n"
    "ImageDraw.Draw(image).text((1, 1), 'hi', fill=255, font=font)\n"
    "image.getbbox() is not None",
    "dateutil": "from dateutil import parser, relativedelta\n"
    "from dateutil.rrule import rrule, DAILY\n"
    "d = parser.parse('March 5, 2024 10:30')\n"
    "d, d + relativedelta.relativedelta(months=1), len(list(rrule(DAILY, count=3, dtstart=d)))",
    "models that are saved and loaded": "import io, joblib, pickle\nimport numpy as np\n"
    "from sklearn.ensemble import RandomForestClassifier\n"
    "from sklearn.pipeline import make_pipeline\n"
    "from sklearn.preprocessing import StandardScaler\n"
    "X, y = np.arange(20.0).reshape(10, 2), [0] * 5 + [1] * 5\n"
    "model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)).fit(X, y)\n"
    "file = io.BytesIO()\njoblib.dump(model, file)\nfile.seek(0)\n"
    "again = pickle.loads(pickle.dumps(joblib.load(file)))\n"
    "again is model, again.predict(X).tolist()",
    "tables that are saved and loaded": "import pandas as pd, pickle\n"
    "t = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\n"
    "pickle.loads(pickle.dumps(t)).equals(t)",
    "pandas.plotting": "from pandas.plotting import scatter_matrix\nscatter_matrix.__name__",
    "numpy.random": "import numpy.random as npr\nnpr.seed(0)\nnpr.rand(3).round(6).tolist()",
    "numpy.linalg": "from numpy import linalg\nlinalg.det([[1, 2], [3, 4]]).round(6)",
    "numpy.fft": "import numpy as np\nnp.fft.fft([1, 2]).tolist()",
    "numpy.ma": "import numpy as np\nnp.ma.masked_less([1, -1], 0).sum()",
    "numpy.polynomial": "from numpy.polynomial import Polynomial, chebyshev\n"
    "Polynomial([1, 2])(3), chebyshev.chebval(0.5, [1, 2])",
    "numpy.rec": "import numpy as np\n"
    "np.rec.array([(1, 2.0)], dtype=[('a', int), ('b', float)]).b[0]",
    "numpy.char": "import numpy as np\nnp.char.upper(['a', 'b']).tolist()",
    "joblib": "from joblib import Parallel, delayed\n"
    "Parallel(n_jobs=-1)(delayed(lambda v: v + 1)(i) for i in range(3))",
    "time zones": "import pandas as pd\n"
    "str(pd.Timestamp('2024-07-01', tz='UTC').tz_convert('Europe/Berlin'))",
    "time zones by zoneinfo": "from zoneinfo import ZoneInfo\nfrom datetime import datetime\n"
    "datetime(2024, 1, 1, tzinfo=ZoneInfo('Asia/Tokyo')).isoformat()",
    "versions": "import matplotlib, numpy, pandas, plotly, scipy, seaborn, sklearn, statsmodels\n"
    "import sympy\n"
    "[m.__version__ for m in (matplotlib, numpy, pandas, plotly, scipy, seaborn, sklearn, "
    "statsmodels, sympy)]",
    "images of all kinds": "import io, matplotlib.pyplot as plt\nkinds = []\n"
    "for kind in ('png', 'jpg', 'svg', 'pdf', 'eps', 'webp'):\n"
    "    figure, axes = plt.subplots()\n    axes.plot([1, 2], label='$x^2$')\n"
    "    axes.legend(framealpha=1)\n"
    "    figure.savefig(kept := io.BytesIO(), format=kind, bbox_inches='tight')\n"
    "    plt.close(figure)\n    kinds.append((kind, len(kept.getvalue()) > 1000))\nkinds",
}
USES |= {
    "distributions with parameters in C": "from scipy import stats\n"
    "[float(p) for p in (stats.tukey_hsd([1, 2, 3], [2, 3, 4.5]).pvalue[0, 1].round(6), "
    "stats.studentized_range.cdf(3, 3, 10).round(6), stats.geninvgauss.cdf(1, 1, 1).round(6))]",
    "Tukey's test": "from statsmodels.stats.multicomp import pairwise_tukeyhsd\n"
    "str(pairwise_tukeyhsd([1, 2, 3, 4, 5, 9.0], list('aabbcc')))",
    "link functions": "import statsmodels.api as sm\nlink = sm.families.links.Log()\n"
    "sm.GLM([1.0, 2, 3, 5], [[1, 1], [1, 2], [1, 3], [1, 5.5]], family=sm.families.Gamma(link))"
    ".fit().params.round(4).tolist()",
}
# The packages that are loaded on import.
USES |= {
    "bs4": """
        from bs4 import BeautifulSoup, Comment
        page = '<!-- c --><div class="a b"><p>One</p><p id="t">Two <b>x</b></p><a href="/u">l</a>'
        seen = []
        for parser in ("html.parser", "lxml", "xml"):
            soup = BeautifulSoup(page, parser)
            seen.append([p.get_text(" ", strip=True) for p in soup.find_all("p")])
            seen.append(str(soup.select_one("div.a > p:nth-of-type(2) b")))
            seen.append([a["href"] for a in soup.select("a[href^='/']")])
            seen.append(soup.find(string=lambda text: isinstance(text, Comment)))
        soup.p.string = "new"
        soup.div.append(soup.new_tag("i", attrs={"class": "z"}))
        (seen, soup.prettify(), soup.find("p", id="t").find_next_sibling().name)
        """,
    "bs4.element": """
        from bs4 import BeautifulSoup
        from bs4.element import NavigableString, Tag
        soup = BeautifulSoup(b"<ul><li>a<li>\\xc3\\xa4</ul>", "lxml")
        [(type(each).__name__, isinstance(each, (Tag, NavigableString))) for each in
         soup.ul.descendants], soup.original_encoding
        """,
    "lxml": """
        from lxml import etree, html
        root = etree.fromstring("<a><b x='1'>t</b><b/></a>")
        etree.SubElement(root, "c").text = "<"
        for _, each in etree.iterwalk(root):
            each.set("seen", "1")
        page = html.fromstring("<p>Hi <a href='q'>w</a></p>")
        page.make_links_absolute("http://example.org/")
        (root.xpath("//b/@x"), etree.tostring(root), page.xpath("//a/@href"), page.text_content(),
         etree.XPath("count(//b)")(root), [each.tag for each in root.iter()])
        """,
    "lxml refuses": """
        from lxml import etree
        try:
            etree.fromstring("<a><b></a>")
        except etree.XMLSyntaxError as error:
            said = str(error)
        said
        """,
    "pytz": """
        from datetime import datetime
        import pytz
        berlin = pytz.timezone("Europe/Berlin")
        then = berlin.localize(datetime(2024, 7, 1, 12))
        try:
            pytz.timezone("No/Where")
        except pytz.UnknownTimeZoneError as error:
            missing = str(error)
        (then, then.astimezone(pytz.utc), berlin.normalize(then), missing,
         "Asia/Tokyo" in pytz.all_timezones, len(pytz.common_timezones) > 300,
         pytz.country_timezones["ch"], datetime.now(pytz.UTC).tzname())
        """,
    "sortedcontainers": """
        import copy, pickle
        from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet
        numbers = SortedList([3, 1, 2])
        numbers.add(0)
        numbers.discard(2)
        class Longest(SortedList):
            def longest(self):
                return max(map(len, self))
        by_length = SortedKeyList(["ccc", "a", "bb"], key=len)
        table = SortedDict({"b": 2, "a": 1})
        table["0"] = 0
        chosen = SortedSet("hello")
        (list(numbers), numbers.bisect_left(3), numbers[-1], list(numbers.irange(1, 3)),
         list(by_length.irange_key(2, 3)), Longest(["a", "bbb"]).longest(), list(table),
         table.peekitem(0), table.keys()[1], list(chosen), chosen.index("l"),
         copy.deepcopy(numbers) == numbers, pickle.loads(pickle.dumps(table)) == table,
         repr(table), repr(by_length.key is len))
        """,
    "tabulate": """
        import pandas as pd
        from tabulate import tabulate
        rows = [["a", 1], ["bcd", 2.5]]
        ("\\n".join(tabulate(rows, headers=["n", "v"], tablefmt=style) for style in
                   ("github", "grid", "html", "psql", "latex")),
         tabulate({"x": [1, 2]}, headers="keys", showindex=True),
         pd.DataFrame({"x": [1, 2]}).to_markdown(index=False))
        """,
    "tqdm": """
        import io
        import pandas as pd
        from tqdm import tqdm, trange
        from tqdm.auto import tqdm as other
        bars = io.StringIO()
        with tqdm(total=3, file=bars, desc="work") as bar:
            for i in range(3):
                bar.update(1)
                bar.set_postfix(i=i)
        tqdm.pandas(file=bars)
        (sum(trange(4, file=bars)), list(other("ab", file=bars)), "work: 100%" in bars.getvalue(),
         pd.Series([1, 2]).progress_apply(lambda value: value + 1).tolist())
        """,
    "openpyxl": """
        import io
        from openpyxl import Workbook, load_workbook
        from openpyxl.chart import BarChart, Reference
        from openpyxl.styles import Alignment, Font, PatternFill
        from openpyxl.utils import get_column_letter
        book = Workbook()
        sheet = book.active
        sheet.title = "One"
        sheet.append(["a", "b"])
        for i in range(3):
            sheet.append([i, f"=A{i + 2}*2"])
        sheet["A1"].font = Font(bold=True)
        sheet["A1"].fill = PatternFill("solid", fgColor="FFFF00")
        sheet.column_dimensions[get_column_letter(1)].width = 20
        sheet.merge_cells("D1:E1")
        chart = BarChart()
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4), titles_from_data=True)
        sheet.add_chart(chart, "G2")
        written = Workbook(write_only=True)
        written.create_sheet("W").append([1, 2])
        file, other = io.BytesIO(), io.BytesIO()
        book.save(file)
        written.save(other)
        again = load_workbook(io.BytesIO(file.getvalue()))
        lazy = load_workbook(other, read_only=True)
        (again.sheetnames, [[cell.value for cell in row] for row in again["One"].iter_rows()],
         again["One"]["A1"].font.bold, [row for row in lazy["W"].values],
         again["One"].column_dimensions["A"].width)
        """,
    "spreadsheets of pandas": """
        import io
        import pandas as pd
        frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
        file = io.BytesIO()
        with pd.ExcelWriter(file) as writer:
            frame.to_excel(writer, sheet_name="one", index=False)
            frame.to_excel(writer, sheet_name="two")
        sheets = pd.read_excel(file, sheet_name=None)
        sorted(sheets), sheets["one"].equals(frame), sheets["two"].shape
        """,
    "HTML and XML of pandas": """
        import io
        import pandas as pd
        table = "<table><tr><th>a<th>b</tr><tr><td>1<td>x</tr></table>"
        rows = "<r><i><a>1</a></i><i><a>2</a></i></r>"
        (pd.read_html(io.StringIO(table))[0].to_dict(), pd.read_xml(io.StringIO(rows)).to_dict(),
         pd.DataFrame({"a": [1]}).to_xml(index=False))
        """,
    "faker": """
        from faker import Faker
        from faker.providers import BaseProvider, internet
        class Own(BaseProvider):
            def animal(self):
                return self.random_element(["cat", "dog"])
        Faker.seed(7)
        fake, german = Faker(), Faker("de_DE")
        fake.add_provider(Own)
        fake.add_provider(internet)
        (fake.name(), fake.email(), fake.address(), fake.date_of_birth().year, fake.animal(),
         fake.ipv4(), fake.sentence(), fake.unique.first_name(), fake.profile()["job"],
         fake.pydict(2, value_types=[int]), fake.json(num_rows=1), german.city(),
         fake.format("color_name"), len({fake.uuid4() for _ in range(3)}))
        """,
    "regex": """
        import regex
        (regex.findall(r"\\p{Lu}\\w+", "Hello World"), regex.search(r"(?:foo){e<=1}", "fo").group(),
         regex.sub(r"(?<=a+)b", "c", "aab"), regex.fullmatch(r"(\\w)+", "abc").captures(1))
        """,
}


@pytest.mark.parametrize("name", USES)
def test_it_is_as_in_plain_python(name: str, sandbox: Session, plain: PlainPython) -> None:
    source = textwrap.dedent(USES[name])
    ours, theirs = sandbox.run(source), plain.run(source)
    assert theirs["error"] is None, theirs["error"]
    assert ours["status"] == "ok", ours["error"] or ours["findings"]
    assert ours["result_repr"] == theirs["result"]
    assert ours["stderr"] == ""


def test_show_says_nothing(sandbox: Session) -> None:
    """Plain Python without a screen warns of it."""
    outcome = sandbox.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert (outcome["stdout"], outcome["stderr"]) == ("", "")


SAID = {
    "a notebook's line": ("%matplotlib inline\nimport numpy", "open figures are shown"),
    "seaborn's tables": ("import seaborn as sns\nsns.load_dataset('tips')", "plotly.express.data"),
    "scikit-learn's tables": (
        "from sklearn.datasets import fetch_california_housing",
        "plotly.express.data",
    ),
    "a table for other programs": ("import pandas as pd\npd.read_parquet('a')", "read_csv"),
    "a part that is not here": ("import scipy.datasets", "scipy.stats"),
    "a part that is nearly there": ("import sklearn.linear_models", "'sklearn.linear_model'"),
    "another library of learning": ("import torch", "Use sklearn"),
    "another library of tables": ("import polars as pl", "Use pandas"),
    "another library of images": ("import cv2", "PIL"),
    "a notebook's shell": ("from IPython.core import magic", "IPython.display"),
    "columns as files": ("import pyarrow.parquet as pq", "Use CSV"),
    "columns as files of pandas": (
        "import pandas as pd\npd.DataFrame({'a': [1]}).to_parquet('a.parquet')",
        "use to_csv()",
    ),
    "another library of spreadsheets": ("import xlsxwriter", "Use openpyxl"),
    "a library of language": (
        "import nltk\nnltk.download('punkt')",
        "'nltk' is not installed here",
    ),
    "another parser": ("import html5lib", "or 'html.parser'"),
    "a path for code in C": ("from lxml import etree\netree.parse('a.xml')", "io.BytesIO"),
    "what opens addresses": ("from lxml.html import parse", "lxml.html.fromstring"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_not_there_says_what_is(name: str, sandbox: Session) -> None:
    source, said = SAID[name]
    outcome = sandbox.run(source)
    assert outcome["status"] in {"refused", "exception"}
    assert said in f"{outcome['error']['message']} {outcome['error']['hint']}", outcome["error"]
    assert "Images are not available" not in outcome["error"]["hint"]


# Each draws from another generator that the zygote holds, or makes one.
DRAWS = [
    "import random\nresult = random.random()",
    "import numpy as np\nresult = np.random.rand()",
    "import numpy as np\nresult = np.random.default_rng().random()",
    "import numpy as np\nresult = np.random.RandomState().rand()",
    "from scipy import stats\nresult = stats.norm.rvs()",
    "from scipy.stats import qmc\nresult = qmc.Sobol(1).random()[0, 0]",
    "from sklearn.utils import resample\nresult = resample(range(10**6), n_samples=4)",
    "from sklearn.datasets import make_blobs\nresult = make_blobs(2)[0].sum()",
    "from sklearn.model_selection import train_test_split\n"
    "result = train_test_split(range(99999))[1][:4]",
    "import pandas as pd\nresult = pd.Series(range(99999)).sample(4).tolist()",
    "from sympy.ntheory import randprime\nresult = randprime(10**9, 10**10)",
    "from sympy.stats import Normal, sample\nresult = sample(Normal('X', 0, 1))",
    "import uuid\nresult = str(uuid.uuid4())",
    "from faker import Faker\nresult = Faker().uuid4()",
]


@pytest.mark.parametrize("source", DRAWS)
def test_two_runs_draw_other_numbers(source: str, sandbox: Session) -> None:
    drawn = [sandbox.run(source) for _ in range(3)]
    assert [each["status"] for each in drawn] == ["ok"] * 3, drawn[0]["error"]
    assert len({each["result_repr"] for each in drawn}) == 3


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.random.seed(0)\nnp.random.rand(3).tolist()",
        "import numpy as np\nnp.random.default_rng(0).normal(size=3).tolist()",
        "import random\nrandom.seed(0)\n[random.random(), random.gauss(0, 1)]",
        "import numpy as np\nfrom scipy import stats\nnp.random.seed(0)\nfloat(stats.norm.rvs())",
        "import numpy as np\nfrom sklearn.datasets import make_blobs\nnp.random.seed(0)\n"
        "make_blobs(2)[0].tolist()",
        "import numpy as np, pandas as pd\nnp.random.seed(0)\n"
        "pd.Series(range(99)).sample(4).tolist()",
    ],
)
def test_a_seed_gives_the_numbers_of_plain_python(
    source: str, sandbox: Session, plain: PlainPython
) -> None:
    assert sandbox.run(source)["result_repr"] == plain.run(source)["result"]


def test_packages_that_are_rare_are_not_in_the_zygote(jail: Session) -> None:
    """Others would import some as they are there: fontTools takes lxml."""
    rare = "{'bs4', 'faker', 'lxml', 'openpyxl', 'regex', 'sortedcontainers', 'tabulate', 'tqdm'}"
    loaded = jail.run(f"import sys\nsorted({{n.partition('.')[0] for n in sys.modules}} & {rare})")
    assert loaded["result"] == []


def test_without_the_policy_they_are_there_too(jail: Session) -> None:
    outcome = jail.run(
        "import bs4, faker, openpyxl, regex, tabulate, tqdm\n"
        "bs4.BeautifulSoup('<p>x', 'lxml').p.text, regex.findall('[[a-z]--[b]]', 'abc', regex.V1)"
    )
    assert outcome["error"] is None, outcome["error"]
    assert outcome["result"] == ["x", ["a", "c"]]
