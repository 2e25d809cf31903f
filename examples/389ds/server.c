// SPDX-License-Identifier: MIT
/*
 * A model of 389 Directory Server 3.3.0 as built with --enable-epoll: its connections and their
 * idle timeouts, with the same system calls, on one thread.
 *
 *	server TIMEOUT		ms; prints its port and how many connections it takes
 *
 * A connection has a socket and a timerfd in one epoll set.  Each request sets the timerfd and is
 * sent back.  As there, a connection's timeout starts with its first request.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Descriptors that are not for connections. */
#define RESERVED	16
#define EVENTS		64

struct connection {
	/* -1: free */
	int			fd;
	int			timer;
	struct connection	*next_free;
};

static struct connection *table;
static struct connection *free_connections;
static int epoll_fd;
static long timeout;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int watch(int fd, void *what)
{
	struct epoll_event event = { EPOLLIN | EPOLLRDHUP, { what } };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void disconnect(struct connection *c)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	close(c->fd);
	if (c->timer >= 0) {
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, c->timer, NULL);
		close(c->timer);
	}
	c->fd = -1;
	c->next_free = free_connections;
	free_connections = c;
}

static void connect_one(int listener)
{
	struct connection *c = free_connections;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (!c) {
		close(fd);
		return;
	}
	free_connections = c->next_free;
	c->fd = fd;
	c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (watch(c->fd, c) || c->timer < 0 || watch(c->timer, c))
		disconnect(c);
}

static void push_back(struct connection *c)
{
	const struct timespec in = { timeout / 1000, timeout % 1000 * 1000000 };
	const struct itimerspec setting = { .it_value = in, .it_interval = in };

	timerfd_settime(c->timer, 0, &setting, NULL);
}

static bool timed_out(struct connection *c)
{
	uint64_t times;

	return read(c->timer, &times, sizeof(times)) > 0;
}

static void serve(struct connection *c)
{
	char request[512];
	ssize_t length;

	/* The connection was closed by an event before this one. */
	if (c->fd < 0)
		return;
	/* The event is the socket's or the timer's. */
	if (timed_out(c)) {
		disconnect(c);
		return;
	}
	push_back(c);
	length = recv(c->fd, request, sizeof(request), 0);
	if (length < 0 && errno == EAGAIN)
		return;
	if (length <= 0 || send(c->fd, request, length, MSG_NOSIGNAL) != length)
		disconnect(c);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct epoll_event events[EVENTS];
	socklen_t length = sizeof(address);
	struct rlimit limit;
	int listener, size;

	if (argc != 2) {
		fprintf(stderr, "usage: server TIMEOUT\n");
		return 2;
	}
	timeout = atol(argv[1]);
	getrlimit(RLIMIT_NOFILE, &limit);
	/* One for the socket, one for the timer. */
	size = (limit.rlim_cur - RESERVED) / 2;
	table = calloc(size, sizeof(*table));
	if (!table)
		fail("table");
	for (int i = size - 1; i >= 0; i--) {
		table[i] = (struct connection) { .fd = -1, .next_free = free_connections };
		free_connections = &table[i];
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    listen(listener, SOMAXCONN) || watch(listener, NULL))
		fail("listener");
	printf("%d %d\n", ntohs(address.sin_port), size);
	fflush(stdout);
	for (;;) {
		int nr = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < nr; i++) {
			if (!events[i].data.ptr)
				connect_one(listener);
			else
				serve(events[i].data.ptr);
		}
	}
}
