// SPDX-License-Identifier: GPL-2.0
/*
 * The ids that the kernel chooses: none that is armed or has an event.
 *
 * Bed: plain, storm, short
 */
#include "used_fixture.h"

TEST_F(used, the_kernel_chooses_ids_from_the_top)
{
	struct twheel_op op;
	struct twheel_event ev[2];
	__u32 first, i;

	/* Below one that the program has taken. */
	ASSERT_EQ(0, arm_in(self->fd, CAPACITY - 2, HOUR, 0));
	for (i = 0; i < 3; i++) {
		static const __u32 want[] = { CAPACITY - 1, CAPACITY - 3, CAPACITY - 4 };

		op = (struct twheel_op){
			.flags = TWHEEL_ARM_RELATIVE,
			.deadline = HOUR,
			.id = TWHEEL_ID_ANY,
		};
		ASSERT_EQ(0, wheel_arm(self->fd, &op));
		EXPECT_EQ(want[i], op.id);
		EXPECT_EQ(TWHEEL_STATE_PENDING, wheel_state(self->fd, op.id));
	}

	/* A cancelled one is free again, the last one first. */
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, CAPACITY - 1));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, CAPACITY - 3));
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 3, op.id);
	first = op.generation;

	/* Expired is not free; once its event is read it is. */
	op = (struct twheel_op){ .deadline = 1, .id = TWHEEL_ID_ANY };
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_EQ(CAPACITY - 1, op.id);
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, EXPIRED));
	ASSERT_EQ(2, collect(self->fd, ev, 2));
	op = (struct twheel_op){
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = HOUR,
		.id = TWHEEL_ID_ANY,
	};
	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	EXPECT_TRUE(op.id == CAPACITY - 1 || op.id == CAPACITY - 3)
		TH_LOG("id %u", op.id);

	/* The old holder of the id can't stop the new timer. */
	if (op.id == CAPACITY - 3) {
		EXPECT_NE(first, op.generation);
		op.generation = first;
		op.flags = 0;
		op.deadline = 0;
		EXPECT_EQ(-ESTALE,
			  wheel_ioctl(self->fd, TWHEEL_IOC_CANCEL, &op));
		EXPECT_EQ(TWHEEL_STATE_PENDING,
			  wheel_state(self->fd, CAPACITY - 3));
	}
}

/* Some are cancelled, others come due, and the kernel chooses none that is armed. */
TEST(the_kernel_chooses_no_id_that_is_armed)
{
	enum { NR_IDS = 512 };
	struct twheel_setup setup = { .capacity = NR_IDS };
	__u32 seed = 1, id, nr = 0, fired = 0, cancelled = 0;
	struct twheel_event ev[NR_IDS];
	int fd = wheel_open(O_NONBLOCK), n;
	bool armed[NR_IDS] = {};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_up(fd, &setup));
	for (int i = 0; i < 20000; i++) {
		struct twheel_op op = { .id = TWHEEL_ID_ANY };

		if (nr == NR_IDS) {
			/* All that are due are read; of the others a quarter are cancelled. */
			n = wheel_read(fd, ev, NR_IDS);
			for (int k = 0; k < n; k++) {
				ASSERT_TRUE(armed[ev[k].id]);
				armed[ev[k].id] = false;
				nr--;
				fired++;
			}
			for (id = next_random(&seed) % 4; id < NR_IDS; id += 4) {
				if (!armed[id])
					continue;
				ASSERT_LE(0, wheel_cancel(fd, id));
				armed[id] = false;
				nr--;
				cancelled++;
			}
			continue;
		}
		op.deadline = now_ns() + (next_random(&seed) % 4 ? HOUR :
					  next_random(&seed) % (2 * MSEC));
		ASSERT_EQ(0, wheel_arm(fd, &op))
			TH_LOG("arm %d, %u armed, %u fired, %u cancelled", i, nr, fired, cancelled);
		ASSERT_GT(NR_IDS, op.id);
		ASSERT_FALSE(armed[op.id])
			TH_LOG("arm %d: id %u", i, op.id);
		armed[op.id] = true;
		nr++;
	}
	EXPECT_LT(0, fired);
	EXPECT_LT(0, cancelled);
	close(fd);
}

TEST_HARNESS_MAIN
