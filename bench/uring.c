// SPDX-License-Identifier: GPL-2.0
/* io_uring timeouts: a request for each timer, submitted in batches. */
#include <errno.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* What a remove leaves behind: its own result and the timeout's. */
#define RESULTS		(2 * BATCH)
#define RESULTS_MAX	TAKE_MAX

static int ring = -1;
static struct io_uring_params params;
static char *rings;
static size_t rings_size;
static struct io_uring_sqe *sqes;

static uint32_t *ring_word(uint32_t offset)
{
	return (uint32_t *)(rings + offset);
}

static void *map(size_t size, off_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		       ring, offset);

	if (p == MAP_FAILED)
		die("mmap of an io_uring: %m");
	return p;
}

static uint32_t uring_open(uint32_t nr, enum use use)
{
	size_t size;

	params = (struct io_uring_params){
		.flags = IORING_SETUP_CQSIZE,
		.cq_entries = use == USE_DELIVERY ? RESULTS_MAX : RESULTS,
	};
	ring = syscall(SYS_io_uring_setup, BATCH, &params);
	/* Often switched off. */
	if (ring < 0)
		return 0;
	if (!(params.features & IORING_FEAT_SINGLE_MMAP))
		die("this io_uring is too old to be measured");
	size = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
	rings_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	if (size > rings_size)
		rings_size = size;
	rings = map(rings_size, IORING_OFF_SQ_RING);
	sqes = map(params.sq_entries * sizeof(*sqes), IORING_OFF_SQES);
	for (uint32_t i = 0; i < params.sq_entries; i++)
		ring_word(params.sq_off.array)[i] = i;
	return nr;
}

static void uring_close(void)
{
	munmap(rings, rings_size);
	munmap(sqes, params.sq_entries * sizeof(*sqes));
	close(ring);
	ring = -1;
}

/*
 * Take what has completed, @nr at most; returns how many had the result @res, and
 * writes which timers these were, unless @ids is NULL.
 */
static uint32_t reap(int res, uint32_t *ids, uint32_t nr)
{
	const struct io_uring_cqe *cqes = (void *)(rings + params.cq_off.cqes);
	uint32_t *head = ring_word(params.cq_off.head);
	uint32_t tail = __atomic_load_n(ring_word(params.cq_off.tail), __ATOMIC_ACQUIRE);
	uint32_t at, n = 0;

	for (at = *head; at != tail && n < nr; at++) {
		const struct io_uring_cqe *cqe = &cqes[at & (params.cq_entries - 1)];

		if (cqe->res != res)
			continue;
		if (ids)
			ids[n] = cqe->user_data - 1;
		n++;
	}
	__atomic_store_n(head, at, __ATOMIC_RELEASE);
	return n;
}

static void enter(uint32_t submit)
{
	uint32_t *tail = ring_word(params.sq_off.tail);
	long ret;

	__atomic_store_n(tail, *tail + submit, __ATOMIC_RELEASE);
	do {
		ret = syscall(SYS_io_uring_enter, ring, submit, 0, 0, NULL, 0);
	} while (ret < 0 && errno == EINTR);
	if (ret != submit)
		die("io_uring_enter: %ld of %u: %m", ret, submit);
}

static struct io_uring_sqe *sqe_of(uint32_t i)
{
	uint32_t tail = *ring_word(params.sq_off.tail);
	struct io_uring_sqe *sqe = &sqes[(tail + i) & (params.sq_entries - 1)];

	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

/* 0 is what the results of removes carry. */
static uint64_t name_of(const struct work *work)
{
	return work->id + 1ULL;
}

static void uring_ops(const struct work *work, uint32_t nr, uint32_t opcode,
		      uint32_t flags)
{
	struct __kernel_timespec when[BATCH];

	while (nr) {
		uint32_t batch = nr < BATCH ? nr : BATCH;

		for (uint32_t i = 0; i < batch; i++) {
			struct io_uring_sqe *sqe = sqe_of(i);

			sqe->opcode = opcode;
			sqe->fd = -1;
			sqe->timeout_flags = flags;
			when[i].tv_sec = work[i].deadline / NSEC;
			when[i].tv_nsec = work[i].deadline % NSEC;
			if (opcode == IORING_OP_TIMEOUT) {
				sqe->addr = (uintptr_t)&when[i];
				sqe->len = 1;
				sqe->user_data = name_of(&work[i]);
			} else {
				sqe->addr = name_of(&work[i]);
				if (flags)
					sqe->addr2 = (uintptr_t)&when[i];
			}
		}
		enter(batch);
		if (opcode == IORING_OP_TIMEOUT_REMOVE && reap(0, NULL, batch) != batch)
			die("io_uring: a timeout was not found");
		work += batch;
		nr -= batch;
	}
}

static void uring_arm(const struct work *work, uint32_t nr)
{
	uring_ops(work, nr, IORING_OP_TIMEOUT, IORING_TIMEOUT_ABS);
}

static void uring_move(const struct work *work, uint32_t nr)
{
	uring_ops(work, nr, IORING_OP_TIMEOUT_REMOVE,
		  IORING_TIMEOUT_UPDATE | IORING_TIMEOUT_ABS);
}

static void uring_cancel(const struct work *work, uint32_t nr)
{
	uring_ops(work, nr, IORING_OP_TIMEOUT_REMOVE, 0);
}

static int uring_ready(void)
{
	return ring;
}

static uint32_t uring_take(uint32_t *ids, uint32_t nr, uint64_t now)
{
	uint32_t n = reap(-ETIME, ids, nr);

	(void)now;
	/* What found the ring full waits in the kernel until it is asked for. */
	if (!n && __atomic_load_n(ring_word(params.sq_off.flags), __ATOMIC_ACQUIRE) &
		  IORING_SQ_CQ_OVERFLOW) {
		syscall(SYS_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
		n = reap(-ETIME, ids, nr);
	}
	return n;
}

const struct peer peer_uring = {
	.name		= "io_uring",
	.sample		= 64,
	.batches	= true,
	.open		= uring_open,
	.arm		= uring_arm,
	.move		= uring_move,
	.cancel		= uring_cancel,
	.ready		= uring_ready,
	.take		= uring_take,
	.close		= uring_close,
};
