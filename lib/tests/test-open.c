// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * To open a wheel: what is refused, which part of the words is mapped, wheels that are handed
 * over; and that fork() is prepared for by then.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modes.h"
#include "sys.h"

static int try_open(const struct twheel_options *options)
{
	struct twheel *w = NULL;
	int ret = twheel_open(&w, options);

	if (!ret)
		twheel_close(w);
	return ret;
}

static void opening(void)
{
	struct {
		struct twheel_options options;
		uint64_t more;
	} longer = { .options.size = sizeof(longer) };
	struct twheel_options o = { .size = sizeof(o) };
	struct twheel *w;

	kernel_boot(WORDS);
	CHECK(try_open(NULL) == 0);
	CHECK(try_open(&o) == 0);
	o.size = sizeof(o) - 4;
	CHECK(try_open(&o) == -EINVAL);
	CHECK(try_open(&longer.options) == 0);
	longer.more = 1;
	CHECK(try_open(&longer.options) == -E2BIG);
	tap_result("options of another size");

	o = (struct twheel_options){ .size = sizeof(o), .flags = 1U << 31 };
	CHECK(try_open(&o) == -EOPNOTSUPP);
	o = (struct twheel_options){ .size = sizeof(o), .clock = CLOCK_BOOTTIME };
	CHECK(try_open(&o) == -EINVAL);
	o.flags = TWHEEL_OPEN_CLOCK;
	CHECK(try_open(&o) == 0);
	o.clock = CLOCK_PROCESS_CPUTIME_ID;
	CHECK(try_open(&o) == -EOPNOTSUPP);
	o = (struct twheel_options){ .size = sizeof(o), .capacity = ~0U };
	CHECK(try_open(&o) == -ERANGE);
	o = (struct twheel_options){ .size = sizeof(o), .reserved = 1 };
	CHECK(try_open(&o) == -EINVAL);
	o = (struct twheel_options){ .size = sizeof(o), .path = "/dev/nothing" };
	CHECK(try_open(&o) == -ENODEV);
	o = (struct twheel_options){ .size = sizeof(o), .fd = 1 };
	CHECK(try_open(&o) == -EINVAL);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	CHECK(try_open(&o) == -ENOTTY);
	o.path = "/dev/twheel";
	CHECK(try_open(&o) == -EINVAL);
	/* A later module may have more than this library asks for. */
	kernel.features |= 1ULL << 40;
	CHECK(try_open(NULL) == 0);
	kernel.features = WORDS;
	kernel.abi = TWHEEL_ABI + 1;
	CHECK(try_open(NULL) == -EPROTO);
	kernel.abi = TWHEEL_ABI;
	kernel.map_error = -ENOMEM;
	CHECK(try_open(NULL) == -ENOMEM);
	kernel.map_error = 0;
	kernel.words_error = -EDQUOT;
	CHECK(try_open(NULL) == -EDQUOT);
	kernel.words_error = 0;
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	twheel_close(NULL);
	tap_result("options that mean nothing, and kernels that can't");

	/* In use without words. */
	kernel_boot(WORDS);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_NO_WORDS };
	CHECK(twheel_open(&w, &o) == 0);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	o.fd = kernel_dup(twheel_fd(w));
	kernel_make_blocking(o.fd);
	twheel_close(w);
	o.capacity = CAPACITY;
	CHECK(try_open(&o) == -EBUSY);
	o.capacity = KERNEL_CAPACITY_MAX;
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == 0 && kernel_nonblocking(o.fd));
	twheel_close(w);

	/* In use with words. */
	w = boot(words_mode);
	o.fd = kernel_dup(twheel_fd(w));
	o.flags = TWHEEL_OPEN_FD | TWHEEL_OPEN_NO_WORDS;
	o.capacity = CAPACITY;
	twheel_close(w);
	CHECK(twheel_open(&w, &o) == 0 && twheel_has(w) == 0);
	twheel_close(w);

	/* As it was made is as good as not said. */
	kernel_boot(WORDS);
	o = (struct twheel_options){ .size = sizeof(o), .capacity = CAPACITY };
	CHECK(twheel_open(&w, &o) == 0);
	o.flags = TWHEEL_OPEN_FD;
	o.fd = kernel_dup(twheel_fd(w));
	o.capacity = CAPACITY + 1;
	CHECK(try_open(&o) == -EBUSY);
	o.capacity = CAPACITY;
	o.tick = MS / 2;
	CHECK(try_open(&o) == -EBUSY);
	o.tick = 0;
	kernel.map_error = -ENOMEM;
	CHECK(try_open(&o) == -ENOMEM);
	kernel.map_error = 0;
	twheel_close(w);
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == TWHEEL_HAS_WORDS);
	twheel_close(w);

	/* A failed mapping leaves the wheel as it is. */
	kernel_boot(WORDS);
	o = (struct twheel_options){ .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	o.fd = twheel_sys_open("/dev/twheel");
	kernel_make_read_only(o.fd);
	o.capacity = CAPACITY;
	CHECK(try_open(&o) == -EACCES);
	o.flags |= TWHEEL_OPEN_NO_WORDS;
	CHECK(twheel_open(&w, &o) == 0);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("a wheel in use is opened as it is, or not at all");
}

/* A wheel that somebody else has opened is as good as an own one, until it is used. */
static void handed_over(void)
{
	struct twheel_options o = { .size = sizeof(o), .flags = TWHEEL_OPEN_FD };
	struct twheel *w;

	kernel_boot(WORDS);
	o.fd = twheel_sys_open("/dev/twheel");
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == TWHEEL_HAS_WORDS && twheel_capacity(w) == KERNEL_CAPACITY_MAX);
	twheel_close(w);
	o.fd = twheel_sys_open("/dev/twheel");
	o.capacity = CAPACITY;
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == words_mode->has && twheel_capacity(w) == CAPACITY);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("a wheel handed over and not used gets its shape and words");
}

/* A wheel has words that the handle does not map: its timers are armed by calls. */
static void words_not_mapped(void)
{
	struct twheel_setup setup = { .flags = TWHEEL_SETUP_WORDS };
	struct twheel_options o = {
		.size = sizeof(o), .flags = TWHEEL_OPEN_FD | TWHEEL_OPEN_NO_WORDS,
	};
	const size_t size = KERNEL_CAPACITY_MAX * sizeof(struct twheel_word);
	struct twheel_arming arming = { .interval = MS };
	unsigned long calls;
	struct twheel_word *words;
	struct twheel *w;
	uint32_t count = ~0U;
	uint64_t start;
	void *at;

	kernel_boot(WORDS);
	o.fd = twheel_sys_open("/dev/twheel");
	CHECK(twheel_sys_ioctl(o.fd, TWHEEL_IOC_SETUP, &setup) == 0);
	CHECK(twheel_open(&w, &o) == 0);
	CHECK(twheel_has(w) == 0 && twheel_capacity(w) == KERNEL_CAPACITY_MAX);
	CHECK(!twheel_words(w, &count) && !count);
	start = twheel_now(w);
	CHECK(twheel_arm(w, 7, start + MS) == 0);
	calls = kernel.calls;
	CHECK(twheel_extend(w, 7, start + 10 * MS) == 0);
	CHECK(kernel.calls - calls == 1);
	expect(w, 7, start + 10 * MS);
	CHECK(twheel_arm(w, 8, start + 20 * MS) == 0);
	CHECK(twheel_cancel_tell(w, 8) == TWHEEL_STATE_PENDING);
	expect_none(w, 100 * MS);
	arming.deadline = twheel_now(w) + MS;
	CHECK(twheel_arm_with(w, 9, &arming) == 0);
	expect(w, 9, arming.deadline);
	expect(w, 9, arming.deadline + MS);
	CHECK(twheel_cancel(w, 9) == 0);

	/* What its owner has stored and not called: a successor finds it all the same. */
	CHECK(twheel_sys_map(o.fd, setup.words_offset, size, &at) == 0);
	words = at;
	words[3].deadline = twheel_now(w) + MS;
	CHECK(twheel_adopt(w) == 1);
	expect(w, 3, words[3].deadline ? words[3].deadline : kernel_now());
	twheel_sys_unmap(at, size);
	twheel_close(w);
	CHECK(kernel_open_files() == 0 && kernel_mappings() == 0);
	tap_result("words that a handle does not map: its timers go by calls");
}

/* Is main() running? */
static bool running;
/* Has the first handle been opened, or is a thread about to prepare for forks? */
static bool opening_first;

int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	static unsigned int calls;
	/* The first is the simulated kernel's. */
	bool fails = calls++ && getenv("NO_MEMORY_FOR_FORKS");

	if (running) {
		__atomic_store_n(&opening_first, true, __ATOMIC_SEQ_CST);
		nanosleep(&(struct timespec){ .tv_nsec = KERNEL_HOLD }, NULL);
	}
	return fails ? ENOMEM : __real_pthread_atfork(before, parent, child);
}

static void *open_first(void *arg)
{
	struct twheel *w = boot(words_mode);

	(void)arg;
	__atomic_store_n(&opening_first, true, __ATOMIC_SEQ_CST);
	twheel_close(w);
	return NULL;
}

/* As the first thing in a process, because only then nothing is prepared. */
static void forks_at_first_open(void)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	CHECK(pthread_create(&thread, NULL, open_first, NULL) == 0);
	while (!__atomic_load_n(&opening_first, __ATOMIC_SEQ_CST))
		sched_yield();
	child = fork();
	if (!child) {
		alarm(10);
		twheel_close(boot(words_mode));
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	tap_result("a child can open, though a thread was opening the first at the fork");
}

static void no_memory_for_forks(const char *program)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		setenv("NO_MEMORY_FOR_FORKS", "1", 1);
		execl("/proc/self/exe", program, NULL);
		_exit(1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	tap_result("without memory to prepare for forks nothing is opened");
}

/* A handle that a constructor of the program has opened. */
static int opened_early = -1;

__attribute__((constructor)) static void open_early(void)
{
	struct twheel *w;

	kernel_boot(WORDS);
	opened_early = twheel_open(&w, NULL);
	if (!opened_early)
		twheel_close(w);
}

void test_first_open(const char *program)
{
	running = true;
	if (getenv("NO_MEMORY_FOR_FORKS")) {
		kernel_boot(WORDS);
		exit(try_open(NULL) != -ENOMEM);
	}
	CHECK(opened_early == 0);
	tap_result("a constructor can open a wheel");
	forks_at_first_open();
	no_memory_for_forks(program);
}

void test_open(void)
{
	opening();
	handed_over();
	words_not_mapped();
}
