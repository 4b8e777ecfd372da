"""
The system calls that a sandboxed command may not make, as a filter program of the Linux kernel.

Sockets of any kind (some reach the host even from a network namespace), new namespaces and mounts, looking into or acting on other
processes, shared memory that no limit counts, kernel keys, modules and clocks, and interfaces with a history of holes. The call fails
with "not permitted", so programs that can do without it go on.
"""

import errno
import os
import struct

PERMIT, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000  # linux/seccomp.h
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h: a word, three comparisons, the verdict
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
NEW_NAMESPACE = 0x7E020080  # CLONE_NEWUSER, -PID, -NET, -IPC, -UTS, -CGROUP, -NS, -TIME
X32 = 0x40000000  # the second set of calls of x86_64
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of CALLS, linux/audit.h
CLONE, CLONE3 = (56, 220), (435, 435)
CALLS = {  # asm/unistd_64.h, asm-generic/unistd.h
    "socket": (41, 198),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "vmsplice": (278, 75),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
}


def program() -> bytes | None:
    """The filter for this machine's processor, in the kernel's form; None for a processor whose calls are not known here."""
    if (machine := MACHINES.get(os.uname().machine)) is None:
        return None
    column, architecture = machine
    lines = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if column == 0:
        lines += [(AT_LEAST, 0, 1, X32), _refuse(errno.EPERM)]
    for numbers in CALLS.values():
        lines += [(EQUAL, 0, 1, numbers[column]), _refuse(errno.EPERM)]
    lines += [(EQUAL, 0, 1, CLONE3[column]), _refuse(errno.ENOSYS)]  # its flags lie where a filter cannot look: callers use clone then
    lines += [(EQUAL, 0, 3, CLONE[column]), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NEW_NAMESPACE), _refuse(errno.EPERM)]
    return b"".join(struct.pack("<HBBI", *line) for line in [*lines, (RETURN, 0, 0, PERMIT)])


def _refuse(error: int) -> tuple[int, int, int, int]:
    return (RETURN, 0, 0, REFUSE | error)
