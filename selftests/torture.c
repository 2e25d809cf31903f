// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once, for as long as wanted, while processors come and go:
 *
 *	torture SECONDS [SEED]
 *
 * In rounds of a few seconds.  In each some processes use wheels of their own, each in
 * one of the ways below, picked at random; meanwhile CPU 1 is taken away and given
 * back, the clock is set, the user's limits change.  When a round is over, all that
 * was done is compared with all that was delivered.
 *
 *	calls	threads arm, move and cancel, one by one and in batches, and list;
 *		others, and another process, read, poll or wait in epoll
 *	race	threads store into words and read events
 *	heirs	daemons with words are killed anywhere, and have a successor
 *	lone	has one timer at a time, so that no other's wake-up helps it
 *	idle	has timers, none of which is due
 *	abuse	what is due at once, for ever; periods that nobody reads
 *
 * The checks, by promise:
 *
 * 1. Never early: each event against the clock, against when it was found due, and
 *    against what its arming asked for.  How late they are is told, and how many were
 *    later than 20 ms and 1 s; more than STUCK is an error.
 * 2. Never lost: each arming has ended in one way, told by calls or by an event, and
 *    in no two; none is left when all have ended; who waits is woken; counters add up.
 * 3. Never stale: what a call has taken back has no event; generations count on.
 * 4. Bounded: all calls return in the end.
 * 5. Tickless: idle wheels have no interrupts.
 * 6. Flat: not here; bench/wheel/count counts instructions.
 * 7. Yours: wheels are used by several threads, a child, a successor; poll never
 *    reports an error.
 * 8. Accounted: what the limits refuse changes nothing; a wheel's memory is what its
 *    timers need; the machine's, when all wheels are closed, is what it was.
 * 9. Unstarvable: the process that watches is never kept waiting for STUCK.
 *
 * The last line is the sum; the exit code is 0 if nothing was wrong.
 */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>

#include "beside.h"
#include "race.h"

#define STUCK		(20 * SEC)
/* For a whole round, and what waits at its end. */
#define ROUND_LIMIT	(180 * SEC)
/* Memory may be that much more at the end: caches, per-CPU stocks. Bytes. */
#define GROWTH		(64LL << 20)

#define CPU1		"/sys/devices/system/cpu/cpu1/online"

#define WORKERS		4
#define OWNERS		2
#define READERS		3
#define LOG		32768U
#define OWN_IDS		256U
#define BATCH		32U

/* 16 to a factor of two, from 1 us on. */
#define BUCKETS		(16 * 32)

struct tally {
	__u64 ops;
	__u64 events;
	__u64 wheels;
	__u64 refused;
	__u64 faults;
	__u64 kills;
	__u64 unplugged;
	__u64 clock_sets;
	__u64 limit_sets;
	__u64 late[BUCKETS];
	__u64 late_max;
	__u64 late_20ms;
	__u64 late_1s;
	__u32 wrong;
	bool end;
};

static struct tally *tally;

static void count(__u64 *what, __u64 n)
{
	__atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

static __u64 now_of(const __u64 *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static void __attribute__((format(printf, 2, 3))) wrong(int promise, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* The first ones tell enough. */
	if (__atomic_fetch_add(&tally->wrong, 1, __ATOMIC_RELAXED) < 50)
		fprintf(stderr, "WRONG (promise %d): %s\n", promise, text);
}

/* A failure outside the promises: the test itself can't go on. */
#define NEED(cond) do {							\
	if (!(cond)) {							\
		wrong(0, "line %d: %s: %s", __LINE__, #cond, strerror(errno)); \
		_exit(1);						\
	}								\
} while (0)

static void note_late(__u64 ns)
{
	unsigned int at = 0;
	__u64 us = ns / USEC + 1, max;

	at = 63 - __builtin_clzll(us);
	at = at * 16 + ((us << 4 >> at) & 15);
	count(&tally->late[at < BUCKETS ? at : BUCKETS - 1], 1);
	count(&tally->late_20ms, ns > 20 * MSEC);
	count(&tally->late_1s, ns > SEC);
	for (max = now_of(&tally->late_max); ns > max;)
		if (__atomic_compare_exchange_n(&tally->late_max, &max, ns, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
	if (ns > STUCK)
		wrong(1, "an event %llu ms late", ns / MSEC);
}

/* That of so many per 1000, us. */
static __u64 late_at(unsigned int permille)
{
	__u64 all = 0, n = 0;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		all += now_of(&tally->late[i]);
	for (i = 0; i < BUCKETS - 1; i++) {
		n += now_of(&tally->late[i]);
		if (n * 1000 >= all * permille)
			break;
	}
	return (16ULL + i % 16) << (i / 16) >> 4;
}

/* Go to another processor, or anywhere. */
static void migrate(__u64 r)
{
	cpu_set_t all;

	/* The other one may be away just now. */
	if (r & 1) {
		pin(r >> 1 & 1);
		return;
	}
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

/* Calls */

struct owned {
	__u64 deadline;		/* or the earliest that it can be, if relative */
	__u64 interval;
	__u32 count;
	__u32 id;		/* TWHEEL_ID_ANY: any */
	__u32 generation;
	bool absolute;
	bool refused;
	enum fate fate;
	/* By readers: */
	__u32 events;
	__u32 last;
	__u64 periods;
};

struct owner {
	struct calls *calls;
	__u32 number;
	__u64 seed;
	__u32 nr;
	__u32 last[OWN_IDS];		/* of each id, in the log, plus 1 */
	__u32 generation[OWN_IDS];
	struct owned log[LOG];
};

enum waiting { READ, POLL, EPOLL, EPOLL_EDGE, WAITINGS };

struct calls {
	struct twheel_setup setup;
	int fd;
	int stop_fd;
	bool stop;
	bool faults;
	bool blocking;
	bool settable;
	enum waiting waiting;
	__u64 end;
	__u64 seed;
	__u64 arms;
	__u64 cancels;
	__u64 told;
	__u64 overruns;
	struct owner owner[OWNERS];
};

static struct owned *owned_of(struct calls *c, __u64 cookie)
{
	__u32 o = cookie >> 32, i = cookie;

	if (o >= OWNERS || !i || i > LOG)
		return NULL;
	return &c->owner[o].log[i - 1];
}

static void note_event(struct calls *c, const struct twheel_event *ev, __u64 now)
{
	struct owned *a = owned_of(c, ev->cookie);

	if (!a) {
		wrong(2, "an event with the cookie %llx", ev->cookie);
		return;
	}
	count(&c->told, 1);
	count(&c->overruns, ev->overruns);
	count(&tally->events, 1);
	__atomic_fetch_add(&a->events, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&a->last, !!(ev->flags & TWHEEL_EVENT_LAST), __ATOMIC_RELAXED);
	count(&a->periods, ev->overruns + 1);
	if (ev->deadline < a->deadline)
		wrong(1, "deadline %llu, asked for %llu", ev->deadline, a->deadline);
	if (a->absolute && !a->interval && ev->deadline != a->deadline)
		wrong(2, "deadline %llu, asked for %llu", ev->deadline, a->deadline);
	if (a->absolute && a->interval && (ev->deadline - a->deadline) % a->interval)
		wrong(2, "a period out of phase");
	/* A clock that is set may have told any time since, but not when the event was found. */
	if (ev->fired < ev->deadline || (!c->settable && now < ev->fired))
		wrong(1, "deadline %llu, fired %llu, read %llu", ev->deadline, ev->fired, now);
	else if (!ev->overruns && !c->settable)
		note_late(now - ev->deadline);
}

/* Read some; tells how many, or a negative errno. */
static int read_some(struct calls *c, unsigned int most)
{
	struct twheel_event ev[64];
	int n = wheel_read(c->fd, ev, most);
	__u64 now = clock_ns(c->setup.clock);

	for (int i = 0; i < n; i++)
		note_event(c, &ev[i], now);
	return n;
}

static void check_poll(unsigned int revents)
{
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		wrong(7, "poll tells %x", revents);
}

static void *read_events(void *arg)
{
	struct calls *c = arg;
	struct pollfd p[] = {
		{ .fd = c->fd, .events = POLLIN },
		{ .fd = c->stop_fd, .events = POLLIN },
	};
	struct epoll_event event;
	void *hole = nowhere();
	__u64 seed = c->seed + 7777 * gettid();
	int ret = 0, epoll = epoll_create1(EPOLL_CLOEXEC);

	NEED(epoll >= 0);
	event = (struct epoll_event){
		.events = EPOLLIN | (c->waiting == EPOLL_EDGE ? EPOLLET : EPOLLEXCLUSIVE),
	};
	NEED(!epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event));
	event.events = EPOLLIN;
	NEED(!epoll_ctl(epoll, EPOLL_CTL_ADD, c->stop_fd, &event));

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		__u64 r = random64(&seed);

		if (!(r & 0xff))
			migrate(r >> 8);
		if (c->faults && !(r >> 16 & 15)) {
			ret = wheel_read(c->fd, hole, 16);
			count(&tally->faults, ret == -EFAULT);
		}
		ret = read_some(c, 1 + (r >> 24 & 63));
		if (ret == -EINTR || ret > 0)
			continue;
		if (ret != -EAGAIN) {
			wrong(2, "read: %d", ret);
			break;
		}
		/* If a wake-up is lost, what is found then is that late. */
		if (c->waiting == POLL) {
			poll(p, 2, NEVER_MS);
			check_poll(p[0].revents);
		} else if (c->waiting != READ) {
			epoll_wait(epoll, &event, 1, NEVER_MS);
			check_poll(event.events);
		} else {
			sleep_until(now_ns() + MSEC);
		}
	}
	close(epoll);
	munmap((char *)hole - EDGE_PAGES * PAGE, 2 * EDGE_PAGES * PAGE);
	return NULL;
}

static bool found_armed(__u32 state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

/* A call has told what was found of the last arming of an id. */
static void ended(struct owner *o, __u32 id, __u32 state)
{
	struct owned *a = o->last[id] ? &o->log[o->last[id] - 1] : NULL;

	o->last[id] = 0;
	if (a)
		a->fate = found_armed(state) ? TAKEN_BACK : GONE;
	else if (found_armed(state))
		wrong(2, "found in state %u, and never armed", state);
}

/* Make an arm, and its place in the log. */
static void make_arm(struct owner *o, struct twheel_op *op, __u64 r)
{
	struct calls *c = o->calls;
	__u64 now = clock_ns(c->setup.clock), in = (r >> 20) % (30 * MSEC);
	struct owned *a = &o->log[o->nr++];
	__u32 mine = r % OWN_IDS;

	*op = (struct twheel_op){
		.opcode = TWHEEL_OP_ARM,
		.id = mine * OWNERS + o->number,
		.cookie = (__u64)o->number << 32 | o->nr,
	};
	/* Some at once, some over several levels, some not in this round. */
	switch (r >> 8 & 15) {
	case 0:
		in = 0;
		break;
	case 1:
		in *= 20;
		break;
	case 2:
		in += HOUR;
		break;
	}
	*a = (struct owned){ .deadline = now + in, .fate = OPEN, .id = op->id };
	/* A clock that may be set takes no relative deadlines. */
	if (r >> 12 & 1 && !c->settable) {
		op->flags |= TWHEEL_ARM_RELATIVE;
		op->deadline = in + 1;
	} else {
		op->deadline = now + in;
		a->absolute = true;
	}
	switch (r >> 13 & 31) {
	case 0 ... 2:
		op->interval = 1 + (r >> 30) % (4 * MSEC);
		op->count = 1 + (r >> 50) % 20;
		break;
	case 3:
		op->interval = 1 + (r >> 30) % (4 * MSEC);
		break;
	case 4:
		op->flags |= TWHEEL_ARM_NEW;
		break;
	case 5:
		op->flags |= TWHEEL_ARM_MOVE;
		break;
	case 6:
		op->generation = o->generation[mine];
		break;
	case 7:
		/* Of an arming that there was not yet. */
		op->generation = o->generation[mine] + 5;
		break;
	case 8 ... 10:
		op->slack = (r >> 30) % (5 * MSEC);
		break;
	case 11:
		op->id = TWHEEL_ID_ANY;
		a->id = op->id;
		break;
	}
	a->interval = op->interval;
	a->count = op->count;
}

/* Its result; @wanted: the generation that was given. */
static void arm_told(struct owner *o, const struct twheel_op *op, int result, __u32 wanted)
{
	struct owned *a = owned_of(o->calls, op->cookie);
	bool any = a->id == TWHEEL_ID_ANY;
	__u32 mine = a->id / OWNERS;

	if (!result) {
		count(&o->calls->arms, 1);
		if (any)
			return;
		a->generation = op->generation;
		if (op->generation != (o->generation[mine] + 1 ?: 1))
			wrong(3, "generation %u after %u", op->generation, o->generation[mine]);
		o->generation[mine] = op->generation;
		ended(o, mine, op->state);
		o->last[mine] = a - o->log + 1;
		if (wanted && wanted != op->generation - 1)
			wrong(3, "armed in spite of its generation");
		return;
	}
	a->refused = true;
	switch (result) {
	case -EEXIST:
		if (!o->last[mine] || !(op->flags & TWHEEL_ARM_NEW))
			wrong(2, "not armed, and EEXIST");
		break;
	case -ENOENT:
		if (!(op->flags & TWHEEL_ARM_MOVE))
			wrong(2, "ENOENT");
		ended(o, mine, TWHEEL_STATE_IDLE);
		break;
	case -ESTALE:
		if (!wanted || wanted == o->generation[mine])
			wrong(3, "ESTALE, and the generation is that of the last arming");
		break;
	case -EDQUOT:
	case -ENOMEM:
	case -ENOSPC:
		count(&tally->refused, 1);
		break;
	default:
		wrong(2, "arm: %d", result);
	}
}

static void cancel_told(struct owner *o, __u32 mine, __u32 state, int result)
{
	if (result) {
		wrong(2, "cancel: %d", result);
		return;
	}
	count(&o->calls->cancels, found_armed(state));
	ended(o, mine, state);
}

static void cancel(struct owner *o, __u32 mine)
{
	struct twheel_op op = { .id = mine * OWNERS + o->number };
	int ret = wheel_ioctl(o->calls->fd, TWHEEL_IOC_CANCEL, &op);

	cancel_told(o, mine, op.state, ret);
}

static void do_batch(struct owner *o, __u64 *seed)
{
	struct twheel_op ops[BATCH];
	__u32 wanted[BATCH], nr = 1 + random64(seed) % BATCH;
	int done;

	for (__u32 i = 0; i < nr; i++) {
		__u64 r = random64(seed);

		if (r >> 60 < 10)
			make_arm(o, &ops[i], r);
		else
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_CANCEL,
				.id = (r % OWN_IDS) * OWNERS + o->number,
			};
		/* An arming earlier in this batch has no generation that is known yet. */
		ops[i].generation = 0;
		wanted[i] = 0;
	}
	done = wheel_submit(o->calls->fd, ops, nr, NULL);
	if (done < 0) {
		wrong(2, "submit: %d", done);
		done = 0;
	}
	for (__u32 i = 0; i < nr; i++) {
		if (i >= done) {
			if (ops[i].opcode == TWHEEL_OP_ARM)
				owned_of(o->calls, ops[i].cookie)->refused = true;
		} else if (ops[i].opcode == TWHEEL_OP_ARM) {
			arm_told(o, &ops[i], ops[i].result, wanted[i]);
		} else {
			cancel_told(o, ops[i].id / OWNERS, ops[i].state, ops[i].result);
		}
	}
	count(&tally->ops, nr);
}

static void do_list(struct calls *c, __u64 r)
{
	struct twheel_timer t[40];
	__u32 cursor = r % c->setup.capacity, from = cursor;
	int n = wheel_list(c->fd, t, 1 + (r >> 32) % 40, &cursor);

	if (n < 0)
		wrong(2, "list: %d", n);
	for (int i = 0; i < n; i++) {
		if (t[i].id < from || t[i].id >= cursor || !found_armed(t[i].state) ||
		    !owned_of(c, t[i].cookie))
			wrong(2, "listed: id %u, state %u, cookie %llx", t[i].id, t[i].state,
			      t[i].cookie);
		from = t[i].id + 1;
	}
}

static void do_get(struct owner *o, __u32 mine)
{
	const struct owned *a = o->last[mine] ? &o->log[o->last[mine] - 1] : NULL;
	struct twheel_timer t;
	int ret = wheel_get(o->calls->fd, mine * OWNERS + o->number, &t);

	if (ret || t.generation != o->generation[mine])
		wrong(3, "get: %d, generation %u, not %u", ret, t.generation,
		      o->generation[mine]);
	if (a ? t.state == TWHEEL_STATE_IDLE : found_armed(t.state))
		wrong(2, "get: state %u", t.state);
}

static void *own(void *arg)
{
	struct owner *o = arg;
	struct calls *c = o->calls;
	__u64 seed = o->seed;
	struct twheel_op op;

	while (now_ns() < c->end && o->nr + BATCH < LOG) {
		__u64 r = random64(&seed);
		__u32 mine = (r >> 20) % OWN_IDS, wanted;

		switch (r & 31) {
		case 0:
			migrate(r >> 8);
			break;
		case 1 ... 3:
			sleep_until(now_ns() + (r >> 8) % MSEC);
			break;
		case 4:
			do_list(c, r >> 8);
			break;
		case 5:
			do_get(o, mine);
			break;
		case 6 ... 9:
			cancel(o, mine);
			break;
		case 10 ... 13:
			do_batch(o, &seed);
			break;
		case 14:
			if (!c->blocking)
				read_some(c, 8);
			break;
		default:
			make_arm(o, &op, random64(&seed));
			wanted = op.generation;
			op.opcode = 0;
			arm_told(o, &op, wheel_arm(c->fd, &op), wanted);
		}
		count(&tally->ops, 1);
	}
	/* What would not end by itself. */
	for (__u32 mine = 0; mine < OWN_IDS; mine++)
		cancel(o, mine);
	return NULL;
}

static void interrupt(int signal)
{
}

/* What the kernel keeps for so many timers, at the most: bytes. */
static __u64 most_memory(const struct twheel_setup *s)
{
	__u64 chunks = s->capacity / 256 + 1;

	return (64 << 10) + s->levels * (2 * s->slots * 64ULL + 2048) +
	       chunks * (sizeof(void *) + 3 * 4096);
}

/* All that was armed, and what became of it. */
static void check_log(struct calls *c)
{
	for (__u32 o = 0; o < OWNERS; o++)
		for (__u32 i = 0; i < c->owner[o].nr; i++) {
			const struct owned *a = &c->owner[o].log[i];
			__u32 ends = a->interval ? a->last : a->events;
			/* A read that failed may have held it when it was armed anew. */
			__u32 least = a->fate == GONE && c->faults ? 0 : 1;

			if (a->refused && a->events)
				wrong(8, "refused, and an event came");
			else if (a->refused)
				continue;
			else if (a->fate == TAKEN_BACK && !a->interval && ends)
				wrong(3, "taken back, and an event came");
			else if (a->fate != TAKEN_BACK && ends > 1)
				wrong(2, "ended %u times: %u events", ends, a->events);
			else if (a->fate != TAKEN_BACK && ends < least)
				wrong(2, "lost: id %x, interval %llu, count %u, %u events", a->id,
				      a->interval, a->count, a->events);
			if (a->count && a->last && a->periods != a->count)
				wrong(2, "%llu periods of %u", a->periods, a->count);
		}
}

static void check_stats(struct calls *c)
{
	struct twheel_timer t;
	struct twheel_stats s;

	NEED(!wheel_stats(c->fd, &s));
	if (s.pending || s.expired || wheel_list(c->fd, &t, 1, &(__u32){ 0 }))
		wrong(2, "%llu pending and %llu expired are left", s.pending, s.expired);
	if (s.arms != c->arms || s.delivered != c->told || s.overruns != c->overruns)
		wrong(2, "%llu of %llu arms, %llu of %llu events, %llu of %llu overruns", s.arms,
		      c->arms, s.delivered, c->told, s.overruns, c->overruns);
	if (s.cancels != c->cancels)
		wrong(2, "%llu cancels, not %llu", s.cancels, c->cancels);
	if (s.fired < s.delivered)
		wrong(2, "%llu fired, %llu delivered", s.fired, s.delivered);
	if (s.memory > most_memory(&c->setup))
		wrong(8, "%llu bytes", s.memory);
}

/* Wait until all that is armed has been delivered, but what the kernel chose ids for. */
static void wait_empty(struct calls *c)
{
	__u64 limit = now_ns() + 3 * STUCK;
	struct twheel_timer t[64];
	struct twheel_stats s;
	int n;

	/* Those that were armed an hour ahead, or for ever. */
	do {
		__u32 cursor = 0;

		NEED(!wheel_stats(c->fd, &s));
		if (!s.pending && !s.expired)
			break;
		while ((n = wheel_list(c->fd, t, 64, &cursor)) > 0)
			for (int i = 0; i < n; i++) {
				struct owned *a = owned_of(c, t[i].cookie);
				struct twheel_op op = {
					.id = t[i].id,
					.generation = t[i].generation,
				};

				if (t[i].remaining < 10 * SEC && (!t[i].interval || t[i].count))
					continue;
				if (wheel_ioctl(c->fd, TWHEEL_IOC_CANCEL, &op))
					continue;
				count(&c->cancels, found_armed(op.state));
				a->fate = found_armed(op.state) ? TAKEN_BACK : GONE;
			}
		sleep_until(now_ns() + 5 * MSEC);
	} while (now_ns() < limit);
}

/* Events that a reader held when nothing was armed any more, put back by its failed read. */
static void read_rest(struct calls *c)
{
	__u64 limit = now_ns() + STUCK;
	struct twheel_stats s;

	while (now_ns() < limit) {
		NEED(!wheel_stats(c->fd, &s));
		if (!s.pending && !s.expired)
			break;
		if (wheel_poll(c->fd, 10) & POLLIN)
			read_some(c, 64);
	}
}

static void be_calls(__u64 seed)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME,
	};
	struct calls *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = { .sa_handler = interrupt };
	pthread_t owners[OWNERS], readers[READERS];
	__u64 r = random64(&seed);
	pid_t child;

	NEED(c != MAP_FAILED);
	c->seed = seed;
	c->setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = clocks[r % ARRAY_SIZE(clocks)],
		.tick = r >> 8 & 1 ? 0 : 1 + (r >> 16) % (4 * MSEC),
		.levels = r >> 9 & 3 ? 0 : 1 + (r >> 24) % 8,
		.slots = r >> 11 & 3 ? 0 : 4 << (r >> 32) % 6,
		/* The kernel never has to choose an id that is an owner's. */
		.capacity = OWNERS * (OWN_IDS + LOG / 8) + (r >> 40) % 5000,
	};
	c->settable = c->setup.clock == CLOCK_REALTIME;
	c->faults = r >> 13 & 1;
	c->waiting = (r >> 15) % WAITINGS;
	c->blocking = c->waiting == READ && r >> 60 & 1;
	c->fd = wheel_open(c->blocking ? 0 : O_NONBLOCK);
	NEED(c->fd >= 0);
	NEED(!set_up(c->fd, &c->setup));
	c->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	NEED(c->stop_fd >= 0);
	sigaction(SIGUSR1, &action, NULL);
	c->end = now_ns() + SEC + r % (3 * SEC);

	/* One of the readers is another process. */
	child = fork();
	if (!child) {
		read_events(c);
		_exit(0);
	}
	for (int i = 1; i < READERS; i++)
		NEED(!pthread_create(&readers[i], NULL, read_events, c));
	for (__u32 i = 0; i < OWNERS; i++) {
		c->owner[i].calls = c;
		c->owner[i].number = i;
		c->owner[i].seed = random64(&seed);
		NEED(!pthread_create(&owners[i], NULL, own, &c->owner[i]));
	}
	for (int i = 0; i < OWNERS; i++)
		pthread_join(owners[i], NULL);
	wait_empty(c);
	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	NEED(write(c->stop_fd, &(__u64){ 1 }, 8) == 8);
	/* Those who sleep in a read need a signal, and may be just about to. */
	for (int i = 1; i < READERS; i++)
		while (pthread_tryjoin_np(readers[i], NULL)) {
			pthread_kill(readers[i], SIGUSR1);
			sleep_until(now_ns() + MSEC);
		}
	while (!waitpid(child, NULL, WNOHANG)) {
		kill(child, SIGUSR1);
		sleep_until(now_ns() + MSEC);
	}
	read_rest(c);
	check_stats(c);
	check_log(c);
	close(c->fd);
}

/* Words */

static void be_race(__u64 seed)
{
	struct race *r = calloc(1, sizeof(*r));
	int ret;

	NEED(r);
	ret = race_open(r, seed);
	if (ret == -EDQUOT) {
		count(&tally->refused, 1);
		return;
	}
	NEED(!ret);
	ret = race_run(r, SEC + seed % SEC);
	if (ret)
		wrong(2, "race: %d", ret);
	if (r->early)
		wrong(1, "%u early", r->early);
	if (r->armed || r->lost || r->twice)
		wrong(2, "%u not delivered, %u lost, %u twice", r->armed, r->lost, r->twice);
	if (r->stale)
		wrong(3, "%u stale", r->stale);
	for (unsigned int i = 0; i < WRITERS; i++)
		count(&tally->ops, r->writer[i].nr);
	count(&tally->events, r->nr_delivered);
	race_close(r);
}

static void be_heirs(__u64 seed)
{
	struct shared s;
	int ret = shared_open(&s, 1 << 14, TICK), status;
	pid_t pid;

	if (ret == -EDQUOT) {
		count(&tally->refused, 1);
		return;
	}
	NEED(!ret);
	for (int round = 0; round < 20; round++) {
		pid = fork();
		NEED(pid >= 0);
		if (!pid)
			serve(&s, seed, round & 1);
		sleep_until(now_ns() + (1 + random64(&seed) % 50) * MSEC);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		count(&tally->kills, 1);
		if (!WIFSIGNALED(status))
			wrong(1, "early, with words");
		ret = adopt(&s, SERVED);
		if (ret)
			wrong(2, "%d lost by a successor", ret);
	}
	shared_close(&s);
}

/* The others */

static void be_lone(__u64 seed)
{
	__u64 end = now_ns() + SEC + seed % (2 * SEC), deadline, now;
	enum waiting waiting = seed % WAITINGS;
	struct epoll_event event = {
		.events = EPOLLIN | (waiting == EPOLL_EDGE ? EPOLLET : 0),
	};
	int fd = wheel_open(waiting == READ ? 0 : O_NONBLOCK), epoll = epoll_create1(0), ret;
	struct twheel_event ev;

	NEED(fd >= 0 && epoll >= 0);
	NEED(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	while ((now = now_ns()) < end) {
		__u64 r = random64(&seed);

		if (!(r & 15))
			migrate(r >> 4);
		deadline = now + (r >> 8) % (20 * MSEC);
		ret = arm_at(fd, r >> 32 & 0xff, deadline, r);
		count(&tally->ops, 1);
		if (ret == -EDQUOT) {
			count(&tally->refused, 1);
			continue;
		}
		NEED(!ret);
		/* Both look once more when they have waited too long. */
		if (waiting == POLL)
			wheel_poll(fd, NEVER_MS);
		else if (waiting != READ)
			epoll_wait(epoll, &event, 1, NEVER_MS);
		ret = wheel_read(fd, &ev, 1);
		now = now_ns();
		if (ret != 1 || ev.cookie != r || ev.deadline != deadline)
			wrong(2, "read: %d, deadline %llu, not %llu", ret, ev.deadline, deadline);
		else if (now < deadline)
			wrong(1, "deadline %llu, read %llu", deadline, now);
		else if (now - deadline > NEVER_MS * MSEC * 9 / 10)
			wrong(2, "nobody was woken");
		else
			note_late(now - deadline);
		count(&tally->events, 1);
	}
	close(epoll);
	close(fd);
}

static void be_idle(__u64 seed)
{
	struct twheel_stats s;
	int fd = wheel_open(0), ret = 0;

	NEED(fd >= 0);
	for (__u32 id = 0; id < 1000 && !ret; id++)
		ret = arm_in(fd, id, HOUR + random64(&seed) % HOUR, 0);
	if (ret && ret != -EDQUOT)
		wrong(2, "arm: %d", ret);
	sleep_until(now_ns() + SEC + seed % SEC);
	NEED(!wheel_stats(fd, &s));
	if (s.interrupts)
		wrong(5, "%llu interrupts of an idle wheel", s.interrupts);
	close(fd);
}

static void be_abuse(__u64 seed)
{
	__u64 end = now_ns() + SEC + seed % SEC;
	struct twheel_setup setup = { .tick = TWHEEL_MIN_TICK };
	int fd = wheel_open(O_NONBLOCK), ret = 0;

	NEED(fd >= 0);
	NEED(!set_up(fd, &setup));
	for (__u32 id = 1; id < 20000 && !ret && now_ns() < end; id++)
		ret = arm_every(fd, id, 1, TWHEEL_MIN_TICK, 0);
	while (now_ns() < end && (!ret || ret == -EDQUOT)) {
		ret = arm_at(fd, 0, 1, 0);
		count(&tally->ops, 1);
	}
	if (ret && ret != -EDQUOT)
		wrong(9, "arm: %d", ret);
	close(fd);
}

/* What goes on around them */

static void *unplug(void *arg)
{
	__u64 seed = *(__u64 *)arg;

	while (!__atomic_load_n(&tally->end, __ATOMIC_ACQUIRE)) {
		sleep_until(now_ns() + 200 * MSEC + random64(&seed) % SEC);
		if (!write_file(CPU1, "0"))
			count(&tally->unplugged, 1);
		sleep_until(now_ns() + 100 * MSEC + random64(&seed) % SEC);
		write_file(CPU1, "1");
	}
	return NULL;
}

/* To and fro, never far from where it was. */
static void *set_the_clock(void *arg)
{
	__u64 seed = *(__u64 *)arg, ahead = clock_ns(CLOCK_REALTIME) - now_ns();

	while (!__atomic_load_n(&tally->end, __ATOMIC_ACQUIRE)) {
		sleep_until(now_ns() + 100 * MSEC + random64(&seed) % SEC);
		if (!set_wall(now_ns() + ahead + random64(&seed) % SEC))
			count(&tally->clock_sets, 1);
	}
	return NULL;
}

static void *set_limits(void *arg)
{
	long long timers = file_value(PARAMETERS "max_user_timers", NULL);
	__u64 seed = *(__u64 *)arg;

	while (!__atomic_load_n(&tally->end, __ATOMIC_ACQUIRE)) {
		sleep_until(now_ns() + SEC + random64(&seed) % SEC);
		if (!write_file(PARAMETERS "max_user_timers", "%llu", random64(&seed) % 4000))
			count(&tally->limit_sets, 1);
		sleep_until(now_ns() + 100 * MSEC);
		write_file(PARAMETERS "max_user_timers", "%lld", timers);
	}
	return NULL;
}

static void disturb(__u64 seed)
{
	static void *(*const what[])(void *) = { unplug, set_the_clock, set_limits };
	pthread_t threads[ARRAY_SIZE(what)];

	for (int i = 0; i < ARRAY_SIZE(what); i++)
		NEED(!pthread_create(&threads[i], NULL, what[i], &seed));
	for (int i = 0; i < ARRAY_SIZE(what); i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* Bytes in use that could not be had by asking. */
static long long memory_used(void)
{
	const char *info = "/proc/meminfo";

	write_file("/proc/sys/vm/drop_caches", "3");
	return (file_value(info, "MemTotal:") - file_value(info, "MemAvailable:")) << 10;
}

static __u64 started;
static long long memory_before;
static __u64 longest_gap;

static void tell(const char *what, __u64 seed)
{
	const char *info = "/proc/meminfo";

	printf("%s%5llu s: %llu operations, %llu events, late p50 %llu p99 %llu max %llu us, ",
	       what, (now_ns() - started) / SEC, now_of(&tally->ops), now_of(&tally->events),
	       late_at(500), late_at(990), now_of(&tally->late_max) / USEC);
	printf("slab %lld KiB, vmalloc %lld KiB, seed %llu\n", file_value(info, "SUnreclaim:"),
	       file_value(info, "VmallocUsed:"), seed);
	fflush(stdout);
}

/* Let each worker do something, and wait for them. */
static void torture_round(__u64 *seed)
{
	static void (*const ways[])(__u64 seed) = {
		be_calls, be_calls, be_calls, be_race, be_heirs, be_lone, be_idle, be_abuse,
	};
	static __u64 next_line;
	__u64 limit = now_ns() + ROUND_LIMIT, before = now_ns(), now;
	pid_t worker[WORKERS];
	int left = WORKERS, status;

	for (int i = 0; i < WORKERS; i++) {
		__u64 r = random64(seed);

		worker[i] = fork();
		NEED(worker[i] >= 0);
		if (!worker[i]) {
			setpgid(0, 0);
			ways[r % ARRAY_SIZE(ways)](random64(seed));
			count(&tally->wheels, 1);
			_exit(0);
		}
	}
	while (left) {
		for (int i = 0; i < WORKERS; i++) {
			if (!worker[i] || waitpid(worker[i], &status, WNOHANG) != worker[i])
				continue;
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				wrong(0, "a worker ended with status %x", status);
			worker[i] = 0;
			left--;
		}
		now = now_ns();
		if (now - before > longest_gap)
			longest_gap = now - before;
		if (now - before > STUCK)
			wrong(9, "nothing ran for %llu ms", (now - before) / MSEC);
		before = now;
		if (now > next_line) {
			tell("", *seed);
			next_line = now + 10 * SEC;
		}
		if (now > limit) {
			wrong(4, "%d workers did not come to an end", left);
			for (int i = 0; i < WORKERS; i++)
				if (worker[i])
					kill(-worker[i], SIGKILL);
			limit = now + ROUND_LIMIT;
		}
		sleep_until(now + 10 * MSEC);
	}
}

int main(int argc, char **argv)
{
	__u64 seconds = argc > 1 ? strtoull(argv[1], NULL, 0) : 60, seed, rounds = 0;
	struct utsname name;
	long long growth;
	pid_t disturber;
	time_t date;

	if (getuid())
		ksft_exit_skip("needs root to unplug processors and set clocks\n");
	date = time(NULL);
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (__u64)date;
	seed = seed ?: 1;
	uname(&name);
	printf("torture: %s on %s, %llu s, seed %llu, CPU 1 %s be taken away\n", name.release,
	       name.machine, seconds, seed, access(CPU1, W_OK) ? "can't" : "can");
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (tally == MAP_FAILED)
		return 1;

	started = now_ns();
	/* What the first round brings along stays. */
	torture_round(&seed);
	memory_before = memory_used();
	disturber = fork();
	if (!disturber)
		disturb(seed);
	for (; now_ns() < started + seconds * SEC && !tally->wrong; rounds++)
		torture_round(&seed);
	__atomic_store_n(&tally->end, true, __ATOMIC_RELEASE);
	waitpid(disturber, NULL, 0);
	growth = memory_used() - memory_before;
	if (growth > GROWTH)
		wrong(8, "%lld MiB of memory are gone", growth >> 20);

	tell("end", seed);
	printf("torture: %llu wheels in %llu rounds, %llu daemons killed, %llu reads failed\n",
	       tally->wheels, rounds, tally->kills, tally->faults);
	printf("torture: CPU 1 taken away %llu times, clock set %llu times, limits %llu times: ",
	       tally->unplugged, tally->clock_sets, tally->limit_sets);
	printf("%llu arms refused\n", tally->refused);
	printf("torture: %llu events later than 20 ms, %llu than 1 s; ", tally->late_20ms,
	       tally->late_1s);
	printf("longest that nothing ran %llu ms; memory %+lld KiB\n", longest_gap / MSEC,
	       growth >> 10);
	printf("torture: %.24s, %s, %llu s, %llu operations, %llu events: %u wrong\n", ctime(&date),
	       name.release, (now_ns() - started) / SEC, tally->ops, tally->events,
	       tally->wrong);
	return !!tally->wrong;
}
