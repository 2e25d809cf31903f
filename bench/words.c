// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel by its words: stores, and a call where the kernel would look too
 * late. Calls are collected, and submitted when there are enough, as a daemon does
 * before it sleeps.
 */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/twheel.h>

#include "bench.h"

static int wheel = -1;
static struct twheel_word *word;
static size_t size;

static struct twheel_op calls[BATCH];
static uint32_t nr_calls;

static uint32_t words_open(uint32_t nr, enum use use)
{
	struct twheel_setup setup;

	(void)use;
	wheel = wheel_open(nr);
	if (ioctl(wheel, TWHEEL_IOC_GET_SETUP, &setup))
		die("TWHEEL_IOC_GET_SETUP: %m");
	size = (nr * sizeof(*word) + 4095) & ~4095UL;
	word = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, wheel,
		    setup.words_offset);
	if (word == MAP_FAILED)
		die("mmap of words: %m");
	return nr;
}

static void words_close(void)
{
	munmap(word, size);
	close(wheel);
	wheel = -1;
}

static void flush(void)
{
	struct twheel_submit submit = {
		.ops = (uintptr_t)calls,
		.nr = nr_calls,
		.op_size = sizeof(calls[0]),
	};

	nr_calls = 0;
	if (submit.nr && (ioctl(wheel, TWHEEL_IOC_SUBMIT, &submit) || submit.failed))
		die("TWHEEL_IOC_SUBMIT: %m");
}

static void words_arm(const struct work *work, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct twheel_word *w = &word[work[i].id];

		__atomic_exchange_n(&w->deadline, work[i].deadline, __ATOMIC_SEQ_CST);
		if (work[i].deadline - 1 >= __atomic_load_n(&w->filed, __ATOMIC_SEQ_CST) - 1)
			continue;
		calls[nr_calls++] = (struct twheel_op){
			.opcode = TWHEEL_OP_ARM,
			.flags = TWHEEL_ARM_STORED,
			.id = work[i].id,
		};
		if (nr_calls == BATCH)
			flush();
	}
	flush();
}

/* Later, by who alone has to do with these timers. */
static void words_extend(const struct work *work, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&word[work[i].id].deadline, work[i].deadline, __ATOMIC_RELAXED);
}

static void words_cancel(const struct work *work, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&word[work[i].id].deadline, 0, __ATOMIC_RELAXED);
}

const struct peer peer_words = {
	.name	= "words",
	.grows	= true,
	.open	= words_open,
	.arm	= words_arm,
	.move	= words_arm,
	.extend	= words_extend,
	.cancel	= words_cancel,
	.close	= words_close,
};
