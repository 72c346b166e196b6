"""Attacks by way of an interpreter. Each prints WON if it succeeds, and "held" otherwise.

In a source, <secret> is a file of the host that everybody may read and that says WON, <port> a
listener of the host's, <first> the process that started it, <library> a shared library in the
workspace that prints WON when it is loaded, and <folder> one that is shown inside and must not be
written to.
"""
# ruff: noqa: E501 programs of other languages

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Attack:
    language: str
    name: str
    source: str
    # Layers without which it succeeds.
    alone: tuple[str, ...] = ()
    root: bool = False  # the control is root

    def __str__(self) -> str:
        return f"{self.language}: {self.name}"


def attacks(language: str, *rows: tuple[object, ...]) -> list[Attack]:
    return [Attack(language, *row) for row in rows]  # type: ignore[arg-type]


BASH = attacks(
    "bash",
    ("a file", "cat <secret> || echo held"),
    ("a link", "ln -s <secret> link; cat link || echo held"),
    ("/dev/tcp", "exec 3<> /dev/tcp/127.0.0.1/<port> && echo WON || echo held", ("seccomp",)),
    ("/dev/udp", "exec 3<> /dev/udp/127.0.0.1/53 && echo WON || echo held", ("seccomp",)),
    (
        "coproc",
        "coproc { exec 3<> /dev/tcp/127.0.0.1/<port> && echo WON || echo held; }; cat <&${COPROC[0]}",
    ),
    ("a program of its own", "cp /usr/bin/true ./t && ./t && echo WON || echo held"),
    (
        "the linker",
        "cp /usr/bin/true ./t; $(ls /lib*/ld-linux-*.so.* | head -1) ./t && echo WON || echo held",
    ),
    ("a builtin of its own", "enable -f <library> attack; echo held"),
    ("LD_PRELOAD", "LD_PRELOAD=<library> /usr/bin/true; echo held"),
    (
        "a folder",
        "touch <folder>/belljar-attack && rm <folder>/belljar-attack && echo WON || echo held",
    ),
    ("descriptors of its parent", "ls /proc/$PPID/fd && echo WON || echo held"),
    ("the first process", "cat /proc/<first>/root<secret> || echo held"),
    ("mount", "mkdir m; mount -t tmpfs none m && umount m && echo WON || echo held", (), True),
    ("unshare", "unshare -r true && echo WON || echo held", (), True),
    ("su", "su -c true && echo WON || echo held", (), True),
)

R = attacks(
    "r",
    ("system", 'system("cat <secret> || echo held")'),
    (
        "system, with an address",
        """invisible(system("bash -c 'exec 3<> /dev/tcp/127.0.0.1/<port>' && echo WON || echo held"))""",
    ),
    (
        "a file",
        'tryCatch(cat(readLines("<secret>"), sep = "\\n"), warning = function(w) cat("held\\n"))',
    ),
    (
        "dyn.load",
        'tryCatch({ dyn.load("<library>"); .C("attack") }, error = function(e) cat("held\\n"))',
    ),
    (
        "LD_PRELOAD",
        'Sys.setenv(LD_PRELOAD = "<library>"); system("/usr/bin/true"); Sys.unsetenv("LD_PRELOAD"); cat("held\\n")',
    ),
    (
        "R_HOME",
        'file.copy("<library>", "libR.so"); Sys.setenv(LD_LIBRARY_PATH = getwd(), LD_PRELOAD = "libR.so"); system("/usr/bin/true"); cat("held\\n")',
    ),
    (
        "download.file",
        'got <- tryCatch(download.file("http://127.0.0.1:<port>/", "got", quiet = TRUE), error = function(e) 1); cat(if (got == 0) "WON\\n" else "held\\n")',
    ),
    (
        "url",
        'tryCatch(cat(readLines(url("http://127.0.0.1:<port>/")), sep = "\\n"), error = function(e) cat("held\\n"))',
    ),
    (
        "socketConnection",
        'tryCatch({ socketConnection("127.0.0.1", <port>, open = "r+"); cat("WON\\n") }, error = function(e) cat("held\\n"), warning = function(w) cat("held\\n"))',
        ("seccomp",),
    ),
    (
        "a program of its own",
        'file.copy("/usr/bin/true", "t", copy.mode = TRUE); cat(if (suppressWarnings(system("./t")) == 0) "WON\\n" else "held\\n")',
    ),
    (
        "a folder",
        'cat(if (suppressWarnings(file.create("<folder>/belljar-attack"))) "WON\\n" else "held\\n")',
    ),
    (
        "the first process",
        'got <- tryCatch(readBin("/proc/<first>/environ", "raw", 1), error = function(e) NULL, warning = function(w) NULL); cat(if (length(got)) "WON\\n" else "held\\n")',
    ),
)

_JAVA = """
import com.sun.tools.attach.*;
import java.io.*;
import java.net.*;
import java.nio.channels.*;
import java.nio.file.*;
public class Main {
  static final String JAVA = System.getProperty("java.home") + "/bin/java";
  public static void main(String[] arguments) throws Throwable {
    if (arguments.length > 0) {
      System.out.println("ready");
      System.in.read();
      return;
    }
    try {
      System.out.println(attack() ? "WON" : "held");
    } catch (Throwable failure) {
      System.out.println("held\\n" + failure);
    }
  }
  static boolean attack() throws Throwable { BODY }
}
"""
_ATTACH = """
System.setProperty("sun.tools.attach.attachTimeout", "5000");
Process victim = new ProcessBuilder(JAVA, "Main.java", "victim").start();
try {
  victim.inputReader().readLine();
  return VirtualMachine.attach(Long.toString(victim.pid())).getSystemProperties().size() > 0;
} finally {
  victim.destroyForcibly();
}
"""
_FIRST_MEMORY = """
String first = Files.readAllLines(Path.of("/proc/<first>/maps")).get(0);
try (RandomAccessFile memory = new RandomAccessFile("/proc/<first>/mem", "r")) {
  memory.seek(Long.parseLong(first.split("-")[0], 16));
  return memory.read() >= 0;
}
"""
_OWN_PROGRAM = """
Files.writeString(Path.of("own"), "#!" + JAVA + " --source 17\\n");
new File("own").setExecutable(true);
new ProcessBuilder("./own").start().destroyForcibly();
return true;
"""
JAVA = [
    Attack("java", name, _JAVA.replace("BODY", body), alone, root)
    for name, body, alone, root in (
        ("Runtime.exec", 'return Runtime.getRuntime().exec(new String[] {"/bin/cat", "<secret>"}).getInputStream().read() >= 0;', (), False),
        ("a program of its own", _OWN_PROGRAM, (), False),
        ("System.load", 'System.load("<library>"); return true;', (), False),
        ("a file", 'return Files.readString(Path.of("<secret>")).startsWith("WON");', (), False),
        ("a link", 'return Files.readString(Files.createSymbolicLink(Path.of("link"), Path.of("<secret>"))).startsWith("WON");', (), False),
        ("a folder", 'return Files.exists(Files.createFile(Path.of("<folder>/belljar-attack")));', (), False),
        ("a connection", 'return new Socket("127.0.0.1", <port>).isConnected();', ("seccomp",), False),
        ("a server", "return new ServerSocket(0).isBound();", ("seccomp",), False),
        ("a server in a file", 'return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of("socket")) != null;', ("seccomp",), False),
        ("attach", _ATTACH, ("seccomp",), False),
        ("memory of the first process", _FIRST_MEMORY, (), False),
    )
]  # fmt: skip

# Writes to address zero, which ends a process unless it can map something there.
UNSAFE = """
public class Main {
  public static void main(String[] arguments) throws Exception {
    var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    ((sun.misc.Unsafe) field.get(null)).putAddress(0, 1);
    System.out.println("WON");
  }
}
"""

_INSPECTOR = """
const inspector = require('inspector');
process.kill(process.pid, 'SIGUSR1');
let left = <polls>;
const timer = setInterval(() => {
  if (!inspector.url() && --left > 0) return;
  clearInterval(timer);
  console.log(inspector.url() ? 'WON' : 'held');
  process.exit();
}, 20);
"""
NODE = attacks(
    "javascript",
    (
        "a file",
        "try { console.log(require('fs').readFileSync('<secret>', 'utf8')) } catch { console.log('held') }",
    ),
    (
        "a folder",
        "try { require('fs').writeFileSync('<folder>/belljar-attack', ''); console.log('WON') } catch { console.log('held') }",
    ),
    (
        "a server",
        "require('net').createServer().listen(0, function () { console.log('WON'); this.close() }).on('error', () => console.log('held'))",
        ("seccomp",),
    ),
    (
        "a server in a file",
        "require('net').createServer().listen('socket', function () { console.log('WON'); this.close() }).on('error', () => console.log('held'))",
        ("seccomp",),
    ),
    (
        "a connection",
        "require('net').connect(<port>, '127.0.0.1', () => { console.log('WON'); process.exit() }).on('error', () => console.log('held'))",
        ("seccomp",),
    ),
    (
        "inspector.open",
        "try { require('inspector').open(0); console.log(require('inspector').url() ? 'WON' : 'held') } catch { console.log('held') }; process.exit()",
        ("seccomp",),
    ),
    ("the inspector by a signal", _INSPECTOR, ("seccomp",)),
    (
        "the inspector of a child",
        "console.log(require('child_process').spawnSync(process.execPath, ['--inspect=0', '-p', 'require(\"inspector\").url() ? \"WON\" : \"held\"'], {encoding: 'utf8'}).stdout)",
        ("seccomp",),
    ),
    (
        "child_process",
        "const r = require('child_process').spawnSync('/bin/cat', ['<secret>']); console.log(String(r.stdout || '') || 'held')",
    ),
    (
        "process.binding",
        "const r = process.binding('spawn_sync').spawn({file: '/bin/cat', args: ['cat', '<secret>'], stdio: [{type: 'pipe', readable: true}, {type: 'pipe', writable: true}]}); console.log(String(r.output?.[1] || '') || 'held')",
    ),
    (
        "a program of its own",
        "require('fs').writeFileSync('own', '#!' + process.execPath, {mode: 0o755}); console.log(require('child_process').spawnSync('./own').error ? 'held' : 'WON')",
    ),
    (
        "an addon",
        "try { process.dlopen({exports: {}}, '<library>') } catch { console.log('held') }",
    ),
    (
        "an addon by require",
        "require('fs').copyFileSync('<library>', 'addon.node'); try { require('./addon.node') } catch { console.log('held') }",
    ),
    (
        "a thread",
        'new (require(\'worker_threads\').Worker)(\'try { console.log(require("fs").readFileSync("<secret>", "utf8")) } catch { console.log("held") }\', {eval: true})',
    ),
    (
        "the file system of WebAssembly",
        "try { new (require('wasi').WASI)({version: 'preview1', preopens: {'/': '/var/tmp'}}); console.log('WON') } catch { console.log('held') }",
    ),
    (
        "root",
        "try { process.setuid(0); console.log(process.getuid() == 0 ? 'WON' : 'held') } catch { console.log('held') }",
        (),
        True,
    ),
    (
        "the first process",
        "try { console.log(require('fs').readFileSync('/proc/<first>/environ').length > 0 ? 'WON' : 'held') } catch { console.log('held') }",
    ),
)

TYPESCRIPT = [replace(attack, language="typescript") for attack in NODE]

_GO = """package main

import (
	"fmt"
	"IMPORT"
)

func main() {
	BODY
	fmt.Println("held")
}
"""
_RUST = """
use std::io::Read;
extern "C" { fn mmap(at: usize, size: usize, protection: i32, flags: i32, file: i32, offset: i64) -> isize;
             fn unshare(flags: i32) -> i32; }
#[allow(dead_code)]
fn read(mut from: impl Read) -> std::io::Result<String> { let mut text = String::new(); from.read_to_string(&mut text).map(|_| text) }
fn main() {
    println!("{}", EXPRESSION);
}
"""


def go(name: str, package: str, condition: str, root: bool = False) -> Attack:
    body = f'if {condition} {{\n\t\tfmt.Println("WON")\n\t\treturn\n\t}}'
    return Attack("go", name, _GO.replace("IMPORT", package).replace("BODY", body), root=root)


def rust(name: str, condition: str, root: bool = False) -> Attack:
    expression = f'if {condition} {{ "WON" }} else {{ "held" }}'
    return Attack("rust", name, _RUST.replace("EXPRESSION", expression), root=root)


COMPILED = [
    go("a file", "os", '_, err := os.ReadFile("<secret>"); err == nil'),
    go("a folder", "os", 'err := os.WriteFile("<folder>/belljar-attack", nil, 0o600); err == nil'),
    go("a connection", "net", '_, err := net.Dial("tcp", "127.0.0.1:<port>"); err == nil'),
    go("a program", "os/exec", 'text, _ := exec.Command("/bin/cat", "<secret>").Output(); string(text) == "WON\\n"'),
    go("the first process", "os", 'text, err := os.ReadFile("/proc/<first>/environ"); err == nil && len(text) > 0'),
    go("memory that is written and executed", "syscall", "_, err := syscall.Mmap(-1, 0, 4096, 7, 34); err == nil"),
    go("a namespace", "syscall", "syscall.Unshare(syscall.CLONE_NEWNS) == nil", root=True),
    go("a mount", "syscall", 'syscall.Mkdir("m", 0o700) == nil && syscall.Mount("none", "m", "tmpfs", 0, "") == nil && syscall.Unmount("m", 0) == nil', root=True),
    rust("a file", 'std::fs::read("<secret>").is_ok()'),
    rust("a folder", 'std::fs::write("<folder>/belljar-attack", "").is_ok()'),
    rust("a connection", 'std::net::TcpStream::connect("127.0.0.1:<port>").is_ok()'),
    rust("a program", 'std::process::Command::new("/bin/cat").arg("<secret>").output().map_or(false, |o| o.stdout == b"WON\\n")'),
    rust("the first process", 'std::fs::File::open("/proc/<first>/environ").and_then(read).map_or(false, |t| t.len() > 0)'),
    rust("memory that is written and executed", "unsafe { mmap(0, 4096, 7, 34, -1, 0) } > 0"),
    rust("a namespace", "unsafe { unshare(0x20000) } == 0", root=True),
]  # fmt: skip

# A shared library in the workspace, by whatever the language loads such with; and what else is its
# own. It is the mount, not the filter, that forbids it: code of the machine's libraries is loaded too.
OTHERS = [
    Attack("c", "a file, by the compiler", '#include <stdio.h>\nint main(void) {\n#if __has_include("<secret>")\n  puts("WON");\n#else\n  puts("held");\n#endif\n}\n'),
    Attack("perl", "a library", 'require DynaLoader; print "held\\n" unless DynaLoader::dl_load_file("<library>");'),
    Attack("perl", "a file", 'open(my $f, "<", "<secret>") or print("held\\n"); print <$f> if $f;'),
    Attack("perl", "a copy of a program", "print system('cp /usr/bin/true own && ./own') ? 'held' : 'WON'"),
    Attack("perl", "a program", 'system({"/bin/cat"} "cat", "<secret>") == 0 or print "held\\n";'),
    Attack("perl", "memory that is written and executed", 'print syscall(9, 0, 4096, 7, 34, -1, 0) > 0 ? "WON\\n" : "held\\n";', ("seccomp",)),
    Attack("ruby", "a library", "require 'fiddle'\nbegin\n  Fiddle.dlopen('<library>')\nrescue Fiddle::DLError\n  puts 'held'\nend\n"),
    Attack("ruby", "a program", "read = `/bin/cat <secret>`; puts(read.empty? ? 'held' : read)"),
    Attack("ruby", "a copy of a program", "puts(system('cp /usr/bin/true own && ./own') ? 'WON' : 'held')"),
    Attack("lua", "a library", 'print(package.loadlib("<library>", "*") and "" or "held")'),
    Attack("lua", "a program", 'local f = io.popen("cat <secret>"); print(f and f:read("a") == "WON\\n" and "WON" or "held")'),
    Attack("php", "a library", "<?php try { FFI::cdef('', '<library>'); } catch (Throwable $e) { echo \"held\\n\"; }"),
    Attack("php", "a program", "<?php echo shell_exec('cat <secret>') ?: \"held\\n\";"),
    Attack("octave", "a library", 'rename("<library>", "attack.oct"); try; attack(); catch; puts("held\\n"); end'),
    Attack("octave", "a program", '[s, o] = system("cat <secret>"); if s == 0; puts(o); else; puts("held\\n"); end'),
    Attack("sqlite", "a library", ".bail off\n.load <library>\nselect 'held';"),
    Attack("sqlite", "a program", ".bail off\n.shell cat <secret> || echo held\nselect 'held';"),
    Attack("sqlite", "a file", "select coalesce(readfile('<secret>'), 'held');"),
    Attack("cpython", "a library", "import ctypes\ntry:\n    ctypes.CDLL('<library>')\nexcept OSError:\n    print('held')\n"),
    Attack("cpython", "a program", "import subprocess\nprint(subprocess.run(['/bin/cat', '<secret>'], stdout=subprocess.PIPE, text=True).stdout or 'held')\n"),
    Attack("cpython", "a copy of a program", "import os\nprint('held' if os.system('cp /usr/bin/true own && ./own') else 'WON')\n"),
    Attack("cpython", "memory that is written and executed", "import mmap\ntry:\n    mmap.mmap(-1, 4096, prot=7)\n    print('WON')\nexcept OSError:\n    print('held')\n", ("seccomp",)),
]  # fmt: skip

ATTACKS = [*BASH, *R, *JAVA, *NODE, *TYPESCRIPT, *COMPILED, *OTHERS]
