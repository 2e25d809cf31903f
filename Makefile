# SPDX-License-Identifier: GPL-2.0
#
# What a person types. How the module is built is in Kbuild, how a kernel is
# booted for tests in vm/.

# For demo, bench, shell and static.
KERNEL ?= 6.1

# The running kernel's headers, for `make` and `make load`.
KDIR ?= /lib/modules/$(shell uname -r)/build

VERSION := $(shell cat VERSION)
CACHE := $(or $(TWHEEL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/twheel)

all: module tools

help:
	@echo 'In a virtual machine (installs what is missing, says so first):'
	@echo '  make demo         an epoll server with its idle timeouts in /dev/twheel'
	@echo '  make check        the lane quick: the module on one kernel, the library, the tools and'
	@echo '                    the wheel by itself, in 4 minutes; the last line is the sum'
	@echo '  make check LANES=list'
	@echo '                    prints the lanes, groups of tests that can be run alone'
	@echo '  make check LANES="rt kcsan", LANES=all'
	@echo '                    runs these lanes; what was green on the same sources is not run'
	@echo '                    again unless FORCE=1; JOBS=2 runs two lanes at a time'
	@echo '  make bench        measures against timerfd, POSIX timers, io_uring, and a heap,'
	@echo '                    a wheel and a sweep in user space; and without a device'
	@echo '                    against libev, libevent and libuv; on 6.1 and the newest kernel: an hour'
	@echo '                    (JSON=FILE, PLOT=FILE: where to write figures and picture;'
	@echo '                    RUNS=1: each figure once, not five times)'
	@echo '  make shell        a shell in a guest: twheel loaded, twheel and twheel-demo there'
	@echo '  make example NAME=survive'
	@echo '                    tries one of examples/ in a guest with systemd: also asyncio, go,'
	@echo '                    libevent, mosquitto, prometheus, redis, trace, 389ds'
	@echo '  make torture      random load while processors come and go; HOURS=0.5, on the'
	@echo '                    kernel debug unless KERNEL= says'
	@echo '  make static       checkpatch, sparse, coccicheck, kernel-doc, gcc, cppcheck,'
	@echo '                    clang-tidy, the ABI, shellcheck, licences'
	@echo '                    KERNEL=6.12 chooses the kernel of demo, bench, shell, torture and'
	@echo '                    static: 6.1, 6.12, 7.x (the newest), 6.1-rt, 6.12-rt, 7.x-rt'
	@echo
	@echo 'On this machine, natively:'
	@echo '  make bench-wheel  measures the wheel by itself, and whole timers, beside heaps,'
	@echo '                    libev, libevent and libuv, in user space and in a User-Mode'
	@echo '                    Linux kernel (JSON=FILE, PLOT=FILE as above; BASE=COMMIT: beside'
	@echo '                    the wheel of that commit)'
	@echo '  make bench-instructions, make bench-instructions-update'
	@echo '                    counts the instructions of its operations; records them'
	@echo
	@echo 'On the running kernel:'
	@echo '  make              twheel.ko (if there are headers), twheel, twheel-demo'
	@echo '  make load         insmod twheel.ko; as root'
	@echo '  make unload       rmmod twheel; as root'
	@echo
	@echo '  make tools        the twheel command and the demo daemon'
	@echo '  make lib          libtwheel, shared and static, into lib/build'
	@echo '  make man          the man pages, into man/build (with scdoc)'
	@echo '  make install      libtwheel, its headers, twheel and twheel-demo, what shells'
	@echo '                    complete of them, and the man pages if there is scdoc, to'
	@echo '                    DESTDIR= PREFIX=/usr/local'
	@echo '  make install-system'
	@echo '                    the group twheel, which /dev/twheel belongs to, and that the'
	@echo '                    module is loaded when the machine starts; as root'
	@echo '  make install-source'
	@echo '                    the module for dkms, to SRCDIR=/usr/src; as root'
	@echo '  make uninstall    removes what these three have installed'
	@echo '  make deb          Debian packages of all, into build/deb'
	@echo '  make rpm          the same for Fedora and its relatives, into build/rpm'
	@echo '  make arch         the same for Arch Linux, into build/arch'
	@echo '  make release      the release that RELEASES names last, into build/release: its source,'
	@echo '                    Debian packages as two bare roots build them, SBOM, notes,'
	@echo '                    checksums; as root'
	@echo '  make selftests    the test programs, into selftests/build'
	@echo '  make abi-update   writes down the ABI as it is now: uapi/abi.txt, lib/abi.txt'
	@echo '  make figures-update'
	@echo '                    writes the figures of docs/bench.json into README'
	@echo '  make upstream     writes the first series of patches for the kernel into build/upstream'
	@echo '  make trust-update writes the last green run of each lane into docs/trust.md'
	@echo '  make course CHAPTER=3, make grade ANSWERS=FILE'
	@echo '                    an exercise of docs/course: what happens? And marks the answers'
	@echo '  make task CHAPTER=3 FILE=mine.sim'
	@echo '                    checks your work on the task of a chapter'
	@echo '  make slides       slides of its chapters, into build/slides'
	@echo '  make play         the wheel in a browser: a page, build/play/index.html'
	@echo '  make site         README, docs, the course, the man pages and that page as a site,'
	@echo '                    build/site/index.html'
	@echo '  make fuzz         looks for programs of operations that fail; SECONDS=60'
	@echo '  make clean        removes what was built here'
	@echo '  make distclean    also the cache: $(CACHE)'

#
# On this machine.
#
ifneq ($(wildcard $(KDIR)/Makefile),)
module:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
else
module:
	@echo 'No headers for the running kernel in $(KDIR): twheel.ko is not built.'
	@echo 'On Debian: apt-get install linux-headers-$(shell uname -r). `make demo` needs none.'
endif

load:
	@test -e twheel.ko || { echo 'There is no twheel.ko: run make first.'; exit 1; }
	insmod twheel.ko

unload:
	rmmod twheel

tools:
	$(MAKE) -C tools

lib:
	$(MAKE) -C lib

man:
	$(MAKE) -C man

install: tools lib
	$(MAKE) -C lib install
	$(MAKE) -C tools install
	@if command -v scdoc >/dev/null; then \
		$(MAKE) -C man install; \
	else \
		echo 'There is no scdoc: the man pages are not installed.'; \
		echo 'On Debian: apt-get install scdoc.'; \
	fi

install-system:
	$(MAKE) -C system install

# What the module is built from, and nothing else.
SRCDIR ?= /usr/src
source := $(DESTDIR)$(SRCDIR)/twheel-$(VERSION)
module_files := Kbuild VERSION dkms.conf $(filter-out %.mod.c,$(wildcard *.c *.h)) \
	compat/kernel.h $(wildcard compat/probe/*.c) uapi/linux/twheel.h

install-source:
	@for file in $(module_files); do \
		install -D -m 644 $$file $(source)/$$file || exit; \
	done
	@echo 'Where $(source) is, run as root: dkms install twheel/$(VERSION)'

uninstall:
	@for folder in lib tools man system; do $(MAKE) -C $$folder uninstall || exit; done
	rm -rf $(source)

deb:
	@debian/build build/deb

rpm:
	@contrib/rpm/build build/rpm

arch:
	@contrib/arch/build build/arch

release:
	@check/packages/release build/release

selftests:
	@vm/deps tools source
	$(MAKE) -C selftests OUTPUT=$(CURDIR)/selftests/build \
		KSFT=$$(vm/source)/tools/testing/selftests

abi-update:
	@vm/deps lib quick
	@check/abi --update

figures-update:
	@check/figures --update

upstream:
	@vm/deps build root source
	@check/upstream --write

fuzz:
	@vm/deps fuzz
	@$(MAKE) --no-print-directory -C tests fuzz $(if $(SECONDS),SECONDS=$(SECONDS))

# The exercises of docs/course, with the simulator of this tree.
ANSWERS ?= docs/course/answers.txt
course grade task: export PATH := $(CURDIR)/tools/build:$(PATH)

course:
	@$(MAKE) -s -C tools build/twheel-sim
	@docs/course/course show $(CHAPTER)

grade:
	@$(MAKE) -s -C tools build/twheel-sim
	@docs/course/course grade "$(ANSWERS)" $(CHAPTER)

task:
	@$(MAKE) -s -C tools build/twheel-sim
	@docs/course/course task "$(CHAPTER)" "$(FILE)"

SLIDES ?= build/slides

slides:
	@vm/deps slides
	@mkdir -p $(SLIDES)
	@cd docs/course && for page in [0-9]*-*.md; do \
		pandoc -t dzslides -s --self-contained --no-highlight --lua-filter slides.lua \
			-c slides.css -o $(abspath $(SLIDES))/$${page%%-*}.html $$page || exit; \
	done

play:
	@vm/deps play
	@$(MAKE) -s -C docs/play
	@echo 'Open build/play/index.html in a browser.'

site:
	@vm/deps site play
	@$(MAKE) -s -C docs/play site
	@$(MAKE) -s -C man O=$(CURDIR)/build/man
	@mkdocs build >build/site.log 2>&1 || { cat build/site.log; exit 1; }
	@echo 'Open build/site/index.html in a browser.'

#
# In a guest.
#
demo:
	@vm/demo $(KERNEL)

check:
	@check/run $(LANES)

trust-update:
	@check/run --record

bench:
	@JSON=$(JSON) PLOT=$(PLOT) vm/bench $(if $(filter command environment,$(origin KERNEL)),$(KERNEL))

bench-wheel:
	@JSON=$(JSON) PLOT=$(PLOT) bench/wheel/run

bench-instructions:
	@bench/wheel/count

bench-instructions-update:
	@bench/wheel/count update

shell:
	@vm/shell $(KERNEL)

example:
	@vm/example $(NAME)

torture:
	@vm/torture $(if $(findstring command,$(origin KERNEL)),$(KERNEL),debug) $(HOURS)

static:
	@vm/deps build tools lib peers source python quick static
	@check/static $(KERNEL)

clean:
	@test ! -e $(KDIR)/Makefile || $(MAKE) -s -C $(KDIR) M=$(CURDIR) clean
	@rm -rf build bench/build bench/wheel/build selftests/build tests/build tools/build lib/build \
		man/build python/build rust/build

distclean: clean
	rm -rf $(CACHE)

.PHONY: all help module load unload tools lib man install install-system install-source \
	uninstall deb rpm arch release selftests abi-update figures-update trust-update upstream fuzz \
	course grade task slides play demo check site example torture bench bench-wheel bench-instructions \
	bench-instructions-update shell static clean distclean
