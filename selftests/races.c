// SPDX-License-Identifier: GPL-2.0
/*
 * Stores that race with looks, with deliveries and with each other: what follows
 * the rules is never early, lost or stale; what does not harms only itself.
 *
 * TWHEEL_SECONDS=n in the environment makes each race longer than 2 seconds.
 */
#include "words_test.h"

#define TICK		(100 * USEC)
#define IDS		32U
#define WRITERS		2U
#define LOG_MAX		400000U

/* What is known of an arming. */
enum fate {
	OPEN,		/* wanted still */
	TAKEN_BACK,	/* its deadline was swapped for another: no event may count */
	GONE,		/* it was not there any more: an event has counted */
	UNKNOWN,	/* a plain store was put over it */
};

struct arming {
	__u64		deadline;
	__u32		id;
	enum fate	fate;
};

struct writer {
	struct race	*race;
	unsigned int	number;
	__u32		nr;
	struct arming	*log;
	__u32		last[IDS];	/* of each id, in the log, plus 1 */
	int		error;
};

struct race {
	struct shared	s;
	__u64		end;
	struct writer	writer[WRITERS];
	struct arming	*delivered;
	__u32		nr_delivered;
	unsigned int	early;
	int		error;
	bool		stop;
};

static unsigned int seconds(void)
{
	const char *value = getenv("TWHEEL_SECONDS");

	return value ? atoi(value) : 2;
}

static __u64 random64(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Put another deadline, or 0, in the place of the last one. */
static int put(struct writer *w, __u32 id, __u64 deadline)
{
	struct arming *last = w->last[id] ? &w->log[w->last[id] - 1] : NULL;
	__u64 before;
	int ret;

	ret = want_instead(&w->race->s, id, deadline, &before);
	if (last && last->fate == OPEN)
		last->fate = before == last->deadline ? TAKEN_BACK : GONE;
	w->last[id] = 0;
	if (deadline) {
		w->log[w->nr] = (struct arming){ .deadline = deadline, .id = id };
		w->last[id] = ++w->nr;
	}
	return ret < 0 ? ret : 0;
}

/* Each id has one writer, so that what was there before is known. */
static void *write_words(void *arg)
{
	struct writer *w = arg;
	__u64 state = 88172645463325252ULL * (w->number + 1);

	while (now_ns() < w->race->end && w->nr < LOG_MAX && !w->error) {
		__u64 r = random64(&state);
		__u32 id = (r % (IDS / WRITERS)) * WRITERS + w->number;
		__u64 ahead = r >> 8 & 1 ? (r >> 16) % (20 * TICK) : (r >> 16) % TICK;

		switch (r >> 9 & 7) {
		case 0:
			/* Cancel by a plain store: the event may have counted or not. */
			cancel_by_store(&w->race->s, id);
			if (w->last[id] && w->log[w->last[id] - 1].fate == OPEN)
				w->log[w->last[id] - 1].fate = UNKNOWN;
			break;
		case 1:
			w->error = put(w, id, 0);
			break;
		case 2:
			/* Leave the others some time. */
			sleep_until(now_ns() + TICK);
			break;
		default:
			/* No deadline twice, so that each has one fate. */
			w->error = put(w, id, ((now_ns() + ahead) & ~0xffffULL) |
					      (w->nr & 0xffff));
		}
	}
	return NULL;
}

static void note(struct race *r, __u32 id, __u64 deadline)
{
	r->early += deadline > now_ns();
	if (r->nr_delivered < WRITERS * LOG_MAX)
		r->delivered[r->nr_delivered++] = (struct arming){ deadline, id, OPEN };
}

static int take_read(struct race *r)
{
	struct twheel_event ev[16];
	int n = wheel_read(r->s.fd, ev, 16);

	for (int i = 0; i < n; i++)
		note(r, ev[i].id, ev[i].deadline);
	return n;
}

static int take_ring(struct race *r)
{
	struct twheel_entry entry;
	int ret;

	if (!ring_take(&r->s, &entry))
		return __atomic_load_n(&r->s.ring->waiting, __ATOMIC_ACQUIRE) ?
		       wheel_submit(r->s.fd, NULL, 0, NULL) : -EAGAIN;
	if (claim(&r->s, &entry, 0)) {
		note(r, entry.id, entry.deadline);
		return 1;
	}
	ret = want_looked_at(&r->s, entry.id, wanted(&r->s, entry.id));
	return ret < 0 ? ret : 1;
}

static void *take_events(void *arg)
{
	struct race *r = arg;
	int n;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		n = r->s.ring ? take_ring(r) : take_read(r);
		if (n == -EAGAIN)
			wheel_poll(r->s.fd, 1);
		else if (n < 0)
			r->error = n;
	}
	return NULL;
}

static int by_deadline(const void *a, const void *b)
{
	const struct arming *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->deadline < y->deadline ? -1 : x->deadline > y->deadline;
}

/* How often an event of this arming counted. */
static unsigned int times(const struct race *r, const struct arming *arming)
{
	const struct arming *end = r->delivered + r->nr_delivered, *at;
	unsigned int n = 1;

	at = bsearch(arming, r->delivered, r->nr_delivered, sizeof(*at), by_deadline);
	if (!at)
		return 0;
	for (const struct arming *i = at + 1; i < end && !by_deadline(i, arming); i++)
		n++;
	for (const struct arming *i = at; i > r->delivered && !by_deadline(i - 1, arming); i--)
		n++;
	return n;
}

FIXTURE(race) {
	struct race r;
};

FIXTURE_VARIANT(race) {
	__u32 ring_entries;
};

FIXTURE_VARIANT_ADD(race, read) { .ring_entries = 0 };
FIXTURE_VARIANT_ADD(race, ring) { .ring_entries = 256 };

FIXTURE_SETUP(race)
{
	struct race *r = &self->r;

	ASSERT_EQ(0, shared_open(&r->s, 1024, variant->ring_entries, TICK));
	r->delivered = calloc(WRITERS * LOG_MAX, sizeof(*r->delivered));
	ASSERT_NE(NULL, r->delivered);
	for (unsigned int i = 0; i < WRITERS; i++) {
		r->writer[i].race = r;
		r->writer[i].number = i;
		r->writer[i].log = calloc(LOG_MAX, sizeof(*r->writer[i].log));
		ASSERT_NE(NULL, r->writer[i].log);
	}
}

FIXTURE_TEARDOWN(race)
{
	for (unsigned int i = 0; i < WRITERS; i++)
		free(self->r.writer[i].log);
	free(self->r.delivered);
	shared_close(&self->r.s);
}

TEST_F_TIMEOUT(race, never_early_lost_or_stale, 300)
{
	unsigned int fates[UNKNOWN + 1] = {}, lost = 0, stale = 0, twice = 0, armed;
	struct race *r = &self->r;
	pthread_t writers[WRITERS], reader;
	__u64 limit;

	r->end = now_ns() + seconds() * SEC;
	ASSERT_EQ(0, thread_start(&reader, take_events, r));
	for (unsigned int i = 0; i < WRITERS; i++)
		ASSERT_EQ(0, thread_start(&writers[i], write_words, &r->writer[i]));
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	/* What is armed now comes by itself. */
	limit = now_ns() + NEVER_MS * MSEC;
	do {
		sleep_until(now_ns() + MSEC);
		armed = 0;
		for (__u32 id = 0; id < IDS; id++)
			armed += !!wanted(&r->s, id);
	} while (armed && now_ns() < limit);
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);

	EXPECT_EQ(0, armed);
	EXPECT_EQ(0, r->error);
	EXPECT_EQ(0, r->early);
	qsort(r->delivered, r->nr_delivered, sizeof(*r->delivered), by_deadline);
	for (unsigned int i = 0; i < WRITERS; i++) {
		struct writer *w = &r->writer[i];

		EXPECT_EQ(0, w->error);
		EXPECT_LT(1000, w->nr);
		for (__u32 n = 0; n < w->nr; n++) {
			unsigned int seen = times(r, &w->log[n]);

			fates[w->log[n].fate]++;
			twice += seen > 1;
			stale += w->log[n].fate == TAKEN_BACK && seen;
			lost += (w->log[n].fate == GONE || w->log[n].fate == OPEN) && !seen;
		}
	}
	EXPECT_EQ(0, lost);
	EXPECT_EQ(0, stale);
	EXPECT_EQ(0, twice);
	/* All of it has happened. */
	for (unsigned int fate = OPEN; fate <= UNKNOWN; fate++) {
		EXPECT_NE(0, fates[fate])
			TH_LOG("fate %u", fate);
	}
	TH_LOG("%u delivered, %u taken back, %u cancelled by a store", r->nr_delivered,
	       fates[TAKEN_BACK], fates[UNKNOWN]);
}

/* Beside what others do to their own wheel: is a timer here in time? */
static __u64 lateness(int fd)
{
	__u64 deadline = now_ns() + 5 * MSEC;
	struct twheel_event ev;

	if (arm_at(fd, 1, deadline, 0) || collect(fd, &ev, 1) != 1)
		return ~0ULL;
	return now_ns() - deadline;
}

/* How late the victim's timers get, at the worst, beside another process. */
static __u64 worst_beside(void (*hostile)(struct shared *), struct shared *s, int victim)
{
	__u64 worst = 0, end;
	pid_t pid = fork();

	if (pid < 0)
		return ~0ULL;
	if (!pid)
		hostile(s);
	for (end = now_ns() + seconds() * SEC; now_ns() < end;) {
		__u64 late = lateness(victim);

		if (late > worst)
			worst = late;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return worst;
}

FIXTURE(hostile) {
	struct shared s;
	int victim;
	pid_t pid;
};

FIXTURE_VARIANT(hostile) {
	__u32 ring_entries;
};

FIXTURE_VARIANT_ADD(hostile, read) { .ring_entries = 0 };
FIXTURE_VARIANT_ADD(hostile, ring) { .ring_entries = 256 };

FIXTURE_SETUP(hostile)
{
	ASSERT_EQ(0, shared_open(&self->s, 1000000, variant->ring_entries, TICK));
	self->victim = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->victim);
	self->pid = 0;
}

FIXTURE_TEARDOWN(hostile)
{
	close(self->victim);
	shared_close(&self->s);
}

/* Anything, anywhere, for ever. */
static void scribble(struct shared *s)
{
	__u64 state = 0x9e3779b97f4a7c15ULL, *ring = (__u64 *)s->ring;
	__u32 calls = 0;

	for (;;) {
		__u64 r = random64(&state), value = random64(&state);
		__u32 id = r % s->capacity;

		switch (value & 7) {
		case 0 ... 3:
			value = now_ns() + (value >> 4) % (10 * TICK);
			break;
		case 4:
			value = 0;
			break;
		case 5:
			value = ~0ULL >> (value >> 4 & 63);
			break;
		}
		if (r >> 40 & 1)
			s->word[id].filed = value;
		else
			s->word[id].deadline = value;
		if (ring && !(r >> 41 & 63))
			ring[(r >> 20) % (ring_size(s) / sizeof(*ring))] = value;
		if (ring && !(r >> 47 & 63))
			s->ring->head = r >> 32;
		if (!(++calls & 15))
			arm_stored(s, id);
	}
}

TEST_F_TIMEOUT(hostile, scribbled_words_harm_nobody, 120)
{
	struct twheel_stats stats;
	struct twheel_entry entry;
	__u64 worst = worst_beside(scribble, &self->s, self->victim);

	EXPECT_GT(LATE, worst)
		TH_LOG("%llu ns late", worst);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_GE(64, stats.max_pass);
	EXPECT_LT(0, stats.fired);

	/* Who follows the rules from here on has a wheel that works. */
	for (__u32 id = 0; id < self->s.capacity; id++)
		cancel_by_store(&self->s, id);
	if (self->s.ring) {
		self->s.ring->head = self->s.ring->tail;
		while (!wheel_submit(self->s.fd, NULL, 0, NULL) &&
		       self->s.ring->head != self->s.ring->tail)
			self->s.ring->head = self->s.ring->tail;
	}
	/* The promises are scribbled over, too; a call writes them anew. */
	__atomic_store_n(&self->s.word[7].deadline, now_ns() + MSEC, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, arm_stored(&self->s, 7));
	/* Timers that were wanted a moment ago are looked at still, and let go. */
	if (!self->s.ring) {
		struct twheel_event ev;

		ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
		EXPECT_EQ(7, ev.id);
		return;
	}
	do {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->s.fd, NEVER_MS));
		ASSERT_EQ(1, ring_take(&self->s, &entry));
	} while (!claim(&self->s, &entry, 0));
	EXPECT_EQ(7, entry.id);
}

/* Each look is bought with a store. */
static void flood(struct shared *s)
{
	for (;;)
		for (__u32 id = 0; id < s->capacity; id++)
			want(s, id, now_ns() + TICK);
}

TEST_F_TIMEOUT(hostile, a_flood_one_tick_ahead, 120)
{
	struct twheel_stats stats;
	__u64 worst = worst_beside(flood, &self->s, self->victim);

	EXPECT_GT(LATE, worst)
		TH_LOG("%llu ns late", worst);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_GE(64, stats.max_pass);
	EXPECT_LT(10000, stats.fired + stats.moves);
}

/* As want(), but with a store where an exchange has to be: it may be lost. */
static void want_barely(struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_RELAXED);
	want_looked_at(s, id, deadline);
}

/* Arm, move, cancel and take events, until killed; or until one is early. */
static void serve(struct shared *s, __u64 state, bool barely)
{
	struct twheel_event ev[64];
	struct twheel_entry entry;
	int nr = 0;

	for (;;) {
		__u64 r = random64(&state);
		__u64 deadline = r >> 60 ? now_ns() + (r >> 32) % (30 * TICK) : 0;

		if (barely)
			want_barely(s, r % 2000, deadline);
		else
			want(s, r % 2000, deadline);
		if (s->ring && ring_take(s, &entry)) {
			if (entry.deadline > now_ns())
				_exit(1);
			claim(s, &entry, 0);
		} else if (!s->ring && !(r >> 20 & 15)) {
			nr = wheel_read(s->fd, ev, 64);
		}
		for (; nr > 0; nr--)
			if (ev[nr - 1].deadline > now_ns())
				_exit(1);
	}
}

/*
 * A daemon that dies anywhere leaves nothing behind that its successor misses. So
 * too, every other time, one that has not followed the rules.
 */
TEST_F_TIMEOUT(hostile, killed_and_adopted, 120)
{
	__u64 state = 42, limit;
	struct twheel_event ev[64];
	struct twheel_entry entry;
	unsigned int left;
	int round, status;

	for (round = 0; round < 20; round++) {
		self->pid = fork();
		ASSERT_LE(0, self->pid);
		if (!self->pid)
			serve(&self->s, state, round & 1);
		sleep_until(now_ns() + (1 + random64(&state) % 20) * MSEC);
		kill(self->pid, SIGKILL);
		waitpid(self->pid, &status, 0);
		ASSERT_TRUE(WIFSIGNALED(status))
			TH_LOG("early in round %d", round);

		/* The successor asks of each timer whether it is looked at. */
		for (__u32 id = 0; id < 2000; id++)
			ASSERT_LE(0, want_looked_at(&self->s, id, wanted(&self->s, id)));
		limit = now_ns() + NEVER_MS * MSEC;
		do {
			if (self->s.ring) {
				wheel_submit(self->s.fd, NULL, 0, NULL);
				while (ring_take(&self->s, &entry))
					if (!claim(&self->s, &entry, 0))
						want_looked_at(&self->s, entry.id,
							       wanted(&self->s, entry.id));
			} else {
				wheel_read(self->s.fd, ev, 64);
			}
			left = 0;
			for (__u32 id = 0; id < 2000; id++)
				left += !!wanted(&self->s, id);
		} while (left && now_ns() < limit);
		ASSERT_EQ(0, left)
			TH_LOG("lost in round %d", round);
	}
}

TEST_HARNESS_MAIN
