/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring, by system call: the tests need few of its functions, and its
 * library is not there for 32-bit programs.
 */
#ifndef TWHEEL_URING_H
#define TWHEEL_URING_H

#include <linux/io_uring.h>

#include "twheel_test.h"

struct uring {
	int fd;
	struct iovec map[3];	/* submissions, completions, entries */
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static inline void *uring_map(struct uring *r, unsigned int i, off_t offset, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, offset);

	r->map[i] = (struct iovec){ at, at == MAP_FAILED ? 0 : size };
	return at;
}

static inline int uring_open(struct uring *r)
{
	struct io_uring_params p = {};
	char *sq, *cq;

	r->fd = syscall(__NR_io_uring_setup, 8, &p);
	if (r->fd < 0)
		return -errno;
	sq = uring_map(r, 0, IORING_OFF_SQ_RING, p.sq_off.array + p.sq_entries * sizeof(__u32));
	cq = uring_map(r, 1, IORING_OFF_CQ_RING, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes));
	r->sqes = uring_map(r, 2, IORING_OFF_SQES, p.sq_entries * sizeof(*r->sqes));
	if (sq == MAP_FAILED || cq == MAP_FAILED || r->sqes == MAP_FAILED)
		return -ENOMEM;
	r->sq_tail = (void *)(sq + p.sq_off.tail);
	r->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	r->sq_array = (void *)(sq + p.sq_off.array);
	r->cq_head = (void *)(cq + p.cq_off.head);
	r->cq_tail = (void *)(cq + p.cq_off.tail);
	r->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	r->cqes = (void *)(cq + p.cq_off.cqes);
	return 0;
}

/* A mapping keeps the ring and its requests alive, as its descriptor does. */
static inline void uring_close(struct uring *r)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(r->map); i++)
		munmap(r->map[i].iov_base, r->map[i].iov_len);
	close(r->fd);
}

/* Write an entry, to be submitted with the next one. */
static inline void uring_queue(struct uring *r, const struct io_uring_sqe *sqe)
{
	unsigned int tail = *r->sq_tail, i = tail & *r->sq_mask;

	r->sqes[i] = *sqe;
	r->sq_array[i] = i;
	__atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* Submit @nr entries in one call. */
static inline int uring_enter(struct uring *r, unsigned int nr)
{
	int ret = syscall(__NR_io_uring_enter, r->fd, nr, 0, 0, NULL, 0);

	return ret == (int)nr ? 0 : -errno;
}

/* Submit one entry. */
static inline int uring_submit(struct uring *r, const struct io_uring_sqe *sqe)
{
	uring_queue(r, sqe);
	return uring_enter(r, 1);
}

static inline bool uring_peek(struct uring *r, struct io_uring_cqe *cqe)
{
	unsigned int head = *r->cq_head;

	/* Let the kernel run what it has deferred to this task. */
	syscall(__NR_io_uring_enter, r->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
	if (head == __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*cqe = r->cqes[head & *r->cq_mask];
	__atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

static inline bool uring_wait(struct uring *r, struct io_uring_cqe *cqe)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;

	while (!uring_peek(r, cqe)) {
		if (now_ns() >= limit)
			return false;
		poll(&(struct pollfd){ .fd = r->fd, .events = POLLIN }, 1, 100);
	}
	return true;
}

#endif /* TWHEEL_URING_H */
