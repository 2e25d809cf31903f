# SPDX-License-Identifier: GPL-2.0
"""The machines of vm/run: QEMU's command line for each processor, by the kernel's name of it.

A machine has three serial lines: the kernel's log, the command's, and the report's.
"""
import os
import pathlib
import re
import subprocess

from initrd import printed

# By the processor: QEMU's program and machine, the kernel's options, and what the lines of the
# command and of the report are called in the guest.
MACHINES = {
    "x86_64": ("qemu-system-x86_64", "console=ttyS0", "ttyS1", "ttyS2"),
    "arm64": ("qemu-system-aarch64 -M virt", "console=ttyAMA0", "ttyS0", "ttyS1"),
    "riscv": ("qemu-system-riscv64 -M virt", "console=ttyS0", "ttyS1", "ttyS2"),
    "s390": ("qemu-system-s390x", "console=ttysclp0", "vport0p1", "vport0p2"),
}
# A processor without the atomic instructions of ARMv8.1, so loads and stores are linked; a
# 16 KiB page needs a newer one.
CPUS = {"6.1-arm64": "cortex-a57", "arm64": "max,pauth-impdef=on", "riscv": "rv64", "s390": "max"}


def processor(kernel):
    """The processor of a kernel, a folder of vm/kernel."""
    arch = kernel / "arch"
    return arch.read_text("ascii").strip() if arch.exists() else "x86_64"


def lines(kernel):
    """The devices of the command's and the report's line in a guest, which User-Mode Linux calls
    as a PC does."""
    return MACHINES.get(processor(kernel), MACHINES["x86_64"])[2:]


def khz():
    """What the kernel measured, or else what the processor says."""
    if found := re.search(r"tsc: Detected (\d+)\.(\d+) MHz", printed("dmesg")):
        return found[1] + found[2]
    found = re.search(r"(?m)^cpu MHz\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text("utf-8"))
    return int(float(found[1]) * 1000) if found else ""


def kvm_works(name, cache):
    """Opening /dev/kvm proves little: in some virtual machines it opens and no kernel runs under
    it. So boot one, once, and remember."""
    if not os.access("/dev/kvm", os.W_OK):
        return False
    memory = cache / f"kvm-{os.uname().release}"
    if not memory.exists():
        works = subprocess.run(
            [pathlib.Path(__file__).with_name("run"), name, "--no-module", "--timeout", "8", "--",
             "true"], check=False, env={**os.environ, "TWHEEL_ACCEL": "kvm"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        memory.write_text("yes\n" if works else "no\n", "ascii")
    return memory.read_text("ascii") == "yes\n"


def speed(args, arch, cache):
    """QEMU's options that say how the guest's instructions are carried out, and the kernel's."""
    cpu, append = CPUS.get(args.name, CPUS.get(arch, "qemu64")), ""
    accel = os.environ.get("TWHEEL_ACCEL")
    if args.icount:
        if arch == "x86_64":
            append = " tsc=reliable clocksource=tsc tsc_early_khz=1000000"
        return f"-accel tcg,thread=single -cpu {cpu} -smp 1 -icount shift=0,sleep=off " \
            "-rtc base=2024-01-01T00:00:00,clock=vm", append + " norandmaps"
    if arch == "x86_64":
        if accel == "kvm" or (not accel and kvm_works(args.name, cache)):
            return f"-accel kvm -cpu host -smp {args.smp}", ""
        # Without being told that the TSC can be trusted, a guest of two processors reads the
        # clock through the HPET, 12 times slower.
        append = f" tsc=reliable clocksource=tsc tsc_early_khz={khz()}"
    return f"-accel tcg,thread=multi -cpu {cpu} -smp {args.smp}", append


def serial(arch):
    """QEMU's options for the three lines."""
    if arch == "x86_64":
        # The report has an interrupt line of its own: by custom it would share the first one's,
        # and lose interrupts.
        devices = ["isa-serial,chardev=log,iobase=0x3f8,irq=4",
                   "isa-serial,chardev=command,iobase=0x2f8,irq=3",
                   "isa-serial,chardev=report,iobase=0x3e8,irq=5"]
    elif arch == "s390":
        devices = ["sclpconsole,chardev=log", "virtio-serial",
                   "virtserialport,chardev=command,nr=1", "virtserialport,chardev=report,nr=2"]
    else:
        return ["-serial", "chardev:log", "-device", "pci-serial,chardev=command",
                "-device", "pci-serial,chardev=report"]
    return [word for device in devices for word in ("-device", device)]


def qemu(args, kernel, tmp, log, cache):
    """The command line: options of vm/run, the kernel's folder, that of the guest's files, the
    file of its log."""
    arch = processor(kernel)
    program, append, *_ = MACHINES[arch]
    options, more = speed(args, arch, cache)
    return [*program.split(), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-m", str(args.mem), *options.split(),
            "-kernel", kernel / "vmlinuz", "-initrd", tmp / "initrd",
            "-append", f"{append} panic=-1 oops=panic{more}",
            "-chardev", f"file,id=log,path={log}",
            # A port takes nothing for a peer that has closed its end, as no input does.
            "-chardev", "file,id=command,path=/dev/stdout" if arch == "s390" else
            "stdio,id=command,signal=off",
            "-chardev", f"file,id=report,path={tmp}/report", *serial(arch)]
