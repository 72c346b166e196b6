"""What each language can do, as a program that everybody would write."""
# ruff: noqa: E501 programs of other languages

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    file: str
    # Programs of /usr/bin.
    needs: tuple[str, ...]
    # Prints "hello", its arguments and its input, writes out.txt, and fails with "boom" in `line`.
    hello: str
    line: int
    type: str
    # Cannot be compiled, for a reason in line 2.
    wrong: str
    # Ends with code 7.
    leave: str
    # The type of the error where a compiler of its own says it.
    wrong_type: str = "ExitStatus"
    has_arguments: bool = True


# Of which every developer's machine has the interpreters.
MUST_BE_THERE = ("bash", "perl", "c", "cpp", "javascript")

_C = r"""#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char line[100] = "";
  fgets(line, 100, stdin);
  printf("hello %s %s %s", argv[1], argv[2], line);
  fclose(fopen("out.txt", "w"));
  fflush(stdout);
  abort();
}
"""

_JS = """const fs = require("fs");
console.log("hello", ...process.argv.slice(2), fs.readFileSync(0, "utf8"));
fs.writeFileSync("out.txt", "");
function f() {
  throw new TypeError("boom");
}
f();
"""

LANGUAGES = {
    "bash": Language(
        "t.sh",
        ("bash",),
        'echo hello "$@" "$(cat)"\n: > out.txt\n: "${missing:?boom}"\n',
        3,
        "ExitStatus",
        "echo 1\nif then fi\n",
        "exit 7",
    ),
    "shell": Language(
        "t",
        ("bash",),
        'echo hello "$@" "$(cat)"\n: > out.txt\n: "${missing:?boom}"\n',
        3,
        "ExitStatus",
        "echo 1\nif then fi\n",
        "exit 7",
    ),
    "perl": Language(
        "t.pl",
        ("perl",),
        'print "hello @ARGV ", <STDIN>;\nopen(my $f, ">", "out.txt");\nsub f {\ndie "boom";\n}\nf();\n',
        4,
        "ExitStatus",
        "print 1;\nmy $x = = 2;\n",
        "exit 7;",
    ),
    "c": Language(
        "t.c",
        ("gcc",),
        _C,
        0,
        "SIGABRT",
        "int main() {\n  return x;\n}\n",
        "int main() { return 7; }",
        "CompileError",
    ),
    "cpp": Language(
        "t.cpp",
        ("g++",),
        _C,
        0,
        "SIGABRT",
        "int main() {\n  return x;\n}\n",
        "int main() { return 7; }",
        "CompileError",
    ),
    "javascript": Language(
        "t.js",
        ("node",),
        _JS,
        5,
        "TypeError",
        "const a = 1;\nlet x = = 2;\n",
        "process.exit(7)",
        "SyntaxError",
    ),
    "typescript": Language(
        "t.ts",
        ("node", "esbuild"),
        _JS.replace("const fs = require(", "import * as fs from ")
        .replace('"fs")', '"fs"')
        .replace("f() {", "f(): never {"),
        5,
        "TypeError",
        "const a = 1;\nlet x = = 2;\n",
        "process.exit(7 as number)",
        "CompileError",
    ),
    "ruby": Language(
        "t.rb",
        ("ruby",),
        'puts "hello #{ARGV.join(" ")} #{$stdin.read}"\nFile.write("out.txt", "")\ndef f\n'
        '  raise ArgumentError, "boom"\nend\nf\n',
        4,
        "ArgumentError",
        "puts 1\nx = )\n",
        "exit 7",
    ),
    "php": Language(
        "t.php",
        ("php",),
        '<?php echo "hello $argv[1] $argv[2] ", fgets(STDIN);\nfile_put_contents("out.txt", "");\n'
        'function f() {\n  throw new RuntimeException("boom");\n}\nf();\n',
        4,
        "RuntimeException",
        "<?php echo 1;\n$x = ;\n",
        "<?php exit(7);",
        "Parse error",
    ),
    "lua": Language(
        "t.lua",
        ("lua5.4",),
        'print("hello", arg[1], arg[2], io.read("a"))\nio.open("out.txt", "w"):close()\n'
        'local function f()\n  error("boom")\nend\nf()\n',
        4,
        "ExitStatus",
        "print(1)\nx = = 2\n",
        "os.exit(7)",
    ),
    "r": Language(
        "t.R",
        ("Rscript",),
        'cat("hello", commandArgs(TRUE), readLines(file("stdin")), "\\n")\n'
        'cat("", file = "out.txt")\nf <- function() {\n  stop("boom")\n}\nf()\n',
        4,
        "ExitStatus",
        "x <- 1\ny <- }\n",
        "quit(status = 7)",
    ),
    "java": Language(
        "Main.java",
        ("java", "javac"),
        """import java.nio.file.*;
class Main {
  static void f() {
    throw new IllegalStateException("boom");
  }
  public static void main(String[] a) throws Exception {
    System.out.println("hello " + a[0] + " " + a[1] + " " + new String(System.in.readAllBytes()));
    Files.writeString(Path.of("out.txt"), "");
    f();
  }
}
""",
        4,
        "java.lang.IllegalStateException",
        "class Main { public static void main(String[] a) {\n  int x = true; } }\n",
        "class Main { public static void main(String[] a) { System.exit(7); } }",
        "CompileError",
    ),
    "go": Language(
        "t.go",
        ("go",),
        """package main
import ("bufio"; "fmt"; "os")
func main() {
	line, _ := bufio.NewReader(os.Stdin).ReadString('\\n')
	fmt.Println("hello", os.Args[1], os.Args[2], line)
	os.WriteFile("out.txt", nil, 0644)
	panic("boom")
}
""",
        7,
        "panic",
        "package main\nfunc main() { x := 1 }\n",
        'package main\nimport "os"\nfunc main() { os.Exit(7) }\n',
        "CompileError",
    ),
    "rust": Language(
        "t.rs",
        ("rustc", "cc"),
        """fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    println!("hello {} {} {}", a[1], a[2], line);
    std::fs::write("out.txt", "").unwrap();
    panic!("boom");
}
""",
        7,
        "panicked",
        'fn main() {\n    let x: i32 = "s"; }\n',
        "fn main() { std::process::exit(7) }",
        "CompileError",
    ),
    "octave": Language(
        "t.m",
        ("octave-cli",),
        'printf("hello %s %s\\n", strjoin(argv()\', " "), fgetl(stdin));\nfclose(fopen("out.txt", "w"));\n'
        'function f()\n  error("boom");\nend\nf();\n',
        4,
        "ExitStatus",
        "x = 1;\ny = = 2;\n",
        "exit(7)",
    ),
    "sqlite": Language(
        "t.sql",
        ("sqlite3",),
        ".print hello one two in\n.output out.txt\n.print x\n.output\nselect * from boom;\n",
        5,
        "ExitStatus",
        "select 1;\nselekt 2;\n",
        ".exit 7\n",
        has_arguments=False,
    ),
    "cpython": Language(
        "main.py",
        ("python3",),
        'import sys\nprint("hello", *sys.argv[1:], sys.stdin.read())\nopen("out.txt", "w").close()\n'
        'def f():\n    raise ValueError("boom")\nf()\n',
        5,
        "ValueError",
        "x = 1\ny = = 2\n",
        "raise SystemExit(7)",
        "SyntaxError",
    ),
}
