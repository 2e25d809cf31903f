// SPDX-License-Identifier: GPL-2.0
/*
 * Stores that race with looks, with deliveries and with each other: what follows
 * the rules is never early, lost or stale; what does not harms only itself.
 *
 * TWHEEL_SECONDS=n in the environment makes each race longer than 2 seconds.
 *
 * Bed: plain, storm
 */
#include "beside.h"
#include "held.h"
#include "race.h"

static unsigned int seconds(void)
{
	const char *value = getenv("TWHEEL_SECONDS");

	return value ? atoi(value) : 2;
}

FIXTURE(race) {
	struct race r;
};

FIXTURE_SETUP(race)
{
	ASSERT_EQ(0, race_open(&self->r, 0));
}

FIXTURE_TEARDOWN(race)
{
	race_close(&self->r);
}

TEST_F(race, stores_that_race_are_never_early_lost_or_stale)
{
	struct race *r = &self->r;

	EXPECT_EQ(0, race_run(r, seconds() * SEC));
	EXPECT_EQ(0, r->armed);
	EXPECT_EQ(0, r->early);
	for (unsigned int i = 0; i < WRITERS; i++)
		EXPECT_LT(ENOUGH, r->writer[i].nr);
	EXPECT_EQ(0, r->lost);
	EXPECT_EQ(0, r->stale);
	EXPECT_EQ(0, r->twice);
	/* All of it has happened. */
	for (unsigned int fate = OPEN; fate <= UNKNOWN; fate++) {
		EXPECT_NE(0, r->fates[fate])
			TH_LOG("fate %u", fate);
	}
	TH_LOG("%u delivered, %u taken back, %u cancelled by a store", r->nr_delivered,
	       r->fates[TAKEN_BACK], r->fates[UNKNOWN]);
}

/* The largest lateness of the victim's timers next to another process. */
static __u64 worst_beside(void (*hostile)(struct shared *), struct shared *s, int victim)
{
	struct lateness late;
	pid_t pid = fork();
	int ret;

	if (pid < 0)
		return ~0ULL;
	if (!pid)
		hostile(s);
	ret = victim_watch(victim, seconds() * SEC, &late);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ret ? ~0ULL : late.max;
}

FIXTURE(hostile) {
	struct shared s;
	int victim;
	pid_t pid;
};

FIXTURE_SETUP(hostile)
{
	ASSERT_EQ(0, shared_open(&self->s, 500000, TICK));
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
	__u64 state = 0x9e3779b97f4a7c15ULL;
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
			s->word[id].promise = value;
		else
			s->word[id].deadline = value;
		if (!(++calls & 15))
			arm_stored(s, id);
	}
}

TEST_F(hostile, scribbled_words_harm_nobody)
{
	struct twheel_stats stats;
	struct twheel_event ev;
	__u64 worst = worst_beside(scribble, &self->s, self->victim);

	EXPECT_GT(LATE, worst)
		TH_LOG("%llu ns late", worst);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	EXPECT_LT(0, stats.fired);

	/* Who follows the rules from here on has a wheel that works. */
	for (__u32 id = 0; id < self->s.capacity; id++)
		cancel_by_store(&self->s, id);
	/* The promises are scribbled over, too; a call writes them anew. */
	__atomic_store_n(&self->s.word[7].deadline, now_ns() + MSEC, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, arm_stored(&self->s, 7));
	/* Timers that were wanted a moment ago are looked at still, and let go. */
	ASSERT_EQ(1, collect(self->s.fd, &ev, 1));
	EXPECT_EQ(7, ev.id);
}

/* With 1,024 of them queued, softirq would leave the wheel to its reader. */
static void throw_events_away(const struct shared *s)
{
	struct twheel_event ev[64];

	while (wheel_read(s->fd, ev, ARRAY_SIZE(ev)) == ARRAY_SIZE(ev))
		;
}

/* Each look is bought with a store. */
static void flood(struct shared *s)
{
	for (;;) {
		for (__u32 id = 0; id < s->capacity; id++) {
			want(s, id, now_ns() + TICK);
			if (!(id % 64))
				throw_events_away(s);
		}
	}
}

TEST_F(hostile, a_flood_one_tick_ahead_makes_nobody_late)
{
	struct twheel_stats stats;
	__u64 worst = worst_beside(flood, &self->s, self->victim);

	EXPECT_GT(LATE, worst)
		TH_LOG("%llu ns late", worst);
	ASSERT_EQ(0, wheel_stats(self->s.fd, &stats));
	/* It was one. On a slow bed softirq gets fewer into its share of the CPU time. */
	EXPECT_LT(getenv("TWHEEL_LATE_MS") ? 100 : 2000, stats.fired);
}

/*
 * A daemon that dies anywhere leaves nothing behind that its successor misses. So
 * too, every other time, one that has not followed the rules.
 */
TEST_F(hostile, a_successor_misses_nothing_of_a_killed_daemon)
{
	__u64 state = 42;
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

		ASSERT_EQ(0, adopt(&self->s, SERVED))
			TH_LOG("lost in round %d", round);
	}
}

struct storer {
	pthread_t		thread;
	struct twheel_word	*word;
	bool			stop;
};

/* Arm a timer and cancel it, by stores alone, at moments that wander. */
static void *store(void *arg)
{
	struct storer *s = arg;
	unsigned int wait = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		__u64 deadline = wait & 1 ? 0 : 1ULL << 60;

		__atomic_exchange_n(&s->word->deadline, deadline, __ATOMIC_SEQ_CST);
		wait = wait * 5 % 509;
		for (unsigned int i = 0; i < wait; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/*
 * An arm that depends on whether the timer is armed is refused or not by the state that it
 * puts an end to, also if another thread stores deadlines meanwhile.
 */
TEST(only_new_and_only_move_hold_beside_stores)
{
	unsigned long armed[2] = {}, wrong = 0;
	struct storer storer = {};
	struct shared s;
	__u64 end;

	ASSERT_EQ(0, shared_open(&s, 256, 0));
	storer.word = s.word;
	ASSERT_EQ(0, thread_start(&storer.thread, store, &storer));
	end = now_ns() + 2 * SEC;
	for (unsigned int i = 0; now_ns() < end; i++) {
		struct twheel_op op = {
			.flags = i & 1 ? TWHEEL_ARM_NEW : TWHEEL_ARM_MOVE,
			.deadline = 1ULL << 59,
		};

		if (ioctl(s.fd, TWHEEL_IOC_ARM, &op))
			continue;
		armed[i & 1]++;
		wrong += (op.state == TWHEEL_STATE_IDLE) != (i & 1);
	}
	__atomic_store_n(&storer.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(storer.thread, NULL));
	TH_LOG("%lu moved, %lu armed, %lu of them wrongly", armed[0], armed[1], wrong);
	EXPECT_LT(0, armed[0]);
	EXPECT_LT(0, armed[1]);
	EXPECT_EQ(0, wrong);
	shared_close(&s);
}

struct canceller {
	pthread_t	thread;
	int		fd;
	bool		stop;
};

#define EVENTS	16U

/* Cancel every second one. */
static void *cancel_some(void *arg)
{
	struct canceller *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE))
		for (__u32 id = 0; id < EVENTS; id += 2)
			wheel_cancel(c->fd, id);
	return NULL;
}

static void cancel_beside_reads(struct __test_metadata *_metadata, __u32 flags)
{
	struct canceller canceller = { .fd = wheel_open(O_NONBLOCK) };
	struct twheel_setup setup = { .flags = flags, .capacity = 256 };
	unsigned int rounds = 0, cancelled = 0;
	__u64 end;

	ASSERT_LE(0, canceller.fd);
	ASSERT_EQ(0, set_up(canceller.fd, &setup));
	ASSERT_EQ(0, thread_start(&canceller.thread, cancel_some, &canceller));
	for (end = now_ns() + seconds() * SEC; now_ns() < end; rounds++) {
		struct twheel_op ops[EVENTS] = {};
		struct twheel_event ev[EVENTS];
		unsigned int came[2] = {};

		for (unsigned int i = 0; i < EVENTS; i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM, .deadline = 1, .id = i,
			};
		ASSERT_EQ((int)EVENTS, wheel_submit(canceller.fd, ops, EVENTS, NULL));
		for (int got; (got = wheel_read(canceller.fd, ev, EVENTS)) > 0;)
			for (int i = 0; i < got; i++)
				came[ev[i].id % 2]++;
		ASSERT_EQ(EVENTS / 2, came[1])
			TH_LOG("in round %u, beside %u of others", rounds, came[0]);
		cancelled += came[0] < EVENTS / 2;
	}
	__atomic_store_n(&canceller.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(canceller.thread, NULL));
	TH_LOG("%u rounds, %u with cancelled events", rounds, cancelled);
	EXPECT_LT(0, cancelled);
	close(canceller.fd);
}

/* Of events that are read together, those that are cancelled meanwhile take no others with them. */
TEST(cancelled_events_take_no_others_with_them)
{
	cancel_beside_reads(_metadata, 0);
}

TEST(cancelled_events_take_no_others_with_them_by_words)
{
	cancel_beside_reads(_metadata, TWHEEL_SETUP_WORDS);
}

/* A read that holds an event, while its timer is armed or cancelled. */
FIXTURE(held_read) {
	struct shared s;
	struct held held;
	bool made;
	struct caller reader;
	struct twheel_op op;
	/* How often each generation was heard of. */
	unsigned int heard[4];
};

FIXTURE_VARIANT(held_read) {
	bool words;
};

FIXTURE_VARIANT_ADD(held_read, words) { .words = true };
FIXTURE_VARIANT_ADD(held_read, calls) { .words = false };

FIXTURE_SETUP(held_read)
{
	self->made = held_open(&self->held);
	if (variant->words) {
		ASSERT_EQ(0, shared_open(&self->s, 256, 0));
	} else {
		self->s.fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, self->s.fd);
	}
	if (!self->made)
		return;
	ASSERT_EQ(0, arm_at(self->s.fd, 7, 1, 1));
	self->reader = (struct caller){
		.call = call_read, .fd = self->s.fd, .memory = self->held.page, .nr = 4,
	};
	ASSERT_EQ(0, caller_start(&self->reader));
	ASSERT_TRUE(held_wait(&self->held));
	self->op = (struct twheel_op){ .deadline = 1, .cookie = 2, .id = 7 };
}

FIXTURE_TEARDOWN(held_read)
{
	held_close(&self->held);
	shared_close(&self->s);
}

static void hear(unsigned int *heard, struct __test_metadata *_metadata,
		 const struct twheel_event *ev, int nr)
{
	for (int i = 0; i < nr; i++) {
		ASSERT_EQ(7, ev[i].id);
		ASSERT_GT(4, ev[i].generation);
		EXPECT_EQ(ev[i].generation, ev[i].cookie);
		heard[ev[i].generation]++;
	}
}

/* Let the read end, and hear of all that comes; of the @newest generation, surely. */
static void hear_all(struct __test_metadata *_metadata, struct shared *s, struct held *held,
		     struct caller *reader, unsigned int *heard, unsigned int newest)
{
	struct twheel_event ev[4];
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	int nr;

	ASSERT_EQ(0, held_let(held));
	ASSERT_EQ(0, pthread_join(reader->thread, NULL));
	if (reader->ret != -EAGAIN) {
		ASSERT_LT(0, reader->ret);
		hear(heard, _metadata, held->page, reader->ret);
	}
	/* A little longer, for what should not come. */
	do {
		wheel_poll(s->fd, 50);
		nr = wheel_read(s->fd, ev, 4);
		if (nr > 0)
			hear(heard, _metadata, ev, nr);
	} while (nr > 0 || (newest && !heard[newest] && now_ns() < limit));
}

TEST_F(held_read, a_new_arming_is_delivered_beside_a_read_of_the_old_one)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(2, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	/* The call has told whether the old one is taken back. */
	EXPECT_EQ(self->op.state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, an_arming_for_later_is_delivered_beside_a_read_of_the_old_one)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	self->op.deadline = now_ns() + 100 * MSEC;
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	EXPECT_EQ(self->op.state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, a_cancel_tells_whether_the_event_is_delivered)
{
	int state = wheel_cancel(self->s.fd, 7);

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, state);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 0);
	EXPECT_EQ(state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, a_timer_cancelled_and_armed_again_delivers_the_new_one)
{
	int state = wheel_cancel(self->s.fd, 7);

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_LE(0, state);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(2, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 2);
	EXPECT_EQ(1, self->heard[2]);
	EXPECT_EQ(state == TWHEEL_STATE_DELIVERED, self->heard[1]);
}

TEST_F(held_read, a_timer_armed_thrice_delivers_the_last_one)
{
	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	self->op = (struct twheel_op){ .deadline = 1, .cookie = 3, .id = 7 };
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	EXPECT_EQ(3, self->op.generation);
	hear_all(_metadata, &self->s, &self->held, &self->reader, self->heard, 3);
	EXPECT_EQ(0, self->heard[2]);
	EXPECT_EQ(1, self->heard[3]);
}

/* A read that fails after all takes nothing with it. */
TEST_F(held_read, a_read_that_fails_takes_no_new_arming_with_it)
{
	struct twheel_event ev[4];

	if (!self->made)
		SKIP(return, NO_USERFAULTFD);
	ASSERT_EQ(0, wheel_arm(self->s.fd, &self->op));
	ASSERT_EQ(0, held_refuse(&self->held));
	ASSERT_EQ(0, pthread_join(self->reader.thread, NULL));
	EXPECT_EQ(-EFAULT, self->reader.ret);
	ASSERT_EQ(1, collect(self->s.fd, ev, 1));
	EXPECT_EQ(2, ev[0].generation);
	EXPECT_EQ(2, ev[0].cookie);
	EXPECT_EQ(-EAGAIN, wheel_read(self->s.fd, ev, 4));
}

TEST_HARNESS_MAIN
