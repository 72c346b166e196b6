"""Fifty tasks, and what a model must find in the texts of the tools to do each in one call."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    asked: str
    needs: tuple[str, ...]
    """Patterns, in the texts of the server as one; `argument:NAME` is an argument of the input
    schemas, with its description."""
    all_profiles: bool = False
    """Whether it takes a server on which every profile is enabled."""


FRESH = r"fresh process: nothing is left of earlier calls"
VALUE = r"value of its last expression \(or of the variable named result\)"
RUN = r"Runs a Python program"
ERROR = r"error, the line and a hint"
LIMITS = r"at timeout or memory_limit the program is stopped, with its output so far"
BASIC = r"the standard library without files, network, processes and pip"
CHOSEN = r"chosen by what the code imports or by profile"
INFO = r"get_sandbox_info lists the modules"
CUT = r"The middle of a long part is cut, and a note says where to read it"
CODE = "argument:code"

TASKS = (
    Task("What is 2 ** 200?", (RUN, VALUE, CODE)),
    Task("Add up these 40 numbers", (RUN, VALUE)),
    Task("Is 2**61 - 1 prime?", (RUN, VALUE)),
    Task("Print the first twenty Fibonacci numbers", (RUN, r"what it printed")),
    Task("What weekday was 1999-12-31?", (RUN, BASIC)),
    Task("Sort this list of names by their last letter", (RUN, VALUE)),
    Task("Check my claim that the median is 7", (r"check a claim", VALUE)),
    Task("Parse this JSON and give me the keys", (r"transform data", BASIC)),
    Task("Count the words in this text", (r"transform data", VALUE)),
    Task("Try whether this regular expression matches", (r"try an algorithm", BASIC)),
    Task("Continue with the variables of the last call", (FRESH,)),
    Task("Define a function now, and call it in the next call", (FRESH,)),
    Task("Why did my code fail?", (ERROR,)),
    Task("Fix the error and run it again", (r"fix the code and call again", ERROR)),
    Task("Run a simulation for two minutes", ("argument:timeout", r"\b300\b", LIMITS)),
    Task("Why did my code time out?", (LIMITS, "argument:timeout", r'"default":30\b')),
    Task("Stop it after half a second", ("argument:timeout", r"0\.1\b")),
    Task("Build a list of ten million numbers", ("argument:memory_limit", r'"default":"256m"')),
    Task("Give it a gigabyte of memory", ("argument:memory_limit", r"k, m or g, up to \dg")),
    Task("Run this with the input 'Ada' and '36'", ("argument:stdin", r"input\(\)")),
    Task("Feed it lines on sys.stdin", ("argument:stdin", r"sys\.stdin")),
    Task("Run it as `prog --count 3`", ("argument:args", r"sys\.argv\[1:\]")),
    Task("Run it with MODE=test in the environment", ("argument:env", r"os\.environ")),
    Task("Run student code that may only use math", ("argument:allowed_imports", r"only modules")),
    Task("Grade untrusted code against input", ("argument:stdin", r"everything else comes from")),
    Task(
        "I only want the value, not what it prints", ("argument:capture_output", r"only the value")
    ),
    Task("Print a hundred thousand lines", (CUT, r"1 MiB")),
    Task("Read all of the long output", (CUT,)),
    Task("Would this code be allowed?", (r"Says whether execute_code would run", CODE)),
    Task("Check the code without running it", (r"nothing is run",)),
    Task("Do I have to validate before I run?", (r"Not needed before execute_code",)),
    Task("What may I use instead of a refused import?", (r"what to write instead",)),
    Task("Which modules are there?", (INFO,)),
    Task(
        "What can I use of the module itertools?", ("argument:module", r"names that code may use")
    ),
    Task("What does the profile data-science have?", (r"details of this profile",)),
    Task("What isolates the code?", (r"what isolates the code",)),
    Task("Show me everything about the isolation of this run", ("argument:detail", r"isolation")),
    Task("How much memory did it use?", ("argument:detail", r"usage")),
    Task("Install flask and start it", (BASIC,)),
    Task("List my home directory", (BASIC,)),
    Task("Which part of the answer did the program write?", (r"\[belljar:", r"comes from")),
    Task("Plot a histogram", (r"data-science: ", CHOSEN, r"Figures come back as images"), True),
    Task("Average a column of this CSV", (r"tables", CHOSEN, r"pandas"), True),
    Task("Fit a linear regression", (r"statistics, models", CHOSEN), True),
    Task("Read the file that I attach", ("argument:files", r"working directory"), True),
    Task("Attach a picture of 5 MB", ("argument:files", r"12 MiB", r"base64"), True),
    Task("Write a report to a file for me", (r"Files that the code writes come back",), True),
    Task("Fetch https://example.org", (r"network \(only if named\)", "argument:profile"), True),
    Task("Fetch it from that host alone", ("argument:allowed_domains", r"only these"), True),
    Task("Fetch a table and plot it", (r"data-science\+network", "argument:profile"), True),
)
