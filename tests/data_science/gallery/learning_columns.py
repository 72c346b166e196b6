import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

df = pd.DataFrame(
    {
        "age": [20, np.nan, 40, 50, 33, 28],
        "city": ["a", "b", "a", None, "b", "c"],
        "y": [1.0, 2.0, 3.0, 4.0, 2.5, 1.5],
    }
)
pre = ColumnTransformer(
    [
        ("n", Pipeline([("i", SimpleImputer()), ("s", StandardScaler())]), ["age"]),
        (
            "c",
            Pipeline(
                [
                    ("i", SimpleImputer(strategy="most_frequent")),
                    ("o", OneHotEncoder(handle_unknown="ignore")),
                ]
            ),
            ["city"],
        ),
        ("l", FunctionTransformer(lambda x: np.log1p(x.fillna(0))), ["age"]),
    ]
)
pipe = Pipeline([("pre", pre), ("m", Ridge())])
print(pipe.fit(df[["age", "city"]], df.y).predict(df[["age", "city"]]).round(4))
print(pipe.named_steps["m"].coef_.round(4))


def score(y, p):
    return float(np.abs(y - p).max())


print(
    {
        k: np.round(v, 3).tolist()
        for k, v in cross_validate(
            pipe,
            df[["age", "city"]],
            df.y,
            cv=3,
            scoring={"worst": make_scorer(score), "r": "neg_mean_squared_error"},
        ).items()
        if "time" not in k
    }
)
print(r2_score([1, 2, 3], [1, 2, 4]))
