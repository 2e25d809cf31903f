// SPDX-License-Identifier: MIT
/*
 * mosquitto's timers in a wheel.  In its source this file stands for keepalive.c,
 * session_expiry.c and will_delay.c, and these are the functions that the broker calls already.
 *
 * A connection has one timer, whose id is its file descriptor: each packet pushes it back by a
 * store.  A client that has gone has up to two, for its session and for its will.  What is due
 * makes epoll_wait() return, behind which the broker calls session_expiry__check().
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <twheel.h>

#include "mosquitto_broker_internal.h"
#include "sys_tree.h"

#define MS		1000000ULL
#define SECOND		(1000 * MS)

/* Sessions that can wait to expire, and wills that can wait to be sent. */
#define OFFLINE_MAX	(1U << 17)
/* Descriptors that have timers, if there may be more. */
#define SOCKETS_MAX	(1U << 20)

/*
 * Many are due at once when a network fails.  After so long of them the broker serves its
 * clients, and then goes on: epoll_wait() does not sleep while there are more.
 */
#define SLICE		(2 * MS)

static struct twheel *wheel;

/* Ids below are those of connections; sessions begin here, and wills behind them. */
static uint32_t sockets;

/* What epoll finds with the wheel: neither a client nor a listener, so it calls nobody. */
static struct mosquitto nobody;

/* Numbers that are free: those that were used before, and those from @fresh on. */
struct numbers {
	uint32_t fresh;
	uint32_t nr;
	uint32_t used[OFFLINE_MAX];
};

static struct numbers session_numbers, will_numbers;
static struct session_expiry_list sessions[OFFLINE_MAX];
static struct will_delay_list wills[OFFLINE_MAX];

/* OFFLINE_MAX: there is none. */
static uint32_t take_number(struct numbers *numbers)
{
	if (numbers->nr)
		return numbers->used[--numbers->nr];
	if (numbers->fresh < OFFLINE_MAX)
		return numbers->fresh++;
	log__printf(NULL, MOSQ_LOG_ERR, "Error: more than %u clients wait to expire.",
		    OFFLINE_MAX);
	return OFFLINE_MAX;
}

static void give_number(struct numbers *numbers, uint32_t number)
{
	numbers->used[numbers->nr++] = number;
}

static int arm(uint32_t id, uint64_t ns)
{
	return twheel_arm(wheel, id, twheel_now(wheel) + ns) ? MOSQ_ERR_NOMEM : MOSQ_ERR_SUCCESS;
}

static uint32_t session_id(const struct session_expiry_list *session)
{
	return sockets + (uint32_t)(session - sessions);
}

static uint32_t will_id(const struct will_delay_list *will)
{
	return sockets + OFFLINE_MAX + (uint32_t)(will - wills);
}

static void open_wheel(void)
{
	struct twheel_options options = { .size = sizeof(options) };
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &nobody };
	struct rlimit files;
	int ret;

	getrlimit(RLIMIT_NOFILE, &files);
	sockets = files.rlim_cur < SOCKETS_MAX ? (uint32_t)files.rlim_cur : SOCKETS_MAX;
	options.capacity = sockets + 2 * OFFLINE_MAX;
	ret = twheel_open(&wheel, &options);
	if (!ret && epoll_ctl(db.epollfd, EPOLL_CTL_ADD, twheel_fd(wheel), &event))
		ret = -errno;
	if (ret) {
		log__printf(NULL, MOSQ_LOG_ERR, "Error: no wheel for timers: %s.", strerror(-ret));
		exit(EXIT_FAILURE);
	}
}

/* Keepalive */

static bool has_keepalive(const struct mosquitto *context)
{
	return context->sock >= 0 && (uint32_t)context->sock < sockets && context->keepalive &&
	       !context->bridge;
}

/* One and a half times what the client has said. */
static uint64_t patience(const struct mosquitto *context)
{
	return context->keepalive * (SECOND + SECOND / 2);
}

/*
 * Of a connection that was accepted, and of a client that has said its time.  The timer may be
 * armed, by whoever had the descriptor before.
 */
int keepalive__add(struct mosquitto *context)
{
	if (has_keepalive(context))
		return arm((uint32_t)context->sock, patience(context));
	if (context->sock >= 0 && (uint32_t)context->sock < sockets)
		twheel_cancel(wheel, (uint32_t)context->sock);
	return MOSQ_ERR_SUCCESS;
}

int keepalive__update(struct mosquitto *context)
{
	context->last_msg_in = db.now_s;
	if (!has_keepalive(context))
		return MOSQ_ERR_SUCCESS;
	return twheel_extend(wheel, (uint32_t)context->sock,
			     twheel_now(wheel) + patience(context)) ?
		MOSQ_ERR_NOMEM : MOSQ_ERR_SUCCESS;
}

/* The descriptor is closed, and not known any more: who is due is looked up. */
int keepalive__remove(struct mosquitto *context)
{
	UNUSED(context);
	return MOSQ_ERR_SUCCESS;
}

void keepalive__remove_all(void)
{
}

/* The broker calls this before it first waits. */
void keepalive__check(void)
{
	if (!wheel)
		open_wheel();
}

/* Unless something has come from it that the broker, which is busy, has yet to read. */
static void is_silent(int sock)
{
	struct mosquitto *context;
	char byte;

	HASH_FIND(hh_sock, db.contexts_by_sock, &sock, sizeof(sock), context);
	if (!context || !has_keepalive(context))
		return;
	if (recv(sock, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		arm((uint32_t)sock, SECOND);
	else
		do_disconnect(context, MOSQ_ERR_KEEPALIVE);
}

/* Sessions */

int session_expiry__add(struct mosquitto *context)
{
	time_t limit = db.config->persistent_client_expiration;
	uint32_t number, seconds = context->session_expiry_interval;

	if (limit && limit < seconds)
		seconds = (uint32_t)limit;
	else if (!limit && seconds == UINT32_MAX)
		return MOSQ_ERR_SUCCESS;
	number = take_number(&session_numbers);
	if (number == OFFLINE_MAX)
		return MOSQ_ERR_NOMEM;
	sessions[number].context = context;
	context->expiry_list_item = &sessions[number];
	/* What is written to disk. */
	context->session_expiry_time = db.now_real_s + seconds;
	return arm(session_id(&sessions[number]), seconds * SECOND);
}

void session_expiry__remove(struct mosquitto *context)
{
	struct session_expiry_list *session = context->expiry_list_item;

	if (!session)
		return;
	twheel_cancel(wheel, session_id(session));
	/* Who is cancelled has no event: none is to find a client that may be freed. */
	session->context = NULL;
	give_number(&session_numbers, (uint32_t)(session - sessions));
	context->expiry_list_item = NULL;
}

/* The broker ends. */
void session_expiry__remove_all(void)
{
	struct mosquitto *context, *next;

	HASH_ITER(hh_id, db.contexts_by_id, context, next)
		session_expiry__remove(context);
}

/* A will goes with the session, if it was not sent before. */
static void has_expired(struct mosquitto *context)
{
	session_expiry__remove(context);
	will_delay__remove(context);
	log__printf(NULL, MOSQ_LOG_NOTICE, "The session of %s has expired.", context->id);
	G_CLIENTS_EXPIRED_INC();
	context->session_expiry_interval = 0;
	context->will_delay_interval = 0;
	context__send_will(context);
	context__add_to_disused(context);
}

/* Wills */

int will_delay__add(struct mosquitto *context)
{
	uint32_t number;

	if (context->will_delay_entry)
		return MOSQ_ERR_SUCCESS;
	number = take_number(&will_numbers);
	if (number == OFFLINE_MAX)
		return MOSQ_ERR_NOMEM;
	wills[number].context = context;
	context->will_delay_entry = &wills[number];
	return arm(will_id(&wills[number]), context->will_delay_interval * SECOND);
}

void will_delay__remove(struct mosquitto *context)
{
	struct will_delay_list *will = context->will_delay_entry;

	if (!will)
		return;
	twheel_cancel(wheel, will_id(will));
	will->context = NULL;
	give_number(&will_numbers, (uint32_t)(will - wills));
	context->will_delay_entry = NULL;
}

static void send_will(struct mosquitto *context)
{
	will_delay__remove(context);
	context->will_delay_interval = 0;
	context__send_will(context);
}

/* The broker ends. */
void will_delay__send_all(void)
{
	struct mosquitto *context, *next;

	HASH_ITER(hh_id, db.contexts_by_id, context, next) {
		if (context->will_delay_entry)
			send_will(context);
	}
}

static void will_is_due(struct mosquitto *context)
{
	send_will(context);
	/* A session that ended with its connection was kept for the will. */
	if (!context->session_expiry_interval)
		context__add_to_disused(context);
}

/* They came with the sessions. */
void will_delay__check(void)
{
}

/* All three */

static void is_due(uint32_t id)
{
	if (id < sockets)
		is_silent((int)id);
	else if (id < sockets + OFFLINE_MAX)
		has_expired(sessions[id - sockets].context);
	else
		will_is_due(wills[id - sockets - OFFLINE_MAX].context);
}

/* The broker calls this behind each epoll_wait(). */
void session_expiry__check(void)
{
	struct twheel_event event;
	uint64_t end = 0;

	while (twheel_next(wheel, &event) == 1) {
		is_due(event.id);
		if (!end)
			end = twheel_now(wheel) + SLICE;
		else if (twheel_now(wheel) >= end)
			break;
	}
}
