// SPDX-License-Identifier: GPL-2.0
/*
 * The client: thousands of connections that talk and fall silent as the
 * schedule says.  It knows nothing of twheel.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "duration.h"
#include "output.h"

#define EVENTS		512
/* Actions between two looks at the sockets. */
#define BURST		256
/* Connections from one source address: there are 28k ports for each. */
#define PER_ADDRESS	20000

enum phase { CLOSED, CONNECTING, OPEN };

struct connection {
	int fd;
	enum phase phase;
	/* Messages that came due while it was still connecting. */
	uint32_t owed;
};

struct client {
	const struct schedule *schedule;
	const struct records *records;
	struct connection *connections;
	struct sockaddr_in server;
	uint64_t start;
	size_t next;		/* action */
	uint32_t open;
	int epoll;
};

static void drop(struct client *client, uint32_t i)
{
	close(client->connections[i].fd);
	client->connections[i].phase = CLOSED;
	client->open--;
}

static void closed_by_server(struct client *client, uint32_t i)
{
	client->records->client[i].saw_close = now();
	drop(client, i);
}

/* A message is the connection's number: the server learns who is talking. */
static void say(struct client *client, uint32_t i)
{
	struct client_record *record = &client->records->client[i];
	uint64_t before = now();
	uint32_t message = i;

	if (send(client->connections[i].fd, &message, sizeof(message),
		 MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(message)) {
		record->last_said = before;
		record->said++;
	} else if (errno == EPIPE || errno == ECONNRESET) {
		closed_by_server(client, i);
	} else {
		fail("client: send: %s", strerror(errno));
	}
}

static void bind_source(int fd, uint32_t i)
{
	struct sockaddr_in source = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + i / PER_ADDRESS),
	};
	int on = 1;

	/* The port is chosen by connect(), which knows the destination. */
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&source, sizeof(source)))
		fail("client: bind to 127.0.0.%u: %s", 2 + i / PER_ADDRESS, strerror(errno));
}

static void connected(struct client *client, uint32_t i)
{
	struct connection *connection = &client->connections[i];

	connection->phase = OPEN;
	client->records->client[i].connected = now();
	for (connection->owed++; connection->owed && connection->phase == OPEN;
	     connection->owed--)
		say(client, i);
}

static void open_connection(struct client *client, uint32_t i)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u32 = i,
	};
	struct connection *connection = &client->connections[i];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("client: socket: %s", strerror(errno));
	bind_source(fd, i);
	if (connect(fd, (struct sockaddr *)&client->server, sizeof(client->server)) &&
	    errno != EINPROGRESS)
		fail("client: connect: %s%s", strerror(errno),
		     errno == ENETUNREACH ? ": is loopback up (ip link set lo up)?" : "");
	connection->fd = fd;
	connection->phase = CONNECTING;
	client->open++;
	if (epoll_ctl(client->epoll, EPOLL_CTL_ADD, fd, &event))
		fail("client: epoll_ctl: %s", strerror(errno));
}

static void act(struct client *client, const struct action *action)
{
	struct connection *connection = &client->connections[action->connection];

	switch (action->act) {
	case ACT_OPEN:
		open_connection(client, action->connection);
		break;
	case ACT_SAY:
		if (connection->phase == CONNECTING)
			connection->owed++;
		else if (connection->phase == OPEN)
			say(client, action->connection);
		break;
	case ACT_CLOSE:
		if (connection->phase == CLOSED)
			break;
		client->records->client[action->connection].closed = true;
		drop(client, action->connection);
		break;
	}
}

/* Returns when the next action is due. */
static uint64_t act_all_due(struct client *client)
{
	const struct schedule *schedule = client->schedule;
	struct totals *totals = client->records->totals;
	uint64_t time = now() - client->start, due;
	int burst;

	for (burst = 0; burst < BURST && client->next < schedule->nr_actions; burst++) {
		due = schedule->actions[client->next].time;
		if (due > time)
			break;
		if (time - due > totals->max_lag)
			totals->max_lag = time - due;
		act(client, &schedule->actions[client->next++]);
	}
	return client->next < schedule->nr_actions ? schedule->actions[client->next].time :
						     UINT64_MAX;
}

static void finish_connecting(struct client *client, uint32_t i)
{
	int error = 0;
	socklen_t len = sizeof(error);

	getsockopt(client->connections[i].fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (!error) {
		connected(client, i);
		return;
	}
	client->records->totals->refused++;
	drop(client, i);
}

static void hear(struct client *client, const struct epoll_event *event)
{
	uint32_t i = event->data.u32;
	struct connection *connection = &client->connections[i];
	char byte;

	if (connection->phase == CONNECTING && (event->events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		finish_connecting(client, i);
	if (connection->phase != OPEN ||
	    !(event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
		return;
	/* The server never says anything: what can be read is the end. */
	if (recv(connection->fd, &byte, 1, MSG_DONTWAIT) >= 0 ||
	    (errno != EAGAIN && errno != EINTR))
		closed_by_server(client, i);
}

static int milliseconds_until(uint64_t time)
{
	uint64_t current = now();

	if (time <= current)
		return 0;
	time = (time - current + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return time < 1000 ? time : 1000;
}

void client_run(const struct schedule *schedule, const struct records *records, uint16_t port,
		uint64_t start, uint64_t patience)
{
	struct client client = {
		.schedule = schedule,
		.records = records,
		.connections = calloc(schedule->connections, sizeof(struct connection)),
		.server = {
			.sin_family = AF_INET,
			.sin_port = htons(port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		},
		.start = start,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
	};
	uint64_t give_up = start + schedule->end + patience, due;
	struct epoll_event events[EVENTS];
	int nr, i;

	if (!client.connections || client.epoll < 0)
		fail("client: %s", strerror(errno));
	for (;;) {
		due = act_all_due(&client);
		if (due != UINT64_MAX)
			due += start;
		else if (!client.open || now() > give_up)
			break;
		nr = epoll_wait(client.epoll, events, EVENTS, milliseconds_until(due));
		if (nr < 0 && errno != EINTR)
			fail("client: epoll_wait: %s", strerror(errno));
		for (i = 0; i < nr; i++)
			hear(&client, &events[i]);
	}
	records->totals->client_done = true;
	free(client.connections);
	close(client.epoll);
}
