import warnings

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")

pd.set_option("display.max_columns", None)
pd.options.display.float_format = "{:.2f}".format
print(pd.DataFrame({"a": [1.23456]}))
pd.options.mode.copy_on_write = True
with pd.option_context("display.max_rows", 2):
    print(pd.Series(range(5)))
print(np.__version__[:1], pd.__version__[:1])
