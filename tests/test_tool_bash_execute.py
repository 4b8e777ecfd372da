"""bash_execute: a real sandbox. What is tried here is what an attacker would try."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from unittest.mock import ANY

import pytest

from bot import sandbox
from bot.errors import ToolError
from bot.sandbox import landlock, seccomp, watch
from tools import modes
from tools.bash_execute import bash_execute
from tools.offered import check

HOARD = "for i in 1 2 3 4 5 6; do (head -c 300000000 /dev/zero; sleep 20) | tail -c 299999999 & done; wait"
SECRET = "hunter2-in-the-environment"


@pytest.fixture(params=["box" if sandbox._probe("box") is None else "box without /proc", "jail"])
def way(request, monkeypatch):
    """Each way of isolation that can be had on this machine."""
    if reason := sandbox._probe(request.param):
        pytest.skip(f"no {request.param} on this machine: {reason}")
    monkeypatch.setattr(sandbox, "way", lambda: request.param)
    return request.param


@pytest.fixture
def bash(make_context, way):
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


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("echo $((2**10))", "1024\n"),
        ("awk 'BEGIN { print 6 * 7 }'", "42\n"),
        ("printf 'é\\n'", "é\n"),
        ("echo a > x; cat x; ls", "a\nx\n"),
        ("printf '3\\n1\\n2\\n' | sort | head -1", "1\n"),
        ("echo $LANG; [ $HOME = $PWD ] && echo home", "C.UTF-8\nhome\n"),
        ("cat", ""),
    ],
)
def test_a_command_computes(bash, command, out):
    assert bash(command) == {"exit_code": 0, "stdout": out, "stderr": ""}


@pytest.mark.parametrize(("command", "code"), [("exit 3", 3), ("false", 1), ("no_such_command", 127), ("kill -9 $$", 137), ("if", 2)])
def test_any_exit_code_is_a_result(bash, command, code):
    assert bash(command)["exit_code"] == code


def test_errors_are_told_apart_from_output(bash):
    assert bash("echo out; echo err >&2; exit 1") == {"exit_code": 1, "stdout": "out\n", "stderr": "err\n"}


def test_nothing_remains_from_one_call_to_the_next(bash):
    kept = bash("echo secret > a; (echo secret > /tmp/a) 2>/dev/null; mkdir d; chmod 0 d; pwd")["stdout"].strip()
    assert bash("ls -A; ls -A /tmp 2>/dev/null") == {"exit_code": ANY, "stdout": "", "stderr": ""}
    assert not Path(kept).exists()


def test_the_time_is_limited_and_what_was_written_is_shown(bash, soon):
    start = time.monotonic()
    with pytest.raises(ToolError, match="longer than 2 seconds.*partial"):
        bash("echo partial; sleep 60")
    assert time.monotonic() - start < 5


def test_signals_cannot_be_ignored_for_ever(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("trap '' TERM INT HUP QUIT; while :; do sleep 60.4242; done")
    assert gone("sleep 60.4242")


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


def test_a_fork_bomb_stays_in_its_box(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("bomb() { bomb | bomb & }; bomb; sleep 60.1234")
    assert gone("sleep 60.1234")
    assert subprocess.run(["true"]).returncode == 0


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
        "/sys",
        "/proc/1/root/etc/passwd",
        __file__,
        sys.prefix + "/pyvenv.cfg",
    ],
)
def test_files_of_the_host_cannot_be_read(bash, path):
    assert bash(f"(: < '{path}') || ls '{path}/'")["exit_code"] != 0


def test_the_database_and_the_media_are_not_there(bash, services):
    assert Path(services.settings.home, "palabre.db").exists()
    home = services.settings.home
    assert bash(f"cat {home}/palabre.db; ls {home}/media; find / -name 'palabre.db' 2>/dev/null")["stdout"] == ""
    for attack in (f": > {home}/palabre.db", f"rm -f {home}/palabre.db; rm -rf {home}", f"chmod 777 {home}/palabre.db", f"mv {home} x"):
        bash(attack)
    assert Path(home, "palabre.db").stat().st_size > 0 and Path(home, "palabre.db").stat().st_mode & 0o777 != 0o777


@pytest.mark.parametrize(
    "command", ["env", "cat /proc/*/environ", "tr '\\0' '\\n' < /proc/1/environ", "cat /proc/self/environ", "set", "export -p"]
)
def test_the_environment_holds_no_secret(bash, command):
    result = bash(command)
    assert SECRET not in result["stdout"] + result["stderr"]
    assert "API_KEY" not in result["stdout"]


def test_processes_of_the_host_are_not_seen(bash):
    for pid in (os.getpid(), os.getppid(), 1):
        assert "permitted" in (refused := bash(f"kill -0 {pid} || ls /proc/{pid}/fd")["stderr"]) or "No such" in refused or pid == 1
    assert int(bash("ls -d /proc/[0-9]* | wc -l")["stdout"]) < 12


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


def test_only_the_loopback_device_is_there(bash, way):
    """In the box the network is a loopback of its own; elsewhere there is no /proc to look into."""
    assert bash("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '")["stdout"] == ("lo\n" if way == "box" else "")


@pytest.mark.parametrize(
    "path", ["/x", "/usr/x", "/usr/bin/x", "/bin/x", "/dev/x", "/dev/shm/x", "/proc/x", "/etc/x", "/proc/sys/kernel/hostname"]
)
def test_nothing_but_the_own_folders_can_be_written(bash, path):
    assert bash(f"echo x > {path}")["exit_code"] == 1
    assert not Path("/usr/x").exists()


def test_the_disk_cannot_be_filled(bash):
    try:
        result = bash("for i in 1 2 3 4 5; do for f in . /tmp; do head -c 50000000 /dev/zero > $f/$i; done; done; du -sm . /tmp | cut -f1")
    except ToolError as stopped:
        assert "wrote more than 64 MB" in str(stopped)
    else:
        assert all(int(size) <= 65 for size in result["stdout"].split())


def test_the_number_of_files_is_limited(bash):
    with pytest.raises(ToolError, match="files"):
        bash("while :; do : > a$RANDOM$RANDOM; : > b$RANDOM$RANDOM; : > c$RANDOM$RANDOM$RANDOM; done")


@pytest.mark.parametrize(
    "command",
    [
        'python3 -c "x = bytearray(2_000_000_000)"',
        "head -c 2000000000 /dev/zero | tail -c 1999999999 | wc -c",
    ],
)
def test_one_process_cannot_take_much_memory(bash, command):
    assert "1999999999" not in bash(command)["stdout"]


def test_many_processes_cannot_take_much_memory_together(bash):
    with pytest.raises(ToolError, match="memory"):
        bash(HOARD)


def test_a_gigabyte_of_output_costs_no_memory(bash):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = bash("yes | head -c 1000000000")
    assert result["exit_code"] == 0
    assert len(result["stdout"]) <= watch.KEPT + len(watch.CUT) and result["stdout"].endswith(watch.CUT)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 20_000_000


def test_output_without_end_is_stopped_by_the_time(bash, soon):
    with pytest.raises(ToolError, match="longer than"):
        bash("yes")


def test_output_that_is_no_text_does_no_harm(bash):
    out = bash("head -c 1000 /dev/urandom; printf '\\0'")["stdout"]
    assert "\0" not in out
    out.encode()


def test_no_privilege_can_be_had(bash, way):
    if way == "box":
        status = bash("cat /proc/self/status")["stdout"]
        assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status
    assert bash("id -u")["stdout"] != "0\n"
    for command in (
        "unshare -U true",
        "mount -t tmpfs x .",
        "chroot / true",
        "mknod a b 8 0",
        "setpriv --reuid=0 true",
        "ulimit -t 100000",
        "ulimit -v unlimited",
        "su -c true",
        "sudo true",
        "ulimit -u 100000",
    ):
        assert bash(command)["exit_code"] != 0, command


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


def test_the_device_folder_has_only_harmless_devices(bash):
    command = "for d in mem kmsg sda vda kvm fuse net/tun loop0; do (: < /dev/$d) 2>/dev/null && echo $d; done"
    assert bash(command)["stdout"] == ""


def test_calls_side_by_side_do_not_see_each_other(bash):
    seen, ready = [], threading.Barrier(4)

    def call():
        ready.wait()
        seen.append(bash("echo x > $$; echo y > mine; sleep 0.3; ls -A | wc -l; ls -d /proc/[0-9]* 2>/dev/null | wc -l")["stdout"])

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = [list(map(int, out.split())) for out in seen]
    assert len(counted) == 4 and all(files == 2 and processes <= 5 for files, processes in counted)


def test_a_command_is_never_part_of_our_own_command_line(bash):
    for command in ("--help", "-c id", "'; echo out; '", "$(echo echo hi)", "--"):
        bash(command)
    assert bash('echo "--bind / /"')["stdout"] == "--bind / /\n"


@pytest.mark.parametrize("command", ["echo \ud800", "echo é # \ufffe"])
def test_odd_characters_do_no_harm(bash, command):
    assert bash(command)["exit_code"] == 0


def test_a_nul_is_refused_in_words(bash):
    with pytest.raises(ToolError, match="NUL"):
        bash("echo a\0b")


def test_folders_of_ours_below_usr_stay_hidden(way):
    folder = Path("/usr/share")
    if way == "jail":
        with pytest.raises(ToolError, match="would be visible"):
            sandbox.run("true", [folder])
    else:
        assert sandbox.run("ls -A /usr/share | wc -l", [folder])["stdout"] == "0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_it_holds_for_a_service_that_does_not_run_as_root():
    place = Path(tempfile.mkdtemp())  # the project's own folder may be closed to others
    shutil.copytree(
        Path(sandbox.__file__).parents[2] / "bot", place / "bot", ignore=shutil.ignore_patterns("__pycache__", "fonts", "web", "demo")
    )
    place.chmod(0o755)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom bot import sandbox\nprint(sandbox.availability())\n"
        'print(sandbox.run(\'id -u; bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 0.3; ls -A / | tr "\\n" " "\'))\n'
        f"try:\n    sandbox.run('{HOARD}')\n"
        "except Exception as problem:\n    print(problem)\n"
    )
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    done = subprocess.run(
        [*nobody, os.path.realpath(sys.executable), "-c", program, str(place)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
        cwd="/",
    )
    shutil.rmtree(place)
    lines = done.stdout.splitlines()
    assert lines[0] == "None", done.stderr
    assert "'exit_code': 0" in lines[1] and "65534" in lines[1] and "root" not in lines[1]
    assert "memory" in lines[2]


@pytest.fixture
def fresh():
    """The sandbox is examined anew before and after."""
    cached = (sandbox.way, sandbox._probe)
    for one in cached:
        one.cache_clear()
    yield
    for one in cached:
        one.cache_clear()


def pretend(monkeypatch, tmp_path, program: str) -> None:
    """Put *program* in the place of bubblewrap."""
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/bash\n{program}\n")
    fake.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")


def no_landlock(monkeypatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)


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
def test_without_isolation_nothing_is_run(fresh, make_context, monkeypatch, tmp_path, program):
    pretend(monkeypatch, tmp_path, program)
    no_landlock(monkeypatch)
    mark = tmp_path / "mark"
    assert sandbox.availability()
    with pytest.raises(ToolError, match="cannot be run on this server"):
        bash_execute(make_context(), f"touch {mark}")
    assert not mark.exists()


def test_where_nothing_can_be_had_the_reasons_are_named(fresh, make_context, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    no_landlock(monkeypatch)
    with pytest.raises(ToolError, match="bwrap.*not found.*jail"):
        bash_execute(make_context(), "true")


def test_an_unknown_processor_gets_no_sandbox(fresh, make_context, monkeypatch):
    monkeypatch.setattr(seccomp, "program", lambda: None)
    with pytest.raises(ToolError, match="processor"):
        bash_execute(make_context(), "true")


def test_where_namespaces_are_forbidden_the_jail_takes_over():
    """As in an ordinary container: namespaces and mounts are refused by a filter on this very process."""
    if reason := sandbox._probe("jail"):
        pytest.skip(f"no jail on this machine: {reason}")
    program = (
        "import ctypes, struct\nfrom bot import sandbox\nfrom bot.sandbox import seccomp\n"
        "kept = dict(seccomp.CALLS)\nseccomp.CALLS = {n: kept[n] for n in ('unshare', 'mount', 'setns', 'pivot_root')}\n"
        "program = seccomp.program()\nseccomp.CALLS = kept\nlines = ctypes.create_string_buffer(program, len(program))\n"
        "libc = ctypes.CDLL(None)\nassert libc.prctl(38, 1, 0, 0, 0) == 0\n"
        "assert libc.prctl(22, 2, struct.pack('@HP', len(program) // 8, ctypes.addressof(lines)), 0, 0) == 0\n"
        "print(sandbox.way())\nprint(sandbox._probe('box'))\nprint(sandbox.run('echo $((6 * 7))'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    lines = done.stdout.splitlines()
    assert lines[0] == "jail", done.stderr
    assert "namespace" in lines[1] or "not permitted" in lines[1]
    assert "42" in lines[2]


def test_the_jail_ends_with_the_process_that_asked_for_it():
    if reason := sandbox._probe("jail"):
        pytest.skip(f"no jail on this machine: {reason}")
    program = "from bot import sandbox\nsandbox.way = lambda: 'jail'\nsandbox.run('trap \"\" TERM; setsid sleep 63.4242 & sleep 63.4242')"
    before = set(Path(tempfile.gettempdir()).glob("palabre-box-*"))
    process = subprocess.Popen([sys.executable, "-c", program])
    until = time.monotonic() + 5
    while len(running("sleep 63.4242")) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    assert running("sleep 63.4242")
    process.kill()
    process.wait()
    assert gone("sleep 63.4242", 5)
    while (left := set(Path(tempfile.gettempdir()).glob("palabre-box-*")) - before) and time.monotonic() < until + 5:
        time.sleep(0.02)
    assert not left


def test_only_a_professional_may_run_commands():
    assert [m for m in ("guest", "child", "pro") if modes.allowed("bash_execute", m)] == ["pro"]


@pytest.mark.parametrize(
    "arguments", [{}, {"command": ""}, {"command": ["ls"]}, {"command": "x" * 20001}, {"command": "ls", "timeout": 600}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("bash_execute", arguments)
