# SPDX-License-Identifier: GPL-2.0
"""What came of a guest: whether it has failed as such, by its kernel's log and its report."""
import re

# What the kernel prints when something is wrong. A user program's own crash
# ("traps: ... general protection fault ip:...") shows in its exit code.
SPLAT = re.compile(
    r"\] WARNING:|BUG:|BUG |Oops|KASAN|KCSAN|UBSAN|KFENCE|kmemleak: [0-9]+ new"
    r"|possible .* detected|INFO: rcu|rcu: INFO|rcu_.*detected|blocked for more than|hung task"
    r"|soft lockup|hard LOCKUP|general protection fault,|unable to handle|Unable to handle"
    r"|Call Trace|Kernel panic|refcount_t:|invoked oom-killer|Out of memory|bad page state"
    r"|list_(add|del) corruption|kernel BUG|divide error|stack-protector"
    r"|scheduling while atomic|suspicious RCU|ODEBUG")


class Failed(Exception):
    """The guest has failed: an exit code, why, and the number of a line of the log, if one says."""

    def __init__(self, code, why, line=None):
        super().__init__(why)
        self.code, self.line = code, line


def complaint(log):
    """The number of the line in which the kernel complained, and what it said; or None and "".

    KCSAN finds races in the kernel's own code, too: of its reports, those count whose title names
    a function of the module."""
    parts = re.split("^(?=.*={20})", log, flags=re.MULTILINE)
    ours = "".join("\n" * part.count("\n")
                   if "BUG: KCSAN:" in part and not re.search(r"data-race in .*\[twheel", part)
                   else part for part in parts)
    found = SPLAT.search(ours)
    if not found:
        return None, ""
    line = ours.count("\n", 0, found.start())
    lines = log.split("\n")[:line + 1]
    said = re.sub(r"^\[[^]]*\] *", "", lines[-1])
    # vm/programs notes in the kernel's log what it runs.
    during = re.findall(r"\] twheel test: (.*)", "\n".join(lines))
    return line, said + (f" (while running {during[-1]})" if during else "")


def judge(code, limit, log, report):
    """The command's exit code, and an archive of the files that were asked for.

    Of the machine: the code with which it ended, the seconds that it had, the kernel's log, and
    what vm/init reported: reasons, "exit N" and the archive."""
    line, said = complaint(log)
    if "Kernel panic" in log:
        raise Failed(125, f"the kernel panicked: {said}", line)
    if code in (124, 137):
        also = f", and the kernel complained: {said}" if said else ""
        raise Failed(124, f"still running after {limit} s{also}", line)
    if code:
        raise Failed(125, f"QEMU ended with code {code if code > 0 else 128 - code}")
    if line is not None:
        raise Failed(125, f"the kernel complained: {said}", line)
    found = re.search(rb"^\0*exit (\d+)$\n?", report, re.MULTILINE)
    reasons = re.findall(rb"^\0*reason (.*)", report[:found.start()] if found else report,
                         re.MULTILINE)
    if reasons:
        raise Failed(125, b"\n".join(reasons).decode("utf-8", "replace"))
    if not found:
        raise Failed(125, "ended before the command did")
    return int(found[1]), report[found.end():]
