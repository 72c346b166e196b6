import numpy as np
import pandas as pd

df = pd.DataFrame(np.arange(12).reshape(4, 3), columns=list("abc"))


def label(row):
    if row["a"] > 5:
        return "big"
    return "small"


df["label"] = df.apply(label, axis=1)
df["d"] = df["a"].map({0: "zero", 3: "three"}).fillna("other")
df = (
    df.assign(e=lambda x: x.a * 2)
    .pipe(lambda x: x[x.e > 1])
    .sort_values(["label", "e"], ascending=[True, False])
)
print(df)
for row in df.itertuples():
    print(row.Index, row.a, row.label)
for index, row in df.iterrows():
    print(index, row["d"])
print(df.to_dict("records")[0], df.to_json(orient="records"))
print(df.to_string(index=False))
print(df.loc[df.a.between(3, 9), ["a", "b"]].values.tolist())
df.loc[:, "f"] = np.where(df.a > 5, 1, 0)
print(df.memory_usage(deep=False).sum() > 0, df.f.value_counts().to_dict())
