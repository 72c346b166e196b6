import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

rng = np.random.default_rng(1)
df = pd.DataFrame({"x": rng.normal(size=50), "g": rng.choice(list("ab"), 50)})
df["y"] = 2 * df.x + (df.g == "a") + rng.normal(size=50)
r = smf.ols("y ~ x + C(g)", data=df).fit()
text = str(r.summary())
print("\n".join(l for l in text.splitlines() if "Date" not in l and "Time" not in l))
print(sm.stats.anova_lm(r, typ=2).round(4))
m = sm.OLS(df.y, sm.add_constant(df[["x"]])).fit(cov_type="HC3")
print(m.params.round(4), m.pvalues.round(5), m.conf_int().round(3))
print(smf.logit("z ~ y", df.assign(z=(df.g == "a").astype(int))).fit(disp=0).params.round(3))
print(
    sm.GLM((df.y > 0).astype(float), sm.add_constant(df.x), family=sm.families.Binomial())
    .fit()
    .deviance.round(4)
)
print(m.get_prediction(sm.add_constant(df[["x"]].head(2))).summary_frame().round(3))
