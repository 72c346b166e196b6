"""The commands, for what has to hold for each of them."""

COMMANDS = (
    "run",
    "repl",
    "validate",
    "rules",
    "serve",
    "config",
    "info",
    "doctor",
    "completion",
    "help",
    "version",
)
GROUPS = ("image", "kernel")
BELOW = ("image build", "image verify", "kernel install", "kernel uninstall")
