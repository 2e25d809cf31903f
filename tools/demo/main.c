// SPDX-License-Identifier: GPL-2.0
/*
 * twheel-demo: a server whose idle timeouts live in /dev/twheel, a client that
 * puts it under load by a recorded schedule, and a judge.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "device.h"
#include "duration.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "schedule.h"
#include "server.h"
#include "verdict.h"

/* Files beside the connections: the wheel, epoll, the listener, stdio... */
#define OTHER_FILES	32

struct demo {
	struct schedule schedule;
	uint64_t tick;
	uint64_t bound;
	FILE *record;
	bool quick;
	bool json;
};

enum { KEY_SEED = 256, KEY_QUICK, KEY_TICK, KEY_BOUND, KEY_RECORD, KEY_JSON };

static const struct argp_option argp_options[] = {
	{ "connections", 'n', "N", 0, "how many (4000)", 0 },
	{ "timeout", 't', "DURATION", 0, "idle timeout; all else scales with it (5s)", 0 },
	{ "seed", KEY_SEED, "N", 0, "of the schedule (1)", 0 },
	{ "quick", KEY_QUICK, NULL, 0, "500 connections, timeout 2s: takes 9 s", 0 },
	{ "tick", KEY_TICK, "DURATION", 0, "resolution of the wheel (1ms)", 0 },
	{ "bound", KEY_BOUND, "DURATION", 0, "a cut later than this is missed (2s)", 0 },
	{ "record", KEY_RECORD, "FILE", 0, "write plan and observations, by connection", 0 },
	{ "json", KEY_JSON, NULL, 0, "print the result as JSON, nothing else on stdout", 0 },
	{ 0 }
};

static const char doc[] =
	"A TCP server whose idle timeouts live in /dev/twheel, under load."
	"\v"
	"The judge goes by a schedule recorded beforehand and by the clocks of client and "
	"server, not by what twheel says.  The exit status is 0 only if every connection that "
	"fell silent was cut, none early and none missed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct demo *demo = state->input;

	switch (key) {
	case 'n':
		demo->schedule.connections = option_number("--connections", arg, 1, 1000000);
		return 0;
	case 't':
		demo->schedule.timeout = option_duration("--timeout", arg);
		if (demo->schedule.timeout < 100 * NSEC_PER_MSEC ||
		    demo->schedule.timeout > 3600 * NSEC_PER_SEC)
			usage_error("--timeout %s: give one from 100ms to 1h", arg);
		return 0;
	case KEY_SEED:
		demo->schedule.seed = option_number("--seed", arg, 0, UINT64_MAX);
		return 0;
	case KEY_QUICK:
		demo->quick = true;
		return 0;
	case KEY_TICK:
		demo->tick = option_duration("--tick", arg);
		if (!demo->tick || demo->tick > NSEC_PER_SEC)
			usage_error("--tick %s: give a tick from 1ns to 1s", arg);
		return 0;
	case KEY_BOUND:
		demo->bound = option_duration("--bound", arg);
		return 0;
	case KEY_RECORD:
		/* Now, not when there is something to lose. */
		demo->record = fopen(arg, "we");
		if (!demo->record)
			fail("--record %s: %s", arg, strerror(errno));
		return 0;
	case KEY_JSON:
		demo->json = true;
		return 0;
	case ARGP_KEY_END:
		if (!demo->schedule.connections)
			demo->schedule.connections = demo->quick ? 500 : 4000;
		if (!demo->schedule.timeout)
			demo->schedule.timeout = (demo->quick ? 2 : 5) * NSEC_PER_SEC;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Each end has one file for each connection. */
static uint32_t raise_file_limit(uint32_t connections)
{
	rlim_t need = (rlim_t)connections + OTHER_FILES;
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= need)
		return need;
	limit.rlim_cur = need;
	if (limit.rlim_max < need)
		limit.rlim_max = need;
	if (setrlimit(RLIMIT_NOFILE, &limit)) {
		getrlimit(RLIMIT_NOFILE, &limit);
		fail("%u connections take %llu open files, %llu are allowed: "
		     "raise the limit (ulimit -n) or use fewer --connections",
		     connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
	}
	return need;
}

static int open_wheel(const struct demo *demo, uint32_t files)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_MONOTONIC,
		.tick = demo->tick,
		.capacity = files > TWHEEL_DEFAULT_CAPACITY ? files : TWHEEL_DEFAULT_CAPACITY,
	};
	int wheel = wheel_open(O_NONBLOCK), err;

	if (wheel < 0)
		fail("%s", wheel_explain(wheel));
	err = wheel_setup(wheel, &setup);
	if (err)
		fail("set up the wheel: %s", wheel_explain(err));
	return wheel;
}

static int listen_somewhere(uint16_t *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) || listen(fd, 4096) ||
	    getsockname(fd, (struct sockaddr *)&address, &len))
		fail("listen on 127.0.0.1: %s", strerror(errno));
	*port = ntohs(address.sin_port);
	return fd;
}

static void *shared_array(size_t nr, size_t size)
{
	void *array = mmap(NULL, nr * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);

	if (array == MAP_FAILED)
		fail("memory for the records: %s", strerror(errno));
	return array;
}

static pid_t start_client(const struct demo *demo, const struct records *records, int wheel,
			  int listener, uint16_t port, uint64_t start)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	/* A client without a server would wait for nothing. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_RUNTIME);
	close(wheel);
	close(listener);
	client_run(&demo->schedule, records, port, start, demo->bound);
	_exit(0);
}

static uint64_t heard(const struct schedule *schedule, const struct records *records)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < schedule->connections; i++)
		sum += records->server[i].heard;
	return sum;
}

static void no_progress(const struct progress *progress)
{
	(void)progress;
}

static void run(const struct demo *demo, const struct records *records,
		struct twheel_stats *stats, uint64_t *start)
{
	const struct schedule *schedule = &demo->schedule;
	uint32_t files = raise_file_limit(schedule->connections);
	struct server_config config = {
		.connections = schedule->connections,
		.capacity = files > TWHEEL_DEFAULT_CAPACITY ? files : TWHEEL_DEFAULT_CAPACITY,
		.timeout = schedule->timeout,
		.progress_interval = NSEC_PER_SEC / (is_terminal(stdout) ? 5 : 1),
		.progress = demo->json ? no_progress : report_progress,
	};
	uint16_t port;
	pid_t client;

	config.wheel = open_wheel(demo, files);
	config.listener = listen_somewhere(&port);
	if (!demo->json)
		report_heading(schedule);
	fflush(stdout);
	config.start = now();
	*start = config.start;
	client = start_client(demo, records, config.wheel, config.listener, port, config.start);
	config.client_pidfd = syscall(SYS_pidfd_open, client, 0);
	if (config.client_pidfd < 0)
		fail("pidfd_open: %s", strerror(errno));
	server_run(&config, records, stats);
	waitpid(client, NULL, 0);
	close(config.wheel);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .options = argp_options, .parser = parse, .doc = doc };
	static char as_verb[] = "twheel demo", by_itself[] = "twheel-demo";
	struct demo demo = { .schedule.seed = 1, .bound = 2 * NSEC_PER_SEC };
	struct twheel_stats stats;
	struct records records;
	struct verdict verdict;
	struct report report;
	uint64_t start;

	argv[0] = strcmp(argv[0], as_verb) ? by_itself : as_verb;
	options_parse(&argp, argc, argv, 0, &demo);
	schedule_make(&demo.schedule);
	records.client = shared_array(demo.schedule.connections, sizeof(*records.client));
	records.server = shared_array(demo.schedule.connections, sizeof(*records.server));
	records.totals = shared_array(1, sizeof(*records.totals));
	run(&demo, &records, &stats, &start);

	verdict = verdict_find(&demo.schedule, &records, demo.bound);
	report = (struct report){
		.schedule = &demo.schedule,
		.verdict = &verdict,
		.totals = records.totals,
		.stats = &stats,
		.heard = heard(&demo.schedule, &records),
		.bound = demo.bound,
	};
	if (demo.json)
		report_json(&report);
	else
		report_table(&report);
	if (demo.record && !records_write(demo.record, &demo.schedule, &records, start))
		fail("--record: the file could not be written: is the disk full?");
	schedule_free(&demo.schedule);
	report_last_line(demo.json ? stderr : stdout, &verdict);
	return verdict.good ? 0 : EXIT_RUNTIME;
}
