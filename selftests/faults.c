// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that ends in the middle of a call: what was not handed over is not
 * lost, what was not carried out has not happened, and what was done is told.
 *
 * Bed: plain, storm, short
 */
#include <sys/uio.h>

#define CAPACITY	1000U
#define WHEEL_CAPACITY	CAPACITY
#include "wheel_fixture.h"

/* read */

TEST_F(wheel, a_read_into_nothing_loses_no_event)
{
	struct twheel_event ev[8];
	bool seen[5] = {};
	int i;

	ASSERT_EQ(0, expire(self->fd, 5));
	EXPECT_EQ(-EFAULT, wheel_read(self->fd, nowhere(), 5));
	EXPECT_EQ(-EFAULT,
		  wheel_read(self->fd, edge(0, NULL, 0, PROT_READ), 5));
	/* Half of the first event. */
	EXPECT_EQ(-EFAULT,
		  wheel_read(self->fd, edge(24, NULL, 0, PROT_NONE), 5));
	EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, 0));

	ASSERT_EQ(5, wheel_read(self->fd, ev, 8));
	for (i = 0; i < 5; i++) {
		ASSERT_GT(5, ev[i].id);
		EXPECT_FALSE(seen[ev[i].id]);
		seen[ev[i].id] = true;
		EXPECT_EQ(ev[i].id, ev[i].cookie);
		EXPECT_EQ(TWHEEL_EVENT_LAST, ev[i].flags);
	}
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, ev, 1));
}

/* Small and large, so that the fault is in the first and in a later portion. */
static const unsigned int fits[] = { 1, 2, 31, 32, 33, 63, 64, 65, 100, 150 };

TEST_F(wheel, a_read_across_the_edge_loses_no_event)
{
	enum { NR = 200 };
	struct twheel_event *ev, rest[NR];
	bool seen[NR];
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(fits); i++) {
		memset(seen, 0, sizeof(seen));
		ASSERT_EQ(0, expire(self->fd, NR));
		/* Room for some events, and for half of the next. */
		n = fits[i];
		ev = edge(n * sizeof(*ev) + 24, NULL, 0,
			  i % 2 ? PROT_NONE : PROT_READ);
		ASSERT_EQ(n, wheel_read(self->fd, ev, NR))
			TH_LOG("room for %u", n);
		for (j = 0; j < n; j++) {
			EXPECT_FALSE(seen[ev[j].id]);
			seen[ev[j].id] = true;
			EXPECT_EQ(ev[j].id, ev[j].cookie);
			EXPECT_EQ(TWHEEL_STATE_DELIVERED,
				  wheel_state(self->fd, ev[j].id));
		}
		ASSERT_EQ(NR - n, wheel_read(self->fd, rest, NR))
			TH_LOG("room for %u", n);
		for (j = 0; j < NR - n; j++) {
			EXPECT_FALSE(seen[rest[j].id]);
			seen[rest[j].id] = true;
			EXPECT_EQ(rest[j].id, rest[j].cookie);
		}
		EXPECT_EQ(-EAGAIN, wheel_read(self->fd, rest, 1));
	}
}

TEST_F(wheel, a_read_that_faulted_leaves_events_cancellable)
{
	struct twheel_event ev[4];

	ASSERT_EQ(0, expire(self->fd, 3));
	ASSERT_EQ(-EFAULT, wheel_read(self->fd, nowhere(), 3));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 1));
	ASSERT_EQ(2, wheel_read(self->fd, ev, 4));
	EXPECT_NE(1, ev[0].id);
	EXPECT_NE(1, ev[1].id);
}

TEST_F(wheel, a_read_that_faulted_loses_no_period)
{
	const __u64 first = now_ns();
	struct twheel_event ev;
	__u64 sum = 0;
	int i;

	ASSERT_EQ(0, arm_every(self->fd, 1, first, MSEC, 50));
	/* Each fault comes when there is an event, some of them with overruns. */
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(self->fd, NEVER_MS));
		EXPECT_EQ(-EFAULT, wheel_read(self->fd, nowhere(), 1));
		sleep_until(now_ns() + MSEC);
	}
	do {
		ASSERT_EQ(1, collect(self->fd, &ev, 1));
		EXPECT_EQ(first + sum * MSEC, ev.deadline);
		sum += 1 + ev.overruns;
		ASSERT_GE(50, sum);
	} while (!(ev.flags & TWHEEL_EVENT_LAST));
	EXPECT_EQ(50, sum);
}

TEST_F(wheel, a_readv_with_a_bad_part_returns_the_events_before_it)
{
	struct twheel_event ev[3];
	struct iovec iov[] = {
		{ ev, 2 * sizeof(ev[0]) }, { nowhere(), sizeof(ev[0]) },
	};

	ASSERT_EQ(0, expire(self->fd, 3));
	EXPECT_EQ(2 * sizeof(ev[0]), readv(self->fd, iov, 2));
	EXPECT_EQ(1, wheel_read(self->fd, ev + 2, 1));
	EXPECT_EQ(3, ev[0].id + ev[1].id + ev[2].id);
	EXPECT_EQ(-EAGAIN, wheel_read(self->fd, ev, 1));
}

/* submit */

FIXTURE(batch) {
	int fd;
	/* To watch: armed, and the subject of the operations. */
	struct twheel_timer victims[200];
};

FIXTURE_VARIANT(batch) {
	int prot;
	/* Bytes of the first op that fails which are in front of the edge. */
	int into;
};

/* The array can't be read any further, or not be written. */
FIXTURE_VARIANT_ADD(batch, unmapped) { .prot = PROT_NONE, .into = 0 };
FIXTURE_VARIANT_ADD(batch, unmapped_in_an_op) { .prot = PROT_NONE, .into = 32 };
FIXTURE_VARIANT_ADD(batch, unmapped_result) { .prot = PROT_NONE, .into = 60 };
FIXTURE_VARIANT_ADD(batch, readonly) { .prot = PROT_READ, .into = 0 };
FIXTURE_VARIANT_ADD(batch, readonly_in_an_op) { .prot = PROT_READ, .into = 32 };
FIXTURE_VARIANT_ADD(batch, readonly_result) { .prot = PROT_READ, .into = 60 };

FIXTURE_SETUP(batch)
{
	struct twheel_setup s = { .capacity = CAPACITY };
	int i;

	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, set_up(self->fd, &s));
	for (i = 0; i < ARRAY_SIZE(self->victims); i++)
		ASSERT_EQ(0, i % 2 ? arm_at(self->fd, i, 1, i)
				   : arm_in(self->fd, i, HOUR, i));
	ASSERT_TRUE(wait_expired(self->fd, ARRAY_SIZE(self->victims) / 2));
	ASSERT_EQ(ARRAY_SIZE(self->victims),
		  list_all(self->fd, self->victims, ARRAY_SIZE(self->victims)));
}

FIXTURE_TEARDOWN(batch)
{
	close(self->fd);
}

TEST_F(batch, a_submit_that_faults_uses_up_no_chosen_id)
{
	struct twheel_op ops[200], *p;
	struct twheel_timer t;
	__u32 failed, top = CAPACITY - 1;
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(fits); i++) {
		memset(ops, 0, sizeof(ops));
		for (j = 0; j < ARRAY_SIZE(ops); j++) {
			ops[j].opcode = TWHEEL_OP_ARM;
			ops[j].deadline = ~0ULL;
			ops[j].cookie = j;
			ops[j].id = TWHEEL_ID_ANY;
		}
		n = fits[i];
		p = edge(n * sizeof(*p) + variant->into, ops, sizeof(ops),
			 variant->prot);
		ASSERT_EQ(n, wheel_submit(self->fd, p, ARRAY_SIZE(ops), &failed));
		EXPECT_EQ(0, failed);
		for (j = 0; j < n; j++) {
			EXPECT_EQ(0, p[j].result);
			/* From the top: no id was lost in the round before. */
			EXPECT_EQ(top - j, p[j].id);
			ASSERT_EQ(0, wheel_get(self->fd, p[j].id, &t));
			EXPECT_EQ(TWHEEL_STATE_PENDING, t.state);
			EXPECT_EQ(p[j].generation, t.generation);
			EXPECT_EQ(j, t.cookie);
		}
		for (j = n; j < ARRAY_SIZE(ops); j++)
			EXPECT_NE(TWHEEL_STATE_PENDING,
				  wheel_state(self->fd, top - j))
				TH_LOG("op %u of %u", j, n);
		/* In the reverse order: the kernel hands out the last one first. */
		for (j = n; j--; )
			ASSERT_EQ(TWHEEL_STATE_PENDING,
				  wheel_cancel(self->fd, p[j].id));
	}
}

TEST_F(batch, a_submit_that_faults_has_done_what_it_tells_and_no_more)
{
	struct twheel_op ops[200], *p;
	struct twheel_timer t;
	struct twheel_event ev[200];
	unsigned int i, j, n = 70;
	__u32 failed;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		/* Both kinds, on pending and on expired ones. */
		ops[i].opcode = i % 4 < 2 ? TWHEEL_OP_ARM : TWHEEL_OP_CANCEL;
		if (i % 4 < 2)
			ops[i].deadline = ~0ULL;
		ops[i].id = i;
	}
	p = edge(n * sizeof(*p) + variant->into, ops, sizeof(ops),
		 variant->prot);
	ASSERT_EQ(n, wheel_submit(self->fd, p, ARRAY_SIZE(ops), &failed));
	EXPECT_EQ(0, failed);
	for (i = 0; i < n; i++) {
		EXPECT_EQ(0, p[i].result);
		EXPECT_EQ(i % 2 ? TWHEEL_STATE_EXPIRED : TWHEEL_STATE_PENDING,
			  p[i].state);
		EXPECT_EQ(i % 4 < 2 ? TWHEEL_STATE_PENDING : TWHEEL_STATE_IDLE,
			  wheel_state(self->fd, i));
	}
	/* The others are as they were, events included. */
	for (; i < ARRAY_SIZE(ops); i++) {
		ASSERT_EQ(0, wheel_get(self->fd, i, &t));
		t.remaining = self->victims[i].remaining;
		EXPECT_EQ(0, memcmp(&t, &self->victims[i], sizeof(t)))
			TH_LOG("op %u", i);
	}
	j = wheel_read(self->fd, ev, ARRAY_SIZE(ev));
	EXPECT_EQ((ARRAY_SIZE(ops) - n) / 2, j);
	for (i = 0; i < j; i++) {
		EXPECT_LE(n, ev[i].id);
		EXPECT_EQ(1, ev[i].id % 2);
	}

	/* The rest can be submitted again. */
	ASSERT_EQ(ARRAY_SIZE(ops) - n,
		  wheel_submit(self->fd, ops + n, ARRAY_SIZE(ops) - n, &failed));
	EXPECT_EQ(0, failed);
}

TEST_F(batch, a_submit_that_faults_at_once_changes_nothing)
{
	struct twheel_op *p, ops[] = {
		{ .opcode = TWHEEL_OP_CANCEL, .id = 0 },
		{ .opcode = TWHEEL_OP_CANCEL, .id = 1 },
		{ .opcode = TWHEEL_OP_ARM, .deadline = 1, .id = TWHEEL_ID_ANY },
	};
	struct twheel_op op = { .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	int i;

	p = edge(variant->into, ops, sizeof(ops), variant->prot);
	EXPECT_EQ(-EFAULT, wheel_submit(self->fd, p, 3, NULL));
	EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, 0));
	EXPECT_EQ(TWHEEL_STATE_EXPIRED, wheel_state(self->fd, 1));
	/* The same with an arm in front, which could leak its id. */
	for (i = 0; i < 10; i++) {
		p = edge(variant->into, ops + 2, sizeof(ops[0]), variant->prot);
		EXPECT_EQ(-EFAULT, wheel_submit(self->fd, p, 1, NULL));
	}
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 1, op.id);
}

/* The request itself is where the answer can't be written. */

TEST_F(wheel, a_submit_with_a_readonly_request_changes_nothing)
{
	struct twheel_op ops[2] = {
		{ .opcode = TWHEEL_OP_CANCEL, .id = 1 },
		{ .opcode = TWHEEL_OP_ARM, .deadline = ~0ULL, .id = 2 },
	};
	struct twheel_submit s = {
		.ops = (uintptr_t)ops,
		.nr = 2,
		.op_size = sizeof(ops[0]),
	};
	struct snapshot before;

	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, snapshot_take(self->fd, &before));
	EXPECT_EQ(-EFAULT,
		  wheel_ioctl(self->fd, TWHEEL_IOC_SUBMIT,
			      edge(0, &s, sizeof(s), PROT_READ)));
	EXPECT_TRUE(snapshot_holds(self->fd, &before));
}

TEST_F(wheel, an_arm_or_cancel_with_a_readonly_request_changes_nothing)
{
	struct twheel_op op = { .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	struct twheel_op move = { .deadline = ~0ULL, .id = 0 };
	struct twheel_op cancel = { .id = 0 };
	struct snapshot before;
	int i;

	ASSERT_EQ(0, expire(self->fd, 1));
	ASSERT_EQ(0, arm_in(self->fd, 1, HOUR, 0));
	ASSERT_EQ(0, snapshot_take(self->fd, &before));
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(-EFAULT,
			  wheel_arm(self->fd,
				    edge(0, &op, sizeof(op), PROT_READ)));
		/* Half of the results would fit. */
		EXPECT_EQ(-EFAULT,
			  wheel_arm(self->fd,
				    edge(offsetof(struct twheel_op, state),
					 &op, sizeof(op), PROT_READ)));
		EXPECT_EQ(-EFAULT,
			  wheel_arm(self->fd,
				    edge(0, &move, sizeof(op), PROT_READ)));
		move.id ^= 1;
		EXPECT_EQ(-EFAULT,
			  wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL,
				      edge(0, &cancel, sizeof(op), PROT_READ)));
		cancel.id ^= 1;
		EXPECT_TRUE(snapshot_holds(self->fd, &before));
	}
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 1, op.id);
}

/* list */

TEST_F(wheel, a_list_across_the_edge_goes_on_from_its_cursor)
{
	struct twheel_timer *t, rest[10];
	__u32 cursor = 0, first;
	int i, n;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, arm_in(self->fd, 10 * i, HOUR, i));
	t = edge(3 * sizeof(*t) + 40, NULL, 0, PROT_NONE);
	n = wheel_list(self->fd, t, 10, &cursor);
	ASSERT_EQ(3, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(10 * i, t[i].id);
	first = 10 * n;
	ASSERT_GE(first, cursor);
	ASSERT_LT(10 * (n - 1), cursor);
	n = wheel_list(self->fd, rest, 10, &cursor);
	ASSERT_LE(1, n);
	EXPECT_EQ(first, rest[0].id);
}

/* Waiters */

struct counter {
	int fd;
	unsigned int events;
};

static void *count_events(void *arg)
{
	struct counter *c = arg;
	struct twheel_event ev;

	do {
		if (wheel_read(c->fd, &ev, 1) != 1)
			break;
		__atomic_add_fetch(&c->events, 1, __ATOMIC_RELEASE);
	} while (ev.cookie);
	return NULL;
}

/*
 * A read holds an event for a moment and puts it back.  A reader that found nothing in that moment
 * has to be woken.
 */
TEST_F(wheel, an_event_that_a_read_puts_back_wakes_a_reader)
{
	enum { ROUNDS = 1500 };
	struct counter c = { .fd = self->fd };
	struct iovec bad = { nowhere(), sizeof(struct twheel_event) };
	pthread_t thread;
	/* On a host with other things to do a round may take 20 ms. */
	__u64 end = now_ns() + 10 * SEC, limit;
	bool more = true;
	int i;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_EQ(0, thread_start(&thread, count_events, &c));
	for (i = 0; more; i++) {
		more = i + 1 < ROUNDS && now_ns() < end;
		ASSERT_EQ(0, arm_at(self->fd, 1, 1, more));
		EXPECT_EQ(-1, preadv2(self->fd, &bad, 1, -1, RWF_NOWAIT));
		limit = now_ns() + NEVER_MS * MSEC;
		while (__atomic_load_n(&c.events, __ATOMIC_ACQUIRE) != i + 1)
			ASSERT_GT(limit, now_ns())
				TH_LOG("round %d", i);
	}
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

TEST_HARNESS_MAIN
