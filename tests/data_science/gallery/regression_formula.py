"""A formula with functions of the program's own."""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf


def squared(values):
    return values**2


frame = pd.DataFrame({"x": np.linspace(0, 3, 40)})
frame["y"] = 2 * squared(frame.x) + np.sin(frame.x) + 1
print(smf.ols("y ~ squared(x) + np.sin(x)", frame).fit().params.round(6).to_dict())
