"""Points, a line and what is around it."""

import numpy as np
import pandas as pd
import seaborn as sns

rng = np.random.default_rng(17)
frame = pd.DataFrame({"x": np.arange(40.0)})
frame["y"] = frame.x * 0.5 + rng.normal(size=40)
sns.set_theme(style="whitegrid")
sns.regplot(data=frame, x="x", y="y", n_boot=50, seed=1)
