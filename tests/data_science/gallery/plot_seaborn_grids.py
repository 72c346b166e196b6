import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

sns.set_theme(style="whitegrid")
rng = np.random.default_rng(2)
frame = pd.DataFrame(
    {"x": rng.normal(size=60), "y": rng.normal(size=60), "kind": rng.choice(list("abc"), 60)}
)
sns.pairplot(frame, hue="kind", height=1.5)
sns.jointplot(data=frame, x="x", y="y", height=3)
sns.FacetGrid(frame, col="kind", height=2).map(sns.histplot, "x")
plt.show()
