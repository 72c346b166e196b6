"""A table draws itself."""

import pandas as pd

frame = pd.DataFrame({"a": [1, 3, 2, 5], "b": [2, 2, 4, 3]}, index=list("wxyz"))
frame.plot(kind="barh", stacked=True)
