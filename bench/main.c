// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark: twheel beside timerfd, POSIX timers, io_uring timeouts and a
 * heap in user space. Runs in a guest, as root, and writes what it measured;
 * `report` makes tables of that, anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "bench.h"
#include "rows.h"

bool icount;
bool native;

static const struct {
	const char	*name;
	void		(*run)(unsigned int runs);
} parts[] = {
	{ "ops",	bench_ops },
	{ "stores",	bench_stores },
	{ "growth",	bench_growth },
	{ "submit",	bench_submit },
	{ "delivery",	bench_delivery },
	{ "storm",	bench_storm },
	{ "idle",	bench_idle },
	{ "requests",	bench_requests },
	{ "threads",	bench_threads },
	{ "memory",	bench_memory },
	{ "tickless",	bench_tickless },
	{ "million",	bench_million },
	{ "opening",	bench_opening },
};

static void usage(void)
{
	fprintf(stderr,
		"usage: twheel-bench run [--icount | --native] [--runs N] BED RAW PART...\n"
		"       twheel-bench report [--json FILE] [--plot FILE] [--fact KEY=VALUE]... RAW...\n"
		"\n"
		"run measures and writes raw data. BED names this machine there: \"6.1 guest\"\n"
		"and \"6.1 icount\" for those of a kernel, \"um\", or \"native\". --icount says\n"
		"that its time is its instructions, --native that it has no twheel, and only\n"
		"the parts in user space are measured. Parts:");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		fprintf(stderr, " %s", parts[i].name);
	fprintf(stderr,
		"\nreport prints tables of raw data; --json writes the same figures, --plot\n"
		"draws them as SVG.\n");
	exit(2);
}

/* What executes this, if it is a virtual machine. */
static const char *accelerator(void)
{
#ifdef __x86_64__
	uint32_t a, name[4] = {};

	__cpuid(0x40000000, a, name[0], name[1], name[2]);
	if (!strcmp((char *)name, "TCGTCGTCGTCG"))
		return "TCG";
	if (!strncmp((char *)name, "KVMKVMKVM", 9))
		return "KVM";
#endif
	return "unknown";
}

/* The distribution's version, if there is one: a release like 6.1.0-56 does not tell. */
static void tell_kernel(void)
{
	struct utsname name;
	const char *debian;

	uname(&name);
	debian = strstr(name.version, "Debian ");
	if (debian)
		bed_fact("kernel", "%.*s", (int)strcspn(debian + 7, " "), debian + 7);
	else
		bed_fact("kernel", "%s", name.release);
}

static void tell_machine(unsigned int runs)
{
	if (!native)
		tell_kernel();
	bed_fact("accelerator", "%s", icount ? "TCG, one instruction is 1 ns" : accelerator());
	bed_fact("processors", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	bed_fact("memory", "%.0f MiB", figure("/proc/meminfo", "MemTotal") / 1024.0);
	bed_fact("runs", "%u", runs);
}

static int run(int argc, char **argv)
{
	unsigned int runs = 5;

	for (; argc && argv[0][0] == '-'; argc--, argv++) {
		if (!strcmp(argv[0], "--icount")) {
			icount = true;
		} else if (!strcmp(argv[0], "--native")) {
			native = true;
		} else if (!strcmp(argv[0], "--runs") && argc > 1) {
			runs = strtoul(argv[1], NULL, 10);
			argc--;
			argv++;
		} else {
			usage();
		}
	}
	if (argc < 3 || !runs)
		usage();
	this_bed = *argv++;
	argc--;
	samples_open(argv[0]);
	tell_machine(runs);
	wait_until_idle();
	while (++argv, --argc) {
		size_t i = 0;

		while (i < sizeof(parts) / sizeof(*parts) && strcmp(parts[i].name, argv[0]))
			i++;
		if (i == sizeof(parts) / sizeof(*parts))
			usage();
		parts[i].run(runs);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "run"))
		return run(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "report"))
		return report(argc - 2, argv + 2);
	usage();
}
