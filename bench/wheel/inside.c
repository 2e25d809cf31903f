// SPDX-License-Identifier: GPL-2.0
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/sys.h"
#include "inside.h"

#define WORDS_OFFSET	(1ULL << 32)

static struct timers *ts;
static struct twheel_setup shape;
/* In one piece, as a program maps them. */
static struct twheel_word *words;
static u64 clock_now;

bool inside_start(u32 capacity, u64 now)
{
	ts = host_alloc(sizeof(*ts));
	if (!ts)
		return false;
	clock_now = now;
	shape = (struct twheel_setup){ .capacity = capacity, .tick = 1U << 20 };
	timers_setup(ts, capacity, 0, 64, shape.tick, now);
	return owner_add_chunks(&ts->wheel);
}

void inside_clock(u64 now)
{
	clock_now = now;
}

u32 inside_armed(void)
{
	return ts->wheel.filed + timers_queued(ts);
}

void inside_turn(u64 now)
{
	clock_now = now;
	owner_advance(ts, now);
}

static bool add_words(void)
{
	words = host_alloc(shape.capacity * sizeof(*words));
	if (!words || !words_begin(ts))
		return false;
	for (u32 id = 0; id < shape.capacity; id += WORDS_PER_PAGE)
		words_add(ts, id, words + id);
	shape.words_offset = WORDS_OFFSET;
	return true;
}

static int set_up(struct twheel_setup *asked)
{
	shape.flags = asked->flags & TWHEEL_SETUP_WORDS;
	if (shape.flags && !add_words())
		return -ENOMEM;
	*asked = shape;
	return 0;
}

static int submit(struct twheel_submit *call)
{
	/* The module copies them too, 64 at a time. */
	struct twheel_op ops[64], *from = (struct twheel_op *)(uintptr_t)call->ops;

	for (u32 done = 0, nr; done < call->nr; done += nr) {
		nr = min_t(u32, call->nr - done, ARRAY_SIZE(ops));
		memcpy(ops, from + done, nr * sizeof(*ops));
		call->failed += owner_submit(ts, ops, nr, clock_now);
		memcpy(from + done, ops, nr * sizeof(*ops));
	}
	call->done = call->nr;
	return 0;
}

/* The system calls of the library */

int twheel_sys_open(const char *path)
{
	(void)path;
	return INSIDE_FD;
}

void twheel_sys_close(int fd)
{
	if (fd != INSIDE_FD)
		close(fd);
}

/* A wheel in the process has a real timerfd, because to set it costs a real system call. */
int twheel_sys_timer(uint32_t clock)
{
	return timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
}

void twheel_sys_timer_set(int fd, uint64_t when)
{
	struct itimerspec spec = {
		.it_value.tv_sec = when >= INT64_MAX ? 0 : when / NSEC_PER_SEC,
		.it_value.tv_nsec = when >= INT64_MAX ? 0 : when % NSEC_PER_SEC + !when,
	};

	timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* And memory as it has it there. */
int twheel_sys_memory(size_t size, bool share, void **at)
{
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   (share ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return *at == MAP_FAILED ? -errno : 0;
}

int twheel_sys_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	switch (request) {
	case TWHEEL_IOC_FEATURES:
		*(struct twheel_features *)arg = (struct twheel_features){
			.abi = TWHEEL_ABI,
			.features = TWHEEL_FEATURE_WORDS,
		};
		return 0;
	case TWHEEL_IOC_SETUP:
		return set_up(arg);
	case TWHEEL_IOC_ARM:
		return owner_arm(ts, arg, clock_now);
	case TWHEEL_IOC_SUBMIT:
		return submit(arg);
	default:
		return -ENOTTY;
	}
}

int twheel_sys_read(int fd, void *to, size_t size)
{
	struct twheel_event events[TIMERS_CLAIM_MAX], *out = to;
	size_t room = size / sizeof(*out), all = 0;
	unsigned int nr;

	(void)fd;
	while (all < room &&
	       (nr = timers_claim(ts, events, min_t(size_t, room - all, TIMERS_CLAIM_MAX),
				  clock_now))) {
		memcpy(out + all, events, nr * sizeof(*events));
		all += timers_commit(ts, events, nr, nr, ts->claims, clock_now);
	}
	return all * sizeof(*out);
}

int twheel_sys_poll(int fd, int64_t timeout)
{
	(void)fd;
	(void)timeout;
	return timers_queued(ts) > 0;
}

int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at)
{
	(void)fd;
	(void)offset;
	(void)size;
	*at = words;
	return 0;
}

void twheel_sys_unmap(void *at, size_t size)
{
	if (at != words)
		munmap(at, size);
}

int twheel_sys_set_nonblocking(int fd)
{
	(void)fd;
	return 0;
}

bool twheel_sys_writable(int fd)
{
	(void)fd;
	return true;
}

uint64_t twheel_sys_now(uint32_t clock)
{
	(void)clock;
	return clock_now;
}
