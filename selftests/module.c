// SPDX-License-Identifier: GPL-2.0
/*
 * The module's life: it can't be unloaded while a wheel is open, and can be
 * when none is.  Run last: the device goes away and comes back.
 *
 * The module to load again is that of the first argument or of TWHEEL_KO; without
 * them, that of a test's initramfs.
 *
 * Bed: plain, storm, short
 */
#include <sys/epoll.h>

#include "twheel_test.h"

static const char *module_file(void)
{
	static const char * const places[] = {
		"/twheel.ko", "/run/twheel/twheel.ko",
	};
	const char *name = getenv("TWHEEL_KO");
	int i;

	for (i = 0; !name && i < ARRAY_SIZE(places); i++)
		if (!access(places[i], R_OK))
			name = places[i];
	return name ?: places[0];
}

static int unload(void)
{
	return syscall(SYS_delete_module, "twheel", O_NONBLOCK) ? -errno : 0;
}

static int load(void)
{
	int fd = open(module_file(), O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* The node is made by devtmpfs, in its own time. */
static bool wait_device(void)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;

	while (access(DEVICE, F_OK)) {
		if (now_ns() >= limit)
			return false;
		sleep_until(now_ns() + MSEC);
	}
	return true;
}

static bool refused(int error)
{
	return error == -EWOULDBLOCK || error == -EBUSY;
}

TEST(unload_is_refused_while_a_wheel_is_open)
{
	struct twheel_event ev;
	int fd = wheel_open(0), copy;

	ASSERT_LE(0, fd);
	if (access("/sys/module/twheel/refcnt", F_OK))
		SKIP(return, "twheel is not a module in this kernel");
	ASSERT_EQ(0, arm_in(fd, 1, 50 * MSEC, 1));
	EXPECT_TRUE(refused(unload()));
	/* It goes on as if nothing had been tried. */
	EXPECT_EQ(1, wheel_read(fd, &ev, 1));
	EXPECT_EQ(1, ev.cookie);
	/* A second descriptor of the same file counts. */
	copy = dup(fd);
	ASSERT_LE(0, copy);
	close(fd);
	EXPECT_TRUE(refused(unload()));
	EXPECT_EQ(0, arm_in(copy, 1, HOUR, 1));
	close(copy);
}

TEST(unload_works_after_close)
{
	int fd;

	if (access(module_file(), R_OK))
		SKIP(return, "no %s to load again", module_file());
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, arm_in(fd, 1, HOUR, 0));
	close(fd);
	ASSERT_EQ(0, unload());
	EXPECT_NE(0, access(DEVICE, F_OK));
	ASSERT_EQ(0, load());
	ASSERT_TRUE(wait_device());
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(TWHEEL_STATE_IDLE, wheel_state(fd, 1));
	EXPECT_EQ(0, arm_in(fd, 1, HOUR, 0));
	close(fd);
}

/*
 * Whatever close leaves to a worker or to RCU must be done before the code
 * goes: so close while the worker is at it.
 */
TEST(unload_right_after_close)
{
	enum { NR = 30000, ROUNDS = 8 };
	struct twheel_op *ops = calloc(NR, sizeof(*ops));
	int round, i, fd;
	__u64 deadline;

	if (access(module_file(), R_OK))
		SKIP(return, "no %s to load again", module_file());
	ASSERT_TRUE(!!ops);
	for (round = 0; round < ROUNDS; round++) {
		fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd);
		/* More than softirq may do at once, due in the same tick. */
		deadline = now_ns() + 100 * MSEC;
		for (i = 0; i < NR; i++)
			ops[i] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM,
				.deadline = deadline,
				.interval = i % 2,
				.id = i,
			};
		ASSERT_EQ(NR, wheel_submit(fd, ops, NR, NULL));
		/* The first is there, the others are on their way. */
		EXPECT_EQ(POLLIN | POLLRDNORM, wheel_poll(fd, NEVER_MS));
		close(fd);
		ASSERT_EQ(0, unload());
		ASSERT_EQ(0, load());
		ASSERT_TRUE(wait_device());
	}
	free(ops);
}

#define main run_tests
TEST_HARNESS_MAIN
#undef main

int main(int argc, char **argv)
{
	if (argc > 1)
		setenv("TWHEEL_KO", argv[1], 1);
	return run_tests(1, argv);
}
