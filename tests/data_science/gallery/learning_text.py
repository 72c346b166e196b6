"""Which text is it? Counts of words and naive Bayes."""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

texts = ["cheap pills now", "meeting at noon", "cheap meeting", "lunch at noon", "pills pills"]
model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, [1, 0, 1, 0, 1])
print(model.predict(["pills at noon", "lunch meeting"]))
print(model.predict_proba(["cheap lunch"]).round(6))
