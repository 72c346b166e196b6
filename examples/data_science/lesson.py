"""A lesson: how the mean of a sample approaches the mean of the population.

belljar run examples/data_science/lesson.py --profile data-science
"""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(2024)
sizes = np.unique(np.logspace(0.5, 4, 30).astype(int))
means = np.array([rng.exponential(scale=2.0, size=size).mean() for size in sizes])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.hist(rng.exponential(scale=2.0, size=5000), bins=40, color="tab:blue")
left.set_title("What is drawn from")
right.semilogx(sizes, means, "o-", color="tab:orange")
right.axhline(2.0, color="gray", linestyle="--", label="its mean")
right.set_title("Means of samples")
right.set_xlabel("size of the sample")
right.legend()
figure.tight_layout()
plt.show()

print(f"{len(sizes)} samples; the largest has {sizes[-1]} values and the mean {means[-1]:.3f}")
