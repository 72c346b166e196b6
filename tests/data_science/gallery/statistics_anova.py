"""Analysis of variance, by a formula."""

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

rng = np.random.default_rng(4)
frame = pd.DataFrame({"group": np.repeat(["a", "b", "c"], 20), "y": rng.normal(size=60)})
frame.loc[frame.group == "c", "y"] += 1
model = smf.ols("y ~ C(group)", frame).fit()
print(sm.stats.anova_lm(model).round(6).to_string())
