// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
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
#include "output.h"
#include "run.h"

/* Files in addition to the connections: the wheel, epoll, the listener, stdio... */
#define OTHER_FILES	32

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

static void open_wheel(struct run *run, uint32_t files)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_BATCH | (run->no_words ? TWHEEL_OPEN_NO_WORDS : 0) |
			 (run->fallback ? TWHEEL_OPEN_FALLBACK : TWHEEL_OPEN_DEVICE),
		.tick = run->tick,
		.capacity = files,
	};
	int err = twheel_open(&run->wheel, &options);

	if (err == -ENODEV)
		fail("%s, or see --fallback", wheel_explain(err));
	if (err)
		fail("%s", wheel_explain(err));
	run->words = twheel_has(run->wheel) & TWHEEL_HAS_WORDS;
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

void run_prepare(struct run *run)
{
	struct records *records = &run->records;
	uint32_t connections = run->schedule.connections;

	schedule_make(&run->schedule);
	records->client = shared_array(connections, sizeof(*records->client));
	records->server = shared_array(connections, sizeof(*records->server));
	records->totals = shared_array(1, sizeof(*records->totals));
	open_wheel(run, raise_file_limit(connections));
	run->listener = listen_somewhere(&run->port);
}

static pid_t start_client(const struct run *run)
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
	twheel_close(run->wheel);
	close(run->listener);
	client_run(&run->schedule, &run->records, run->port, run->start, run->bound);
	_exit(0);
}

void run_go(struct run *run)
{
	struct server_config config = {
		.wheel = run->wheel,
		.listener = run->listener,
		.connections = run->schedule.connections,
		.timeout = run->schedule.timeout,
		.progress_interval = run->progress_interval,
		.progress = run->progress,
	};
	pid_t client;

	fflush(stdout);
	run->start = now();
	config.start = run->start;
	client = start_client(run);
	config.client_pidfd = syscall(SYS_pidfd_open, client, 0);
	if (config.client_pidfd < 0)
		fail("pidfd_open: %s", strerror(errno));
	server_run(&config, &run->records, &run->stats);
	waitpid(client, NULL, 0);
	close(config.client_pidfd);
	close(run->listener);
	twheel_close(run->wheel);
	run->verdict = verdict_find(&run->schedule, &run->records, run->bound);
}

void run_free(struct run *run)
{
	uint32_t connections = run->schedule.connections;

	munmap(run->records.client, connections * sizeof(*run->records.client));
	munmap(run->records.server, connections * sizeof(*run->records.server));
	munmap(run->records.totals, sizeof(*run->records.totals));
	schedule_free(&run->schedule);
}
