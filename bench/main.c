// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark: twheel beside timerfd, POSIX timers, io_uring timeouts and a
 * heap in user space. Runs in a guest, as root, and writes what it measured;
 * `report` makes tables of that, anywhere.
 */
#include <errno.h>
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
};

static void usage(void)
{
	fprintf(stderr,
		"usage: twheel-bench run [--icount | --native | --um] [--runs N] RAW PART...\n"
		"       twheel-bench report [--json FILE] [--plot FILE] [--fact KEY=VALUE]... RAW...\n"
		"\n"
		"run measures and writes raw data; --icount says that the time of this\n"
		"machine is its instructions, --native that it has no twheel, and only the\n"
		"parts in user space are measured, --um that it is User-Mode Linux, whose\n"
		"kernel runs natively. Parts:");
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

static void tell_machine(unsigned int runs)
{
	struct utsname name;
	char key[64];

	uname(&name);
	if (!native)
		fact("kernel", "%s", name.release);
	snprintf(key, sizeof(key), "%s accelerator", this_bed);
	fact(key, "%s", icount ? "TCG, one instruction is 1 ns" : accelerator());
	snprintf(key, sizeof(key), "%s processors", this_bed);
	fact(key, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	snprintf(key, sizeof(key), "%s memory", this_bed);
	fact(key, "%.0f MiB", figure("/proc/meminfo", "MemTotal") / 1024.0);
	snprintf(key, sizeof(key), "%s runs", this_bed);
	fact(key, "%u", runs);
}

static int run(int argc, char **argv)
{
	unsigned int runs = 5;

	for (; argc && argv[0][0] == '-'; argc--, argv++) {
		if (!strcmp(argv[0], "--icount")) {
			icount = true;
			this_bed = "icount";
		} else if (!strcmp(argv[0], "--native")) {
			native = true;
			this_bed = "native";
		} else if (!strcmp(argv[0], "--um")) {
			this_bed = "um";
		} else if (!strcmp(argv[0], "--runs") && argc > 1) {
			runs = strtoul(argv[1], NULL, 10);
			argc--;
			argv++;
		} else {
			usage();
		}
	}
	if (argc < 2 || !runs)
		usage();
	samples_open(argv[0]);
	tell_machine(runs);
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
