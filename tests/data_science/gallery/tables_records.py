from io import StringIO

import pandas as pd

text = """id,amount,when
1,"1,200.50",2024-01-03
2,n/a,2024-02-30
3,7,
"""
df = pd.read_csv(StringIO(text), thousands=",", na_values=["n/a"])
print(df, df.dtypes)
print(pd.read_json(StringIO('[{"a": 1}]')), pd.json_normalize([{"a": {"b": 1}}]))
print(df.to_csv(index=False))
print(df.to_html()[:40])
