import matplotlib as mpl
import matplotlib.patches as mpatches
import matplotlib.pyplot as plt
import matplotlib.ticker as mticker
import numpy as np

mpl.rcParams["figure.figsize"] = (4, 3)
plt.rcParams.update({"font.size": 8})
plt.style.use("ggplot")
with plt.style.context("dark_background"), plt.xkcd():
    pass
fig = plt.figure()
ax = fig.add_subplot(111, projection="3d")
x, y = np.meshgrid(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))
s = ax.plot_surface(x, y, x * y, cmap=plt.cm.viridis)
fig.colorbar(s)
ax.view_init(30, 45)
fig, axs = plt.subplots(2, 2, sharex=True, figsize=(5, 4), constrained_layout=True)
axs[0, 0].annotate("p", xy=(0, 0), xytext=(1, 1), arrowprops={"arrowstyle": "->"})
axs[0, 1].fill_between([0, 1], [0, 1], alpha=0.3)
axs[1, 0].errorbar([0, 1], [0, 1], yerr=0.1)
axs[1, 1].yaxis.set_major_formatter(mticker.FuncFormatter(lambda v, p: f"{v:.1f}%"))
axs[1, 1].bar(["a", "b"], [1, 2])
axs[1, 1].twinx().plot([3, 4])
axs[0, 0].axhline(0.5)
axs[0, 0].legend(handles=[mpatches.Patch(color="r", label="x")])
im = axs[0, 0].imshow(np.arange(9).reshape(3, 3))
fig.suptitle("s")
fig, ax = plt.subplots()
ax.table(cellText=[["1"]], loc="center")
ax.stem([1, 2])
ax.quiver([0], [0], [1], [1])
ax.set_xticks([0, 1], labels=["a", "b"], rotation=45)
ax.grid(True, which="both", ls=":")
ax.spines["top"].set_visible(False)
ax.text(0.5, 0.5, "t", transform=ax.transAxes, bbox={"boxstyle": "round"})
print("ok")
