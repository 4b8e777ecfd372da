"""bash_execute: a real sandbox. What is tried here is what an attacker would try."""

import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bot import sandbox
from bot.errors import ToolError
from tools import modes
from tools.bash_execute import bash_execute
from tools.offered import check

boxed = pytest.mark.skipif(sandbox.availability() is not None, reason=f"no sandbox on this machine: {sandbox.availability()}")
HOARD = "for i in 1 2 3 4 5 6; do (head -c 300000000 /dev/zero; sleep 20) | tail -c 299999999 & done; wait"
SECRET = "hunter2-in-the-environment"


@pytest.fixture
def bash(make_context):
    context = make_context("pro")
    return lambda command: bash_execute(context, command)


@pytest.fixture
def soon(monkeypatch):
    """Two seconds instead of thirty."""
    run = sandbox.run
    monkeypatch.setattr(sandbox, "run", lambda command, hidden=(): run(command, hidden, 2))


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", SECRET)


def running(mark: str) -> list[str]:
    """The processes of this machine whose command line has *mark* in it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


def gone(mark: str, seconds: float = 3) -> bool:
    """Whether no process with *mark* is left, within a moment."""
    until = time.monotonic() + seconds
    while running(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@boxed
@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("echo $((2**10))", "1024\n"),
        ("awk 'BEGIN { print 6 * 7 }'", "42\n"),
        ("printf 'é\\n'", "é\n"),
        ("echo a > x; cat x; pwd", "a\n/box\n"),
        ("printf '3\\n1\\n2\\n' | sort | head -1", "1\n"),
        ("echo $HOME $LANG", "/box C.UTF-8\n"),
        ("cat", ""),
    ],
)
def test_a_command_computes(bash, command, out):
    assert bash(command) == {"exit_code": 0, "stdout": out, "stderr": ""}


@boxed
@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("false", 1), ("no_such_command", 127), ("kill -9 $$", 137), ("if", 2)])
def test_any_exit_code_is_a_result(bash, command, code):
    assert bash(command)["exit_code"] == code


@boxed
def test_errors_are_told_apart_from_output(bash):
    assert bash("echo out; echo err >&2; exit 1") == {"exit_code": 1, "stdout": "out\n", "stderr": "err\n"}


@boxed
def test_nothing_remains_from_one_call_to_the_next(bash):
    bash("echo secret > /box/a; echo secret > /tmp/a; mkdir /box/d")
    assert bash("ls -A /box /tmp") == {"exit_code": 0, "stdout": "/box:\n\n/tmp:\n", "stderr": ""}


@boxed
def test_the_time_is_limited_and_what_was_written_is_shown(bash, soon):
    start = time.monotonic()
    with pytest.raises(ToolError, match="longer than 2 seconds.*partial"):
        bash("echo partial; sleep 60")
    assert time.monotonic() - start < 5


@boxed
def test_signals_cannot_be_ignored_for_ever(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("trap '' TERM INT HUP QUIT; while :; do sleep 60.4242; done")
    assert gone("sleep 60.4242")


@boxed
@pytest.mark.parametrize(
    "command",
    [
        "sleep 61.4242 & echo back",
        "setsid nohup sleep 61.4242 >/dev/null 2>&1 & disown; echo back",
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 61.4242' &) ; echo back",
        "coproc sleep 61.4242; echo back",
    ],
)
def test_background_children_do_not_outlive_the_call(bash, command):
    assert bash(command)["stdout"] == "back\n"
    assert gone("sleep 61.4242")


@boxed
def test_a_fork_bomb_stays_in_its_box(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("bomb() { bomb | bomb & }; bomb; sleep 60.1234")
    assert gone("sleep 60.1234")
    assert subprocess.run(["true"]).returncode == 0


@boxed
def test_the_number_of_processes_is_limited(bash, soon):
    most, over = 0, threading.Event()

    def attack():
        with pytest.raises(ToolError):
            bash("for i in $(seq 500); do sleep 62.4242 & done; wait")
        over.set()

    thread = threading.Thread(target=attack)
    thread.start()
    while not over.wait(0.05):
        most = max(most, len(running("sleep 62.4242")))
    thread.join()
    assert 20 < most <= 49
    assert gone("sleep 62.4242")


@boxed
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/shadow",
        "/root",
        "/home",
        "/var",
        "/run",
        "/opt",
        "/work",
        "/sys",
        "/proc/1/root/etc/passwd",
        __file__,
        sys.prefix + "/pyvenv.cfg",
    ],
)
def test_files_of_the_host_are_not_there(bash, path):
    assert bash(f"test -e '{path}'")["exit_code"] == 1


@boxed
def test_the_database_and_the_media_are_not_there(bash, services):
    assert Path(services.settings.home, "palabre.db").exists()
    assert bash(f"cat {services.settings.home}/palabre.db; find / -name 'palabre*' 2>/dev/null")["stdout"] == ""


@boxed
@pytest.mark.parametrize(
    "command", ["env", "cat /proc/*/environ", "tr '\\0' '\\n' < /proc/1/environ", "cat /proc/self/environ", "set", "export -p"]
)
def test_the_environment_holds_no_secret(bash, command):
    result = bash(command)
    assert SECRET not in result["stdout"] + result["stderr"]
    assert "API_KEY" not in result["stdout"]


@boxed
def test_processes_of_the_host_are_not_seen(bash):
    assert bash(f"kill -0 {os.getppid()}")["exit_code"] == 1
    assert int(bash("ls -d /proc/[0-9]* | wc -l")["stdout"]) < 12


@boxed
@pytest.mark.parametrize(
    "command",
    [
        "exec 3<>/dev/tcp/127.0.0.1/{port}",
        "exec 3<>/dev/tcp/1.1.1.1/53",
        "exec 3<>/dev/udp/8.8.8.8/53 && echo x >&3",
        "getent hosts example.org",
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 1)\"",
    ],
)
def test_there_is_no_network(bash, command):
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        assert bash(command.replace("{port}", str(listener.getsockname()[1])))["exit_code"] != 0


@boxed
def test_only_the_loopback_device_is_there(bash):
    assert bash("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")["stdout"] == "lo\n"


@boxed
@pytest.mark.parametrize(
    "path", ["/x", "/usr/x", "/usr/bin/x", "/bin/x", "/dev/x", "/dev/shm/x", "/proc/x", "/etc/x", "/proc/sys/kernel/hostname"]
)
def test_nothing_but_the_own_folders_can_be_written(bash, path):
    assert bash(f"echo x > {path}")["exit_code"] == 1
    assert not Path("/usr/x").exists()


@boxed
def test_the_disk_cannot_be_filled(bash):
    result = bash(
        "for i in 1 2 3 4 5; do for f in /box /tmp; do head -c 50000000 /dev/zero > $f/$i; done; done; du -sm /box /tmp | cut -f1"
    )
    assert all(int(size) <= 65 for size in result["stdout"].split())


@boxed
def test_the_number_of_files_is_limited(bash):
    with pytest.raises(ToolError, match="files"):
        bash("cd /box; while :; do : > a$RANDOM$RANDOM; : > b$RANDOM$RANDOM; : > c$RANDOM$RANDOM$RANDOM; done")


@boxed
@pytest.mark.parametrize(
    "command",
    [
        'python3 -c "x = bytearray(2_000_000_000)"',
        "head -c 2000000000 /dev/zero | tail -c 1999999999 | wc -c",
    ],
)
def test_one_process_cannot_take_much_memory(bash, command):
    assert "1999999999" not in bash(command)["stdout"]


@boxed
def test_many_processes_cannot_take_much_memory_together(bash):
    with pytest.raises(ToolError, match="memory"):
        bash(HOARD)


@boxed
def test_a_gigabyte_of_output_costs_no_memory(bash):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = bash("yes | head -c 1000000000")
    assert result["exit_code"] == 0
    assert len(result["stdout"]) <= sandbox.KEPT + len(sandbox.CUT) and result["stdout"].endswith(sandbox.CUT)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 20_000_000


@boxed
def test_output_without_end_is_stopped_by_the_time(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("yes")


@boxed
def test_output_that_is_no_text_does_no_harm(bash):
    out = bash("head -c 1000 /dev/urandom; printf '\\0'")["stdout"]
    assert "\0" not in out
    out.encode()


@boxed
def test_no_privilege_can_be_had(bash):
    status = bash("cat /proc/self/status")["stdout"]
    assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status
    assert bash("id -u")["stdout"] != "0\n"
    for command in (
        "unshare -U true",
        "mount -t tmpfs x /box",
        "chroot / true",
        "mknod /box/a b 8 0",
        "su -c true",
        "sudo true",
        "ulimit -u 100000",
    ):
        assert bash(command)["exit_code"] != 0, command


@boxed
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("memory without limit", "os.memfd_create('x')"),
        ("a local socket", "socket.socket(socket.AF_UNIX)"),
        ("a socket to the machine below", "socket.socket(40, socket.SOCK_STREAM)"),
        ("a netlink socket", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
        ("a new namespace", "check(libc.unshare(0x10000000))"),
        ("a new namespace by clone", "check(libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000000 | 17, 0, 0, 0, 0))"),
        ("another process", "check(libc.ptrace(16, os.getppid(), 0, 0))"),
        ("shared memory", "check(libc.shmget(0, 4096, 0o1600))"),
        ("a kernel key", "check(libc.syscall(248 if os.uname().machine == 'x86_64' else 217, b'user', b'x', b'x', 1, -3))"),
        ("an io ring", "check(libc.syscall(425, 1, bytes(120)))"),
    ],
)
def test_system_calls_that_lead_out_are_refused(bash, name, call):
    program = (
        "import ctypes, os, socket\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def check(result):\n    if result == -1: raise OSError(ctypes.get_errno(), 'x')\n"
        f"try:\n    {call}\n    print('done')\nexcept OSError as problem:\n    print(problem.errno)\n"
    )
    if bash("command -v python3")["exit_code"] != 0:
        pytest.skip("no python3 in /usr")
    assert bash(f"cat > p.py <<'END'\n{program}\nEND\npython3 p.py")["stdout"] == "1\n", name


@boxed
def test_the_device_folder_has_only_harmless_devices(bash):
    assert bash("ls /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/kvm /dev/fuse /dev/net 2>/dev/null")["stdout"] == ""


@boxed
def test_calls_side_by_side_do_not_see_each_other(bash):
    seen, ready = [], threading.Barrier(4)

    def call():
        ready.wait()
        seen.append(bash("echo x > /tmp/$$; echo y > /box/mine; sleep 0.3; ls -A /tmp /box | wc -l; ls -d /proc/[0-9]* | wc -l")["stdout"])

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4 and len(set(seen)) == 1


@boxed
def test_a_command_is_never_part_of_our_own_command_line(bash):
    for command in ("--help", "-c id", "'; echo out; '", "$(echo echo hi)", "--"):
        bash(command)
    assert bash('echo "--bind / /"')["stdout"] == "--bind / /\n"


@boxed
@pytest.mark.parametrize("command", ["echo \ud800", "echo é # \ufffe"])
def test_odd_characters_do_no_harm(bash, command):
    assert bash(command)["exit_code"] == 0


@boxed
def test_a_nul_is_refused_in_words(bash):
    with pytest.raises(ToolError, match="NUL"):
        bash("echo a\0b")


@boxed
def test_folders_of_ours_below_usr_stay_hidden():
    folder = Path("/usr/share/doc")
    if not folder.is_dir():
        pytest.skip("no /usr/share/doc here")
    assert sandbox.run("ls -A /usr/share/doc | wc -l", [folder])["stdout"] == "0\n"


@boxed
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_it_holds_for_a_service_that_does_not_run_as_root():
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom bot import sandbox\nprint(sandbox.availability())\n"
        'print(sandbox.run(\'id -u; bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 0.3; ls -A / | tr "\\n" " "\'))\n'
        f"try:\n    sandbox.run('{HOARD}')\n"
        "except Exception as problem:\n    print(problem)\n"
    )
    done = subprocess.run(
        [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--",
            sys.executable,
            "-c",
            program,
            str(Path(sandbox.__file__).parents[1]),
        ],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
        cwd="/",
    )
    if "Permission" in done.stderr and not done.stdout:
        pytest.skip("the project's folder cannot be read by others here")
    lines = done.stdout.splitlines()
    assert lines[0] == "None", done.stderr
    assert "'exit_code': 0" in lines[1] and "65534" in lines[1] and "root" not in lines[1]
    assert "memory" in lines[2]


@pytest.fixture
def fresh():
    """The sandbox is examined anew before and after."""
    for cached in (sandbox.availability, sandbox._probe):
        cached.cache_clear()
    yield
    for cached in (sandbox.availability, sandbox._probe):
        cached.cache_clear()


@pytest.mark.parametrize(
    "program",
    [
        pytest.param('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', id="a bubblewrap that isolates nothing"),
        pytest.param('while [ "$1" != -- ]; do shift; done; shift; shift 7; cd /tmp; "$@"', id="the same without limits"),
        pytest.param("echo ok", id="a bubblewrap that only says ok"),
        pytest.param("exit 0", id="a bubblewrap that does nothing"),
        pytest.param('echo "bwrap: No permissions to create new namespace" >&2; exit 1', id="a container that forbids it"),
    ],
)
def test_without_isolation_nothing_is_run(fresh, bash, monkeypatch, tmp_path, program):
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/bash\n{program}\n")
    fake.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    mark = tmp_path / "mark"
    assert sandbox.availability()
    with pytest.raises(ToolError, match="cannot be run on this server"):
        bash(f"touch {mark}")
    assert not mark.exists()


def test_without_bubblewrap_the_reason_names_it(fresh, bash, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="bwrap"):
        bash("true")


def test_only_a_professional_may_run_commands():
    assert [m for m in ("guest", "child", "pro") if modes.allowed("bash_execute", m)] == ["pro"]


@pytest.mark.parametrize(
    "arguments", [{}, {"command": ""}, {"command": ["ls"]}, {"command": "x" * 20001}, {"command": "ls", "timeout": 600}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("bash_execute", arguments)
