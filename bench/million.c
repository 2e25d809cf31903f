// SPDX-License-Identifier: GPL-2.0
/*
 * A million operations in one call.
 *
 * For User-Mode Linux: its kernel runs natively, and of a call that does so much the
 * way into the kernel is nothing. What is told is the module: the operation is copied,
 * checked and carried out, its result copied back.
 */
#include <stdlib.h>
#include <sys/ioctl.h>

#include <linux/twheel.h>

#include "bench.h"

#define MILLION		1000000U
#define SOONEST		(300 * NSEC)
#define SPAN		(300 * NSEC)
#define PUSH_BACK	(30 * NSEC)

static struct twheel_op *ops;

/* The same operations in the order and with the deadlines of @work, by one call. */
static void submit_all(const struct work *work, uint32_t opcode, const char *name)
{
	struct twheel_submit submit = {
		.ops = (uintptr_t)ops,
		.nr = MILLION,
		.op_size = sizeof(*ops),
	};
	uint64_t start;

	for (uint32_t i = 0; i < MILLION; i++)
		ops[i] = (struct twheel_op){
			.opcode = opcode,
			.id = work[i].id,
			.deadline = opcode == TWHEEL_OP_ARM ? work[i].deadline : 0,
		};
	start = now_ns();
	if (ioctl(wheel_fd(), TWHEEL_IOC_SUBMIT, &submit))
		die("TWHEEL_IOC_SUBMIT: %m");
	if (name)
		sample("million", name, "twheel", MILLION, "ns",
		       (double)(now_ns() - start) / MILLION);
	if (submit.done != MILLION || submit.failed != (opcode ? 0 : MILLION))
		die("submit: %u done, %u failed", submit.done, submit.failed);
}

static void run_of_submits(void)
{
	struct work *work = work_alloc(MILLION);

	peer_twheel.open(MILLION, USE_OPS);
	/* What is copied and checked, and not carried out. */
	submit_all(work, 0, "an operation that is refused");
	/* The first arms allocate: measured elsewhere. */
	work_deadlines(work, MILLION, now_ns() + SOONEST, SPAN);
	submit_all(work, TWHEEL_OP_ARM, NULL);
	submit_all(work, TWHEEL_OP_CANCEL, NULL);

	submit_all(work, TWHEEL_OP_ARM, "arm, ids in sequence");
	submit_all(work, TWHEEL_OP_CANCEL, NULL);
	work_shuffle(work, MILLION);
	submit_all(work, TWHEEL_OP_ARM, "arm");
	work_shuffle(work, MILLION);
	work_deadlines(work, MILLION, now_ns() + SOONEST, SPAN);
	submit_all(work, TWHEEL_OP_ARM, "re-arm");
	work_later(work, MILLION, PUSH_BACK);
	submit_all(work, TWHEEL_OP_ARM, "push back");
	work_shuffle(work, MILLION);
	submit_all(work, TWHEEL_OP_CANCEL, "cancel");
	peer_twheel.close();
	free(work);
}

void bench_million(unsigned int runs)
{
	ops = calloc(MILLION, sizeof(*ops));
	if (!ops)
		die("no memory for %u operations", MILLION);
	for (unsigned int run = 0; run < runs; run++) {
		progress("a million in one call: run %u of %u", run + 1, runs);
		run_of_submits();
	}
	free(ops);
}
