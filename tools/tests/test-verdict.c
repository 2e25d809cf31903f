// SPDX-License-Identifier: GPL-2.0
/* The judge: each kind of wrong in turn must be found, and nothing else. */
#include <stdio.h>
#include <string.h>

#include "duration.h"
#include "verdict.h"

#define TIMEOUT	(5 * NSEC_PER_SEC)
#define BOUND	(2 * NSEC_PER_SEC)
#define LAST	(100 * NSEC_PER_SEC)

/* Three connections: 0 and 1 fall silent, 2 talks to the end. */
static struct plan plans[3];
static struct schedule schedule;
static struct client_record client[3];
static struct server_record server[3];
static struct totals totals;
static const struct records records = { client, server, &totals };
static int nr, failed;

static void result(int ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++nr, what);
	if (!ok)
		failed = 1;
}

/* As it should be: each silent one cut 1 ms behind its deadline. */
static void all_is_well(void)
{
	int i;

	memset(&totals, 0, sizeof(totals));
	memset(client, 0, sizeof(client));
	memset(server, 0, sizeof(server));
	schedule = (struct schedule){ .connections = 3, .timeout = TIMEOUT,
				      .max_gap = TIMEOUT / 2, .plans = plans };
	totals.client_done = true;
	for (i = 0; i < 3; i++) {
		plans[i] = (struct plan){ .messages = 4, .silent = i < 2 };
		client[i].said = 4;
		client[i].last_said = LAST;
		server[i].heard = 4;
		server[i].last_heard = LAST + 1000;
	}
	for (i = 0; i < 2; i++) {
		server[i].cuts = 1;
		server[i].event_read = LAST + TIMEOUT + NSEC_PER_MSEC;
		server[i].cut = server[i].event_read + 1;
		server[i].cut_done = server[i].cut + 1;
		client[i].saw_close = server[i].cut_done;
	}
	client[2].closed = true;
}

static struct verdict judge(void)
{
	return verdict_find(&schedule, &records, BOUND);
}

static int counts(struct verdict v, uint64_t cut, uint64_t early, uint64_t missed, bool good)
{
	return v.expected == 2 && v.cut == cut && v.early == early && v.missed == missed &&
	       v.good == good;
}

int main(void)
{
	struct verdict v;

	all_is_well();
	v = judge();
	result(counts(v, 2, 0, 0, true) && v.on_time == 2, "all is well");
	result(v.event.p50 == NSEC_PER_MSEC - 1000 && v.close.p99 == NSEC_PER_MSEC - 998,
	       "lateness is counted from the last message that was heard");

	server[0].cut = server[0].last_heard + TIMEOUT - 1;
	result(counts(judge(), 2, 1, 0, false), "early by one ns on the server");

	all_is_well();
	server[0].cut = server[0].last_heard + TIMEOUT;
	result(counts(judge(), 2, 0, 0, true), "exactly at the deadline is not early");

	all_is_well();
	client[1].saw_close = LAST + TIMEOUT - 1;
	result(counts(judge(), 2, 1, 0, false), "early by one ns on the client");

	all_is_well();
	server[1].cut_done = server[1].last_heard + TIMEOUT + BOUND + 1;
	result(counts(judge(), 2, 0, 1, false), "later than the bound is missed");

	all_is_well();
	server[1] = (struct server_record){ .last_heard = LAST, .heard = 4 };
	client[1].saw_close = 0;
	result(counts(judge(), 1, 0, 1, false), "never cut is missed");

	all_is_well();
	server[2].cuts = 1;
	server[2].cut = LAST + 2 * TIMEOUT;
	server[2].cut_done = server[2].cut;
	client[2].saw_close = LAST + 2 * TIMEOUT;
	client[2].closed = false;
	v = judge();
	result(counts(v, 3, 0, 1, false) && v.talking == 1, "a talking one cut is missed");

	all_is_well();
	client[0].said = 3;
	server[0].heard = 3;
	v = judge();
	result(counts(v, 2, 0, 1, false) && v.talking == 1, "cut before it fell silent");

	all_is_well();
	server[0].heard = 3;
	result(counts(judge(), 2, 0, 1, false), "cut with a message on its way");

	/* Its last message was too late; by the clock of neither end the cut was early. */
	all_is_well();
	client[0].said = 5;
	client[0].last_said = client[0].saw_close - 1;
	plans[0].messages = 6;
	totals.max_lag = TIMEOUT / 2 - 1;
	v = judge();
	result(counts(v, 2, 0, 1, false) && v.talking == 1, "cut while its client is hardly late");
	totals.max_lag++;
	v = judge();
	result(counts(v, 2, 0, 0, true) && v.stalled == 1, "cut while its client is so late");
	client[0].last_said = server[0].last_heard + TIMEOUT - 1;
	result(counts(judge(), 2, 0, 1, false), "but its message was on its way in time");
	client[0].last_said++;
	client[0].said++;
	result(counts(judge(), 2, 0, 1, false), "or the one before may have been");
	client[0].said--;
	server[0].cut = server[0].last_heard + TIMEOUT - 1;
	result(counts(judge(), 2, 1, 1, false), "and early all the same");

	all_is_well();
	server[2] = server[0];
	client[2] = client[0];
	plans[2].messages = 6;
	totals.max_lag = TIMEOUT;
	v = judge();
	result(v.good && v.expected == 3 && v.on_time == 3 && v.stalled == 1,
	       "one that should have talked on, and whose client was late");

	all_is_well();
	client[0].saw_close = 0;
	v = judge();
	result(!v.good && v.contradictions == 1, "a cut that the client did not see");

	all_is_well();
	server[0].cuts = 2;
	v = judge();
	result(!v.good && v.contradictions == 1, "cut twice");

	all_is_well();
	totals.stale = 1;
	result(counts(judge(), 2, 0, 0, false), "a stale event");

	all_is_well();
	totals.client_done = false;
	result(counts(judge(), 2, 0, 0, false), "a client that did not come to its end");

	printf("1..%d\n", nr);
	return failed;
}
