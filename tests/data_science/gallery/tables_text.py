"""Columns of text and of categories."""

import pandas as pd

names = pd.Series(["Ada Lovelace", "Alan Turing", None])
print(names.str.split().str[-1].str.upper().tolist(), names.str.contains("Tur", na=False).sum())
kinds = pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True)
print(kinds.codes, pd.get_dummies(kinds).sum().to_dict(), pd.cut([1, 5, 9], 3, labels=False))
