"""Groups, each with its boxes."""

import numpy as np
import pandas as pd
import seaborn as sns

rng = np.random.default_rng(18)
frame = pd.DataFrame(
    {"day": np.repeat(["Mon", "Tue"], 40), "who": ["a", "b"] * 40, "v": rng.normal(size=80)}
)
sns.boxplot(data=frame, x="day", y="v", hue="who")
