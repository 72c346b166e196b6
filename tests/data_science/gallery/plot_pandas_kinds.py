import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

df = pd.DataFrame({"a": np.arange(10), "b": np.arange(10) ** 1.5})
ax = df.plot(x="a", y="b", kind="scatter", title="t")
ax.set_xlabel("x")
df.plot.hist(alpha=0.5, bins=4, subplots=True)
df.plot(kind="area")
df["b"].plot.kde()
df.plot.box()
df.hist()
plt.tight_layout()
plt.show()
print("done")
