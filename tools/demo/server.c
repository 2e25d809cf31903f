// SPDX-License-Identifier: GPL-2.0
/*
 * The server: one epoll loop whose idle timeouts live in /dev/twheel.
 *
 * Each connection has one timer, and its id is the connection's file
 * descriptor.  A message pushes the timer back; its event cuts the connection.
 * One round of the loop is
 *
 *	epoll_wait -> receive, accept -> one submit for all changes -> read events
 *
 * The order matters: once submit has returned, no event of an arming that it
 * replaced can be read any more, so a connection that just spoke can't be cut
 * by an event that was under way.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "device.h"
#include "duration.h"
#include "output.h"
#include "server.h"

#define SOCKETS		1024
#define EVENTS		512
/* Connections accepted in one round: those that are open have to be heard too. */
#define ACCEPTS		256
/* Behind the client's end, for what is still under way. */
#define LINGER		(2 * NSEC_PER_SEC)

#define UNKNOWN		UINT32_MAX

struct session {
	bool open;
	uint32_t generation;	/* of its timer */
	uint32_t connection;	/* its number in the schedule, once it has spoken */
	uint64_t cookie;
	uint64_t last_heard;
};

struct server {
	const struct server_config *config;
	const struct records *records;
	struct session *sessions;	/* by file descriptor, which is the timer's id */
	size_t max_sessions;
	struct twheel_op *ops;		/* of this round */
	size_t nr_ops;
	size_t max_ops;
	uint64_t serial;
	struct progress progress;
	uint64_t ended;			/* when the client did; 0: not yet */
	int epoll;
	bool client_ended;
	bool to_accept;
	bool to_read;
};

static struct twheel_op *add_op(struct server *server)
{
	struct twheel_op *op;

	if (server->nr_ops == server->max_ops) {
		server->max_ops = server->max_ops ? 2 * server->max_ops : 4096;
		server->ops = reallocarray(server->ops, server->max_ops, sizeof(*op));
		if (!server->ops)
			fail("server: out of memory");
	}
	op = &server->ops[server->nr_ops++];
	memset(op, 0, sizeof(*op));
	return op;
}

/* A new session is armed with generation 0: any; a known one with its own. */
static void arm(struct server *server, int fd)
{
	const struct session *session = &server->sessions[fd];
	struct twheel_op *op = add_op(server);

	op->opcode = TWHEEL_OP_ARM;
	op->flags = session->generation ? TWHEEL_ARM_MOVE : TWHEEL_ARM_NEW;
	op->id = fd;
	op->generation = session->generation;
	op->cookie = session->cookie;
	op->deadline = session->last_heard + server->config->timeout;
}

static void cancel(struct server *server, int fd)
{
	struct twheel_op *op = add_op(server);

	op->opcode = TWHEEL_OP_CANCEL;
	op->id = fd;
	op->generation = server->sessions[fd].generation;
}

static void submit(struct server *server)
{
	struct totals *totals = server->records->totals;
	size_t done, i;
	int err;

	if (!server->nr_ops)
		return;
	err = wheel_submit(server->config->wheel, server->ops, server->nr_ops, &done);
	if (err)
		fail("server: submit: %s", wheel_explain(err));
	for (i = 0; i < server->nr_ops; i++) {
		const struct twheel_op *op = &server->ops[i];

		if (op->result)
			fail("server: %s timer %u: %s",
			     op->opcode == TWHEEL_OP_ARM ? "arm" : "cancel", op->id,
			     wheel_explain(op->result));
		if (op->opcode == TWHEEL_OP_CANCEL)
			continue;
		server->sessions[op->id].generation = op->generation;
		totals->rearms += op->flags & TWHEEL_ARM_MOVE ? 1 : 0;
		totals->rescued += op->state == TWHEEL_STATE_EXPIRED;
	}
	server->nr_ops = 0;
}

static void end_session(struct server *server, int fd)
{
	close(fd);
	server->sessions[fd].open = false;
	server->progress.connections--;
}

static void add_fd(struct server *server, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event))
		fail("server: epoll_ctl: %s", strerror(errno));
}

static void accept_some(struct server *server)
{
	struct session *session;
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = accept4(server->config->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR))
			return;
		if (fd < 0)
			fail("server: accept: %s", strerror(errno));
		if ((size_t)fd >= server->max_sessions)
			fail("server: file descriptor %d is beyond the wheel's capacity", fd);
		session = &server->sessions[fd];
		*session = (struct session){
			.open = true,
			.connection = UNKNOWN,
			.cookie = ++server->serial,
			.last_heard = now(),
		};
		server->progress.connections++;
		add_fd(server, fd);
		arm(server, fd);
	}
}

static void note_messages(struct server *server, struct session *session,
			  const uint32_t *messages, size_t nr)
{
	struct server_record *record;

	session->last_heard = now();
	server->progress.heard += nr;
	if (messages[0] >= server->config->connections)
		fail("server: a stranger has connected: %u is no number of the schedule",
		     messages[0]);
	session->connection = messages[0];
	record = &server->records->server[session->connection];
	record->last_heard = session->last_heard;
	record->heard += nr;
}

static void receive(struct server *server, int fd)
{
	uint32_t messages[64];
	ssize_t len = recv(fd, messages, sizeof(messages), MSG_DONTWAIT);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		cancel(server, fd);
		end_session(server, fd);
		return;
	}
	if (len % sizeof(messages[0]))
		fail("server: half a message");
	note_messages(server, &server->sessions[fd], messages, len / sizeof(messages[0]));
	arm(server, fd);
}

static void cut(struct server *server, int fd, uint64_t event_read)
{
	struct session *session = &server->sessions[fd];
	struct server_record unknown = {}, *record = &unknown;

	if (session->connection == UNKNOWN)
		server->records->totals->strangers++;
	else
		record = &server->records->server[session->connection];
	record->event_read = event_read;
	record->cut = now();
	end_session(server, fd);
	record->cut_done = now();
	record->cuts++;
	server->progress.cut++;
}

static void read_events(struct server *server)
{
	struct twheel_event events[EVENTS];
	const struct session *session;
	uint64_t time;
	int nr, i;

	do {
		nr = wheel_read(server->config->wheel, events, EVENTS);
		if (nr < 0 && nr != -EAGAIN && nr != -EINTR)
			fail("server: read events: %s", wheel_explain(nr));
		time = now();
		for (i = 0; i < nr; i++) {
			session = events[i].id < server->max_sessions ?
				  &server->sessions[events[i].id] : NULL;
			/* An event is for the arming that it names, and for no other. */
			if (session && session->open &&
			    session->generation == events[i].generation &&
			    session->cookie == events[i].cookie)
				cut(server, events[i].id, time);
			else
				server->records->totals->stale++;
		}
	} while (nr == EVENTS);
}

static void dispatch(struct server *server, int fd)
{
	const struct server_config *config = server->config;

	if (fd == config->wheel) {
		server->to_read = true;
	} else if (fd == config->listener) {
		server->to_accept = true;
	} else if (fd == config->client_pidfd) {
		server->client_ended = true;
		server->ended = now();
		epoll_ctl(server->epoll, EPOLL_CTL_DEL, fd, NULL);
	} else {
		receive(server, fd);
	}
}

static void one_round(struct server *server, int timeout)
{
	struct epoll_event events[SOCKETS];
	int nr = epoll_wait(server->epoll, events, SOCKETS, timeout), i;

	if (nr < 0 && errno != EINTR)
		fail("server: epoll_wait: %s", strerror(errno));
	server->records->totals->rounds++;
	server->to_accept = false;
	server->to_read = false;
	for (i = 0; i < nr; i++)
		dispatch(server, events[i].data.fd);
	if (server->to_accept)
		accept_some(server);
	submit(server);
	if (server->to_read)
		read_events(server);
}

static void show_progress(struct server *server)
{
	struct twheel_stats stats;
	int err = wheel_stats(server->config->wheel, &stats);

	if (err)
		fail("server: stats: %s", wheel_explain(err));
	server->progress.time = now() - server->config->start;
	server->progress.armed = stats.pending + stats.expired;
	server->config->progress(&server->progress);
}

static bool is_over(const struct server *server)
{
	if (!server->client_ended)
		return false;
	return !server->progress.connections || now() > server->ended + LINGER;
}

static int milliseconds_until(uint64_t time)
{
	uint64_t current = now();

	return time > current ? (time - current) / NSEC_PER_MSEC + 1 : 0;
}

static void set_up(struct server *server)
{
	server->max_sessions = server->config->capacity;
	server->sessions = calloc(server->max_sessions, sizeof(*server->sessions));
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!server->sessions || server->epoll < 0)
		fail("server: %s", strerror(errno));
	add_fd(server, server->config->wheel);
	add_fd(server, server->config->listener);
	add_fd(server, server->config->client_pidfd);
}

void server_run(const struct server_config *config, const struct records *records,
		struct twheel_stats *stats)
{
	struct server server = { .config = config, .records = records };
	uint64_t next_progress = config->start;
	int err;

	set_up(&server);
	while (!is_over(&server)) {
		one_round(&server, milliseconds_until(next_progress));
		if (now() < next_progress)
			continue;
		show_progress(&server);
		next_progress += config->progress_interval;
	}
	show_progress(&server);
	err = wheel_stats(config->wheel, stats);
	if (err)
		fail("server: stats: %s", wheel_explain(err));
	close(server.epoll);
	free(server.sessions);
	free(server.ops);
}
