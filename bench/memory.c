// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes of kernel memory for each armed timer, and for a wheel that is open
 * and nothing else; as the wheel counts them, and as two others do who know
 * nothing of it: the cgroup, and the free memory of the whole guest.
 *
 * Each run is a process of its own in a cgroup of its own. The cgroup knows
 * what was charged to it: not all that timerfd and io_uring allocate is. The
 * free memory tells all.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/twheel.h>
#include <twheel.h>

#include "bench.h"

#define CGROUP		"/sys/fs/cgroup/twheel-bench"
#define ARMED		1000000
#define PEERS_ARMED	40000
#define WHEELS		1000
#define WHEELS_WITH_WORDS 20

struct used {
	double	guest;
	double	cgroup;
};

/* Free pages that the processors keep at hand; MemFree does not tell them. */
static unsigned long pages_at_hand(void)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	unsigned long pages, sum = 0;
	char line[256];

	if (!file)
		die("/proc/zoneinfo: %m");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " count: %lu", &pages) == 1)
			sum += pages;
	fclose(file);
	return sum;
}

/* What the kernel uses now: all but what is free, and what is the program's. */
static struct used used_now(void)
{
	static const char *const not_ours[] = {
		"MemFree", "Buffers", "Cached", "AnonPages", "PageTables",
	};
	struct used used = {
		.guest = figure("/proc/meminfo", "MemTotal"),
		.cgroup = figure(CGROUP "/memory.stat", "kernel"),
	};

	/* The processors' own counts are added in. */
	set_figure("/proc/sys/vm/stat_refresh", "1");
	for (size_t i = 0; i < sizeof(not_ours) / sizeof(*not_ours); i++)
		used.guest -= figure("/proc/meminfo", not_ours[i]);
	used.guest *= 1024;
	used.guest -= pages_at_hand() * sysconf(_SC_PAGESIZE);
	return used;
}

/* What processes leave behind is freed bit by bit: wait for the end of it. */
static void settle(void)
{
	double last, used = used_now().guest;

	for (int tries = 0; tries < 50; tries++) {
		usleep(200000);
		last = used;
		used = used_now().guest;
		if (fabs(used - last) < 65536)
			return;
	}
}

static struct used used_since(struct used before)
{
	struct used now = used_now();

	now.guest -= before.guest;
	now.cgroup -= before.cgroup;
	return now;
}

static void tell(const char *name, const char *how, const char *peer, uint32_t nr,
		 double bytes)
{
	char full[64];

	snprintf(full, sizeof(full), "%s, %s", name, how);
	sample("memory", full, peer, nr, "bytes", bytes / nr);
}

static void armed(const struct peer *peer, uint32_t nr)
{
	struct work *work = work_alloc(nr);
	struct used before, used;
	uint32_t got;

	work_deadlines(work, nr, now_ns() + 600 * NSEC, 300 * NSEC);
	before = used_now();
	got = peer->open(nr, USE_OPS);
	if (!got)
		return;
	peer->arm(work, got);
	used = used_since(before);
	if (peer == &peer_twheel || peer == &peer_words) {
		struct twheel_stats stats;

		wheel_stats(peer->ready(), &stats);
		if (stats.pending != got)
			die("%llu of %u timers are pending", stats.pending, got);
		tell("an armed timer", "by the wheel's stats", peer->name, got,
		     stats.memory);
	}
	tell("an armed timer", "by the cgroup", peer->name, got, used.cgroup);
	tell("an armed timer", "by the free memory", peer->name, got, used.guest);
}

/* The device by itself, and as libtwheel opens it, with words for the default capacity. */
static int open_unused(const struct peer *peer)
{
	struct twheel *wheel;

	if (peer == &peer_twheel)
		return wheel_open(0);
	if (twheel_open(&wheel, NULL))
		die("twheel_open failed");
	return twheel_fd(wheel);
}

static void unused(const struct peer *peer, uint32_t nr)
{
	struct rlimit files = { nr + 64, nr + 64 };
	struct twheel_stats stats;
	struct used before, used;
	int fd = -1;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE %u: %m", nr + 64);
	before = used_now();
	for (uint32_t i = 0; i < nr; i++)
		fd = open_unused(peer);
	used = used_since(before);
	wheel_stats(fd, &stats);
	tell("an unused wheel", "by the wheel's stats", peer->name, nr, (double)stats.memory * nr);
	tell("an unused wheel", "by the cgroup", peer->name, nr, used.cgroup);
	tell("an unused wheel", "by the free memory", peer->name, nr, used.guest);
}

/* Run one of these in a process and a cgroup of its own. */
static void apart(void (*measure)(const struct peer *peer, uint32_t nr),
		  const struct peer *peer, uint32_t nr)
{
	int status;
	pid_t pid;

	if (mkdir(CGROUP, 0755))
		die(CGROUP ": %m");
	set_figure("/proc/sys/vm/drop_caches", "3");
	settle();
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid) {
		set_figure(CGROUP "/cgroup.procs", "0");
		measure(peer, nr);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("the measuring of memory failed");
	for (int tries = 0; rmdir(CGROUP); tries++) {
		if (errno != EBUSY || tries == 1000)
			die(CGROUP ": %m");
		usleep(10000);
	}
}

void bench_memory(unsigned int runs)
{
	for (unsigned int run = 0; run < runs; run++) {
		progress("memory: run %u of %u", run + 1, runs);
		apart(armed, &peer_twheel, ARMED);
		apart(armed, &peer_words, ARMED);
		apart(armed, &peer_timerfd, PEERS_ARMED);
		apart(armed, &peer_posix, PEERS_ARMED);
		apart(armed, &peer_uring, PEERS_ARMED);
		apart(unused, &peer_twheel, WHEELS);
		apart(unused, &peer_words, WHEELS_WITH_WORDS);
	}
}
