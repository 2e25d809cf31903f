// SPDX-License-Identifier: GPL-2.0
/*
 * Many timers in one call: SUBMIT and LIST, and a wheel drained by both.
 *
 * Bed: plain, storm, short
 */
#include "used_fixture.h"
#include "wheel_fixture.h"

/* SUBMIT */

TEST_F(used, submit_works_in_order_and_past_failures)
{
	struct twheel_op ops[] = {
		{ .opcode = TWHEEL_OP_ARM, .deadline = ~0ULL, .cookie = 1, .id = FREE },
		/* Moves the one above: order matters. */
		{ .opcode = TWHEEL_OP_ARM, .flags = TWHEEL_ARM_MOVE, .deadline = ~0ULL,
		  .cookie = 2, .id = FREE },
		{ .opcode = TWHEEL_OP_ARM, .flags = TWHEEL_ARM_NEW, .deadline = ~0ULL,
		  .cookie = 3, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = FREE },
		{ .opcode = 0, .id = FREE },
		{ .opcode = 77, .id = FREE },
		{ .opcode = TWHEEL_OP_CANCEL, .id = CAPACITY },
		{ .opcode = TWHEEL_OP_ARM, .deadline = ~0ULL, .cookie = 8, .id = TWHEEL_ID_ANY },
		{ .opcode = TWHEEL_OP_ARM, .flags = 1U << 31, .deadline = 1, .id = 9 },
	};
	static const int results[] = {
		0, 0, -EEXIST, 0, 0, -EINVAL, -EINVAL, -ERANGE, 0, -EOPNOTSUPP,
	};
	static const __u32 states[] = {
		TWHEEL_STATE_IDLE, TWHEEL_STATE_PENDING, TWHEEL_STATE_PENDING,
		TWHEEL_STATE_PENDING, TWHEEL_STATE_IDLE,
	};
	struct twheel_timer t;
	__u32 failed;
	int i;

	ASSERT_EQ(ARRAY_SIZE(ops), wheel_submit(self->fd, ops, ARRAY_SIZE(ops), &failed));
	EXPECT_EQ(5, failed);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		EXPECT_EQ(results[i], ops[i].result)
			TH_LOG("op %d", i);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (!results[i])
			EXPECT_EQ(states[i], ops[i].state)
				TH_LOG("op %d", i);
	EXPECT_EQ(ops[1].generation, ops[3].generation);
	EXPECT_EQ(CAPACITY - 1, ops[8].id);
	ASSERT_EQ(0, wheel_get(self->fd, ops[8].id, &t));
	EXPECT_EQ(8, t.cookie);
	EXPECT_EQ(ops[8].generation, t.generation);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, FREE));
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(self->fd, 9));
}

/* An operation that fails says why, and nothing of a timer. */
TEST_F(used, submit_tells_nothing_of_what_fails)
{
	const __u32 stale = self->before.timers[0].generation + 1;
	const struct {
		struct twheel_op op;
		int error;
	} bad[] = {
		{ { .opcode = TWHEEL_OP_CANCEL, .id = PENDING, .generation = stale }, ESTALE },
		{ { .opcode = TWHEEL_OP_CANCEL, .id = FREE, .generation = stale }, ESTALE },
		{ { .opcode = TWHEEL_OP_CANCEL, .id = CAPACITY }, ERANGE },
		{ { .opcode = TWHEEL_OP_ARM, .id = PENDING, .generation = stale, .deadline = 1 },
		  ESTALE },
		{ { .opcode = TWHEEL_OP_ARM, .id = PENDING, .flags = TWHEEL_ARM_NEW,
		    .deadline = 1 }, EEXIST },
		{ { .opcode = TWHEEL_OP_ARM, .id = FREE, .flags = TWHEEL_ARM_MOVE,
		    .deadline = 1 }, ENOENT },
	};
	struct twheel_op ops[ARRAY_SIZE(bad)];
	__u32 failed;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ops[i] = bad[i].op;
		ops[i].state = 77;
	}
	ASSERT_EQ(ARRAY_SIZE(bad), wheel_submit(self->fd, ops, ARRAY_SIZE(bad), &failed));
	EXPECT_EQ(ARRAY_SIZE(bad), failed);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error, ops[i].result)
			TH_LOG("op %d", i);
		EXPECT_EQ(77, ops[i].state)
			TH_LOG("op %d", i);
		EXPECT_EQ(bad[i].op.generation, ops[i].generation)
			TH_LOG("op %d", i);
		EXPECT_EQ(bad[i].op.id, ops[i].id)
			TH_LOG("op %d", i);
	}
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(used, submit_of_nothing_does_nothing)
{
	struct twheel_submit s = {
		.op_size = sizeof(struct twheel_op),
		.done = 99,
		.failed = 99,
	};

	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_EQ(0, s.done);
	EXPECT_EQ(0, s.failed);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(used, submit_refuses_what_is_wrong)
{
	struct twheel_op ops[2] = {
		{ .opcode = TWHEEL_OP_CANCEL, .id = PENDING },
		{ .opcode = TWHEEL_OP_CANCEL, .id = EXPIRED },
	};
	const struct twheel_submit good = {
		.ops = (uintptr_t)ops,
		.nr = 2,
		.op_size = sizeof(ops[0]),
	};
	struct {
		const char *what;
		struct twheel_submit submit;
		int error;
	} bad[] = {
		{ "nr", good, EOVERFLOW },
		{ "all nr", good, EOVERFLOW },
		{ "no op_size", good, EINVAL },
		{ "smaller op_size", good, EINVAL },
		{ "huge op_size", good, EINVAL },
		{ "flag", good, EOPNOTSUPP },
		{ "reserved", good, EINVAL },
		{ "no ops", good, EFAULT },
		{ "unmapped ops", good, EFAULT },
		{ "ops in the kernel", good, EFAULT },
		{ "ops out of the address space", good, EFAULT },
	};
	int i;

	bad[0].submit.nr = TWHEEL_MAX_BATCH + 1;
	bad[1].submit.nr = ~0U;
	bad[2].submit.op_size = 0;
	bad[3].submit.op_size = sizeof(ops[0]) - 8;
	bad[4].submit.op_size = ~0U;
	bad[5].submit.flags = 1;
	bad[6].submit.reserved = 1;
	bad[7].submit.ops = 0;
	bad[8].submit.ops = (uintptr_t)nowhere();
	bad[9].submit.ops = 0xffffffff81000000ULL;
	bad[10].submit.ops = ~0ULL - 63;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &bad[i].submit))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}
	EXPECT_EQ(2, wheel_submit(self->fd, ops, 2, NULL));
}

/* Records of a later ABI: longer by as much, which has to be 0 here. */
#define LONGER		(sizeof(struct twheel_op) + 16)

TEST_F(used, submit_takes_longer_records)
{
	char array[3][LONGER] __attribute__((aligned(8))) = {};
	struct twheel_submit s = {
		.ops = (uintptr_t)array, .nr = 3, .op_size = LONGER,
	};
	struct twheel_op *op[3];

	for (int i = 0; i < 3; i++) {
		op[i] = (struct twheel_op *)array[i];
		op[i]->opcode = TWHEEL_OP_CANCEL;
	}
	op[0]->id = PENDING;
	op[1]->id = EXPIRED;
	op[2]->id = PERIODIC;
	/* Where one asks for something unknown the call stops, or fails. */
	array[0][LONGER - 1] = 1;
	EXPECT_EQ(-E2BIG, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
	array[0][LONGER - 1] = 0;
	array[2][LONGER - 1] = 1;
	EXPECT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT, &s));
	EXPECT_EQ(2, s.done);
	EXPECT_EQ(0, s.failed);
	EXPECT_EQ(TWHEEL_STATE_PENDING, op[0]->state);
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, op[1]->state);
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, PERIODIC));
}

/* LIST */

TEST_F(used, list_tells_in_order_from_a_cursor)
{
	struct twheel_timer t[8];
	__u32 cursor = 0, i;

	/* One at a time. */
	for (i = 0; i < 3; i++) {
		memset(t, 0xaa, sizeof(t));
		ASSERT_EQ(1, wheel_list(self->fd, t, 1, &cursor));
		EXPECT_EQ(self->before.timers[i].id, t[0].id);
		t[0].remaining = 0;
		EXPECT_EQ(0, memcmp(&t[0], &self->before.timers[i], sizeof(t[0])));
		EXPECT_LT(t[0].id, cursor);
	}
	EXPECT_EQ(0, wheel_list(self->fd, t, 1, &cursor));
	EXPECT_EQ(0, wheel_list(self->fd, t, 8, &cursor));

	/* From the middle, and the whole. */
	cursor = PERIODIC;
	ASSERT_LE(1, wheel_list(self->fd, t, 8, &cursor));
	EXPECT_EQ(PERIODIC, t[0].id);
	EXPECT_EQ(3, list_all(self->fd, t, 8));
	EXPECT_EQ(PENDING, t[0].id);
	EXPECT_EQ(PERIODIC, t[1].id);
	EXPECT_EQ(EXPIRED, t[2].id);
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, t[2].state);
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(used, list_fills_longer_records)
{
	char array[4][LONGER] __attribute__((aligned(8)));
	struct twheel_list l = {
		.timers = (uintptr_t)array, .nr = 4, .timer_size = LONGER,
	};

	memset(array, 0xaa, sizeof(array));
	ASSERT_EQ(0, wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &l));
	ASSERT_EQ(3, l.done);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(self->before.timers[i].id, ((struct twheel_timer *)array[i])->id);
		for (int at = sizeof(struct twheel_timer); at < LONGER; at++)
			EXPECT_EQ(0, array[i][at]);
	}
}

TEST_F(used, list_refuses_what_is_wrong)
{
	struct twheel_timer t[2];
	const struct twheel_list good = {
		.timers = (uintptr_t)t,
		.nr = 2,
		.timer_size = sizeof(t[0]),
	};
	struct {
		const char *what;
		struct twheel_list list;
		int error;
	} bad[] = {
		{ "nothing", good, EINVAL },
		{ "nr", good, EOVERFLOW },
		{ "all nr", good, EOVERFLOW },
		{ "no timer_size", good, EINVAL },
		{ "huge timer_size", good, EINVAL },
		{ "flag", good, EOPNOTSUPP },
		{ "reserved", good, EINVAL },
		{ "no timers", good, EFAULT },
		{ "unmapped timers", good, EFAULT },
		{ "read-only timers", good, EFAULT },
		{ "timers in the kernel", good, EFAULT },
	};
	int i;

	bad[0].list.nr = 0;
	bad[1].list.nr = TWHEEL_MAX_BATCH + 1;
	bad[2].list.nr = ~0U;
	bad[3].list.timer_size = 0;
	bad[4].list.timer_size = ~0U;
	bad[5].list.flags = 1;
	bad[6].list.reserved = 1;
	bad[7].list.timers = 0;
	bad[8].list.timers = (uintptr_t)nowhere();
	bad[9].list.timers = (uintptr_t)edge(0, NULL, 0, PROT_READ);
	bad[10].list.timers = 0xffffffff81000000ULL;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-bad[i].error,
			  wheel_ioctl(self->fd, TWHEEL_IOC_LIST, &bad[i].list))
			TH_LOG("%s", bad[i].what);
		EXPECT_TRUE(snapshot_holds(self->fd, &self->before))
			TH_LOG("%s: changed the wheel", bad[i].what);
	}
}

/*
 * A program drains a wheel by LIST and by cancels with the generations that it lists, while timers
 * expire, an event is read, and another thread arms them again.  Each arming ends once: replaced,
 * cancelled as pending or as expired, or read.
 */
#define DRAIN_IDS	256
#define DRAIN_ARMINGS	400000

struct drain {
	int fd;
	bool stop;
	/* How often each arming ended, by its cookie. */
	unsigned char *ended;
	__u32 armings;
	int error;
};

static bool is_armed(__u32 state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

static void drain_end(struct drain *d, __u64 cookie)
{
	__atomic_fetch_add(&d->ended[cookie], 1, __ATOMIC_RELAXED);
}

static bool drain_stopped(const struct drain *d)
{
	return __atomic_load_n(&d->stop, __ATOMIC_ACQUIRE);
}

static void *drain_arm(void *arg)
{
	struct drain *d = arg;
	__u32 last[DRAIN_IDS] = {}, seed = 3;

	while (!drain_stopped(d) && d->armings < DRAIN_ARMINGS - 1 && !d->error) {
		struct twheel_op op = {
			.flags = TWHEEL_ARM_RELATIVE,
			.deadline = 1 + next_random(&seed) % (4 * MSEC),
			.cookie = ++d->armings,
			.id = next_random(&seed) % DRAIN_IDS,
		};

		d->error = wheel_arm(d->fd, &op);
		if (is_armed(op.state))
			drain_end(d, last[op.id]);
		last[op.id] = op.cookie;
	}
	return NULL;
}

static void *drain_read(void *arg)
{
	struct drain *d = arg;
	struct twheel_event ev[4];
	int n;

	do {
		wheel_poll(d->fd, 1);
		n = wheel_read(d->fd, ev, ARRAY_SIZE(ev));
		for (int i = 0; i < n; i++)
			drain_end(d, ev[i].cookie);
	} while (!drain_stopped(d) || n > 0);
	return NULL;
}

/* List all timers and cancel them; the number of them, or a negative errno. */
static int drain_once(struct drain *d, __u64 *cancelled)
{
	struct twheel_timer t[32];
	struct twheel_op ops[32];
	__u32 cursor = 0;
	int nr = 0, n, i;

	while ((n = wheel_list(d->fd, t, ARRAY_SIZE(t), &cursor)) > 0) {
		for (i = 0; i < n; i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_CANCEL,
				.id = t[i].id,
				.generation = t[i].generation,
			};
		if (wheel_submit(d->fd, ops, n, NULL) != n)
			return -EIO;
		for (i = 0; i < n; i++) {
			/* Armed again since: that arming is not the one that was listed. */
			if (ops[i].result == -ESTALE)
				continue;
			if (ops[i].result)
				return ops[i].result;
			if (!is_armed(ops[i].state))
				continue;
			cancelled[ops[i].state]++;
			drain_end(d, t[i].cookie);
		}
		nr += n;
	}
	return n < 0 ? n : nr;
}

TEST_F(wheel, list_and_cancel_drain_a_wheel)
{
	struct drain d = { .fd = self->fd, .ended = calloc(DRAIN_ARMINGS, 1) };
	__u64 end = now_ns() + SEC, cancelled[TWHEEL_STATE_DELIVERED + 1] = {}, wrong = 0;
	struct twheel_stats stats;
	pthread_t armer, reader;
	int ret;

	ASSERT_TRUE(!!d.ended);
	ASSERT_EQ(0, thread_start(&armer, drain_arm, &d));
	ASSERT_EQ(0, thread_start(&reader, drain_read, &d));
	do {
		ret = drain_once(&d, cancelled);
		ASSERT_LE(0, ret);
	} while (now_ns() < end);
	__atomic_store_n(&d.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(armer, NULL));
	ASSERT_EQ(0, pthread_join(reader, NULL));
	EXPECT_EQ(0, d.error);
	/* No reader holds an event any more: what is listed now is all there is. */
	ASSERT_LE(0, drain_once(&d, cancelled));
	d.armings++;
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, d.armings));
	ASSERT_EQ(1, drain_once(&d, cancelled));
	ASSERT_EQ(0, drain_once(&d, cancelled));
	ASSERT_EQ(0, wheel_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending + stats.expired);
	for (__u32 i = 1; i <= d.armings; i++)
		wrong += d.ended[i] != 1;
	EXPECT_EQ(0, wrong)
		TH_LOG("of %u", d.armings);
	EXPECT_LT(0, cancelled[TWHEEL_STATE_PENDING]);
	EXPECT_LT(0, stats.delivered);
	free(d.ended);
}

TEST_HARNESS_MAIN
