// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that nobody would write: threads and forks that use wheels right,
 * nearly right and wrong, and all at the same time.  What they do follows from
 * a seed alone; what the kernel makes of it must not harm anybody else.
 *
 *	fuzz						a few seconds, as a test
 *	fuzz --seed 7 --programs 50 --calls 20000	a million calls
 *	fuzz --seed 7 --first 12 --programs 1 ...	one of them again
 *
 * Beside each program runs a witness: a wheel that is used as it should be, whose
 * timers expire once each, and not early.  Every errno must be one that the ABI
 * names, every event whole, and in the end its wheels must work as if nothing had
 * happened.  A program that does not end in time has failed, and so has one after
 * whose end a wheel is left.  Kernel complaints are for whoever
 * reads the kernel's log.
 *
 * Bed: plain, storm
 */
#include <getopt.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "twheel_test.h"

#define THREADS		3U
#define SLOTS		10U	/* files that a program has */
#define ARENA_PAGES	256U
#define FORK_CALLS	150U	/* that a forked process makes */
#define PROGRAM_LIMIT	90	/* seconds */
#define WITNESSES	64U

#define WORDS_OFFSET	0x10000000
#define WORDS_PAGES	4	/* the first of the arena, where words are mapped */
/* Of good wheels; so few that ids chosen by the kernel and by the program meet. */
#define CAPACITY	300U

/* So that a program can't use up the machine's memory, and meets its limits. */
#define USER_WHEELS	10
#define USER_TIMERS	4096

/* What a program's processes tell to the one that watches. */
struct tally {
	unsigned long	calls;
	unsigned long	made[64];
	unsigned long	done[64];
	int		wrong;
	char		text[256];
};

struct program {
	__u64		seed;
	unsigned int	calls;
	int		fd[SLOTS];
	int		epoll;
	int		pair[2];
	int		pipe[2];
	char		*arena;
	struct tally	*tally;
	pthread_t	thread[THREADS];
	pid_t		tid[THREADS];
};

struct run {
	struct program	*p;
	__u64		random;
	__u64		now;
	unsigned int	op;
	int		fresh;	/* a slot with a wheel that has not been used */
	bool		forked;
	unsigned long	made[64];
	unsigned long	done[64];
	/* Memory of its own: two pages, and then nothing. */
	char		*buf;
};

/* Variety, and the same again */

static __u64 draw(struct run *r)
{
	r->random ^= r->random >> 12;
	r->random ^= r->random << 25;
	r->random ^= r->random >> 27;
	return r->random * 0x2545f4914f6cdd1dULL;
}

static __u32 below(struct run *r, __u32 n)
{
	return (draw(r) >> 32) % n;
}

static bool one_in(struct run *r, __u32 n)
{
	return !below(r, n);
}

static __u64 mix(__u64 a, __u64 b)
{
	__u64 x = (a + 1) * 0x9e3779b97f4a7c15ULL ^ (b + 1) * 0xbf58476d1ce4e5b9ULL;

	x ^= x >> 31;
	return x * 0x94d049bb133111ebULL ?: 1;
}

/* Any number, but rather one at an edge. */
static __u64 number(struct run *r)
{
	switch (below(r, 6)) {
	case 0:
		return below(r, 4);
	case 1:
		return (1ULL << below(r, 64)) + below(r, 3) - 1;
	case 2:
		return ~0ULL - below(r, 4);
	case 3:
		return r->now + below(r, 4000000) - 2000000;
	case 4:
		return below(r, 70000);
	default:
		return draw(r);
	}
}

/* Mostly the expected value, and sometimes any number. */
static __u64 mostly(struct run *r, __u64 expected)
{
	return one_in(r, 64) ? number(r) : expected;
}

static __u32 some_id(struct run *r)
{
	switch (below(r, 32)) {
	case 0:
		return TWHEEL_ID_ANY;
	case 1:
		return number(r);
	case 2:
		return 256 * below(r, 8) + 255;
	case 3:
		return 299 - below(r, 4);
	default:
		return below(r, CAPACITY);
	}
}

static __u64 some_deadline(struct run *r)
{
	switch (below(r, 8)) {
	case 0:
		return number(r);
	case 1:
		return r->now + HOUR;
	case 2:
		return 1;
	case 3:
		return 0;
	default:
		return r->now + below(r, 5000000);
	}
}

static int slot_of(struct run *r)
{
	return one_in(r, 3) ? below(r, SLOTS) : below(r, 3);
}

static int some_fd(struct run *r)
{
	return __atomic_load_n(&r->p->fd[slot_of(r)], __ATOMIC_RELAXED);
}

static char *some_page(struct run *r)
{
	return r->p->arena + PAGE * (one_in(r, 3) ? below(r, ARENA_PAGES - 8) : below(r, 16));
}

/* Memory that may go away at any moment */

static __thread sigjmp_buf on_fault;
static __thread bool may_fault;

static void faulted(int sig)
{
	if (!__atomic_load_n(&may_fault, __ATOMIC_RELAXED)) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	siglongjmp(on_fault, 1);
}

/* From here to there a fault is none; the compiler is to leave it at that. */
static void faults_from_here(void)
{
	__atomic_store_n(&may_fault, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void faults_to_here(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&may_fault, false, __ATOMIC_RELAXED);
}

static void put(char *to, const void *from, size_t size)
{
	faults_from_here();
	if (!sigsetjmp(on_fault, 0))
		memcpy(to, from, size);
	faults_to_here();
}

static bool store(__u64 *to, __u64 value)
{
	faults_from_here();
	if (sigsetjmp(on_fault, 0)) {
		faults_to_here();
		return false;
	}
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
	faults_to_here();
	return true;
}

/* Where a call's struct is: mostly where it should, with room behind it. */
static char *place(struct run *r, size_t size)
{
	switch (below(r, 64)) {
	case 0:
		return r->buf + 2 * PAGE - (size < PAGE ? size : PAGE);
	case 1:
		return r->buf + 2 * PAGE - below(r, 200);
	case 2:
		return some_page(r) + below(r, PAGE);
	case 3:
		return (char *)(uintptr_t)number(r);
	default:
		return r->buf;
	}
}

static char *placed(struct run *r, const void *from, size_t size)
{
	char *p = place(r, size);

	/* Elsewhere it finds what is there. */
	if (p >= r->buf && p < r->buf + 2 * PAGE)
		put(p, from, size);
	else if (p >= r->p->arena && p < r->p->arena + PAGE * (ARENA_PAGES - 8))
		put(p, from, size);
	return p;
}

/* Judging */

static void wrong(struct program *p, const char *fmt, ...)
{
	va_list args;

	if (__atomic_exchange_n(&p->tally->wrong, 1, __ATOMIC_ACQ_REL))
		return;
	va_start(args, fmt);
	vsnprintf(p->tally->text, sizeof(p->tally->text), fmt, args);
	va_end(args);
}

/* Made a call: is its errno one that it may have? */
static void judge(struct run *r, const char *call, long ret, const int *errnos)
{
	r->made[r->op]++;
	if (ret >= 0) {
		r->done[r->op]++;
		return;
	}
	for (; *errnos; errnos++)
		if (errno == *errnos)
			return;
	wrong(r->p, "%s: errno %d", call, errno);
}

/* As the header has them, and EBADF, for a file that another thread has closed. */
static const int ioctl_errnos[] = {
	EBADF, ENOTTY, EFAULT, E2BIG, EINVAL, EOPNOTSUPP, ERANGE, EOVERFLOW, EPERM, EBUSY,
	EEXIST, ENOENT, ESTALE, ENOSPC, EDQUOT, ENOMEM, EINTR, 0
};

static const int read_errnos[] = { EBADF, EFAULT, EINVAL, ENOMEM, EAGAIN, EINTR, 0 };

static const int mmap_errnos[] = {
	EBADF, EACCES, EINVAL, EPERM, ENOMEM, EINTR, EOVERFLOW, EAGAIN, 0
};

static const int open_errnos[] = { ENOMEM, EMFILE, EACCES, EINTR, EINVAL, 0 };

/* Calls of the kernel's own: any answer will do. */
static void made(struct run *r, long ret)
{
	r->made[r->op]++;
	r->done[r->op] += ret >= 0;
}

/* Operations */

static void call_ioctl(struct run *r, int fd, unsigned long cmd, const void *arg, size_t size)
{
	/* Another size: an older or newer program's. */
	if (one_in(r, 100))
		cmd += (unsigned long)(below(r, 5) - 2) * 8 << _IOC_SIZESHIFT;
	judge(r, "ioctl", ioctl(fd, cmd, placed(r, arg, size)), ioctl_errnos);
}

static struct twheel_op some_op(struct run *r, bool arm)
{
	struct twheel_op op = {
		.id		= some_id(r),
		.generation	= mostly(r, 0),
		.reserved	= mostly(r, 0),
		.count		= mostly(r, 0),
		.cookie		= arm ? 7 : mostly(r, 0),
	};

	if (!arm)
		return op;
	op.deadline = some_deadline(r);
	switch (below(r, 16)) {
	case 0:
		op.flags = draw(r);
		break;
	case 1:
		op.flags = 1U << below(r, 5);
		break;
	case 2:
		op.flags = TWHEEL_ARM_STORED;
		op.deadline = 0;
		op.cookie = 0;
		break;
	case 3:
		op.interval = 1 + below(r, 3000000);
		op.count = below(r, 3);
		break;
	case 4:
		op.slack = number(r);
		break;
	case 5:
		op.flags = TWHEEL_ARM_RELATIVE;
		op.deadline = below(r, 3000000);
		break;
	}
	return op;
}

static void do_arm(struct run *r)
{
	struct twheel_op op = some_op(r, true);

	op.opcode = mostly(r, 0);
	call_ioctl(r, some_fd(r), TWHEEL_IOC_ARM, &op, sizeof(op));
}

static void do_cancel(struct run *r)
{
	struct twheel_op op = some_op(r, false);

	call_ioctl(r, some_fd(r), TWHEEL_IOC_CANCEL, &op, sizeof(op));
}

static void do_get(struct run *r)
{
	struct twheel_timer t = { .id = some_id(r), .generation = mostly(r, 0) };

	call_ioctl(r, some_fd(r), TWHEEL_IOC_GET, &t, sizeof(t));
}

/* Behind the request in its own memory, so that they don't overlap too often. */
#define ARRAY		1024U

static void do_submit(struct run *r)
{
	unsigned int nr = below(r, 12), room = (2 * PAGE - ARRAY) / sizeof(struct twheel_op);
	char *array = place(r, ARRAY) == r->buf ? r->buf + ARRAY : some_page(r);
	__u64 burst = 0;
	struct twheel_submit s = {
		.ops		= (uintptr_t)array,
		.nr		= one_in(r, 16) ? below(r, room + 4) : nr,
		.op_size	= mostly(r, sizeof(struct twheel_op) + 8 * one_in(r, 16)),
		.flags		= mostly(r, 0),
		.reserved	= mostly(r, 0),
	};

	if (one_in(r, 64))
		s.nr = number(r);
	/* More than one pass can handle, all at once. */
	if (one_in(r, 16)) {
		nr = room;
		s.nr = room;
		burst = r->now + below(r, 5000000);
	}
	for (unsigned int i = 0; i < nr; i++) {
		bool arm = burst || !one_in(r, 4);
		struct twheel_op op = some_op(r, arm);

		op.opcode = mostly(r, arm ? TWHEEL_OP_ARM : TWHEEL_OP_CANCEL);
		if (burst)
			op = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM, .deadline = burst, .id = burst % 200 + i,
			};
		put(array + i * sizeof(op), &op, sizeof(op));
	}
	call_ioctl(r, some_fd(r), TWHEEL_IOC_SUBMIT, &s, sizeof(s));
}

static void do_list(struct run *r)
{
	char *array = place(r, ARRAY) == r->buf ? r->buf + ARRAY : some_page(r);
	struct twheel_list l = {
		.timers		= (uintptr_t)array,
		.nr		= mostly(r, below(r, one_in(r, 4) ? 100 : 8)),
		.timer_size	= mostly(r, sizeof(struct twheel_timer) + 8 * one_in(r, 16)),
		.cursor		= one_in(r, 2) ? 0 : some_id(r),
		.flags		= mostly(r, 0),
		.reserved	= mostly(r, 0),
	};

	call_ioctl(r, some_fd(r), TWHEEL_IOC_LIST, &l, sizeof(l));
}

static void do_tell(struct run *r)
{
	static const unsigned long cmds[] = {
		TWHEEL_IOC_STATS, TWHEEL_IOC_FEATURES, TWHEEL_IOC_GET_SETUP,
	};
	struct twheel_stats s = {};

	call_ioctl(r, some_fd(r), cmds[below(r, ARRAY_SIZE(cmds))], &s, sizeof(s));
}

static void do_setup(struct run *r)
{
	static const __u32 shapes[] = { 0, 1, 2, 4, 64, 100, 256, 4096 };
	struct twheel_setup s = {
		.flags		= mostly(r, TWHEEL_SETUP_CLOCK),
		.clock		= mostly(r, 1),
		.tick		= mostly(r, 0),
		.capacity	= mostly(r, below(r, 1000)),
		.event_size	= mostly(r, 0),
	};

	if (one_in(r, 4))
		s.clock = below(r, 12);
	if (one_in(r, 4)) {
		s.slots = shapes[below(r, ARRAY_SIZE(shapes))];
		s.levels = below(r, 18);
	}
	if (one_in(r, 4))
		s.tick = 1 + below(r, 3000000);
	if (one_in(r, 2))
		s.flags |= TWHEEL_SETUP_WORDS;
	call_ioctl(r, one_in(r, 4) ? some_fd(r) : r->p->fd[r->fresh], TWHEEL_IOC_SETUP, &s,
		   sizeof(s));
}

static void do_any_ioctl(struct run *r)
{
	unsigned long cmd = _IOC(below(r, 4), mostly(r, TWHEEL_IOC_MAGIC) & 255,
				 below(r, 14), 8 * below(r, 20));

	judge(r, "any ioctl", ioctl(some_fd(r), cmd, place(r, 128)), ioctl_errnos);
}

static void check_events(struct run *r, const struct twheel_event *ev, long size)
{
	if (size % sizeof(*ev))
		wrong(r->p, "read returns %ld", size);
	for (; size > 0; size -= sizeof(*ev), ev++)
		if (ev->id >= TWHEEL_MAX_CAPACITY || ev->reserved ||
		    ev->flags & ~TWHEEL_EVENT_LAST || ev->fired < ev->deadline)
			wrong(r->p, "event: id %u flags %x deadline %llu fired %llu", ev->id,
			      ev->flags, (unsigned long long)ev->deadline,
			      (unsigned long long)ev->fired);
}

static void do_read(struct run *r)
{
	size_t size = sizeof(struct twheel_event) * (1 + below(r, 40));
	int fd = some_fd(r);
	char *p;
	long n;

	if (one_in(r, 16))
		size = number(r);
	p = place(r, size);
	if (one_in(r, 8)) {
		struct iovec iov[2] = { { p, below(r, 200) }, { r->buf + PAGE, below(r, 200) } };

		n = preadv2(fd, iov, 2, -1, below(r, 2) ? RWF_NOWAIT : below(r, 64));
		/* Flags are the kernel's own business. */
		made(r, n);
		return;
	}
	n = read(fd, p, size);
	judge(r, "read", n, read_errnos);
	if (n > 0 && p == r->buf)
		check_events(r, (void *)p, n);
}

static void do_poll(struct run *r)
{
	struct pollfd p[3];

	for (int i = 0; i < 3; i++)
		p[i] = (struct pollfd){ .fd = some_fd(r), .events = below(r, 65536) };
	made(r, poll(p, 1 + below(r, 3), one_in(r, 64)));
}

static void do_epoll(struct run *r)
{
	static const int cmds[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct epoll_event e[4] = { { .events = EPOLLIN } };

	if (one_in(r, 2)) {
		made(r, epoll_wait(r->p->epoll, e, 4, 0));
		return;
	}
	if (one_in(r, 2))
		e[0].events |= 1U << (28 + below(r, 4));
	made(r, epoll_ctl(r->p->epoll, cmds[below(r, 3)], some_fd(r), e));
}

/* The daemon's side: nearly by the rules. */
static void do_store(struct run *r)
{
	/* Where words were, at least at first; a store into nothing costs much. */
	char *page = one_in(r, 32) ? some_page(r) : r->p->arena + below(r, WORDS_PAGES) * PAGE;

	for (int i = below(r, 8); i >= 0; i--) {
		/* Deadlines rather than what the kernel has filed. */
		size_t at = 16 * below(r, 256) + (one_in(r, 4) ? 8 : 0);

		if (!store((__u64 *)(page + at), some_deadline(r)))
			break;
	}
}

static void do_store_and_arm(struct run *r)
{
	struct twheel_op op = { .flags = TWHEEL_ARM_STORED, .id = below(r, 310) };

	store((__u64 *)(r->p->arena + 16 * op.id), some_deadline(r));
	memcpy(r->buf, &op, sizeof(op));
	judge(r, "arm stored", ioctl(r->p->fd[2], TWHEEL_IOC_ARM, r->buf), ioctl_errnos);
}

/* The second and the third wheel have words, which are the first pages of the arena. */
static void map_shared(const struct program *p)
{
	const size_t size = (CAPACITY * sizeof(struct twheel_word) + PAGE - 1) / PAGE * PAGE;

	for (int slot = 1; slot < 3; slot++)
		mmap(p->arena + (2 - slot) * 2 * PAGE, size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED | MAP_POPULATE, p->fd[slot], WORDS_OFFSET);
}

/* The first three wheels, as they should be. */
static int good_wheel(int slot)
{
	struct twheel_setup s = { .capacity = CAPACITY };
	int fd = wheel_open(O_NONBLOCK);

	if (slot)
		s.flags = TWHEEL_SETUP_WORDS;
	set_up(fd, &s);
	return fd;
}

static void do_mmap(struct run *r)
{
	static const int prots[] = {
		PROT_READ | PROT_WRITE, PROT_READ, PROT_WRITE, PROT_NONE,
		PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE,
	};
	__u64 offset = WORDS_OFFSET + PAGE * below(r, 4);
	int flags = MAP_FIXED | (one_in(r, 16) ? MAP_PRIVATE : MAP_SHARED);
	size_t length = PAGE * (1 + below(r, one_in(r, 32) ? 30 : 4));
	char *at = some_page(r);

	if (at + length > r->p->arena + PAGE * ARENA_PAGES)
		length = PAGE;
	/* Something to store into is to be there still. */
	if (one_in(r, 2)) {
		map_shared(r->p);
		made(r, 0);
		return;
	}
	if (one_in(r, 16))
		flags |= MAP_POPULATE;
	if (one_in(r, 4)) {
		void *p = mmap(at, length, prots[below(r, 2)],
			       flags | MAP_ANONYMOUS, -1, 0);

		made(r, p == MAP_FAILED ? -1 : 0);
		return;
	}
	if (one_in(r, 32))
		offset = number(r) & 0x7fffffffffffULL & -PAGE;
	judge(r, "mmap", mmap(at, length, prots[below(r, ARRAY_SIZE(prots))], flags,
			      some_fd(r), offset) == MAP_FAILED ? -1 : 0, mmap_errnos);
}

/* All that can be done to a mapping; none of it reaches out of the arena. */
static void do_memory(struct run *r)
{
	static const int advices[] = {
		MADV_NORMAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_DONTFORK,
		MADV_DOFORK, MADV_MERGEABLE, MADV_HUGEPAGE, MADV_COLD, MADV_PAGEOUT,
		22 /* MADV_POPULATE_READ */, 23 /* MADV_POPULATE_WRITE */,
	};
	char *at = some_page(r), *other = some_page(r);
	size_t length = PAGE * (1 + below(r, 4));
	struct iovec iov = { at + below(r, 64), length }, to = { r->buf + PAGE, PAGE };
	unsigned char core[4];

	switch (below(r, 10)) {
	case 0:
		made(r, munmap(at, length));
		break;
	case 1:
		made(r, mremap(at, below(r, 4) * PAGE, length, MREMAP_MAYMOVE | MREMAP_FIXED,
			       other) == MAP_FAILED ? -1 : 0);
		break;
	case 2:
		made(r, mprotect(at, length, below(r, 8)));
		break;
	case 3:
		made(r, madvise(at, length, advices[below(r, ARRAY_SIZE(advices))]));
		break;
	case 4:
		made(r, msync(at, length, below(r, 2) ? MS_SYNC : MS_ASYNC | MS_INVALIDATE));
		break;
	case 5:
		made(r, one_in(r, 2) ? mlock(at, length) : munlock(at, length));
		break;
	case 6:
		/* Pages of which somebody else holds on to a reference. */
		made(r, vmsplice(r->p->pipe[1], &iov, 1, SPLICE_F_NONBLOCK));
		break;
	case 7:
		made(r, read(r->p->pipe[0], r->buf, PAGE));
		break;
	case 8:
		made(r, process_vm_readv(getpid(), &to, 1, &iov, 1, 0));
		break;
	default:
		made(r, mincore(at, length, core));
	}
}

static void set_slot(struct run *r, int slot, int fd)
{
	fd = __atomic_exchange_n(&r->p->fd[slot], fd, __ATOMIC_RELAXED);
	if (fd >= 0)
		close(fd);
}

/* The first three have a purpose, and are left alone most of the time. */
static int slot_to_fill(struct run *r)
{
	return one_in(r, 64) ? below(r, 3) : 3 + below(r, SLOTS - 3);
}

static void do_open(struct run *r)
{
	int slot = below(r, 3), fd;

	if (one_in(r, 8)) {
		set_slot(r, slot, good_wheel(slot));
		map_shared(r->p);
		made(r, 0);
		return;
	}
	fd = open(DEVICE, (one_in(r, 8) ? below(r, 3) : O_RDWR) |
			  (one_in(r, 64) ? 0 : O_NONBLOCK) | (one_in(r, 2) ? O_CLOEXEC : 0));
	judge(r, "open", fd, open_errnos);
	if (fd < 0)
		return;
	r->fresh = slot_to_fill(r);
	set_slot(r, r->fresh, fd);
}

static void do_files(struct run *r)
{
	int fd = some_fd(r), slot = slot_to_fill(r);

	switch (below(r, 8)) {
	case 0:
	case 1:
		set_slot(r, slot, -1);
		made(r, 0);
		break;
	case 2:
		fd = dup(fd);
		made(r, fd);
		if (fd >= 0)
			set_slot(r, slot, fd);
		break;
	case 3:
		made(r, fcntl(fd, F_SETFL, one_in(r, 16) ? 0 : O_NONBLOCK));
		break;
	case 4:
		made(r, write(fd, r->buf, 48));
		break;
	case 5:
		made(r, lseek(fd, below(r, 100), SEEK_SET));
		break;
	case 6:
		made(r, fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
		break;
	default:
		made(r, fsync(fd));
	}
}

/* A wheel goes through a socket; those that nobody takes out are left to it. */
static void do_pass(struct run *r)
{
	union {
		char		space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr	header;
	} control = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = some_fd(r);

	if (one_in(r, 2)) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		made(r, sendmsg(r->p->pair[0], &msg, MSG_DONTWAIT));
		return;
	}
	if (recvmsg(r->p->pair[1], &msg, MSG_DONTWAIT) < 0) {
		made(r, -1);
		return;
	}
	made(r, 0);
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		set_slot(r, slot_to_fill(r), fd);
	}
}

static void do_signal(struct run *r)
{
	pid_t tid = __atomic_load_n(&r->p->tid[below(r, THREADS)], __ATOMIC_RELAXED);

	if (tid && !r->forked)
		made(r, syscall(SYS_tgkill, getpid(), tid, SIGUSR1));
	else
		made(r, sched_yield());
}

static void run_calls(struct run *r, unsigned int calls);

static void do_fork(struct run *r)
{
	struct run child = *r;
	struct itimerval often = { { 0, 10000 }, { 0, 10000 } };
	struct rlimit few = { 12, 12 };
	char path[64], text[1024];
	pid_t pid;

	/* Rarely: it costs as much as a hundred calls. */
	if (r->forked || !one_in(r, 6))
		return;
	child.random = mix(draw(r), 1);
	pid = fork();
	if (!pid) {
		memset(child.made, 0, sizeof(child.made));
		memset(child.done, 0, sizeof(child.done));
		child.forked = true;
		setitimer(ITIMER_REAL, &often, NULL);
		if (one_in(&child, 4))
			setrlimit(RLIMIT_NOFILE, &few);
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", some_fd(&child));
		read_file(path, text, sizeof(text));
		run_calls(&child, FORK_CALLS);
		if (one_in(&child, 4))
			execl("/proc/self/exe", "fuzz", "--nothing", NULL);
		_exit(0);
	}
	made(r, pid);
	if (pid > 0 && one_in(r, 2))
		kill(pid, SIGKILL);
	/* Some are left to whoever inherits them. */
	if (pid > 0 && one_in(r, 2))
		waitpid(pid, NULL, 0);
}

static const struct {
	const char	*name;
	void		(*run)(struct run *r);
	unsigned int	weight;
} ops[] = {
	{ "arm", do_arm, 400 },
	{ "cancel", do_cancel, 120 },
	{ "get", do_get, 100 },
	{ "submit", do_submit, 80 },
	{ "list", do_list, 30 },
	{ "tell", do_tell, 60 },
	{ "setup", do_setup, 60 },
	{ "any ioctl", do_any_ioctl, 60 },
	{ "read", do_read, 160 },
	{ "poll", do_poll, 60 },
	{ "epoll", do_epoll, 30 },
	{ "store", do_store, 100 },
	{ "store and arm", do_store_and_arm, 100 },
	{ "mmap", do_mmap, 12 },
	{ "memory", do_memory, 16 },
	{ "open", do_open, 16 },
	{ "files", do_files, 30 },
	{ "pass", do_pass, 10 },
	{ "signal", do_signal, 15 },
	{ "fork", do_fork, 1 },
};

static unsigned char choice[2048];

static void make_choice(void)
{
	unsigned int n = 0, sum = 0, at = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		sum += ops[i].weight;
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		at += ops[i].weight;
		for (; n < at * ARRAY_SIZE(choice) / sum; n++)
			choice[n] = i;
	}
}

static void add_up(struct run *r)
{
	struct tally *t = r->p->tally;

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		__atomic_add_fetch(&t->calls, r->made[i], __ATOMIC_RELAXED);
		__atomic_add_fetch(&t->made[i], r->made[i], __ATOMIC_RELAXED);
		__atomic_add_fetch(&t->done[i], r->done[i], __ATOMIC_RELAXED);
		r->made[i] = 0;
		r->done[i] = 0;
	}
}

static void run_calls(struct run *r, unsigned int calls)
{
	for (unsigned int i = 0; i < calls; i++) {
		if (!(i % 32))
			r->now = now_ns();
		r->op = choice[below(r, ARRAY_SIZE(choice))];
		ops[r->op].run(r);
		if (i % 256 == 255)
			add_up(r);
	}
	add_up(r);
}

/* Programs */

struct start {
	struct program	*p;
	unsigned int	number;
};

static void *run_thread(void *arg)
{
	struct start *start = arg;
	struct program *p = start->p;
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGUSR1,
	};
	struct itimerspec often = { { 0, 20 * MSEC }, { 0, 20 * MSEC } };
	struct run r = { .p = p, .random = mix(p->seed, start->number) };
	timer_t timer;

	p->tid[start->number] = syscall(SYS_gettid);
	/* Nothing waits for longer than this. */
	event._sigev_un._tid = p->tid[start->number];
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		abort();
	r.buf = edge(2 * PAGE, NULL, 0, PROT_NONE);
	run_calls(&r, p->calls / THREADS);
	timer_delete(timer);
	return NULL;
}

static void nothing(int sig)
{
}

/* Out of the way of wheels, which are closed and opened again. */
static int high(int fd)
{
	int ret = fcntl(fd, F_DUPFD_CLOEXEC, 500);

	close(fd);
	return ret;
}

/* A program that starts with three good wheels; what comes of them it will see. */
static void start_files(struct program *p)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };

	memset(p->fd, -1, sizeof(p->fd));
	for (int i = 0; i < 3; i++)
		p->fd[i] = good_wheel(i);
	map_shared(p);
	epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->fd[0], &e);
}

/* Who the program is, and what time it thinks it is. */
static void change_self(struct program *p)
{
	struct run r = { .p = p, .random = mix(p->seed, 1000) };
	char offsets[64];
	pid_t pid;

	if (one_in(&r, 4) && !unshare(0x80 /* CLONE_NEWTIME */)) {
		snprintf(offsets, sizeof(offsets), "monotonic %d 7\nboottime %d 8\n",
			 below(&r, 100000), below(&r, 100000));
		write_file("/proc/self/timens_offsets", "%s", offsets);
		/* It is the children that are in it. */
		pid = fork();
		if (pid)
			_exit(child_result(pid) ? 1 : 0);
	}
	if (one_in(&r, 4))
		unshare(CLONE_NEWUSER);
	else if (one_in(&r, 3))
		setresuid(60000 + below(&r, 2), -1, -1);
	else if (one_in(&r, 2))
		setresuid(60000, 60000, 60000);
}

/*
 * When nobody else uses a wheel any more, it must do what it should, whatever has
 * been done to it: arm all of its timers, and each of them gives its event.
 */
#define EXAMINED	1000U

static void examine(struct program *p, int fd, __u64 cookie)
{
	bool armed[EXAMINED] = {};
	struct twheel_setup setup;
	struct twheel_stats stats;
	struct twheel_event ev[32];
	int n, flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || fcntl(fd, F_SETFL, O_NONBLOCK) ||
	    wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, &setup) ||
	    setup.capacity > EXAMINED)
		return;
	/* One for which there is no memory has never been armed. */
	for (__u32 id = 0; id < setup.capacity; id++)
		armed[id] = !arm_at(fd, id, 1, cookie + id);
	while ((n = wheel_read(fd, ev, ARRAY_SIZE(ev))) > 0) {
		for (int i = 0; i < n; i++) {
			if (ev[i].id >= setup.capacity || !armed[ev[i].id] ||
			    ev[i].cookie != cookie + ev[i].id || ev[i].deadline != 1)
				wrong(p, "in the end: an event of %u is wrong", ev[i].id);
			else
				armed[ev[i].id] = false;
		}
	}
	if (n != -EAGAIN || wheel_stats(fd, &stats) || stats.pending || stats.expired)
		wrong(p, "in the end: read %d, %llu pending, %llu expired", n,
		      (unsigned long long)stats.pending, (unsigned long long)stats.expired);
	for (__u32 id = 0; id < setup.capacity; id++)
		if (armed[id])
			wrong(p, "in the end: timer %u is lost", id);
}

static void run_program(struct program *p)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct sigaction fault = { .sa_handler = faulted, .sa_flags = SA_NODEFER };
	struct start start[THREADS];

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGIO, &sa, NULL);
	sigaction(SIGPIPE, &sa, NULL);
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	change_self(p);
	p->arena = mmap(NULL, PAGE * (ARENA_PAGES + 1), PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p->epoll = high(epoll_create1(0));
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p->pair) ||
	    pipe2(p->pipe, O_NONBLOCK) || p->arena == MAP_FAILED)
		abort();
	/* A page stays in front of it: no stack is mapped into what a program unmaps. */
	p->arena += PAGE;
	for (int i = 0; i < 2; i++) {
		p->pair[i] = high(p->pair[i]);
		p->pipe[i] = high(p->pipe[i]);
	}
	start_files(p);
	for (unsigned int i = 0; i < THREADS; i++) {
		start[i] = (struct start){ p, i };
		if (pthread_create(&p->thread[i], NULL, run_thread, &start[i]))
			abort();
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(p->thread[i], NULL);
	while (wait(NULL) >= 0)
		;
	for (unsigned int i = 0; i < SLOTS; i++)
		examine(p, p->fd[i], (i + 1) << 20);
	_exit(0);
}

/* The witness */

struct witness {
	int	fd;
	__u64	deadline[WITNESSES];
	bool	open[WITNESSES];
	__u64	cookie;
	__u32	random;
};

static bool witness_read(struct witness *w, struct tally *t)
{
	struct twheel_event ev[16];
	int n = wheel_read(w->fd, ev, 16);
	__u64 now = now_ns();

	if (n == -EAGAIN)
		return true;
	for (int i = 0; i < n; i++) {
		__u32 id = ev[i].id;

		if (id >= WITNESSES || !w->open[id] || ev[i].deadline != w->deadline[id] ||
		    ev[i].deadline > now || ev[i].cookie != (w->cookie | id)) {
			snprintf(t->text, sizeof(t->text), "witness: an event of %u is wrong", id);
			return false;
		}
		w->open[id] = false;
	}
	return n > 0;
}

static int witness_arm(struct witness *w)
{
	int ret = 0;

	w->cookie += 1ULL << 32;
	for (__u32 id = 0; id < WITNESSES && !ret; id++) {
		w->deadline[id] = now_ns() + next_random(&w->random) % SEC;
		w->open[id] = true;
		ret = arm_at(w->fd, id, w->deadline[id], w->cookie | id);
	}
	return ret;
}

/* All that is armed comes, and then there is nothing. */
static bool witness_ends(struct witness *w, struct tally *t)
{
	struct twheel_stats s;

	for (__u32 id = 0; id < WITNESSES; id++) {
		while (w->open[id]) {
			if (wheel_poll(w->fd, NEVER_MS) != (POLLIN | POLLRDNORM)) {
				snprintf(t->text, sizeof(t->text), "witness: timer %u is lost", id);
				return false;
			}
			if (!witness_read(w, t))
				return false;
		}
	}
	if (!wheel_stats(w->fd, &s) && !s.pending && !s.expired && s.fired == s.delivered)
		return true;
	snprintf(t->text, sizeof(t->text), "witness: there is something left");
	return false;
}

/* End the processes that are left of a program, and wait. */
static bool reap(pid_t group)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	pid_t pid;

	kill(-group, SIGKILL);
	do {
		pid = waitpid(-1, NULL, WNOHANG);
		if (!pid)
			sleep_until(now_ns() + MSEC);
	} while (pid >= 0 && now_ns() < limit);
	return pid < 0;
}

#define REFERENCES	"/sys/module/twheel/refcnt"

/* Are only so many wheels open?  The last to go takes its time. */
static bool only_left(long long wheels)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;

	while (file_value(REFERENCES, NULL) > wheels) {
		if (now_ns() > limit)
			return false;
		sleep_until(now_ns() + MSEC);
	}
	return true;
}

/* Run a program; NULL, or what was wrong. */
static const char *try_program(__u64 seed, unsigned int calls, struct witness *w,
			       struct tally *t)
{
	long long before = file_value(REFERENCES, NULL);
	__u64 limit = now_ns() + PROGRAM_LIMIT * SEC;
	struct program p = { .seed = seed, .calls = calls, .tally = t };
	int status = 0;
	pid_t pid, ret;

	if (witness_arm(w))
		return "witness: can't arm";
	pid = fork();
	if (pid < 0)
		return "can't fork";
	if (!pid) {
		setpgid(0, 0);
		close(w->fd);
		run_program(&p);
	}
	setpgid(pid, pid);
	do {
		wheel_poll(w->fd, 10);
		if (!witness_read(w, t))
			t->wrong = 1;
		ret = waitpid(pid, &status, WNOHANG);
		if (now_ns() > limit && !ret) {
			kill(-pid, SIGKILL);
			return reap(pid) ? "it does not end" : "it does not end, even by SIGKILL";
		}
	} while (!ret && !t->wrong);
	if (!reap(pid))
		return "a process of it can't be killed";
	if (t->wrong || !witness_ends(w, t))
		return t->text;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		snprintf(t->text, sizeof(t->text), "it ended with status %x", status);
		return t->text;
	}
	return only_left(before) ? NULL : "a wheel is left open";
}

/* Seeds of programs follow from that of the run, so that each can be had alone. */
static const char *try_programs(__u64 seed, unsigned int first, unsigned int programs,
				unsigned int calls, struct tally *t, bool progress)
{
	struct witness w = { .random = 1 };
	const char *what = NULL;
	__u64 begin = now_ns();

	make_choice();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w.fd = wheel_open(O_NONBLOCK);
	for (unsigned int i = first; i < first + programs && !what; i++) {
		what = try_program(mix(seed, i), calls, &w, t);
		if (progress)
			fprintf(stderr, "program %u of %u, %lu calls, %llu a second\n",
				i - first + 1, programs, t->calls,
				(unsigned long long)(t->calls * SEC / (now_ns() - begin)));
		if (!what)
			continue;
		fprintf(stderr, "%s\nagain: --seed %llu --first %u --programs 1 --calls %u\n",
			what, (unsigned long long)seed, i, calls);
	}
	close(w.fd);
	return what;
}

/* Limits that one user's programs keep to, and a device that all may open. */
struct world {
	long long	wheels, timers;
	mode_t		mode;
};

static int world_change(struct world *world)
{
	struct stat st;

	world->wheels = file_value(PARAMETERS "max_user_wheels", NULL);
	world->timers = file_value(PARAMETERS "max_user_timers", NULL);
	if (world->wheels < 0 || world->timers < 0 || stat(DEVICE, &st))
		return -1;
	world->mode = st.st_mode & 07777;
	if (chmod(DEVICE, 0666) ||
	    write_file(PARAMETERS "max_user_wheels", "%d", USER_WHEELS))
		return -1;
	return write_file(PARAMETERS "max_user_timers", "%d", USER_TIMERS);
}

static void world_restore(const struct world *world)
{
	chmod(DEVICE, world->mode);
	write_file(PARAMETERS "max_user_wheels", "%lld", world->wheels);
	write_file(PARAMETERS "max_user_timers", "%lld", world->timers);
}

static struct tally *new_tally(void)
{
	return mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

FIXTURE(programs) {
	struct world world;
	struct tally *tally;
};

FIXTURE_SETUP(programs)
{
	if (getuid())
		SKIP(return, NEEDS_ROOT);
	self->tally = new_tally();
	ASSERT_TRUE(self->tally != MAP_FAILED);
	ASSERT_EQ(0, world_change(&self->world));
}

FIXTURE_TEARDOWN(programs)
{
	if (self->tally)
		world_restore(&self->world);
}

TEST_F(programs, random_programs_harm_nobody)
{
	const char *what = try_programs(1, 0, 4, 3000, self->tally, false);

	ASSERT_TRUE(!what)
		TH_LOG("%s", what);
	/* Not by refusing all of it. */
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		if (self->tally->made[i] >= 100)
			EXPECT_LT(0, self->tally->done[i])
				TH_LOG("none of %lu: %s", self->tally->made[i], ops[i].name);
	}
	TH_LOG("%lu calls", self->tally->calls);
}

/* The test's own, if there are no arguments. */
#define main harness_main
TEST_HARNESS_MAIN
#undef main

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "first", required_argument, NULL, 'f' },
		{ "programs", required_argument, NULL, 'p' },
		{ "calls", required_argument, NULL, 'c' },
		{ "nothing", no_argument, NULL, 'n' },
		{}
	};
	unsigned int first = 0, programs = 50, calls = 20000;
	struct world world;
	struct tally *t;
	__u64 seed = 1;
	const char *what;
	int c;

	if (argc == 1)
		return harness_main(argc, argv);
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			first = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			programs = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			calls = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			return 0;
		default:
			return 2;
		}
	}
	t = new_tally();
	if (t == MAP_FAILED || world_change(&world)) {
		fprintf(stderr, "needs root, and the module's parameters\n");
		return 2;
	}
	what = try_programs(seed, first, programs, calls, t, true);
	world_restore(&world);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		printf("%-14s %9lu, %5.1f%% of them done\n", ops[i].name, t->made[i],
		       t->made[i] ? 100.0 * t->done[i] / t->made[i] : 0);
	printf("fuzz: %lu calls, %s\n", t->calls, what ?: "nobody was harmed");
	return what ? 1 : 0;
}
