"""Adapters: environments for frameworks whose agents work in a shell, each over a session of the
language "shell". Page: docs/adapters.md."""
