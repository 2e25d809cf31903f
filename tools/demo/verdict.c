// SPDX-License-Identifier: GPL-2.0
/* The judge. */
#include <stdlib.h>

#include "verdict.h"

struct samples {
	uint64_t *values;
	size_t nr;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The nearest rank: a value that did occur. */
static uint64_t percentile(const struct samples *samples, unsigned int percent)
{
	size_t rank = (samples->nr * percent + 99) / 100;

	return samples->values[rank ? rank - 1 : 0];
}

static struct lateness lateness(struct samples *samples)
{
	struct lateness late = {};

	if (!samples->nr)
		return late;
	qsort(samples->values, samples->nr, sizeof(uint64_t), by_value);
	late.p50 = percentile(samples, 50);
	late.p99 = percentile(samples, 99);
	late.max = samples->values[samples->nr - 1];
	return late;
}

static void add_sample(struct samples *samples, uint64_t deadline, uint64_t time)
{
	samples->values[samples->nr++] = time > deadline ? time - deadline : 0;
}

/*
 * Each end by itself: the server may not cut before the timeout has passed
 * since it received the last message; the client may not see the close before
 * it has passed since it sent that one, unless it sent it too late to be received.
 */
static bool is_early(const struct client_record *client, const struct server_record *server,
		     uint64_t timeout)
{
	if (server->cuts && server->cut < server->last_heard + timeout)
		return true;
	return client->saw_close && server->heard >= client->said &&
	       client->saw_close < client->last_said + timeout;
}

static bool contradicts(const struct plan *plan, const struct client_record *client,
			const struct server_record *server)
{
	/* Cut and not seen, seen and not cut, cut twice... */
	if (server->cuts != (client->saw_close ? 1 : 0))
		return true;
	/* ...both closed and cut, or heard what was not said. */
	return (client->closed && client->saw_close) || server->heard > client->said ||
	       client->said > plan->messages;
}

/* Was cut, or saw its end, although the schedule had it talk on. */
static bool cut_while_talking(const struct plan *plan, const struct client_record *client,
			      const struct server_record *server)
{
	if (!server->cuts && !client->saw_close)
		return false;
	return !plan->silent || client->said < plan->messages || server->heard < client->said;
}

/*
 * Was a connection that should have talked on silent for as long as the timeout, because the
 * client was that far behind its schedule?  On a busy machine that happens to any program.  Both
 * ends have the same clock: the next message, if there was one, has to have come too late.
 */
static bool fell_silent(const struct schedule *schedule, const struct totals *totals,
			const struct client_record *client, const struct server_record *server)
{
	if (totals->max_lag < schedule->timeout - schedule->max_gap)
		return false;
	if (server->heard >= client->said)
		return client->saw_close >= client->last_said + schedule->timeout;
	return client->said == server->heard + 1 &&
	       client->last_said >= server->last_heard + schedule->timeout;
}

static bool cut_in_time(const struct server_record *server, uint64_t timeout, uint64_t bound)
{
	return server->cuts && server->cut_done <= server->last_heard + timeout + bound;
}

struct verdict verdict_find(const struct schedule *schedule, const struct records *records,
			    uint64_t bound)
{
	struct samples event = { .values = calloc(schedule->connections, sizeof(uint64_t)) };
	struct samples close = { .values = calloc(schedule->connections, sizeof(uint64_t)) };
	const struct totals *totals = records->totals;
	struct verdict v = {};
	uint32_t i;

	if (!event.values || !close.values)
		abort();
	for (i = 0; i < schedule->connections; i++) {
		const struct plan *plan = &schedule->plans[i];
		const struct client_record *client = &records->client[i];
		const struct server_record *server = &records->server[i];
		bool early = is_early(client, server, schedule->timeout);
		bool talking = cut_while_talking(plan, client, server);
		bool stalled = talking && !early && fell_silent(schedule, totals, client, server);
		bool silent = plan->silent || stalled;
		bool missed = (talking && !stalled) ||
			      (silent && !cut_in_time(server, schedule->timeout, bound));

		v.expected += silent;
		v.cut += server->cuts;
		v.early += early;
		v.missed += missed;
		v.talking += talking && !stalled;
		v.stalled += stalled;
		v.contradictions += contradicts(plan, client, server);
		v.on_time += silent && server->cuts && !early && !missed;
		if (!server->cuts)
			continue;
		add_sample(&event, server->last_heard + schedule->timeout, server->event_read);
		add_sample(&close, server->last_heard + schedule->timeout, server->cut_done);
	}
	v.contradictions += totals->strangers;
	v.event = lateness(&event);
	v.close = lateness(&close);
	free(event.values);
	free(close.values);
	v.good = v.cut == v.expected && v.on_time == v.expected && !v.early && !v.missed &&
		 !v.contradictions && !totals->stale && !totals->refused && totals->client_done;
	return v;
}
