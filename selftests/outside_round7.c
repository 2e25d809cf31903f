// SPDX-License-Identifier: GPL-2.0
/*
 * What outsiders found from a seventh round on: most of it ways to more of softirq's time than
 * a user is to have, or to that of others.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/timex.h>

#include "beside.h"
#include "outside.h"

/* The time for which softirq has a budget, and the budget. */
#define SPAN		(250 * USEC)
#define MAX_PASS	64

/*
 * The events that wait for the ring are all stale, and what is wanted instead has passed as
 * well: each of them comes back at once, and costs no less than one that is new.
 */
TEST(stale_events_cost_as_much_as_others)
{
	enum { NR = 1000, TIME = 300 };
	__u64 start, elapsed, stored = 1000;
	struct twheel_stats before, after;
	struct shared s;

	if (!getenv("TWHEEL_COUNTED"))
		SKIP(return, "counted time only: set TWHEEL_COUNTED=1");
	ASSERT_EQ(0, shared_open(&s, 4096, 256, 0));
	for (int i = 0; i < NR; i++)
		ASSERT_EQ(0, arm_at(s.fd, i, now_ns() - MSEC, 0));
	/* The ring is full.  When one more is due there will be room in it, and from then on. */
	ASSERT_EQ(0, arm_in(s.fd, NR, MSEC, 0));
	ASSERT_EQ(0, wheel_stats(s.fd, &before));
	start = now_ns();
	while (now_ns() < start + TIME * MSEC) {
		for (int i = 0; i < NR; i++)
			__atomic_store_n(&s.word[i].deadline, stored++, __ATOMIC_RELAXED);
		__atomic_store_n(&s.ring->head,
				 __atomic_load_n(&s.ring->tail, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	elapsed = now_ns() - start;
	ASSERT_EQ(0, wheel_stats(s.fd, &after));
	TH_LOG("%llu found in %llu ms", after.fired - before.fired, elapsed / MSEC);
	EXPECT_LT(0, after.fired - before.fired);
	EXPECT_GE((elapsed / SPAN + 2) * MAX_PASS, after.fired - before.fired);
	shared_close(&s);
}

struct storer {
	pthread_t		thread;
	struct twheel_word	*word;
	bool			stop;
};

/* Arm a timer and cancel it, by stores alone, at moments that wander. */
static void *store(void *arg)
{
	struct storer *s = arg;
	unsigned int wait = 1;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		__u64 deadline = wait & 1 ? 0 : 1ULL << 60;

		__atomic_exchange_n(&s->word->deadline, deadline, __ATOMIC_SEQ_CST);
		wait = wait * 5 % 509;
		for (unsigned int i = 0; i < wait; i++)
			__asm__ volatile("");
	}
	return NULL;
}

/*
 * An arm that depends on whether the timer is armed is refused or not by the state that it
 * puts an end to, also if another thread stores deadlines meanwhile.
 */
TEST(only_new_and_only_move_hold_beside_stores)
{
	unsigned long armed[2] = {}, wrong = 0;
	struct storer storer = {};
	struct shared s;
	__u64 end;

	ASSERT_EQ(0, shared_open(&s, 256, 0, 0));
	storer.word = s.word;
	ASSERT_EQ(0, thread_start(&storer.thread, store, &storer));
	end = now_ns() + 2 * SEC;
	for (unsigned int i = 0; now_ns() < end; i++) {
		struct twheel_op op = {
			.flags = i & 1 ? TWHEEL_ARM_NEW : TWHEEL_ARM_MOVE,
			.deadline = 1ULL << 59,
		};

		if (ioctl(s.fd, TWHEEL_IOC_ARM, &op))
			continue;
		armed[i & 1]++;
		wrong += (op.state == TWHEEL_STATE_IDLE) != (i & 1);
	}
	__atomic_store_n(&storer.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(storer.thread, NULL));
	TH_LOG("%lu moved, %lu armed, %lu of them wrongly", armed[0], armed[1], wrong);
	EXPECT_LT(0, armed[0]);
	EXPECT_LT(0, armed[1]);
	EXPECT_EQ(0, wrong);
	shared_close(&s);
}

/*
 * However many events wait that nobody reads, who sleeps in epoll hears of one more; within a
 * second, if they are more than a thousand.  Here all of them are stale.
 */
TEST(an_edge_comes_behind_any_number_of_events)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { NR = 4000 };
	struct twheel_event ev;
	struct shared s;
	int epoll, n;

	ASSERT_EQ(0, shared_open(&s, 4096, 0, 0));
	epoll = epoll_create1(0);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &event));
	ASSERT_EQ(0, arm_many(s.fd, NR, now_ns() + 5 * MSEC, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* Whoever asks has all of them found. */
	sleep_until(now_ns() + 50 * MSEC);
	ASSERT_TRUE(wheel_poll(s.fd, 0) & POLLIN);
	epoll_get(epoll, 0);
	for (__u32 i = 0; i < NR; i++)
		cancel_by_store(&s, i);
	ASSERT_EQ(0, arm_in(s.fd, NR, 20 * MSEC, 1));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	n = wheel_read(s.fd, &ev, 1);
	/* One edge may have been for what is stale by now, all of which the read has dropped. */
	if (n == -EAGAIN) {
		ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
		n = wheel_read(s.fd, &ev, 1);
	}
	EXPECT_EQ(1, n);
	EXPECT_EQ(NR, ev.id);
	close(epoll);
	shared_close(&s);
}

/*
 * So does one behind timers that are due by what was stored before, in a wheel that stands still
 * for a second at a time.
 */
TEST(an_edge_comes_behind_what_is_not_due_any_more)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	enum { NR = 4000 };
	struct shared s;
	__u64 due;
	int epoll;

	ASSERT_EQ(0, shared_open(&s, 4096, 0, SEC));
	epoll = epoll_create1(0);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, s.fd, &event));
	/* An event that nobody reads. */
	ASSERT_EQ(0, arm_at(s.fd, NR, 1, 0));
	ASSERT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	/* All are cancelled by then. */
	due = now_ns() + LATE;
	ASSERT_EQ(0, arm_many(s.fd, NR, due, 0));
	for (__u32 i = 0; i < NR; i++)
		cancel_by_store(&s, i);
	ASSERT_EQ(0, arm_at(s.fd, NR + 1, due + SEC, 0));
	ASSERT_EQ(0, epoll_get(epoll, 0));
	EXPECT_EQ(EPOLLIN, epoll_get(epoll, NEVER_MS));
	close(epoll);
	shared_close(&s);
}

/* Wakes that many, each time that softirq finds the event of a timer with a period of 1 ms. */
#define WAKEN		22000

static void wake_many(int ready)
{
	const struct rlimit files = { WAKEN + 100, WAKEN + 100 };
	struct epoll_event event = { .events = EPOLLIN };
	struct twheel_event ev;
	int fd, epoll;

	CHILD_CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	fd = wheel_open(0);
	CHILD_CHECK(fd >= 0);
	be(BOB);
	for (int i = 0; i < WAKEN; i++) {
		epoll = epoll_create1(0);
		CHILD_CHECK(epoll >= 0);
		CHILD_CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	}
	CHILD_CHECK(!arm_every(fd, 1, now_ns() + MSEC, MSEC, 0));
	child_ready(ready);
	for (;;)
		wheel_read(fd, &ev, 1);
}

/*
 * A wake-up takes a little more than a pass is to take.  It is its user's matter, and whoever
 * else has a wheel waits for one of them, and not for the end of a span that it has prolonged.
 */
TEST(wake_ups_put_off_nobody_else)
{
	enum { NR = 200, AHEAD = 3 * MSEC };
	__u64 late[NR], deadline;
	struct twheel_event ev;
	int ready, fd;
	pid_t pid;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	pid = fork_beside(&ready);
	if (!pid)
		wake_many(ready);
	ASSERT_LT(0, pid);
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	for (int i = 0; i < NR; i++) {
		deadline = now_ns() + AHEAD;
		ASSERT_EQ(0, arm_at(fd, 1, deadline, 0));
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
		late[i] = ev.fired - deadline;
	}
	EXPECT_TRUE(child_end(pid));
	qsort(late, NR, sizeof(*late), by_lateness);
	TH_LOG("late by %llu us, and at p99 %llu", late[NR / 2] / USEC, late[NR * 99 / 100] / USEC);
	/* A tick, and two of these wake-ups. */
	EXPECT_GE(7 * MSEC, late[NR * 99 / 100]);
	close(fd);
}

/* Of a program that only counts, in shared memory: how far does it get? */
static __u64 counted_in(const __u64 *count, __u64 ns)
{
	__u64 before = __atomic_load_n(count, __ATOMIC_RELAXED);

	sleep_until(now_ns() + ns);
	return __atomic_load_n(count, __ATOMIC_RELAXED) - before;
}

/*
 * Wheels that want to be turned one after the other take an interrupt each.  What that takes
 * is softirq's time as well, of which all wheels together have an eighth.
 */
TEST(interrupts_are_spent_of_the_eighth)
{
	enum { NR = 200, TIMERS = 300 };
	const __u64 period = 4 * MSEC, time = 600 * MSEC;
	static int fd[NR];
	__u64 alone, beside, start, *count;
	pid_t hog;

	if (!getenv("TWHEEL_COUNTED") || getuid())
		SKIP(return, "counted time only, and root: set TWHEEL_COUNTED=1");
	count = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, count);
	hog = fork();
	while (!hog)
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	ASSERT_LT(0, hog);
	alone = counted_in(count, time);
	start = now_ns() + 5 * SEC;
	for (unsigned int i = 0; i < NR; i++) {
		struct twheel_setup setup = { .tick = 100 * USEC + i };

		fd[i] = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, fd[i]);
		/* One user each: the wheel is of who uses it first. */
		ASSERT_EQ(0, setresuid(BOB + i, BOB + i, 0));
		ASSERT_EQ(0, set_up(fd[i], &setup));
		ASSERT_EQ(0, arm_many(fd[i], TIMERS, start + i * period / NR, period));
		ASSERT_EQ(0, setresuid(0, 0, 0));
	}
	ASSERT_GT(start, now_ns());
	sleep_until(start + 100 * MSEC);
	beside = counted_in(count, time);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	TH_LOG("a hog loses %llu permille", 1000 - 1000 * beside / alone);
	EXPECT_LE(7 * alone, 8 * beside);
	EXPECT_GT(999 * alone, 1000 * beside);
	for (unsigned int i = 0; i < NR; i++)
		close(fd[i]);
}

/* Local timer interrupts of the first processor, or -1. */
static long long timer_interrupts(void)
{
	char line[4096];
	FILE *file = fopen("/proc/interrupts", "r");
	long long nr = -1;

	while (file && nr < 0 && fgets(line, sizeof(line), file))
		sscanf(line, " LOC: %lld", &nr);
	if (file)
		fclose(file);
	return nr;
}

/*
 * Wheels of all clocks, whose timers are pushed back from another processor, so that softirq
 * comes to them again and again for nothing.
 */
struct pushed {
	struct shared s;
	clockid_t clock;
};

struct pushing {
	struct pushed wheel[40];
	unsigned long count;
	bool pause, stop;
};

#define flag(p)		__atomic_load_n(p, __ATOMIC_RELAXED)

static void *push_back(void *arg)
{
	struct pushing *all = arg;

	pin(1);
	for (; !flag(&all->stop); usleep(200)) {
		for (unsigned int i = 0; !flag(&all->pause) && i < ARRAY_SIZE(all->wheel); i++) {
			struct pushed *p = &all->wheel[i];
			__u64 ahead = 3 * MSEC + i * 30 * USEC;

			__atomic_exchange_n(&p->s.word[0].deadline, clock_ns(p->clock) + ahead,
					    __ATOMIC_SEQ_CST);
		}
	}
	return NULL;
}

/* Arm those that have expired all the same, from the processor on which all of them wait. */
static void *arm_expired(void *arg)
{
	struct pushing *all = arg;

	pin(0);
	for (; !flag(&all->stop); usleep(20000))
		for (unsigned int i = 0; !flag(&all->pause) && i < ARRAY_SIZE(all->wheel); i++)
			if (!promise(&all->wheel[i].s, 0))
				arm_at(all->wheel[i].s.fd, 0,
				       clock_ns(all->wheel[i].clock) + MSEC, 0);
	return NULL;
}

static void *only_count(void *arg)
{
	struct pushing *all = arg;

	pin(0);
	while (!flag(&all->stop))
		__atomic_add_fetch(&all->count, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * What an interrupt takes nobody can measure, and in a guest that is emulated it takes many
 * times what it does elsewhere.  There must be fewer of them then.
 */
TEST(dear_interrupts_are_fewer)
{
	static const clockid_t clocks[] = {
		CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI,
	};
	static void *(*const work[])(void *) = { only_count, push_back, arm_expired };
	const unsigned int rounds = 3, window = 400 * MSEC;
	__u64 alone = 0, beside = 0, before;
	pthread_t thread[ARRAY_SIZE(work)];
	static struct pushing all;
	long long interrupts = 0;
	unsigned int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || timer_interrupts() < 0)
		SKIP(return, "needs two processors, and LOC in /proc/interrupts");
	for (i = 0; i < ARRAY_SIZE(all.wheel); i++) {
		struct pushed *p = &all.wheel[i];

		p->clock = clocks[i % ARRAY_SIZE(clocks)];
		p->s.setup = (struct twheel_setup){
			.flags = TWHEEL_SETUP_CLOCK, .clock = p->clock, .tick = 100 * USEC,
			.capacity = 256,
		};
		p->s.fd = wheel_open(O_NONBLOCK);
		ASSERT_LE(0, p->s.fd);
		ASSERT_EQ(0, shared_set_up(&p->s));
		ASSERT_EQ(0, shared_map(&p->s));
	}
	ASSERT_EQ(0, pin(1));
	for (i = 0; i < ARRAY_SIZE(work); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, work[i], &all));
	for (i = 0; i < rounds; i++) {
		__atomic_store_n(&all.pause, true, __ATOMIC_RELAXED);
		sleep_until(now_ns() + window / 4);
		before = flag(&all.count);
		/* Those of the kernel itself, and of a storm of signals, are not the wheels'. */
		interrupts += timer_interrupts();
		sleep_until(now_ns() + window);
		interrupts -= timer_interrupts();
		alone += flag(&all.count) - before;
		__atomic_store_n(&all.pause, false, __ATOMIC_RELAXED);
		sleep_until(now_ns() + window / 4);
		before = flag(&all.count);
		interrupts -= timer_interrupts();
		sleep_until(now_ns() + window);
		interrupts += timer_interrupts();
		beside += flag(&all.count) - before;
	}
	__atomic_store_n(&all.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < ARRAY_SIZE(work); i++)
		pthread_join(thread[i], NULL);
	interrupts = interrupts * (long long)SEC / (rounds * window);
	ASSERT_LT(0, alone);
	TH_LOG("%llu %% of the processor left, with %lld interrupts/s more", 100 * beside / alone,
	       interrupts);
	/* Where they are cheap there may be more. */
	EXPECT_TRUE(100 * beside >= 80 * alone || interrupts <= 2000);
	for (i = 0; i < ARRAY_SIZE(all.wheel); i++)
		shared_close(&all.wheel[i].s);
}

static void compute(void)
{
	for (;;)
		;
}

/* Takes and gives back the memory of the largest ring. */
static void set_up_rings(void)
{
	struct shared s;

	for (;;) {
		CHILD_CHECK(!shared_open(&s, 256, TWHEEL_MAX_RING, 0));
		shared_close(&s);
	}
}

/* How late a sleep ends beside that, at p99. */
static __u64 late_beside(void (*work)(void))
{
	enum { NR = 1000 };
	static __u64 late[NR];
	pid_t pid = fork();

	if (!pid)
		work();
	for (unsigned int i = 0; i < NR; i++) {
		__u64 until = now_ns() + MSEC + i * 7919 % MSEC;

		sleep_until(until);
		late[i] = now_ns() - until;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	qsort(late, NR, sizeof(*late), by_lateness);
	return late[NR * 99 / 100];
}

TEST(who_gives_a_ring_back_gives_way)
{
	__u64 hog, rings;

	if (!getenv("TWHEEL_COUNTED"))
		SKIP(return, "counted time only: set TWHEEL_COUNTED=1");
	hog = late_beside(compute);
	rings = late_beside(set_up_rings);
	TH_LOG("late by %llu us beside a hog, %llu beside rings", hog / USEC, rings / USEC);
	EXPECT_GE(hog + MSEC, rings);
}

/* The thread in which CPU 0 calls soft hrtimers; there is one on PREEMPT_RT. */
static pid_t timer_thread(void)
{
	char path[300], name[32] = "";
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid = 0;

	while (proc && !pid && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (read_file(path, name, sizeof(name)) > 0 && !strncmp(name, "ktimers/0\n", 10))
			pid = atoi(entry->d_name);
	}
	if (proc)
		closedir(proc);
	return pid;
}

/* For how long a thread has run, ns. */
static __u64 run_time(pid_t pid)
{
	char path[64];
	long long ns;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	ns = file_value(path, NULL);
	return ns > 0 ? ns : 0;
}

/* A wall clock that is set back while an event waits, and forward again at the end. */
FIXTURE(set_back)
{
	struct shared s;
};

FIXTURE_VARIANT(set_back)
{
	bool words;
	__u32 ring_entries;
	int (*again)(struct shared *s, __u32 id, __u64 deadline);
};

static int by_the_word(struct shared *s, __u32 id, __u64 deadline)
{
	int ret = want(s, id, deadline);

	return ret < 0 ? ret : 0;
}

static int cancelled_by_a_store(struct shared *s, __u32 id, __u64 deadline)
{
	cancel_by_store(s, id);
	return by_the_word(s, id, deadline);
}

static int by_call(struct shared *s, __u32 id, __u64 deadline)
{
	return arm_at(s->fd, id, deadline, 0);
}

/* To extend a timer that is this thread's alone no more is needed. */
static int by_a_store_alone(struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_RELAXED);
	return 0;
}

static int not_at_all(struct shared *s, __u32 id, __u64 deadline)
{
	return 0;
}

FIXTURE_VARIANT_ADD(set_back, no_words_call) { false, 0, by_call };
FIXTURE_VARIANT_ADD(set_back, no_words_as_it_is) { false, 0, not_at_all };
FIXTURE_VARIANT_ADD(set_back, read_word) { true, 0, by_the_word };
FIXTURE_VARIANT_ADD(set_back, read_cancel) { true, 0, cancelled_by_a_store };
FIXTURE_VARIANT_ADD(set_back, read_call) { true, 0, by_call };
FIXTURE_VARIANT_ADD(set_back, read_store) { true, 0, by_a_store_alone };
FIXTURE_VARIANT_ADD(set_back, read_as_it_is) { true, 0, not_at_all };
FIXTURE_VARIANT_ADD(set_back, ring_word) { true, 256, by_the_word };
FIXTURE_VARIANT_ADD(set_back, ring_cancel) { true, 256, cancelled_by_a_store };
FIXTURE_VARIANT_ADD(set_back, ring_call) { true, 256, by_call };
FIXTURE_VARIANT_ADD(set_back, ring_store) { true, 256, by_a_store_alone };
FIXTURE_VARIANT_ADD(set_back, ring_as_it_is) { true, 256, not_at_all };

FIXTURE_SETUP(set_back)
{
	if (getuid())
		SKIP(return, "only root sets the clock");
	memset(&self->s, 0, sizeof(self->s));
	self->s.setup = (struct twheel_setup){
		.flags = TWHEEL_SETUP_CLOCK,
		.clock = CLOCK_REALTIME,
		.capacity = 256,
		.delivery = variant->ring_entries ? TWHEEL_DELIVER_RING : TWHEEL_DELIVER_READ,
		.ring_entries = variant->ring_entries,
	};
	self->s.fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->s.fd);
	if (variant->words) {
		ASSERT_EQ(0, shared_set_up(&self->s));
		ASSERT_EQ(0, shared_map(&self->s));
	} else {
		ASSERT_EQ(0, set_up(self->s.fd, &self->s.setup));
	}
}

FIXTURE_TEARDOWN(set_back)
{
	shared_close(&self->s);
}

/* Events that count now. */
static int events_now(struct shared *s)
{
	struct twheel_entry entry;
	struct twheel_event ev;
	int nr = 0;

	if (!s->ring)
		return wheel_read(s->fd, &ev, 1);
	while (ring_take(s, &entry)) {
		nr += claim(s, &entry, 0);
		want_looked_at(s, entry.id, wanted(s, entry.id));
	}
	return nr;
}

/*
 * An event waits, the clock is set back, and the timer is armed again for the deadline that
 * it had, or left as it is.  The deadline is to come once more, and until then the timer is
 * pending.
 */
TEST_F(set_back, the_same_deadline_comes_again)
{
	const __u64 back = 10 * SEC;
	__u64 deadline = clock_ns(CLOCK_REALTIME) + 20 * MSEC;
	int early, after, state;

	ASSERT_EQ(0, (variant->words ? by_the_word : by_call)(&self->s, 7, deadline));
	ASSERT_TRUE(wheel_poll(self->s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(0, set_wall(deadline - back));
	EXPECT_EQ(0, variant->again(&self->s, 7, deadline));
	state = wheel_state(self->s.fd, 7);
	early = events_now(&self->s);
	ASSERT_EQ(0, set_wall(deadline + MSEC));
	ASSERT_TRUE(wheel_poll(self->s.fd, NEVER_MS) & POLLIN);
	after = events_now(&self->s);
	EXPECT_TRUE(early == 0 || early == -EAGAIN)
		TH_LOG("%d events ten seconds early", early);
	EXPECT_EQ(TWHEEL_STATE_PENDING, state);
	EXPECT_EQ(1, after);
}

/* Arm a timer, and leave it to the kernel which; returns that, or a negative errno. */
static int arm_any_in(int fd, __u64 ns)
{
	struct twheel_op op = {
		.flags = TWHEEL_ARM_RELATIVE, .deadline = ns, .id = TWHEEL_ID_ANY,
	};

	return wheel_arm(fd, &op) ?: (int)op.id;
}

/*
 * An id that the kernel has chosen is free when its event was read, until a deadline is stored
 * in its word: from then on it is not chosen again, though the call for it has yet to come.
 */
TEST(id_armed_by_a_store_is_not_chosen)
{
	struct twheel_event ev;
	__u64 deadline;
	struct shared s;
	int id, other;

	ASSERT_EQ(0, shared_open(&s, 256, 0, 0));
	id = arm_any_in(s.fd, MSEC);
	ASSERT_LE(0, id);
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(1, wheel_read(s.fd, &ev, 1));
	ASSERT_EQ(id, ev.id);
	deadline = now_ns() + 50 * MSEC;
	__atomic_exchange_n(&s.word[id].deadline, deadline, __ATOMIC_SEQ_CST);
	other = arm_any_in(s.fd, HOUR);
	EXPECT_LE(0, other);
	EXPECT_NE(id, other);
	EXPECT_EQ(deadline, wanted(&s, id));
	ASSERT_EQ(0, arm_stored(&s, id));
	ASSERT_TRUE(wheel_poll(s.fd, NEVER_MS) & POLLIN);
	ASSERT_EQ(1, wheel_read(s.fd, &ev, 1));
	EXPECT_EQ(id, ev.id);
	EXPECT_EQ(deadline, ev.deadline);
	shared_close(&s);
}

/* Two who wait in a read learn at once that events go to a ring from now on. */
TEST(ring_ends_the_reads_that_wait)
{
	struct twheel_setup setup = {
		.flags = TWHEEL_SETUP_WORDS, .capacity = 256, .delivery = TWHEEL_DELIVER_RING,
	};
	struct twheel_event ev[2];
	struct caller reads[2];
	int fd = wheel_open(0);
	bool done = true;

	ASSERT_LE(0, fd);
	for (int i = 0; i < 2; i++) {
		reads[i] = (struct caller){
			.call = call_read, .fd = fd, .memory = &ev[i], .nr = 1,
		};
		ASSERT_EQ(0, caller_start(&reads[i]));
		ASSERT_TRUE(caller_asleep(&reads[i]));
	}
	ASSERT_EQ(0, set_up(fd, &setup));
	for (int i = 0; i < 2; i++)
		done &= caller_done(&reads[i], NEVER_MS);
	EXPECT_TRUE(done);
	/* Or they would sleep until the test is killed. */
	if (!done)
		EXPECT_EQ(0, arm_at(fd, 1, 1, 0));
	for (int i = 0; i < 2; i++) {
		pthread_join(reads[i].thread, NULL);
		EXPECT_EQ(-EOPNOTSUPP, reads[i].ret);
	}
	close(fd);
}

#define WATCHED_BY	40000
#define ALL_TIMERS	900

struct churner {
	pthread_t	thread;
	int		fd;
	bool		stop;
};

/* Take the lock of the wheel's wait queue, again and again. */
static void *churn(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	struct churner *c = arg;

	pin(1);
	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
		epoll_ctl(epoll, EPOLL_CTL_DEL, c->fd, NULL);
	}
	close(epoll);
	return NULL;
}

/* What part of CPU 0 it takes softirq to wake the watchers of a wheel, in 1/1000. */
static __u64 wake_all_the_time(int fd)
{
	static struct twheel_event ev[ALL_TIMERS];
	pid_t pid = timer_thread();
	__u64 start, ran;

	/* Some of it nobody has to pay for. */
	for (int i = 0; i < 4; i++) {
		if (i < 2) {
			ran = run_time(pid);
			start = now_ns();
		}
		if (arm_many(fd, ALL_TIMERS, now_ns() + 20 * MSEC, 2 * MSEC))
			return 0;
		sleep_until(now_ns() + 1900 * MSEC);
		wheel_read(fd, ev, ALL_TIMERS);
	}
	return (run_time(pid) - ran) * 1000 / (now_ns() - start);
}

FIXTURE(rt) {
	struct timex before;
};

FIXTURE_SETUP(rt)
{
	ASSERT_LE(0, adjtimex(&self->before));
}

FIXTURE_TEARDOWN(rt)
{
	self->before.modes = ADJ_TICK;
	adjtimex(&self->before);
}

/*
 * On PREEMPT_RT who wakes has to wait for the lock of the wait queue, which the program that
 * owns the wheel can hold up.  That makes its wake-ups dearer, and not free.
 */
TEST_F(rt, who_holds_up_a_wake_up_pays_for_it)
{
	const struct rlimit files = { WATCHED_BY + 100, WATCHED_BY + 100 };
	struct epoll_event event = { .events = EPOLLIN };
	struct churner c = {};
	__u64 taken;
	int epoll;

	if (!timer_thread())
		SKIP(return, "no ktimers/0: not a kernel with PREEMPT_RT");
	if (getuid())
		SKIP(return, "needs root for many files");
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	ASSERT_EQ(0, pin(0));
	c.fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, c.fd);
	for (int i = 0; i < WATCHED_BY; i++) {
		epoll = epoll_create1(0);
		ASSERT_LE(0, epoll);
		ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, c.fd, &event));
	}
	ASSERT_EQ(0, thread_start(&c.thread, churn, &c));
	taken = wake_all_the_time(c.fd);
	__atomic_store_n(&c.stop, true, __ATOMIC_RELEASE);
	ASSERT_EQ(0, pthread_join(c.thread, NULL));
	TH_LOG("%llu permille of CPU 0", taken);
	EXPECT_LT(0, taken);
	/* A ninth, and what else there is to do. */
	EXPECT_GE(1000 / 6, taken);
	close(c.fd);
}

/*
 * Who is woken may preempt who wakes, and then the scheduler tells how long that one had to
 * wait, by a clock that nobody slews: a wake-up must not seem to have taken less than no time.
 */
TEST_F(rt, a_slewed_clock_makes_no_debts)
{
	const struct sched_param realtime = { .sched_priority = 50 };
	struct timex slew = { .modes = ADJ_TICK };
	struct twheel_event ev;
	__u64 woken, deadline;
	int fd;

	if (!timer_thread())
		SKIP(return, "no ktimers/0: not a kernel with PREEMPT_RT");
	/* A tenth slower than time. */
	slew.tick = self->before.tick * 9 / 10;
	if (adjtimex(&slew) < 0)
		SKIP(return, "needs root to slew the clock");
	ASSERT_EQ(0, pin(0));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &realtime));
	fd = wheel_open(0);
	ASSERT_LE(0, fd);
	for (int i = 0; i < 5; i++) {
		deadline = now_ns() + 10 * MSEC;
		ASSERT_EQ(0, arm_at(fd, 1, deadline, 0));
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(fd, 5000));
		woken = now_ns();
		EXPECT_GE(deadline + SEC, woken);
		while (now_ns() < woken + 50 * MSEC)
			;
		ASSERT_EQ(1, wheel_read(fd, &ev, 1));
	}
	close(fd);
}

TEST_HARNESS_MAIN
