// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel over one timerfd, for tests without the module.  It has words, and
 * events come by read; a program has one wheel at a time.
 *
 * It is there to be told to cheat: a judge that never saw a culprit proves
 * nothing.  FAKE=early fires each 50th timer 20 ms too soon, FAKE=lose drops
 * its event, FAKE=late holds it back for 3 s, FAKE=stale gives it a deadline
 * that was not asked for.  FAKE=wordless does not cheat; it has no words.
 * FAKE=denied is a cgroup that does not let a program open it, FAKE=absent has no such file.
 * FAKE=foreign has another ABI, and with FAKE=coarse the clock has no better
 * resolution than ticks of 4 ms.
 *
 * With FAKE_TIMERS=N any file is a wheel, which has that many timers to be listed, and counters
 * that are always the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include <linux/twheel.h>

#include "demo/clock.h"
#include "duration.h"
#include "fake-kernel.h"

#define CAPACITY	TWHEEL_DEFAULT_CAPACITY
#define WORDS_OFFSET	0x10000000ULL
#define WORDS_SIZE	(CAPACITY * sizeof(struct twheel_word))

/* What the clock of a wheel tells that is always the same. */
#define NOW		(5 * NSEC_PER_SEC)

/* The state of a timer in addition to its word. */
struct timer {
	uint32_t generation;
	uint32_t count;
	uint64_t interval;
	uint64_t cookie;
	/* When the fake looks at it, cheating or not; 0: never. */
	uint64_t due;
};

static int wheel = -1;
static struct twheel_word *words;
static struct timer timers[CAPACITY];
static uint32_t used;
static struct twheel_stats counters;

static bool tells(const char *how)
{
	const char *fake = getenv("FAKE");

	return fake && !strcmp(fake, how);
}

static bool cheats(uint32_t id, const char *how)
{
	return id % 50 == 0 && tells(how);
}

/* Readable from the soonest look on; not at all without one. */
static void program(void)
{
	struct itimerspec spec = {};
	uint64_t soonest = 0;
	uint32_t id;

	for (id = 0; id < used; id++) {
		if (timers[id].due && (!soonest || timers[id].due < soonest))
			soonest = timers[id].due;
	}
	spec.it_value.tv_sec = soonest / NSEC_PER_SEC;
	spec.it_value.tv_nsec = soonest % NSEC_PER_SEC;
	timerfd_settime(wheel, TFD_TIMER_ABSTIME, &spec, NULL);
}

static uint64_t due_of(uint32_t id)
{
	uint64_t due = words[id].deadline;

	if (cheats(id, "early"))
		due -= 20 * NSEC_PER_MSEC;
	if (cheats(id, "late"))
		due += 3 * NSEC_PER_SEC;
	return due;
}

static void file(uint32_t id)
{
	words[id].promise = words[id].deadline;
	timers[id].due = words[id].deadline ? due_of(id) : 0;
}

static int arm(struct twheel_op *op)
{
	struct timer *timer;

	if (op->id == TWHEEL_ID_ANY)
		op->id = used;
	if (op->id >= CAPACITY)
		return -ERANGE;
	if (op->id >= used)
		used = op->id + 1;
	timer = &timers[op->id];
	if (op->flags & TWHEEL_ARM_STORED) {
		file(op->id);
		return 0;
	}
	timer->cookie = op->cookie;
	timer->count = op->count;
	timer->interval = op->interval;
	words[op->id].deadline = op->deadline + (op->flags & TWHEEL_ARM_RELATIVE ? now() : 0);
	file(op->id);
	op->generation = ++timer->generation;
	return 0;
}

static int cancel(struct twheel_op *op)
{
	words[op->id].deadline = 0;
	file(op->id);
	return 0;
}

static void submit(struct twheel_submit *submit)
{
	struct twheel_op *ops = (void *)(uintptr_t)submit->ops;

	for (submit->done = 0; submit->done < submit->nr; submit->done++) {
		struct twheel_op *op = &ops[submit->done];

		op->result = op->opcode == TWHEEL_OP_ARM ? arm(op) : cancel(op);
		submit->failed += op->result < 0;
	}
}

static int set_up(struct twheel_setup *setup)
{
	if (setup->capacity > CAPACITY)
		return -ERANGE;
	if (!setup->capacity)
		setup->capacity = CAPACITY;
	if (setup->flags & TWHEEL_SETUP_WORDS)
		setup->words_offset = WORDS_OFFSET;
	return 0;
}

/* Of ten timers one has expired, every fifth is periodic; cookies fall while ids rise. */
static struct twheel_timer listed(uint32_t id, uint32_t nr)
{
	bool expired = id % 10 == 3;

	return (struct twheel_timer){
		.id = id,
		.generation = 1,
		.cookie = nr - id,
		.deadline = NSEC_PER_SEC,
		.remaining = expired ? 0 : (id * 7ULL % nr + 1) * NSEC_PER_MSEC,
		.interval = id % 5 ? 0 : NSEC_PER_SEC,
		.overruns = id % 4,
		.state = expired ? TWHEEL_STATE_EXPIRED : TWHEEL_STATE_PENDING,
	};
}

static const struct twheel_stats always = {
	.pending = 1000,
	.expired = 3,
	.next = NOW + 2500 * NSEC_PER_MSEC,
	.max_late = 5 * NSEC_PER_MSEC,
	.late = { [5] = 150, [6] = 40, [13] = 10 },
};

static uint32_t fake_timers(void)
{
	const char *nr = getenv("FAKE_TIMERS");

	return nr ? strtoul(nr, NULL, 10) : 0;
}

static int list(struct twheel_list *list)
{
	struct twheel_timer *to = (void *)(uintptr_t)list->timers;
	uint32_t nr = fake_timers();

	for (list->done = 0; list->done < list->nr && list->cursor < nr; list->done++)
		to[list->done] = listed(list->cursor++, nr);
	return 0;
}

static int get(struct twheel_timer *timer)
{
	uint32_t nr = fake_timers();

	if (timer->id >= CAPACITY)
		return -ERANGE;
	*timer = timer->id < nr ? listed(timer->id, nr) : (struct twheel_timer){ .id = timer->id };
	return 0;
}

static int call(unsigned long request, void *arg)
{
	switch (request) {
	case TWHEEL_IOC_FEATURES:
		*(struct twheel_features *)arg = (struct twheel_features){
			.abi = TWHEEL_ABI + tells("foreign"),
			.features = tells("wordless") ? 0 : TWHEEL_FEATURE_WORDS,
		};
		return 0;
	case TWHEEL_IOC_SETUP:
		return set_up(arg);
	case TWHEEL_IOC_ARM:
		return arm(arg);
	case TWHEEL_IOC_CANCEL:
		return cancel(arg);
	case TWHEEL_IOC_SUBMIT:
		submit(arg);
		return 0;
	case TWHEEL_IOC_GET_SETUP:
		*(struct twheel_setup *)arg = (struct twheel_setup){
			.tick = TWHEEL_DEFAULT_TICK,
			.capacity = CAPACITY,
			.now = NOW,
		};
		return 0;
	case TWHEEL_IOC_LIST:
		return list(arg);
	case TWHEEL_IOC_GET:
		return get(arg);
	case TWHEEL_IOC_STATS:
		*(struct twheel_stats *)arg = getenv("FAKE_TIMERS") ? always : counters;
		return 0;
	default:
		return -ENOTTY;
	}
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	if (fd != wheel && !getenv("FAKE_TIMERS"))
		return __real_ioctl(fd, request, arg);
	ret = call(request, arg);
	program();
	if (!ret)
		return 0;
	errno = -ret;
	return -1;
}

/* Look at a timer: is it due, and not only at its deadline of before? */
static bool expire(uint32_t id, struct twheel_event *event)
{
	struct timer *timer = &timers[id];

	file(id);
	if (!timer->due || timer->due > now())
		return false;
	*event = (struct twheel_event){
		.id = id,
		.generation = timer->generation,
		.cookie = timer->cookie,
		.deadline = words[id].deadline - (cheats(id, "stale") ? 1 : 0),
		.fired = now(),
	};
	counters.fired++;
	if (timer->interval && timer->count != 1) {
		timer->count -= !!timer->count;
		words[id].deadline += timer->interval;
	} else {
		words[id].deadline = 0;
		event->flags = TWHEEL_EVENT_LAST;
	}
	file(id);
	return !cheats(id, "lose");
}

static int by_deadline(const void *a, const void *b)
{
	const struct twheel_event *x = a, *y = b;

	return (x->deadline > y->deadline) - (x->deadline < y->deadline);
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
	struct twheel_event *events = to;
	uint64_t expirations;
	size_t taken = 0;
	uint32_t id;

	if (fd != wheel)
		return __real_read(fd, to, size);
	/* Blocks until there is one to look at, if the file may block. */
	if (__real_read(wheel, &expirations, sizeof(expirations)) < 0)
		return -1;
	for (id = 0; id < used && (taken + 1) * sizeof(*events) <= size; id++) {
		if (timers[id].due && timers[id].due <= now())
			taken += expire(id, &events[taken]);
	}
	program();
	qsort(events, taken, sizeof(*events), by_deadline);
	if (taken)
		return taken * sizeof(*events);
	errno = EAGAIN;
	return -1;
}

int __wrap_clock_getres(clockid_t clock, struct timespec *resolution)
{
	int ret = __real_clock_getres(clock, resolution);

	if (tells("coarse"))
		resolution->tv_nsec = 4 * NSEC_PER_MSEC;
	return ret;
}

/* Nothing that is linked here makes a file, so there is no mode. */
int __wrap_open(const char *path, int flags, ...)
{
	const char *fake = getenv("FAKE");

	if (strcmp(path, "/dev/twheel"))
		return __real_open(path, flags);
	if (fake && !strcmp(fake, "denied")) {
		errno = EPERM;
		return -1;
	}
	if (fake && !strcmp(fake, "absent")) {
		errno = ENOENT;
		return -1;
	}
	words = __real_mmap(NULL, WORDS_SIZE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED)
		return -1;
	memset(timers, 0, sizeof(timers));
	memset(&counters, 0, sizeof(counters));
	used = 0;
	wheel = timerfd_create(CLOCK_MONOTONIC, flags & (O_NONBLOCK | O_CLOEXEC));
	return wheel;
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return fd >= 0 && fd == wheel ? words :
	       __real_mmap(at, size, protection, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return __wrap_mmap(at, size, protection, flags, fd, offset);
}
