"""tqdm.notebook: there is no notebook to draw in."""

from tqdm.std import tqdm, trange

__all__ = ["tqdm", "trange"]
