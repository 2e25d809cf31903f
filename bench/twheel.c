// SPDX-License-Identifier: GPL-2.0
/* /dev/twheel: one operation by a call of its own, several by submit; expirations by read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

static _Thread_local int wheel = -1;
static _Thread_local struct twheel_event *events;

int wheel_open(uint32_t capacity)
{
	struct twheel_setup setup = { .capacity = capacity };
	int fd = open("/dev/twheel", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		die("/dev/twheel: %m");
	if (capacity && ioctl(fd, TWHEEL_IOC_SETUP, &setup))
		die("TWHEEL_IOC_SETUP: %m");
	return fd;
}

void wheel_stats(int fd, struct twheel_stats *stats)
{
	*stats = (struct twheel_stats){};
	if (ioctl(fd, TWHEEL_IOC_STATS, stats))
		die("TWHEEL_IOC_STATS: %m");
}

int wheel_fd(void)
{
	return wheel;
}

static uint32_t twheel_open(uint32_t nr, enum use use)
{
	wheel = wheel_open(nr);
	if (use == USE_DELIVERY) {
		events = calloc(TAKE_MAX, sizeof(*events));
		if (!events)
			die("no memory for events");
	}
	return nr;
}

static void twheel_close(void)
{
	close(wheel);
	wheel = -1;
	free(events);
	events = NULL;
}

/* One operation has a call of its own, which copies less. */
static void single(struct twheel_op *op)
{
	unsigned long request = op->opcode == TWHEEL_OP_ARM ? TWHEEL_IOC_ARM : TWHEEL_IOC_CANCEL;

	op->opcode = 0;
	if (ioctl(wheel, request, op))
		die("an ioctl of one operation: %m");
}

static void submit(struct twheel_op *ops, uint32_t nr)
{
	while (nr) {
		struct twheel_submit submit = {
			.ops = (uintptr_t)ops,
			.nr = nr,
			.op_size = sizeof(*ops),
		};

		if (ioctl(wheel, TWHEEL_IOC_SUBMIT, &submit))
			die("TWHEEL_IOC_SUBMIT: %m");
		if (submit.failed)
			die("submit: %u of %u failed", submit.failed, submit.done);
		/* A signal cuts it short; so does what io_uring left to do. */
		ops += submit.done;
		nr -= submit.done;
	}
}

static void twheel_ops(const struct work *work, uint32_t nr, uint32_t opcode)
{
	struct twheel_op ops[BATCH];

	while (nr) {
		uint32_t batch = nr < BATCH ? nr : BATCH;

		for (uint32_t i = 0; i < batch; i++)
			ops[i] = (struct twheel_op){
				.opcode = opcode,
				.id = work[i].id,
				.deadline = opcode == TWHEEL_OP_ARM ? work[i].deadline : 0,
			};
		if (nr == 1)
			single(ops);
		else
			submit(ops, batch);
		work += batch;
		nr -= batch;
	}
}

static void twheel_arm(const struct work *work, uint32_t nr)
{
	twheel_ops(work, nr, TWHEEL_OP_ARM);
}

static void twheel_cancel(const struct work *work, uint32_t nr)
{
	twheel_ops(work, nr, TWHEEL_OP_CANCEL);
}

static int twheel_ready(void)
{
	return wheel;
}

static uint32_t twheel_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	ssize_t len = read(wheel, events, (nr < TAKE_MAX ? nr : TAKE_MAX) * sizeof(*events));

	(void)now;
	if (len < 0 && errno != EAGAIN)
		die("read of a wheel: %m");
	nr = len < 0 ? 0 : len / sizeof(*events);
	for (uint32_t i = 0; i < nr; i++)
		ids[i] = events[i].id;
	return nr;
}

const struct peer peer_twheel = {
	.name		= "twheel",
	.grows		= true,
	.batches	= true,
	.open		= twheel_open,
	.arm		= twheel_arm,
	.move		= twheel_arm,
	.cancel		= twheel_cancel,
	.ready		= twheel_ready,
	.take		= twheel_take,
	.close		= twheel_close,
};
