/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of twheel share: thin wrappers that return a negative errno
 * in place of -1, and a snapshot of all that an ioctl may change.
 */
#ifndef TWHEEL_TEST_H
#define TWHEEL_TEST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <linux/twheel.h>

#include "kselftest_harness.h"

/* A test that hangs is ended. No verdict: a busy machine may take ten times its usual time. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300

#define DEVICE		"/dev/twheel"
#define PARAMETERS	"/sys/module/twheel/parameters/"

#define USEC		1000ULL
#define MSEC		1000000ULL
#define SEC		1000000000ULL
/* Far enough not to come while a test runs. */
#define HOUR		(3600 * SEC)

/*
 * An event that is not there after this long will not come: far above what an
 * emulated guest on a loaded machine needs, and below the harness's timeout.
 */
#define NEVER_MS	10000
/* How late an event may be on such a machine; TWHEEL_LATE_MS=n if it is slower still. */
#define LATE		late()

static inline __u64 late(void)
{
	const char *ms = getenv("TWHEEL_LATE_MS");

	return (ms ? strtoull(ms, NULL, 0) : 500) * MSEC;
}

/* Why a test skips itself. */
#define NEEDS_ROOT	"needs root"
#define NO_WORDS	"this kernel has no words"
#define NO_TIMENS	"no time namespaces in this kernel"
#define NO_USERNS	"no user namespaces in this kernel"

/* Without the device every test would say the same thing. */
static void __attribute__((constructor)) need_device(void)
{
	if (access(DEVICE, F_OK))
		ksft_exit_skip("no " DEVICE ": the module is not loaded\n");
}

/*
 * TWHEEL_STORM=N: every thread gets a signal each N microseconds, and no test may
 * find another result for that.  The handler asks for restarts; what comes back
 * early all the same is what never restarts (poll, epoll_wait, a sleep), and with a
 * part done a submit and a read of many.
 */
#define STORM_SIGNAL	SIGRTMAX

static unsigned int storm_usec;
static __u64 storm_hits;

static void storm_handler(int sig)
{
	__atomic_fetch_add(&storm_hits, 1, __ATOMIC_RELAXED);
}

/* On this thread.  To go on without would be no storm, and no failure. */
static inline timer_t storm_begin(void)
{
	struct sigaction sa = { .sa_handler = storm_handler, .sa_flags = SA_RESTART };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = STORM_SIGNAL,
	};
	struct itimerspec every = {
		.it_value.tv_nsec = storm_usec * USEC,
		.it_interval.tv_nsec = storm_usec * USEC,
	};
	timer_t timer;

	event._sigev_un._tid = syscall(SYS_gettid);
	if (sigaction(STORM_SIGNAL, &sa, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &every, NULL))
		abort();
	return timer;
}

/* A timer does not come along with fork. */
static void storm_in_child(void)
{
	storm_hits = 0;
	storm_begin();
}

static void __attribute__((constructor)) storm_in_main(void)
{
	const char *usec = getenv("TWHEEL_STORM");

	if (!usec)
		return;
	storm_usec = atoi(usec);
	storm_begin();
	if (pthread_atfork(NULL, NULL, storm_in_child))
		abort();
}

struct storm_thread {
	void *(*run)(void *arg);
	void *arg;
};

static void *storm_in_thread(void *arg)
{
	struct storm_thread t = *(struct storm_thread *)arg;
	timer_t timer = storm_begin();
	void *ret;

	free(arg);
	ret = t.run(t.arg);
	timer_delete(timer);
	return ret;
}

/* pthread_create() of a thread that a storm does not spare. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	struct storm_thread *t;

	if (!storm_usec)
		return pthread_create(thread, NULL, run, arg);
	t = malloc(sizeof(*t));
	if (!t)
		abort();
	*t = (struct storm_thread){ run, arg };
	return pthread_create(thread, NULL, storm_in_thread, t);
}

static inline __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (__u64)ts.tv_sec * SEC + ts.tv_nsec;
}

static inline __u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Only root may, and all others see it. */
static inline int set_wall(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	return clock_settime(CLOCK_REALTIME, &ts) ? -errno : 0;
}

/* To let time pass; never to wait for something that can be waited for. */
static inline void sleep_until(__u64 when)
{
	struct timespec ts = {
		.tv_sec = when / SEC,
		.tv_nsec = when % SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
}

static inline int wheel_open(int flags)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static inline int wheel_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

static inline int set_up(int fd, struct twheel_setup *s)
{
	return wheel_ioctl(fd, TWHEEL_IOC_SETUP, s);
}

/* All but the time, which goes on. */
static inline int get_setup(int fd, struct twheel_setup *s)
{
	int ret = wheel_ioctl(fd, TWHEEL_IOC_GET_SETUP, s);

	s->now = 0;
	return ret;
}

static inline int wheel_arm(int fd, struct twheel_op *op)
{
	return wheel_ioctl(fd, TWHEEL_IOC_ARM, op);
}

/* A wheel that counts for its user; or a negative errno. */
static inline int wheel_used(void)
{
	int fd = wheel_open(O_NONBLOCK), ret;

	if (fd < 0)
		return fd;
	ret = set_up(fd, &(struct twheel_setup){});
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* A one-shot, relative. */
static inline int arm_in(int fd, __u32 id, __u64 ns, __u64 cookie)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE,
		.deadline = ns,
		.cookie = cookie,
		.id = id,
	};

	return wheel_arm(fd, &op);
}

/* A one-shot, absolute; arm_at(fd, id, 1, ...) is due now. */
static inline int arm_at(int fd, __u32 id, __u64 deadline, __u64 cookie)
{
	struct twheel_op op = {
		.deadline = deadline,
		.cookie = cookie,
		.id = id,
	};

	return wheel_arm(fd, &op);
}

static inline int arm_every(int fd, __u32 id, __u64 deadline, __u64 interval,
			    __u32 count)
{
	struct twheel_op op = {
		.deadline = deadline,
		.interval = interval,
		.count = count,
		.id = id,
	};

	return wheel_arm(fd, &op);
}

/* The state that was found, or a negative errno. */
static inline int wheel_cancel(int fd, __u32 id)
{
	struct twheel_op op = { .id = id };
	int ret = wheel_ioctl(fd, TWHEEL_IOC_CANCEL, &op);

	return ret ?: (int)op.state;
}

static inline int wheel_get(int fd, __u32 id, struct twheel_timer *t)
{
	memset(t, 0, sizeof(*t));
	t->id = id;
	return wheel_ioctl(fd, TWHEEL_IOC_GET, t);
}

/* The state of a timer, or a negative errno. */
static inline int wheel_state(int fd, __u32 id)
{
	struct twheel_timer t;
	int ret = wheel_get(fd, id, &t);

	return ret ?: (int)t.state;
}

static inline int wheel_stats(int fd, struct twheel_stats *s)
{
	memset(s, 0, sizeof(*s));
	return wheel_ioctl(fd, TWHEEL_IOC_STATS, s);
}

/* The number of operations done, until a signal comes; or a negative errno. */
static inline int submit_once(int fd, struct twheel_op *ops, __u32 nr,
			      __u32 *failed)
{
	struct twheel_submit s = {
		.ops = (uintptr_t)ops,
		.nr = nr,
		.op_size = sizeof(*ops),
		/* Out: not read. */
		.done = 99,
		.failed = 99,
	};
	int ret = wheel_ioctl(fd, TWHEEL_IOC_SUBMIT, &s);

	if (failed)
		*failed = ret ? 0 : s.failed;
	return ret ?: (int)s.done;
}

/* The same, also in a storm. */
static inline int wheel_submit(int fd, struct twheel_op *ops, __u32 nr,
			       __u32 *failed)
{
	__u32 done = 0, more;
	int ret;

	if (failed)
		*failed = 0;
	do {
		more = 0;
		ret = submit_once(fd, ops + done, nr - done, &more);
		if (ret < 0)
			break;
		done += ret;
		if (failed)
			*failed += more;
	} while (storm_usec && ret && done < nr);
	return done ? (int)done : ret;
}

/* One-shots with the ids 0 to @nr - 1, @step apart; 0, or -1 if one was refused. */
static inline int arm_many(int fd, __u32 nr, __u64 deadline, __u64 step)
{
	struct twheel_op ops[256];
	__u32 i, n, failed;

	for (i = 0; i < nr; i += n) {
		for (n = 0; n < ARRAY_SIZE(ops) && i + n < nr; n++)
			ops[n] = (struct twheel_op){
				.opcode = TWHEEL_OP_ARM,
				.deadline = deadline + (i + n) * step,
				.id = i + n,
			};
		if (wheel_submit(fd, ops, n, &failed) != n || failed)
			return -1;
	}
	return 0;
}

/* The number of timers written, or a negative errno. */
static inline int wheel_list(int fd, struct twheel_timer *timers, __u32 nr, __u32 *cursor)
{
	struct twheel_list l = {
		.timers = (uintptr_t)timers,
		.nr = nr,
		.timer_size = sizeof(*timers),
		.cursor = *cursor,
	};
	int ret = wheel_ioctl(fd, TWHEEL_IOC_LIST, &l);

	if (!ret)
		*cursor = l.cursor;
	return ret ?: (int)l.done;
}

/* Until the end; the number of timers written, or a negative errno. */
static inline int list_all(int fd, struct twheel_timer *timers, __u32 nr)
{
	__u32 cursor = 0, n = 0;
	int ret;

	while (n < nr) {
		ret = wheel_list(fd, timers + n, nr - n, &cursor);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		n += ret;
	}
	return n;
}

static inline int ms_until(__u64 limit)
{
	__u64 now = now_ns();

	return now < limit ? (limit - now + MSEC - 1) / MSEC : 0;
}

/* What poll() reports within @ms. */
static inline int wheel_poll(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = ~0 };
	__u64 limit = now_ns() + ms * MSEC;
	int ret;

	do {
		ret = poll(&p, 1, ms);
		if (ms > 0)
			ms = ms_until(limit);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : p.revents;
}

/* What epoll tells of within @ms, 0 without anything, or a negative errno. */
static inline int epoll_get(int epoll, int ms)
{
	__u64 limit = now_ns() + ms * MSEC;
	struct epoll_event e;
	int ret;

	do {
		ret = epoll_wait(epoll, &e, 1, ms);
		if (ms > 0)
			ms = ms_until(limit);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : ret ? (int)e.events : 0;
}

/* The number of events read, or a negative errno; without waiting if the file
 * is non-blocking.
 */
static inline int wheel_read(int fd, struct twheel_event *ev, unsigned int nr)
{
	ssize_t n = read(fd, ev, nr * sizeof(*ev)), more = n;

	if (n < 0)
		return -errno;
	/* What else there is, as it would have come in one. */
	while (storm_usec && more > 0 && n < nr * sizeof(*ev)) {
		struct iovec rest = { (char *)ev + n, nr * sizeof(*ev) - n };

		more = preadv2(fd, &rest, 1, -1, RWF_NOWAIT);
		if (more > 0)
			n += more;
	}
	return n % sizeof(*ev) ? -EIO : (int)(n / sizeof(*ev));
}

/* Wait until @nr events have been read; less if they do not come. */
static inline int collect(int fd, struct twheel_event *ev, unsigned int nr)
{
	unsigned int n = 0;
	int ret;

	while (n < nr) {
		if (!(wheel_poll(fd, NEVER_MS) & POLLIN))
			break;
		ret = wheel_read(fd, ev + n, nr - n);
		if (ret == -EAGAIN)
			continue;
		if (ret <= 0)
			return ret ?: -EIO;
		n += ret;
	}
	return n;
}

/* Wait until so many events wait to be read. */
static inline bool wait_expired(int fd, __u64 nr)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	struct twheel_stats s;

	do {
		if (wheel_stats(fd, &s))
			return false;
		if (s.expired >= nr)
			return true;
		sleep_until(now_ns() + MSEC);
	} while (now_ns() < limit);
	return false;
}

/* So many events that wait, with ids and cookies 0 to @nr - 1. */
static inline int expire(int fd, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = arm_at(fd, i, 1, i);
		if (ret)
			return ret;
	}
	return wait_expired(fd, nr) ? 0 : -ETIME;
}

/*
 * All that a call may change of a wheel whose timers are far away, or expired
 * and unread.
 */
#define SNAPSHOT_MAX	64

struct snapshot {
	struct twheel_setup setup;
	struct twheel_stats stats;
	int nr;
	struct twheel_timer timers[SNAPSHOT_MAX];
};

static inline int snapshot_take(int fd, struct snapshot *s)
{
	struct twheel_stats st;
	int ret, i;

	memset(s, 0, sizeof(*s));
	ret = get_setup(fd, &s->setup);
	if (ret)
		return ret;
	ret = wheel_stats(fd, &st);
	if (ret)
		return ret;
	s->stats.pending = st.pending;
	s->stats.expired = st.expired;
	s->stats.arms = st.arms;
	s->stats.cancels = st.cancels;
	s->stats.fired = st.fired;
	s->stats.delivered = st.delivered;
	s->nr = list_all(fd, s->timers, SNAPSHOT_MAX);
	for (i = 0; i < s->nr; i++) {
		/* These follow the clock. */
		s->timers[i].remaining = 0;
		s->timers[i].overruns = 0;
	}
	return s->nr < 0 ? s->nr : 0;
}

/* Has nothing changed since the snapshot was taken? */
static inline bool snapshot_holds(int fd, const struct snapshot *before)
{
	struct snapshot after;

	return !snapshot_take(fd, &after) &&
	       !memcmp(&after, before, sizeof(after));
}

/* Kernels differ in the size of a page. */
#define PAGE	((size_t)sysconf(_SC_PAGESIZE))

/*
 * Memory that ends: @size usable bytes, after which pages with the protection
 * @prot follow.  What @fill has is copied there first, across the edge.
 */
#define EDGE_PAGES	64

static inline void *edge(size_t size, const void *fill, size_t fill_size,
			 int prot)
{
	size_t half = EDGE_PAGES * PAGE;
	char *p = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* A test without its memory would test something else. */
	if (p == MAP_FAILED || size > half || fill_size > half)
		abort();
	if (fill)
		memcpy(p + half - size, fill, fill_size);
	if (mprotect(p + half, half, prot))
		abort();
	return p + half - size;
}

/* A pointer that leads nowhere. */
static inline void *nowhere(void)
{
	return edge(0, NULL, 0, PROT_NONE);
}

static inline int write_file(const char *path, const char *fmt, ...)
{
	char text[128];
	va_list args;
	int fd, len, ret;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, len) == len ? 0 : -errno;
	close(fd);
	return ret;
}

static inline int read_file(const char *path, char *text, size_t size)
{
	ssize_t n;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	text[n] = 0;
	return n;
}

/* The number after @key in a file, or -1. */
static inline long long file_value(const char *path, const char *key)
{
	char text[4096], *p = text;

	if (read_file(path, text, sizeof(text)) < 0)
		return -1;
	if (key) {
		p = strstr(text, key);
		if (!p)
			return -1;
		p += strlen(key);
	}
	return strtoll(p, NULL, 10);
}

/* By which a wheel is known from others. */
static inline __u64 number_of(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return file_value(path, "twheel-number:\t");
}

/* The exit code of a child, or -1 if it did not exit. */
static inline int child_result(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* In a child, where the harness's macros do not reach the parent. */
#define CHILD_CHECK(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "# %s:%d: child: %s\n", __FILE__,	\
			__LINE__, #cond);				\
		_exit(1);						\
	}								\
} while (0)

static inline int compare_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Small and repeatable; the tests need variety, not secrecy. */
static inline __u32 next_random(__u32 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

#endif /* TWHEEL_TEST_H */
