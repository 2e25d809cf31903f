// SPDX-License-Identifier: GPL-2.0
/*
 * What all ioctls of /dev/twheel have in common: their layout, and which requests are refused.
 * setup, arm, batches and stats have what each of them does.
 *
 * Bed: plain, storm, short
 */
#include <assert.h>

#include "used_fixture.h"
#include "wheel_fixture.h"

/*
 * The layout is the ABI: it must not differ between 32-bit and 64-bit
 * programs, nor change.
 */
static_assert(sizeof(struct twheel_event) == 48, "event");
static_assert(offsetof(struct twheel_event, cookie) == 8, "event.cookie");
static_assert(offsetof(struct twheel_event, flags) == 40, "event.flags");
static_assert(sizeof(struct twheel_features) == 56, "features");
static_assert(offsetof(struct twheel_features, features) == 8, "features.features");
static_assert(offsetof(struct twheel_features, max_user_timers) == 40, "features.max_user_timers");
static_assert(sizeof(struct twheel_setup) == 56, "setup");
static_assert(offsetof(struct twheel_setup, tick) == 8, "setup.tick");
static_assert(offsetof(struct twheel_setup, event_size) == 28, "setup.event_size");
static_assert(offsetof(struct twheel_setup, words_offset) == 32, "setup.words_offset");
static_assert(offsetof(struct twheel_setup, clock_offset) == 48, "setup.clock_offset");
static_assert(sizeof(struct twheel_op) == 64, "op");
static_assert(offsetof(struct twheel_op, deadline) == 8, "op.deadline");
static_assert(offsetof(struct twheel_op, count) == 40, "op.count");
static_assert(offsetof(struct twheel_op, result) == 60, "op.result");
static_assert(sizeof(struct twheel_submit) == 32, "submit");
static_assert(sizeof(struct twheel_timer) == 64, "timer");
static_assert(offsetof(struct twheel_timer, cookie) == 16, "timer.cookie");
static_assert(sizeof(struct twheel_list) == 32, "list");
static_assert(sizeof(struct twheel_stats) == 280, "stats");
static_assert(TWHEEL_IOC_FEATURES == 0x8038bb00, "FEATURES");
static_assert(TWHEEL_IOC_SETUP == 0xc038bb01, "SETUP");
static_assert(TWHEEL_IOC_GET_SETUP == 0x8038bb02, "GET_SETUP");
static_assert(TWHEEL_IOC_ARM == 0xc040bb03, "ARM");
static_assert(TWHEEL_IOC_CANCEL == 0xc040bb04, "CANCEL");
static_assert(TWHEEL_IOC_GET == 0xc040bb05, "GET");
static_assert(TWHEEL_IOC_SUBMIT == 0xc020bb06, "SUBMIT");
static_assert(TWHEEL_IOC_LIST == 0xc020bb07, "LIST");
static_assert(TWHEEL_IOC_STATS == 0x8118bb08, "STATS");

/* Larger than all structs, in u64. */
#define BUFFER	128

static const struct {
	const char *name;
	unsigned long cmd;
	bool in;
	/* Changes the wheel. */
	bool writes;
} all[] = {
	{ "FEATURES", TWHEEL_IOC_FEATURES, false, false },
	{ "SETUP", TWHEEL_IOC_SETUP, true, true },
	{ "GET_SETUP", TWHEEL_IOC_GET_SETUP, false, false },
	{ "ARM", TWHEEL_IOC_ARM, true, true },
	{ "CANCEL", TWHEEL_IOC_CANCEL, true, true },
	{ "GET", TWHEEL_IOC_GET, true, false },
	{ "SUBMIT", TWHEEL_IOC_SUBMIT, true, true },
	{ "LIST", TWHEEL_IOC_LIST, true, false },
	{ "STATS", TWHEEL_IOC_STATS, false, false },
};

/* The same number with another size. */
static unsigned long resized(unsigned long cmd, int by)
{
	return _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd),
		    _IOC_SIZE(cmd) + by);
}

/* A request that is valid for any wheel, at the start of a larger buffer. */
static void make_good(unsigned long cmd, void *buffer, size_t size, void *array)
{
	memset(buffer, 0, size);
	switch (cmd) {
	case TWHEEL_IOC_ARM:
		*(struct twheel_op *)buffer = (struct twheel_op){
			.deadline = ~0ULL,
			.id = FREE,
		};
		break;
	case TWHEEL_IOC_SUBMIT:
		*(struct twheel_submit *)buffer = (struct twheel_submit){
			.op_size = sizeof(struct twheel_op),
		};
		break;
	case TWHEEL_IOC_LIST:
		*(struct twheel_list *)buffer = (struct twheel_list){
			.timers = (uintptr_t)array,
			.nr = 1,
			.timer_size = sizeof(struct twheel_timer),
		};
		break;
	}
}

TEST_F(wheel, longer_structs_work_if_the_rest_is_zero)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	size_t size;
	int i, fd;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		size = _IOC_SIZE(all[i].cmd);
		fd = wheel_open(0);
		ASSERT_LE(0, fd);
		if (all[i].in) {
			make_good(all[i].cmd, buffer, sizeof(buffer), array);
			buffer[size / 8] = 1;
			EXPECT_EQ(-E2BIG,
				  wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
				TH_LOG("%s", all[i].name);
			make_good(all[i].cmd, buffer, sizeof(buffer), array);
			((char *)buffer)[size + 15] = 1;
			EXPECT_EQ(-E2BIG,
				  wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
				TH_LOG("%s, last byte", all[i].name);
		}
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(0, wheel_ioctl(fd, resized(all[i].cmd, 16), buffer))
			TH_LOG("%s", all[i].name);
		close(fd);
	}
}

TEST_F(wheel, shorter_structs_are_refused)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		int size = _IOC_SIZE(all[i].cmd);

		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(-EINVAL, wheel_ioctl(self->fd, resized(all[i].cmd, -8), buffer))
			TH_LOG("%s", all[i].name);
		EXPECT_EQ(-EINVAL, wheel_ioctl(self->fd, resized(all[i].cmd, -size), buffer))
			TH_LOG("%s, nothing", all[i].name);
	}
}

/* A file that is open for reading only tells all, and changes nothing. */
TEST(a_file_open_for_reading_only_changes_nothing)
{
	int fd = open(DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct twheel_timer array[1];
	struct snapshot before;
	__u64 buffer[BUFFER];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, snapshot_take(fd, &before));
	for (int i = 0; i < ARRAY_SIZE(all); i++) {
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		EXPECT_EQ(all[i].writes ? -EBADF : 0, wheel_ioctl(fd, all[i].cmd, buffer))
			TH_LOG("%s", all[i].name);
	}
	EXPECT_TRUE(snapshot_holds(fd, &before));
	close(fd);
}

TEST_F(used, unknown_ioctls_are_refused)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	unsigned long cmd;
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		int dir = _IOC_DIR(all[i].cmd);

		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		/* The other direction, and none. */
		cmd = _IOC(dir ^ _IOC_WRITE, TWHEEL_IOC_MAGIC,
			   _IOC_NR(all[i].cmd), _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, direction", all[i].name);
		cmd = _IOC(_IOC_NONE, TWHEEL_IOC_MAGIC, _IOC_NR(all[i].cmd),
			   _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, no direction", all[i].name);
		cmd = _IOC(dir, TWHEEL_IOC_MAGIC - 1, _IOC_NR(all[i].cmd),
			   _IOC_SIZE(all[i].cmd));
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("%s, magic", all[i].name);
	}
	for (i = ARRAY_SIZE(all); i < 256; i++) {
		memset(buffer, 0, sizeof(buffer));
		cmd = _IOC(_IOC_READ | _IOC_WRITE, TWHEEL_IOC_MAGIC, i, 64);
		EXPECT_EQ(-ENOTTY, wheel_ioctl(self->fd, cmd, buffer))
			TH_LOG("number %d", i);
	}
	EXPECT_TRUE(snapshot_holds(self->fd, &self->before));
}

TEST_F(wheel, bad_pointers_change_nothing)
{
	struct twheel_timer array[1];
	__u64 buffer[BUFFER];
	void *readonly;
	struct snapshot before;
	int i;

	ASSERT_EQ(0, snapshot_take(self->fd, &before));
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, NULL))
			TH_LOG("%s, null", all[i].name);
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, nowhere()))
			TH_LOG("%s, unmapped", all[i].name);
		/* Where the answer does not fit, nothing may be done. */
		make_good(all[i].cmd, buffer, sizeof(buffer), array);
		readonly = edge(0, buffer, sizeof(buffer), PROT_READ);
		EXPECT_EQ(-EFAULT, wheel_ioctl(self->fd, all[i].cmd, readonly))
			TH_LOG("%s, read-only", all[i].name);
		EXPECT_TRUE(snapshot_holds(self->fd, &before))
			TH_LOG("%s: changed the wheel", all[i].name);
	}
	/* Not even the one setup is used up. */
	EXPECT_EQ(0, set_up(self->fd, &(struct twheel_setup){}));
}

TEST_HARNESS_MAIN
