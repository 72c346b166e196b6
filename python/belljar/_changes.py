"""What a session did to its project: reviewed as a list and a diff, and then made real or not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from belljar import _host
from belljar._errors import BelljarError


@dataclass(frozen=True, slots=True)
class Change:
    """A file, directory or link that a session added, changed or removed."""

    path: str
    """Below the project. Bytes that are not UTF-8 are as in `os.fsdecode`."""
    kind: str
    """"added", "changed" or "removed"."""
    type: str
    """"file", "directory" or "link": what it is now, or was."""
    has_conflict: bool
    """Somebody else changed it outside while the session was open: it cannot be applied."""
    is_git: bool
    """It is in `.git`, whose hooks and settings git executes: `apply` wants `with_git`."""
    refusal: str
    """Why `apply` leaves it out; empty: it does not."""


class ChangesNotApplied(BelljarError):
    """A file was changed outside meanwhile, or a change is refused. Nothing was applied."""


class Changes:
    """What a session did to its project, at the moment of `Session.changes`.

    A sequence of `Change`, by path. Nothing of it is real until `apply`.
    """

    def __init__(self, live: _host.LiveChanges) -> None:
        self._live = live
        self._all = tuple(
            Change(os.fsdecode(path), kind, type_, conflict, git, refusal)
            for path, kind, type_, conflict, git, refusal in live.listed()
        )

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Change]:
        return iter(self._all)

    def __getitem__(self, index: int) -> Change:
        return self._all[index]

    def __repr__(self) -> str:
        counts = (
            f"{sum(each.kind == kind for each in self._all)} {kind}"
            for kind in ("added", "changed", "removed")
        )
        return f"<Changes of {self.folder}: {', '.join(counts)}>"

    @property
    def folder(self) -> str:
        """The project."""
        return os.fsdecode(self._live.folder)

    @property
    def left_out(self) -> int:
        """How many pipes, sockets and devices the session made, which are no changes."""
        return self._live.left_out

    def paths(self, kind: str) -> tuple[str, ...]:
        """Those that were "added", "changed" or "removed"."""
        if kind not in ("added", "changed", "removed"):
            raise ValueError(f'kind is {kind!r}; it is "added", "changed" or "removed"')
        return tuple(each.path for each in self._all if each.kind == kind)

    def diff(self, paths: Iterable[str] | None = None) -> str:
        """A unified diff in the form of git, of these files or of all.

        It compares with the project as it is now. Files over 1 MiB, and those that are not UTF-8,
        are only said to differ.
        """
        return self._live.diff(self._chosen(paths)).decode(errors="replace")

    def content(self, path: str) -> bytes:
        """A file as the session left it.

        Raises:
            KeyError: It is not a file that was added or changed.
        """
        content = self._live.content(os.fsencode(path))
        if content is None:
            raise KeyError(path)
        return content

    def apply(self, paths: Iterable[str] | None = None, *, with_git: bool = False) -> None:
        """Makes these changes real, or all that are not refused: all of them or none.

        Args:
            paths: Files or folders. None: all changes without a `refusal`.
            with_git: Also what is in `.git`, whose hooks and settings git executes.

        Raises:
            ChangesNotApplied: A file was changed outside since the session was opened, or one of
                `paths` is refused. Nothing was applied.
            ValueError: Nothing changed at one of `paths`.
        """
        if paths is None:
            chosen: set[bytes] | None = {
                os.fsencode(each.path)
                for each in self._all
                if not each.refusal or (with_git and each.is_git)
            }
        else:
            chosen = self._chosen(paths)
        if why := self._live.apply(chosen, with_git):
            raise ChangesNotApplied("apply changes", why)

    def _chosen(self, paths: Iterable[str] | None) -> set[bytes] | None:
        if paths is None:
            return None
        if isinstance(paths, (str, bytes)):
            raise TypeError("paths is one text; give a list of them")
        chosen: set[bytes] = set()
        for path in paths:
            top = os.fspath(path).rstrip("/")
            found = {
                os.fsencode(each.path)
                for each in self._all
                if each.path == top or each.path.startswith(top + "/")
            }
            if not found:
                raise ValueError(f"paths: nothing changed at {path!r}")
            chosen |= found
        return chosen
