// SPDX-License-Identifier: GPL-2.0
/*
 * What a daemon pays for the timeouts of its connections. All are of one length; each turn of
 * its loop is a tick later than the last, and has so many packets, of connections at random.
 * First timers that have expired are armed; they are pushed back, cancelled, and armed again
 * before the time at which they were due. Then they are pushed back once more, and expire.
 *
 * So who leaves a timer where it was, when it is pushed back or cancelled, pays for that before
 * the clock stops. Nothing is fetched ahead.
 */
#include "loops.h"

/* Timers that are worked on in a turn. */
#define TURN		64U

/* Operations timed for one value; with fewer timers, over and over. */
#define OPS_MIN		200000U

enum op { ARM, PUSH, CANCEL, AGAIN, EXPIRE, NR_OPS };

static const char *const op_name[NR_OPS] = {
	[ARM]	 = "arm",
	[PUSH]	 = "push back",
	[CANCEL] = "cancel",
	[AGAIN]	 = "arm again",
	[EXPIRE] = "expire",
};

/**
 * struct day - what a daemon does, and how long that took
 * @peer: whose timers it has
 * @work: all of them, in some order
 * @nr: how many
 * @now: the tick that it is
 * @ns: of each operation, so far
 * @ops: how many that were
 */
struct day {
	const struct peer	*peer;
	struct work		*work;
	u32			nr;
	u64			now;
	u64			ns[NR_OPS];
	u64			ops[NR_OPS];
};

static void stop(struct day *d, enum op what, u64 start)
{
	d->ns[what] += host_busy_ns() - start;
	d->ops[what] += d->nr;
}

/* Turn by turn, from @now on; when it is over. */
static u64 turns(const struct day *d, u64 now, void (*op)(const struct batch *))
{
	for (u32 i = 0; i < d->nr; i += TURN, now++) {
		struct batch batch = { .work = d->work + i, .now = now };

		batch.nr = min(TURN, d->nr - i);
		op(&batch);
	}
	return now;
}

static void all(struct day *d, enum op what, void (*op)(const struct batch *))
{
	u64 start;

	work_shuffle(d->work, d->nr);
	start = host_busy_ns();
	d->now = turns(d, d->now, op);
	stop(d, what, start);
}

/* What was pushed back from tick @pushed on is due a timeout later, in the same order. */
static int expire(struct day *d, u64 pushed)
{
	u64 cookies = 0, end = d->now - 1 + DAEMON_TIMEOUT, from = d->now, to, start;
	struct seen seen = {};

	turns(d, pushed, d->peer->record);
	for (u32 id = 0; id < d->nr; id++)
		cookies += cookie_of(id);

	start = host_busy_ns();
	for (to = pushed + DAEMON_TIMEOUT - 1; to <= end; from = to++)
		d->peer->expire(from, to, &seen);
	stop(d, EXPIRE, start);
	d->now = end;
	if (seen.bad)
		return host_fail("timers did not come due in their tick:", seen.bad);
	if (seen.nr != d->nr || seen.cookies != cookies)
		return host_fail("timers were lost or came twice; seen", seen.nr);
	return 0;
}

static int check_armed(const struct day *d, u32 nr)
{
	u32 armed = d->peer->armed();

	return armed == nr ? 0 : host_fail("not so many timers should be armed:", armed);
}

static int day(struct day *d)
{
	const struct peer *peer = d->peer;
	u64 pushed;
	int ret;

	all(d, ARM, peer->arm);
	all(d, PUSH, peer->push);
	ret = check_armed(d, d->nr);
	if (ret)
		return ret;
	all(d, CANCEL, peer->cancel);
	ret = check_armed(d, 0);
	if (ret)
		return ret;
	all(d, AGAIN, peer->arm);
	pushed = d->now;
	all(d, PUSH, peer->push);
	return expire(d, pushed) ?: check_armed(d, 0);
}

int daemon_days(const char *part, const struct peer *peer, u32 nr, unsigned int run)
{
	struct day d = { .peer = peer, .nr = nr, .now = START };
	int ret;

	work_seed(run);
	d.work = host_alloc(nr * sizeof(*d.work));
	if (!d.work || !peer->open(nr, d.now)) {
		ret = host_fail("no memory for timers:", nr);
		goto out;
	}
	work_in_sequence(d.work, nr);
	for (u32 i = 0; i < nr; i++)
		d.work[i].ticks = DAEMON_TIMEOUT;
	/* On the first day nothing has expired yet, and memory is touched for the first time. */
	ret = day(&d);
	memset(d.ns, 0, sizeof(d.ns));
	memset(d.ops, 0, sizeof(d.ops));
	while (!ret && d.ops[EXPIRE] < OPS_MIN)
		ret = day(&d);

	for (enum op what = 0; !ret && what < NR_OPS; what++)
		host_tell(part, op_name[what], peer->name, nr, "ns", d.ns[what], d.ops[what]);
	peer->close();
out:
	host_free_all();
	return ret;
}
