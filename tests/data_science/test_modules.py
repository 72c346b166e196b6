"""Modules as people import them, parts that load on first use, and what is said of missing ones."""

from __future__ import annotations

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session

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


@pytest.mark.parametrize("name", USES)
def test_it_is_as_in_plain_python(name: str, sandbox: Session, plain: PlainPython) -> None:
    ours, theirs = sandbox.run(USES[name]), plain.run(USES[name])
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
    "another library of images": ("import cv2", "plt.imshow"),
    "a notebook's display": ("from IPython.display import display", "the last line"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_not_there_says_what_is(name: str, sandbox: Session) -> None:
    source, said = SAID[name]
    outcome = sandbox.run(source)
    assert outcome["status"] in {"refused", "exception"}
    assert said in outcome["error"]["hint"], outcome["error"]
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
