# shellcheck shell=bash
# Sourced by ./dev: a build for 64-bit Arm, and its tests in an emulated machine that runs Debian's
# kernel and packages of that architecture.

ARM64="$BUILD/arm64"
ARM64_SYSTEM="$BUILD/arm64-system"
ARM64_MACHINE="$BUILD/arm64-system.machine"

# The C++ tests of what depends on the architecture, PROGRAM:FILE: seccomp, system calls, relocations,
# clones.
readonly ARM64_FILES=(outside_tests:{capture_test,child_reaper_test} engine_tests:core_test
  outside_release_tests:{neighbours_test,session_attack_test} seal_release_tests:seal_test)
mapfile -t ARM64_PROGRAMS < <(printf '%s\n' "${ARM64_FILES[@]%%:*}" | sort -u)
# Landlock's ABI 4 and 6.
readonly NOT_OF_LINUX_6_1=Landlock.TcpIsRefused:Landlock.AbstractSocketsAndSignalsOfOthersAreRefused
# The machine has no profile packages.
readonly ARM64_TESTS=(tests/escapes tests/jail -k 'not data-science')

make_arm64_system() {
  local names key
  # The libraries of the build, of that architecture; the tools are this machine's.
  mapfile -t names < <(
    { packages build && packages test; } | grep -E -- '-dev$|^(tzdata|procps|iproute2|openssl|strace)$'
    packages python
    packages arm64-system
  )
  key="$(cat -- "$ROOT"/tools/arm64/{system.sh,init} "$ROOT/tools/wheels/debian.sh" \
    <(printf '%s' "$ARM64_SYSTEM ${names[*]}") | fingerprint)"
  is_stamped arm64-system "$key" && return 0
  say "creating $ARM64_SYSTEM: a Debian for arm64"
  quietly arm64-system "$ROOT/tools/arm64/system.sh" "$ARM64_SYSTEM" "$(own_release)" "${names[@]}" ||
    die "$EXIT_OURS" "$ARM64_SYSTEM could not be created; see $LOGS/arm64-system.txt"
  stamp arm64-system "$key"
}

compile_arm64() {
  say "compiling for arm64"
  # Without line numbers for debuggers, which would fill most of the disk.
  (cd -- "$ROOT" && quietly configure-arm64 cmake --preset release -B "$ARM64" \
    "-DCMAKE_TOOLCHAIN_FILE=$ROOT/tools/cmake/BelljarArm64.cmake" "-DBELLJAR_SYSTEM=$ARM64_SYSTEM" \
    "-DBELLJAR_PYTHON=$PYTHON" "-DBELLJAR_VENV=$VENV" -DBELLJAR_BUILD_TESTS=ON \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG" "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG") ||
    die "$EXIT_OURS" "cmake failed; see $LOGS/configure-arm64.txt"
  compile arm64 "${USED[@]}" jail_runner "${ARM64_PROGRAMS[@]}"
}

# The content of the machine's second disk: the files of the clone, and what was built for it.
stage_arm64_tree() {
  local tree="$ARM64_MACHINE/tree" built share
  built="$tree/build/arm64" share="$tree/build/arm64/share/belljar"
  rm -rf -- "$tree"
  mkdir -p -- "$built/bin"
  git -C "$ROOT" ls-files -z -- ':!tests/fuzz' | tar -C "$ROOT" --null -T - -c | tar -x -C "$tree"
  cp -- "$ARM64"/belljar "$ARM64"/belljar-{guest,zygote} "$ARM64"/belljar-*.so "$built/"
  cp -- "$ARM64/bin/jail_runner" "${ARM64_PROGRAMS[@]/#/$ARM64/bin/}" "$built/bin/"
  cp -R -- "$ARM64/python" "$ARM64/share" "$built/"
  # Links to this machine's environments. The policy's own package has no compiled code.
  rm -rf -- "$share/packages" "$share/site-packages"
  cp -R -- "$VENV"/lib/python3*/site-packages "$share/site-packages"
}

# Creates the disk from the staged files, at the path of the clone, and the command to run there.
make_arm64_disk() { # COMMAND
  local tree="$ARM64_MACHINE/tree"
  mkdir -p -- "$tree/arm64"
  rm -f -- "$tree.img"
  printf '%s\n' "$ROOT" >"$tree/arm64/path"
  printf '%s\n' "$1" >"$tree/arm64/command"
  quietly arm64-disk /sbin/mke2fs -q -t ext4 -d "$tree" "$tree.img" 800M ||
    die "$EXIT_OURS" "the disk could not be created; see $LOGS/arm64-disk.txt"
  rm -rf -- "$tree"
}

# arm64_command TESTS...: what the machine runs. Emulation makes waiting expensive, so each of the two
# processors gets a test; timeouts of tests are meant for a machine that is ten times faster.
arm64_command() {
  local file
  cat <<END
set -u
cd $(printf '%q' "$ROOT")
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
export BELLJAR_BUILD=\$PWD/build/arm64 BELLJAR_GUARDS_DIR=\$PWD/build/arm64/python BELLJAR_MUST_WORK=1
export BELLJAR_PYTHON=/usr/bin/python3 BELLJAR_TEST_SLOWNESS=10
export PYTHONPATH=\$PWD/build/arm64/share/belljar/site-packages
failed=0
uname -srm
build/arm64/belljar doctor
build/arm64/belljar run -c 'print(6 * 7)' || failed=1
python3 -m pytest -p no:cacheprovider -o timeout=7200 -n 2 --dist loadfile -q $(printf '%q ' "$@") || failed=1
END
  for file in "${ARM64_FILES[@]}"; do
    printf 'build/arm64/bin/%s --file=%s --gtest_brief=1 --gtest_filter=-*Soak*:%s || failed=1\n' \
      "${file%%:*}" "${file##*:}" "$NOT_OF_LINUX_6_1"
  done
  printf 'exit $failed\n'
}

# The newest processor whose pointer authentication is not emulated in software.
run_arm64() {
  qemu-system-aarch64 -M virt -cpu neoverse-n1 -smp 2 -m 4G -accel tcg,thread=multi -nic none \
    -nographic -no-reboot -kernel "$ARM64_MACHINE/vmlinuz" -initrd "$ARM64_MACHINE/initrd" \
    -append "console=ttyAMA0 quiet panic=-1" \
    -drive "if=none,id=root,format=raw,snapshot=on,file=$ARM64_MACHINE/root.img" \
    -drive "if=none,id=tree,format=raw,snapshot=on,file=$ARM64_MACHINE/tree.img" \
    -device virtio-blk-pci,drive=root -device virtio-blk-pci,drive=tree </dev/null
}

# try_on_arm64 WHEEL: in the machine, with its Debian's Python. Holds the lock.
try_on_arm64() {
  local wheel=$1 log="$LOGS/wheels-try-arm64.txt" tree="$ARM64_MACHINE/tree"
  make_arm64_system
  rm -rf -- "$tree"
  mkdir -p -- "$tree"
  cp -- "$wheel" "$ROOT/tools/wheels/try_wheel.py" "$tree/"
  make_arm64_disk "$(printf 'export HOME=/root PATH=/usr/bin:/bin LC_ALL=C.UTF-8 BELLJAR_TEST_SLOWNESS=20
exec python3 -I %q %q' "$ROOT/try_wheel.py" "$ROOT/$(basename -- "$wheel")")"
  say "testing $(basename -- "$wheel") in the emulated machine: this takes some minutes"
  run_arm64 | tr -d '\r' >"$log"
  grep -qx 'arm64: exit status 0' "$log" ||
    die "$EXIT_OURS" "$wheel does not work on arm64; see $log"
}

word_arm64() {
  # shellcheck source=tools/wheels/debian.sh
  source "$ROOT/tools/wheels/debian.sh"
  local tests=("$@") started=$SECONDS log="$BUILD/report/arm64.txt"
  (($#)) || tests=("${ARM64_TESTS[@]}")
  [[ "$PYTHON" == /usr/bin/python3 ]] ||
    die "$EXIT_USAGE" "arm64 is built and run with Debian's Python: unset BELLJAR_PYTHON"
  prepare_build_dir
  mkdir -p -- "$BUILD/report"
  lock
  need_packages build test arm64
  make_venv "$VENV" runtime
  make_arm64_system
  compile_arm64
  stage_arm64_tree
  make_arm64_disk "$(arm64_command "${tests[@]}")"
  unlock
  say "starting the emulated machine; its tests take ten to thirty times as long as here"
  run_arm64 | tr -d '\r' | tee -- "$log"
  say "arm64: $(((SECONDS - started) / 60)) minutes; the machine's console is in $log"
  grep -qx 'arm64: exit status 0' "$log" || die 1 "tests failed on arm64"
}
