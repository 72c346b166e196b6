"""The commands, for what has to hold for each of them."""

COMMANDS = (
    "run",
    "repl",
    "shell",
    "changes",
    "validate",
    "rules",
    "serve",
    "config",
    "languages",
    "info",
    "doctor",
    "completion",
    "help",
    "version",
)
GROUPS = ("audit", "receipt", "image", "kernel")
BELOW = (
    "audit show",
    "audit search",
    "audit verify",
    "audit export",
    "receipt verify",
    "image build",
    "image verify",
    "kernel install",
    "kernel uninstall",
)
