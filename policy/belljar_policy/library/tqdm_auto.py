"""tqdm.auto, which chooses between the bars of a notebook and those of a terminal."""

from tqdm.std import tqdm, trange

__all__ = ["tqdm", "trange"]
