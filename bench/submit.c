// SPDX-License-Identifier: GPL-2.0
/*
 * Where the cost of a submit goes: the call, the copying, the operation; and
 * what is left for the reader of an event.
 */
#include <stdlib.h>
#include <sys/ioctl.h>

#include <linux/twheel.h>

#include "bench.h"

#define TIMERS		16384
#define CALLS		(TIMERS / BATCH)

static struct twheel_op ops[TIMERS];

static void calls(uint32_t batch)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		struct twheel_submit submit = {
			.ops = (uintptr_t)(ops + i * BATCH),
			.nr = batch,
			.op_size = sizeof(*ops),
		};

		if (ioctl(wheel_fd(), TWHEEL_IOC_SUBMIT, &submit))
			die("TWHEEL_IOC_SUBMIT: %m");
	}
}

static void fill(uint32_t opcode, const struct work *work)
{
	for (uint32_t i = 0; i < TIMERS; i++)
		ops[i] = (struct twheel_op){
			.opcode = opcode,
			.id = work[i].id,
			.deadline = opcode == TWHEEL_OP_ARM ? work[i].deadline : 0,
		};
	/* The compiler must not put this off. */
	__asm__ volatile("" : : "r"(ops) : "memory");
}

static void tell(const char *name, uint64_t start, uint32_t nr)
{
	uint64_t end = now_ns();

	sample("submit", name, "twheel", TIMERS, icount ? "instructions" : "ns",
	       (double)(end - start) / nr);
}

static void run_of_submits(struct work *work)
{
	uint64_t start, from = now_ns() + 60 * NSEC;

	work_deadlines(work, TIMERS, from, 300 * NSEC);
	fill(TWHEEL_OP_ARM, work);
	calls(BATCH);
	fill(TWHEEL_OP_CANCEL, work);
	calls(BATCH);

	start = now_ns();
	calls(0);
	tell("a call without operations, per call", start, CALLS);

	start = now_ns();
	fill(0, work);
	tell("describing an operation in the program", start, TIMERS);

	start = now_ns();
	calls(BATCH);
	tell("an operation that is refused", start, TIMERS);

	fill(TWHEEL_OP_CANCEL, work);
	start = now_ns();
	calls(BATCH);
	tell("a cancel that finds nothing", start, TIMERS);

	fill(TWHEEL_OP_ARM, work);
	start = now_ns();
	calls(BATCH);
	tell("an arm", start, TIMERS);

	start = now_ns();
	calls(BATCH);
	tell("a move to the same deadline", start, TIMERS);

	for (uint32_t i = 0; i < TIMERS; i++)
		work[i].deadline -= NSEC;
	fill(TWHEEL_OP_ARM, work);
	start = now_ns();
	calls(BATCH);
	tell("a move to an earlier deadline", start, TIMERS);

	fill(TWHEEL_OP_CANCEL, work);
	start = now_ns();
	calls(BATCH);
	tell("a cancel", start, TIMERS);

	for (uint32_t i = 0; i < TIMERS; i++)
		work[i].deadline = 1;
	fill(TWHEEL_OP_ARM, work);
	start = now_ns();
	calls(BATCH);
	tell("an arm that is due at once", start, TIMERS);

	start = now_ns();
	deliver(&peer_twheel, TIMERS);
	tell("reading an event that waits", start, TIMERS);
}

void bench_submit(unsigned int runs)
{
	struct work *work = work_alloc(TIMERS);

	pin(true);
	progress("the parts of a submit: %u runs", runs);
	peer_twheel.open(TIMERS, USE_DELIVERY);
	for (unsigned int run = 0; run < runs; run++)
		run_of_submits(work);
	peer_twheel.close();
	free(work);
	pin(false);
}
