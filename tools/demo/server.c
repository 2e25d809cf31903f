// SPDX-License-Identifier: GPL-2.0
/*
 * The server: one epoll loop whose idle timeouts live in /dev/twheel.
 *
 * Each connection has one timer, and its id is the connection's file
 * descriptor.  A message pushes the timer back; its event cuts the connection.
 * One round of the loop is
 *
 *	epoll_wait -> receive, accept -> take events -> flush
 *
 * The order matters.  Events are taken after messages: a timer that a message has
 * just pushed back has no event any more, so a connection that just spoke can't be
 * cut by an event in flight.  Flush comes last: it makes the calls for timers that
 * the kernel would look at too late, most of them new.  These are far from due, so
 * they may wait on the batch for a while.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calls.h"
#include "clock.h"
#include "device.h"
#include "duration.h"
#include "output.h"
#include "server.h"

#define SOCKETS		1024
#define EVENTS		512
/* Connections accepted in one round: those that are open have to be heard too. */
#define ACCEPTS		256
/* After the client's end, for messages still in flight. */
#define LINGER		(2 * NSEC_PER_SEC)

/* A timer may wait on the batch for this part of the timeout. */
#define FLUSHES		10

#define UNKNOWN		UINT32_MAX

struct session {
	bool open;
	uint32_t connection;	/* its number in the schedule, once it has spoken */
	uint64_t last_heard;
	uint64_t deadline;	/* that its timer was last given */
};

struct server {
	const struct server_config *config;
	const struct records *records;
	struct session *sessions;	/* by file descriptor, which is the timer's id */
	size_t max_sessions;
	uint64_t calls_before;		/* system calls made when it started */
	uint64_t next_flush;
	struct progress progress;
	uint64_t ended;			/* when the client did; 0: not yet */
	int epoll;
	bool client_ended;
	bool to_accept;
	bool to_take;
};

/* Count the calls of a change; exit if it failed. */
static void note(struct server *server, enum change change, uint64_t calls_before, int err)
{
	static const char * const names[] = {
		[ARMED] = "arm", [PUSHED_BACK] = "push back", [CANCELLED] = "cancel",
		[EXPIRED] = "take events",
	};

	server->records->totals->timers[change].calls += calls_made() - calls_before;
	if (err < 0)
		fail("server: %s: %s", names[change], wheel_explain(err));
}

static void set_deadline(struct session *session, const struct server_config *config)
{
	session->last_heard = now();
	session->deadline = session->last_heard + config->timeout;
}

static void arm(struct server *server, int fd)
{
	uint64_t before = calls_made();

	server->records->totals->timers[ARMED].times++;
	note(server, ARMED, before,
	     twheel_arm(server->config->wheel, fd, server->sessions[fd].deadline));
}

/* Nobody else stores in this timer's word or takes its events: no exchange is needed. */
static void push_back(struct server *server, int fd)
{
	uint64_t before = calls_made();

	server->records->totals->timers[PUSHED_BACK].times++;
	note(server, PUSHED_BACK, before,
	     twheel_extend(server->config->wheel, fd, server->sessions[fd].deadline));
}

static void cancel(struct server *server, int fd)
{
	uint64_t before = calls_made();

	server->records->totals->timers[CANCELLED].times++;
	note(server, CANCELLED, before, twheel_cancel(server->config->wheel, fd));
}

/* Tell the kernel of new timers, and of those pushed back after they had expired. */
static void flush(struct server *server)
{
	uint64_t before = calls_made(), time = now();

	if (time < server->next_flush)
		return;
	server->next_flush = time + server->config->timeout / FLUSHES;
	note(server, ARMED, before, twheel_flush(server->config->wheel));
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
		};
		set_deadline(session, server->config);
		server->progress.connections++;
		add_fd(server, fd);
		arm(server, fd);
	}
}

static void note_messages(struct server *server, struct session *session,
			  const uint32_t *messages, size_t nr)
{
	struct server_record *record;

	set_deadline(session, server->config);
	server->records->totals->heard += nr;
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

	server->records->totals->socket_calls++;
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
	push_back(server, fd);
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

static void take_events(struct server *server)
{
	struct twheel_event events[EVENTS];
	const struct session *session;
	uint64_t before, time;
	int nr, i;

	do {
		before = calls_made();
		nr = twheel_take(server->config->wheel, events, EVENTS);
		note(server, EXPIRED, before, nr);
		time = now();
		for (i = 0; i < nr; i++) {
			server->records->totals->timers[EXPIRED].times++;
			session = events[i].id < server->max_sessions ?
				  &server->sessions[events[i].id] : NULL;
			/* It is for the deadline that the timer was last given, or for none. */
			if (session && session->open && session->deadline == events[i].deadline)
				cut(server, events[i].id, time);
			else
				server->records->totals->stale++;
		}
	} while (nr == EVENTS);
}

static void dispatch(struct server *server, int fd)
{
	const struct server_config *config = server->config;

	if (fd == twheel_fd(config->wheel)) {
		server->to_take = true;
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
	server->records->totals->socket_calls++;
	server->to_accept = false;
	server->to_take = false;
	for (i = 0; i < nr; i++)
		dispatch(server, events[i].data.fd);
	if (server->to_accept)
		accept_some(server);
	if (server->to_take)
		take_events(server);
	flush(server);
}

static void show_progress(struct server *server)
{
	server->progress.time = now() - server->config->start;
	server->progress.heard = server->records->totals->heard;
	server->progress.calls = calls_made() - server->calls_before;
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

/* Those that were never cut, if something went wrong. */
static void end_all_sessions(struct server *server)
{
	size_t fd;

	for (fd = 0; fd < server->max_sessions; fd++) {
		if (server->sessions[fd].open)
			end_session(server, fd);
	}
}

static void set_up(struct server *server)
{
	server->calls_before = calls_made();
	server->max_sessions = twheel_capacity(server->config->wheel);
	server->sessions = calloc(server->max_sessions, sizeof(*server->sessions));
	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!server->sessions || server->epoll < 0)
		fail("server: %s", strerror(errno));
	add_fd(server, twheel_fd(server->config->wheel));
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
		one_round(&server, milliseconds_until(next_progress < server.next_flush ?
						      next_progress : server.next_flush));
		if (now() < next_progress)
			continue;
		show_progress(&server);
		next_progress += config->progress_interval;
	}
	show_progress(&server);
	if (!(twheel_has(config->wheel) & TWHEEL_HAS_FALLBACK)) {
		err = wheel_stats(twheel_fd(config->wheel), stats);
		if (err)
			fail("server: stats: %s", wheel_explain(err));
	}
	end_all_sessions(&server);
	close(server.epoll);
	free(server.sessions);
}
