"""The Python half of a worker (`belljar_runner`): from the request's bytes to the report's bytes.

Theory of operation
-------------------
C++ (`engine/inside/interpreter.cc`) calls these functions, for a run in this order and each once:

    zygote   add_package_folders()  where the profile's packages are
             prepare()   before any guest code: builds the policy and imports all that a request
                         may need, because a sealed worker should read no file on its way
             prepare_questions()  where a session may be opened
             specialise() brings the bytecode of a request's path into its final form; warm()
                         instead, if the zygote itself becomes the only worker
    a clone  rehearse()  shows the zygote which pages a request writes to (hot_pages.h)
    worker   reseed()    after the clone: no two workers share a random number
    worker   execute()   the one request:

        bytes ─source─▶ text ─policy or source─▶ code ─exec─▶ namespace or exception
                                                  │                    │
                                              findings            plain_data, bounded_repr,
                                                  │               tracebacks, hints
                                                  └──────▶ report ◀────┘

A session's worker calls begin_session() after reseed(), then execute_cell() for each cell,
answer_question() for what its host asks between cells (questions.py), and after_copy() in each copy
of it that goes on (session_worker.h). A SIGINT interrupts the cell that runs (interrupts.py).

A run's worker is used once and then killed. So nothing here is undone after a request, nothing that
the guest made is released (its finalizers would run among our frames), and no atexit handler or
thread is waited for.

What runs here shares an interpreter with the guest. Under the language policy the guest cannot
reach it. With `policy: "off"` it can, and may break it: the host treats every report as hostile,
and all that this package owes it is an answer, whatever the guest did. Hence the rules: a value of
the guest is looked at through its exact type and never asked for an attribute where a slot can be
read instead; every text and every loop has a bound; nothing escapes `execute`.

The request: `mode` "run" | "validate", `policy` "on" | "off", `filename` (default
"main.py"), `allowed_imports` list | None (with the policy off there is nothing that could
hold it), `stdin` bytes | None, `keep_artifact` callable | None (display.py), and
`max_source`, `max_result`, `max_report` in bytes.
Of a run, where there are any: `inputs` {name: value in its JSON form (plain_data.py)} and
`functions` [name], which become variables of the program; `call_host` (name, arguments) -> answer,
for those functions; `exact_types`, whether the result's form tells tuples and frozensets apart.
Where the zygote has left out modules (belljar_policy/preload.py): `start_over` () -> never.
To "validate" belong `analysis` (default true) and `comments` (default false): whether the report
is to have them.

The report, a JSON object in UTF-8:

    status       "ok" | "exception" | "refused" | "memory_limit"
    exit_code    of sys.exit, else null
    has_result   whether there was a result; `result` is null too when it is not plain data
    result       the last expression, or else the global `result` (its form: plain_data.py)
    result_repr  its repr, bounded; null without a result
    variables    names bound at top level, in order of definition
    error        null or {type, message, line, column, end_line, end_column, traceback, hint};
                 lines and columns count from 1, an end column is one past the last character
    findings     what the policy refuses: {rule, name, line, column, end_line, end_column, reason,
                 hint, profile}
    analysis     of a validated source that is Python: {imports, branches, nesting, missing}
                 (analysis.py; missing: outermost names of packages that it needs and nothing has)
    comments     of a validated source, if there are any: {line, text} (comments.py)
    artifacts    what is shown besides, if there is any: {name, media_type, offset, size, note}; the
                 bytes themselves went to `keep_artifact` (display.py)
    artifacts_left_out  how many were too large, or could not be made
    truncated    which of these were cut: {result, result_repr, traceback, findings, variables,
                 message, imports}
"""

from . import denied_calls, forking, patterns

patterns.load()  # before the imports that compile them
forking.pass_over_needless_handlers()  # before the imports that register them
denied_calls.hide()  # before the imports that look for it

from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

from .execute import (  # noqa: E402
    after_copy,
    begin_session,
    execute,
    execute_cell,
    prepare,
    rehearse,
    rehearse_others,
    specialise,
    warm,
)
from .package_folders import add_package_folders  # noqa: E402
from .randomness import reseed  # noqa: E402


def prepare_questions() -> Callable[[dict[str, Any], bytes], bytes]:
    """Zygote, after prepare(), if a worker may become that of a session: answer_question(). Only
    sessions need its modules."""
    from . import questions

    questions.prepare()
    return questions.answer_question


__all__ = [
    "add_package_folders",
    "after_copy",
    "begin_session",
    "execute",
    "execute_cell",
    "prepare",
    "prepare_questions",
    "rehearse",
    "rehearse_others",
    "reseed",
    "specialise",
    "warm",
]
