// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that runs out, and copies that fail, at every place where they can.
 *
 * Each call is made again and again; the first time its first failure point
 * fails, then its second, until there is none left (/proc/self/fail-nth; see
 * fault-injection.rst).  What a call that failed has changed, whether the wheel
 * works on, and whether any timer was lost or doubled is looked at each time.
 * Then the same at random, under load.  Leaks are for kmemleak to see.
 *
 * Bed: plain, storm
 */
#include <sys/epoll.h>

#include "words_test.h"

#define DEBUG		"/sys/kernel/debug/"
/* Nobody's, so that the limits of this user are the test's alone. */
#define USER		54323
/* Without a wheel, so that the first one makes them a user. */
#define NEWCOMER	54324
#define CAPACITY	1024U
/* A timer's memory is charged to the user in portions of so many. */
#define CHUNK		128U
#define MAX_WHEELS	3U
/* More failure points than this, and the sweep would not end. */
#define MAX_POINTS	1000U

static const char * const faults[] = { "failslab", "fail_page_alloc", "fail_usercopy" };

static const struct {
	const char *file;
	const char *option;
} needs[] = {
	{ "/proc/self/fail-nth", "CONFIG_FAULT_INJECTION" },
	{ DEBUG "failslab/probability", "CONFIG_FAILSLAB" },
	{ DEBUG "fail_page_alloc/probability", "CONFIG_FAIL_PAGE_ALLOC" },
	{ DEBUG "fail_usercopy/probability", "CONFIG_FAULT_INJECTION_USERCOPY" },
};

static void __attribute__((constructor)) need_faults(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (access(needs[i].file, W_OK))
			ksft_exit_skip("no %s: the kernel has no %s, or debugfs is not mounted\n",
				       needs[i].file, needs[i].option);
}

static int set_fault(const char *fault, const char *key, int value)
{
	char path[128];

	snprintf(path, sizeof(path), DEBUG "%s/%s", fault, key);
	return write_file(path, "%d", value);
}

/* Failures reach all allocations, and are not told in the kernel's log. */
static int set_up_faults(void)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		ret = ret ?: set_fault(faults[i], "probability", 0);
		ret = ret ?: set_fault(faults[i], "verbose", 0);
		ret = ret ?: set_fault(faults[i], "times", -1);
		ret = ret ?: set_fault(faults[i], "space", 0);
	}
	ret = ret ?: set_fault("failslab", "ignore-gfp-wait", 0);
	ret = ret ?: set_fault("fail_page_alloc", "ignore-gfp-wait", 0);
	return ret ?: set_fault("fail_page_alloc", "min-order", 0);
}

static int fail_nth = -1;

/* Of what this thread does from now on, let failure point @n fail. */
static void fail_at(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth, text, len, 0) != len)
		abort();
}

/* Has it failed?  From now on nothing does. */
static bool has_failed(void)
{
	char text[16] = "";
	/* A point that is left over may be in here. */
	bool failed = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return failed;
}

/* What must come of a timer. */
enum fate {
	GONE,	/* nothing: not armed, or its event was read */
	EVENT,	/* one event */
	HELD,	/* it is far away still: a list has it */
};

enum {
	FAR, SOON, EXPIRED, PERIODIC, SUBJECT, PROBE,
	/* In other chunks than these. */
	FIRST = 250, STEP = 5, OPS = 130,
};

/* The wheel on which a call is made, and all that is known of it. */
struct subject {
	int			fd;
	__u64			begin;
	enum fate		fate[CAPACITY];
	unsigned int		read;
	/* The call's own. */
	int			other;
	struct twheel_op	op;
	struct twheel_op	ops[OPS];
	struct twheel_submit	submit;
	struct twheel_list	list;
	struct twheel_timer	timers[CAPACITY];
	struct twheel_event	ev[4];
	struct twheel_setup	setup;
	struct shared		shared;
	void			*map;
	size_t			size;
	char			text[4096];
};

/* All that a call may change of it. */
struct picture {
	struct twheel_setup	setup;
	__u64			armed, arms, cancels, delivered;
	int			nr;
	struct twheel_timer	timers[CAPACITY];
};

static bool take_picture(const struct subject *s, struct picture *p)
{
	struct twheel_stats st;

	memset(p, 0, sizeof(*p));
	if (get_setup(s->fd, &p->setup) || wheel_stats(s->fd, &st))
		return false;
	p->armed = st.pending + st.expired;
	p->arms = st.arms;
	p->cancels = st.cancels;
	p->delivered = st.delivered;
	p->nr = list_all(s->fd, p->timers, CAPACITY);
	for (int i = 0; i < p->nr; i++) {
		/* These follow the clock. */
		p->timers[i].state = 0;
		p->timers[i].remaining = 0;
		p->timers[i].overruns = 0;
	}
	return p->nr >= 0;
}

/* Preparations */

static int prepare_empty(struct subject *s)
{
	s->fd = wheel_open(O_NONBLOCK);
	s->begin = now_ns();
	return s->fd < 0 ? s->fd : 0;
}

static int armed(struct subject *s, __u32 id, enum fate fate, int ret)
{
	s->fate[id] = fate;
	return ret;
}

/* Timers that must outlive whatever comes, one of each kind. */
static int prepare_timers(struct subject *s)
{
	int ret;

	ret = armed(s, FAR, HELD, arm_in(s->fd, FAR, HOUR, FAR));
	ret = ret ?: armed(s, SUBJECT, HELD, arm_in(s->fd, SUBJECT, HOUR, SUBJECT));
	ret = ret ?: armed(s, PERIODIC, HELD,
			   arm_every(s->fd, PERIODIC, s->begin + HOUR, HOUR, 0));
	ret = ret ?: armed(s, EXPIRED, EVENT, arm_at(s->fd, EXPIRED, 1, EXPIRED));
	return ret ?: armed(s, SOON, EVENT, arm_at(s->fd, SOON, s->begin + 20 * MSEC, SOON));
}

static int prepare(struct subject *s)
{
	struct twheel_setup setup = { .capacity = CAPACITY };

	return prepare_empty(s) ?: set_up(s->fd, &setup) ?: prepare_timers(s);
}

static int prepare_words(struct subject *s)
{
	int ret = shared_open(&s->shared, CAPACITY, 0);

	s->fd = s->shared.fd;
	s->begin = now_ns();
	return ret ?: prepare_timers(s);
}

/* Stored, and not called yet. */
static int prepare_stored(struct subject *s)
{
	int ret = prepare_words(s);

	if (ret)
		return ret;
	s->shared.word[PROBE + 1].deadline = s->begin + HOUR;
	return armed(s, PROBE + 1, HELD, 0);
}

/* So far away that the wheel would have another level for it. */
#define FAR_AWAY	(1000000 * HOUR)

static int prepare_stored_far(struct subject *s)
{
	int ret = prepare_stored(s);

	s->shared.word[PROBE + 1].deadline = s->begin + FAR_AWAY;
	return ret;
}

/* A place of which no page table is there yet. */
#define NOWHERE_NEAR	((void *)0x200000000000)

static int map_there(struct subject *s, size_t size, __u64 offset)
{
	s->size = size;
	s->map = mmap(NOWHERE_NEAR, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED_NOREPLACE, s->fd, offset);
	if (s->map != MAP_FAILED)
		return 0;
	s->map = NULL;
	return -errno;
}

static int prepare_words_unmapped(struct subject *s)
{
	s->setup = (struct twheel_setup){ .flags = TWHEEL_SETUP_WORDS, .capacity = CAPACITY };
	return prepare_empty(s) ?: set_up(s->fd, &s->setup);
}

static int make_map_words(struct subject *s)
{
	return map_there(s, CAPACITY * sizeof(struct twheel_word), s->setup.words_offset);
}

static int prepare_touch_words(struct subject *s)
{
	return prepare_words_unmapped(s) ?: make_map_words(s);
}

/* Calls; and whether one has done what it said, or all of it if it failed. */

static int make_open(struct subject *s)
{
	s->other = wheel_open(O_NONBLOCK);
	return s->other < 0 ? s->other : 0;
}

/* A wheel that somebody else has opened, and nobody has used. */
static int prepare_passed(struct subject *s)
{
	return prepare_empty(s) ?: setresuid(NEWCOMER, 0, 0);
}

static bool done_open(struct subject *s, int ret)
{
	struct twheel_event ev;
	bool works;

	if (ret)
		return false;
	works = !arm_at(s->other, 1, 1, 0) && collect(s->other, &ev, 1) == 1;
	close(s->other);
	return works;
}

static int make_setup(struct subject *s)
{
	s->setup = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK,
		.clock		= CLOCK_BOOTTIME,
		.capacity	= CAPACITY,
	};
	return set_up(s->fd, &s->setup);
}

static int make_setup_words(struct subject *s)
{
	s->setup = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK | TWHEEL_SETUP_WORDS,
		.clock		= CLOCK_BOOTTIME,
		.capacity	= CAPACITY,
	};
	return set_up(s->fd, &s->setup);
}

static bool done_setup(struct subject *s, int ret)
{
	struct twheel_setup setup;

	if (get_setup(s->fd, &setup))
		return false;
	s->setup.now = 0;
	return setup.clock == CLOCK_BOOTTIME && setup.capacity == CAPACITY &&
	       (ret || !memcmp(&setup, &s->setup, sizeof(setup)));
}

/* It changes nothing: the generic comparison is all there is to do. */
static bool done_nothing(struct subject *s, int ret)
{
	return true;
}

static int make_features(struct subject *s)
{
	struct twheel_features f;

	return wheel_ioctl(s->fd, TWHEEL_IOC_FEATURES, &f);
}

static int make_get_setup(struct subject *s)
{
	return wheel_ioctl(s->fd, TWHEEL_IOC_GET_SETUP, &s->setup);
}

static int make_stats(struct subject *s)
{
	struct twheel_stats st;

	return wheel_stats(s->fd, &st);
}

static int make_get(struct subject *s)
{
	return wheel_get(s->fd, FAR, &s->timers[0]);
}

static bool done_get(struct subject *s, int ret)
{
	return !ret && s->timers[0].cookie == FAR && s->timers[0].deadline >= s->begin + HOUR;
}

static int make_arm(struct subject *s)
{
	s->op = (struct twheel_op){ .deadline = s->begin + HOUR, .id = SUBJECT };
	return wheel_arm(s->fd, &s->op);
}

/*
 * An id beyond the first pages, which takes a directory.  If that fails, the wheel can be set up
 * as long as it has no memory: the kernel would warn that some is lost.
 */
static int make_arm_high(struct subject *s)
{
	struct twheel_setup setup = {};
	int ret;

	s->op = (struct twheel_op){ .deadline = s->begin + HOUR, .id = CAPACITY - 1 };
	ret = wheel_arm(s->fd, &s->op);
	if (ret) {
		int set = set_up(s->fd, &setup);

		return set == -EBUSY || !set ? ret : set;
	}
	return 0;
}

static bool done_arm_high(struct subject *s, int ret)
{
	s->fate[CAPACITY - 1] = HELD;
	return wheel_state(s->fd, CAPACITY - 1) == TWHEEL_STATE_PENDING;
}

/* As far as the wheel reaches: many levels. */
static int make_arm_far(struct subject *s)
{
	s->op = (struct twheel_op){ .deadline = ~0ULL, .interval = 7, .id = SUBJECT };
	return wheel_arm(s->fd, &s->op);
}

static int make_move(struct subject *s)
{
	s->op = (struct twheel_op){
		.flags		= TWHEEL_ARM_MOVE | TWHEEL_ARM_RELATIVE,
		.deadline	= 20 * HOUR,
		.id		= SUBJECT,
		.generation	= 1,
	};
	return wheel_arm(s->fd, &s->op);
}

static bool done_arm(struct subject *s, int ret)
{
	struct twheel_timer t;

	if (wheel_get(s->fd, SUBJECT, &t) || t.state != TWHEEL_STATE_PENDING)
		return false;
	s->fate[SUBJECT] = HELD;
	/* Not the one that was moved. */
	return ret ? t.generation : t.generation == s->op.generation && !t.cookie;
}

static int make_arm_any(struct subject *s)
{
	s->op = (struct twheel_op){ .deadline = ~0ULL, .id = TWHEEL_ID_ANY };
	return wheel_arm(s->fd, &s->op);
}

/* If the id could not be told, a list tells it. */
static bool done_arm_any(struct subject *s, int ret)
{
	__u32 id = CAPACITY - 1;

	s->fate[id] = HELD;
	return (ret || s->op.id == id) && wheel_state(s->fd, id) == TWHEEL_STATE_PENDING;
}

static int make_arm_stored(struct subject *s)
{
	return arm_stored(&s->shared, PROBE + 1);
}

static bool done_arm_stored(struct subject *s, int ret)
{
	return promise(&s->shared, PROBE + 1) == s->begin + HOUR;
}

static bool done_arm_stored_far(struct subject *s, int ret)
{
	return promise(&s->shared, PROBE + 1) == s->begin + FAR_AWAY;
}

static int make_cancel(struct subject *s)
{
	s->op = (struct twheel_op){ .id = EXPIRED };
	return wheel_ioctl(s->fd, TWHEEL_IOC_CANCEL, &s->op);
}

static bool done_cancel(struct subject *s, int ret)
{
	s->fate[EXPIRED] = GONE;
	return wheel_state(s->fd, EXPIRED) == TWHEEL_STATE_IDLE &&
	       (ret || s->op.state == TWHEEL_STATE_EXPIRED);
}

/* All new but the last, which is cancelled; they need three chunks. */
static int make_submit(struct subject *s)
{
	memset(s->ops, 0, sizeof(s->ops));
	for (int i = 0; i < OPS; i++) {
		s->ops[i].opcode = TWHEEL_OP_ARM;
		s->ops[i].deadline = s->begin + HOUR + i * SEC;
		s->ops[i].id = FIRST + STEP * i;
		s->ops[i].result = 1;
	}
	s->ops[OPS - 1] = (struct twheel_op){
		.opcode = TWHEEL_OP_CANCEL, .id = EXPIRED, .result = 1,
	};
	s->submit = (struct twheel_submit){
		.ops		= (uintptr_t)s->ops,
		.nr		= OPS,
		.op_size	= sizeof(s->ops[0]),
	};
	return wheel_ioctl(s->fd, TWHEEL_IOC_SUBMIT, &s->submit);
}

static bool done_submit(struct subject *s, int ret)
{
	unsigned int failed = 0, done = ret ? OPS : s->submit.done;

	for (unsigned int i = 0; i < OPS; i++) {
		const struct twheel_op *op = &s->ops[i];
		bool arm = op->opcode == TWHEEL_OP_ARM;
		bool carried_out = i < done && !op->result;
		int state = wheel_state(s->fd, op->id);

		if (i < done && op->result && op->result != -ENOMEM)
			return false;
		failed += i < done && op->result;
		if ((state == (arm ? TWHEEL_STATE_PENDING : TWHEEL_STATE_IDLE)) != carried_out)
			return false;
		if (carried_out)
			s->fate[op->id] = arm ? HELD : GONE;
	}
	return ret || failed == s->submit.failed;
}

static int make_read(struct subject *s)
{
	return wheel_read(s->fd, s->ev, 2);
}

static int make_read_at_once(struct subject *s)
{
	struct iovec iov = { s->ev, 2 * sizeof(s->ev[0]) };
	ssize_t ret = preadv2(s->fd, &iov, 1, -1, RWF_NOWAIT);

	return ret < 0 ? -errno : ret / (int)sizeof(s->ev[0]);
}

static bool note_event(struct subject *s, __u32 id, __u64 deadline)
{
	bool wanted = id < CAPACITY && s->fate[id] == EVENT && deadline <= now_ns();

	if (wanted)
		s->fate[id] = GONE;
	s->read++;
	return wanted;
}

static bool done_read(struct subject *s, int ret)
{
	bool ok = ret > 0;

	for (int i = 0; i < ret; i++)
		ok &= note_event(s, s->ev[i].id, s->ev[i].deadline) &&
		      s->ev[i].cookie == s->ev[i].id;
	return ok;
}

static int make_list(struct subject *s)
{
	s->list = (struct twheel_list){
		.timers		= (uintptr_t)s->timers,
		.nr		= CAPACITY,
		.timer_size	= sizeof(s->timers[0]),
	};
	return wheel_ioctl(s->fd, TWHEEL_IOC_LIST, &s->list);
}

static bool done_list(struct subject *s, int ret)
{
	struct picture p;
	int nr = s->list.done;

	if (ret || !take_picture(s, &p))
		return false;
	nr += wheel_list(s->fd, s->timers + nr, CAPACITY - nr, &s->list.cursor);
	if (nr != p.nr)
		return false;
	for (int i = 0; i < nr; i++)
		if (s->timers[i].id != p.timers[i].id)
			return false;
	return true;
}

static int make_poll(struct subject *s)
{
	return wheel_poll(s->fd, 0);
}

static bool done_poll(struct subject *s, int ret)
{
	return ret == (POLLIN | POLLRDNORM);
}

static int make_epoll(struct subject *s)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ret;

	s->other = epoll_create1(EPOLL_CLOEXEC);
	if (s->other < 0)
		return -errno;
	ret = epoll_ctl(s->other, EPOLL_CTL_ADD, s->fd, &e) ? -errno : 0;
	if (!ret && epoll_wait(s->other, &e, 1, 0) != 1)
		ret = errno ? -errno : -EIO;
	close(s->other);
	return ret;
}

static int make_fdinfo(struct subject *s)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", s->fd);
	ret = read_file(path, s->text, sizeof(s->text));
	return ret < 0 ? ret : strstr(s->text, "twheel-memory") ? 0 : -EIO;
}

static int make_touch(struct subject *s)
{
	for (size_t at = 0; at < s->size; at += 4096)
		if (__atomic_load_n((__u64 *)((char *)s->map + at), __ATOMIC_RELAXED) && at)
			return -EIO;
	return 0;
}

/* It is there, and it is a word: what is stored counts. */
static bool done_map_words(struct subject *s, int ret)
{
	struct twheel_word *word = s->map;

	if (ret || make_touch(s))
		return false;
	word[SUBJECT].deadline = s->begin + HOUR;
	s->op = (struct twheel_op){ .flags = TWHEEL_ARM_STORED, .id = SUBJECT };
	s->fate[SUBJECT] = HELD;
	return !wheel_arm(s->fd, &s->op) && word[SUBJECT].promise == s->begin + HOUR;
}

/* The sweep */

/*
 * Everything that is to come comes, once, and nothing else: NULL, or what is
 * wrong.
 */
static const char *settle(struct subject *s)
{
	struct twheel_event ev[8];
	struct twheel_stats st;
	unsigned int wanted;
	int n;

	/* The wheel works on. */
	if (arm_at(s->fd, PROBE, 1, PROBE))
		return "the wheel does not work";
	s->fate[PROBE] = EVENT;
	do {
		wanted = 0;
		for (int i = 0; i < CAPACITY; i++)
			wanted += s->fate[i] == EVENT;
		if (wanted && !(wheel_poll(s->fd, NEVER_MS) & POLLIN))
			return "an event is lost";
		n = wheel_read(s->fd, ev, 8);
		for (int i = 0; i < n; i++)
			if (!note_event(s, ev[i].id, ev[i].deadline))
				return "an event is wrong";
	} while (wanted);

	n = list_all(s->fd, s->timers, CAPACITY);
	for (int i = 0; i < n; i++) {
		if (s->fate[s->timers[i].id] != HELD)
			return "what should not be armed is";
		if (wheel_cancel(s->fd, s->timers[i].id) != TWHEEL_STATE_PENDING)
			return "a timer is not pending";
		s->fate[s->timers[i].id] = GONE;
	}
	for (int i = 0; i < CAPACITY; i++)
		if (s->fate[i] != GONE)
			return "a timer is lost";
	if (wheel_stats(s->fd, &st) || st.pending || st.expired || st.delivered != s->read)
		return "the counters are wrong";
	return NULL;
}

static void finish(struct subject *s)
{
	if (s->map)
		munmap(s->map, s->size);
	if (s->shared.word)
		munmap(s->shared.word, words_size(&s->shared));
	close(s->fd);
	/* Where a newcomer has been it is the other one's turn again. */
	if (setresuid(USER, 0, 0))
		abort();
}

/* Is all that the user had given back?  Then the limits are where they were. */
static bool limits_hold(void)
{
	int fd[MAX_WHEELS], ret;

	for (unsigned int i = 0; i < MAX_WHEELS; i++) {
		fd[i] = wheel_used();
		if (fd[i] < 0)
			return false;
	}
	if (wheel_used() != -EDQUOT)
		return false;
	for (__u32 id = 0; id < CAPACITY; id += CHUNK)
		if (arm_in(fd[0], id, HOUR, 0))
			return false;
	ret = arm_in(fd[0], CAPACITY, HOUR, 0);
	for (unsigned int i = 0; i < MAX_WHEELS; i++)
		close(fd[i]);
	return ret == -EDQUOT;
}

FIXTURE(call) {
	long long wheels, timers;
	int other;
	struct subject *s;
	struct picture before, after;
};

FIXTURE_VARIANT(call) {
	int	(*prepare)(struct subject *s);
	int	(*make)(struct subject *s);
	bool	(*done)(struct subject *s, int ret);
	int	error;	/* may be returned instead of EFAULT; 0: ENOMEM */
};

FIXTURE_VARIANT_ADD(call, open) { prepare, make_open, done_open };
FIXTURE_VARIANT_ADD(call, setup) { prepare_empty, make_setup, done_setup };
FIXTURE_VARIANT_ADD(call, setup_words) { prepare_empty, make_setup_words, done_setup };
FIXTURE_VARIANT_ADD(call, features) { prepare, make_features, done_nothing };
FIXTURE_VARIANT_ADD(call, get_setup) { prepare, make_get_setup, done_nothing };
FIXTURE_VARIANT_ADD(call, stats) { prepare, make_stats, done_nothing };
FIXTURE_VARIANT_ADD(call, get) { prepare, make_get, done_get };
FIXTURE_VARIANT_ADD(call, arm) { prepare_empty, make_arm, done_arm };
FIXTURE_VARIANT_ADD(call, arm_passed) { prepare_passed, make_arm, done_arm };
FIXTURE_VARIANT_ADD(call, setup_passed) { prepare_passed, make_setup_words, done_setup };
FIXTURE_VARIANT_ADD(call, arm_far) { prepare_empty, make_arm_far, done_arm };
FIXTURE_VARIANT_ADD(call, arm_high) { prepare_empty, make_arm_high, done_arm_high };
FIXTURE_VARIANT_ADD(call, move) { prepare, make_move, done_arm };
FIXTURE_VARIANT_ADD(call, arm_any) { prepare, make_arm_any, done_arm_any };
FIXTURE_VARIANT_ADD(call, arm_stored) { prepare_stored, make_arm_stored, done_arm_stored };

/* A store can't be told of ENOMEM, so the call for it needs no memory. */
FIXTURE_VARIANT_ADD(call, arm_stored_far) {
	prepare_stored_far, make_arm_stored, done_arm_stored_far, -EFAULT
};

FIXTURE_VARIANT_ADD(call, cancel) { prepare, make_cancel, done_cancel };
FIXTURE_VARIANT_ADD(call, submit) { prepare, make_submit, done_submit };
FIXTURE_VARIANT_ADD(call, read) { prepare, make_read, done_read };
FIXTURE_VARIANT_ADD(call, read_at_once) { prepare, make_read_at_once, done_read, -EAGAIN };
FIXTURE_VARIANT_ADD(call, list) { prepare, make_list, done_list };
FIXTURE_VARIANT_ADD(call, poll) { prepare, make_poll, done_poll };
FIXTURE_VARIANT_ADD(call, epoll) { prepare, make_epoll, done_nothing };
FIXTURE_VARIANT_ADD(call, fdinfo) { prepare, make_fdinfo, done_nothing };
FIXTURE_VARIANT_ADD(call, map_words) { prepare_words_unmapped, make_map_words, done_map_words };
FIXTURE_VARIANT_ADD(call, read_words) { prepare_words, make_read, done_read };
FIXTURE_VARIANT_ADD(call, cancel_word) { prepare_words, make_cancel, done_cancel };
FIXTURE_VARIANT_ADD(call, touch_words) { prepare_touch_words, make_touch, done_map_words };

FIXTURE_SETUP(call)
{
	if (getuid())
		SKIP(return, NEEDS_ROOT);
	self->s = malloc(sizeof(*self->s));
	ASSERT_TRUE(!!self->s);
	self->wheels = file_value(PARAMETERS "max_user_wheels", NULL);
	self->timers = file_value(PARAMETERS "max_user_timers", NULL);
	ASSERT_LT(0, self->wheels);
	ASSERT_LT(0, self->timers);
	ASSERT_EQ(0, write_file(PARAMETERS "max_user_wheels", "%u", MAX_WHEELS + 1));
	ASSERT_EQ(0, write_file(PARAMETERS "max_user_timers", "%u", CAPACITY));
	ASSERT_EQ(0, set_up_faults());
	fail_nth = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fail_nth);
	/* Wheels count for the real uid; the effective uid keeps its capabilities. */
	ASSERT_EQ(0, setresuid(USER, 0, 0));
	/* With the last wheel goes what was counted. */
	self->other = wheel_used();
	ASSERT_LE(0, self->other);
}

FIXTURE_TEARDOWN(call)
{
	if (!self->wheels)
		return;
	write_file(PARAMETERS "max_user_wheels", "%lld", self->wheels);
	write_file(PARAMETERS "max_user_timers", "%lld", self->timers);
}

TEST_F(call, each_failure_of_a_call_leaves_the_wheel_whole)
{
	struct subject *s = self->s;
	unsigned int n;
	bool failed = true, same;
	const char *wrong;
	int ret;

	for (n = 1; failed; n++) {
		ASSERT_GT(MAX_POINTS, n);
		memset(s, 0, sizeof(*s));
		ASSERT_EQ(0, variant->prepare(s));
		ASSERT_TRUE(take_picture(s, &self->before));

		fail_at(n);
		ret = variant->make(s);
		failed = has_failed();

		ASSERT_TRUE(take_picture(s, &self->after));
		same = !memcmp(&self->before, &self->after, sizeof(self->after));
		if (ret >= 0) {
			ASSERT_TRUE(variant->done(s, ret))
				TH_LOG("point %u: %d, but it has not done that", n, ret);
		} else {
			ASSERT_TRUE(failed)
				TH_LOG("%d, and nothing failed", ret);
			ASSERT_TRUE(ret == -EFAULT || ret == (variant->error ?: -ENOMEM))
				TH_LOG("point %u: errno %d", n, -ret);
			/* All is done, but the result can't be reported: see EFAULT in twheel.h. */
			if (!same) {
				ASSERT_EQ(-EFAULT, ret);
				ASSERT_TRUE(variant->done(s, ret))
					TH_LOG("point %u: %d, and half done", n, ret);
			}
		}
		wrong = settle(s);
		ASSERT_TRUE(!wrong)
			TH_LOG("point %u: %d, and then %s", n, ret, wrong);
		finish(s);
		ASSERT_TRUE(limits_hold())
			TH_LOG("point %u: %d, and not all is given back", n, ret);
	}
	/* A sweep over nothing would show nothing. */
	ASSERT_LT(2, n);
	TH_LOG("%u failure points", n - 2);
}

/* At random, under load */

#define ARMERS		2U
#define IDS		64U	/* of each */
#define GENERATIONS	8192U	/* of each id */
#define BATCH		16U

/* The fate of an arming. */
enum arming {
	UNUSED,
	OPEN,		/* its event must come */
	TAKEN_BACK,	/* a call has said that it came before the event */
	UNKNOWN,	/* it was replaced by a call that could not tell what it found */
};

struct load {
	int		fd;
	unsigned char	known[ARMERS * IDS][GENERATIONS];
	unsigned char	seen[ARMERS * IDS][GENERATIONS];
	__u32		generation[ARMERS * IDS];
	unsigned int	failures[ARMERS + 2];
	const char	*wrong;
	bool		stop;
};

struct armer {
	struct load	*load;
	unsigned int	number;
	int		make_it_fail;
	__u32		seed;
};

static void make_fail(struct armer *a, bool fail)
{
	/* This call may be made to fail, too. */
	while (pwrite(a->make_it_fail, fail ? "1" : "0", 1, 0) != 1)
		;
}

static bool running(const struct load *l)
{
	return !__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE) && !l->wrong;
}

/* What a call found of an id's last arming. */
static void note_found(struct load *l, __u32 id, __u32 state)
{
	unsigned char *known = &l->known[id][l->generation[id]];

	if (*known == OPEN)
		*known = state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED
			 ? TAKEN_BACK : UNKNOWN;
}

static void note_armed(struct load *l, __u32 id, __u32 generation, __u32 state)
{
	note_found(l, id, state);
	if (generation != l->generation[id] + 1)
		l->wrong = "an arming was not told of";
	l->generation[id] = generation;
	l->known[id][generation] = OPEN;
}

/* A call on an id has failed: has it been carried out? */
static void note_failed(struct armer *a, __u32 id, bool arm)
{
	struct load *l = a->load;
	struct twheel_timer t;

	l->failures[a->number]++;
	make_fail(a, false);
	if (wheel_get(l->fd, id, &t))
		l->wrong = "get fails";
	else if (arm && t.generation != l->generation[id])
		note_armed(l, id, t.generation, TWHEEL_STATE_IDLE);
	else if (!arm && t.state == TWHEEL_STATE_IDLE)
		note_found(l, id, TWHEEL_STATE_IDLE);
	make_fail(a, true);
}

static void note_op(struct armer *a, const struct twheel_op *op, int ret)
{
	bool arm = op->opcode != TWHEEL_OP_CANCEL;

	if (ret == -ENOMEM || ret == -EFAULT)
		note_failed(a, op->id, arm);
	else if (ret)
		a->load->wrong = "a call fails for another reason";
	else if (arm)
		note_armed(a->load, op->id, op->generation, op->state);
	else
		note_found(a->load, op->id, op->state);
}

static struct twheel_op some_op(struct armer *a, __u32 id)
{
	__u32 r = next_random(&a->seed);

	if (r % 8 == 0)
		return (struct twheel_op){ .opcode = TWHEEL_OP_CANCEL, .id = id };
	return (struct twheel_op){
		.opcode		= TWHEEL_OP_ARM,
		.flags		= TWHEEL_ARM_RELATIVE,
		.deadline	= 1 + (r >> 8) % (20 * MSEC),
		.id		= id,
	};
}

static void arm_batch(struct armer *a, __u32 first)
{
	struct twheel_op ops[BATCH];
	struct twheel_submit s = {
		.ops = (uintptr_t)ops, .nr = BATCH, .op_size = sizeof(ops[0]),
	};
	int ret;

	for (__u32 i = 0; i < BATCH; i++)
		ops[i] = some_op(a, first + i);
	ret = wheel_ioctl(a->load->fd, TWHEEL_IOC_SUBMIT, &s);
	if (!ret)
		for (__u32 i = 0; i < BATCH; i++) {
			if (i < s.done)
				note_op(a, &ops[i], ops[i].result);
		}
	else
		for (__u32 i = 0; i < BATCH; i++)
			note_op(a, &ops[i], ret);
}

static void *arm_under_load(void *arg)
{
	struct armer *a = arg;
	struct load *l = a->load;
	__u32 first = a->number * IDS, id;

	a->make_it_fail = open("/proc/thread-self/make-it-fail", O_WRONLY);
	make_fail(a, true);
	while (running(l)) {
		id = first + next_random(&a->seed) % IDS;
		if (l->generation[id | (BATCH - 1)] > GENERATIONS - BATCH - 2)
			break;
		if (a->seed >> 16 & 1) {
			arm_batch(a, id & ~(BATCH - 1));
		} else {
			struct twheel_op op = some_op(a, id);
			__u32 opcode = op.opcode;
			int ret;

			op.opcode = 0;
			ret = wheel_ioctl(l->fd, opcode == TWHEEL_OP_ARM ?
					  TWHEEL_IOC_ARM : TWHEEL_IOC_CANCEL, &op);
			op.opcode = opcode;
			note_op(a, &op, ret);
		}
		if (l->generation[id] > GENERATIONS - 3)
			break;
	}
	make_fail(a, false);
	close(a->make_it_fail);
	return NULL;
}

static void note_events(struct load *l, const struct twheel_event *ev, int nr)
{
	__u64 now = now_ns();

	for (int i = 0; i < nr; i++) {
		if (ev[i].id >= ARMERS * IDS || ev[i].generation >= GENERATIONS)
			l->wrong = "an event of a timer that was never armed";
		else if (l->seen[ev[i].id][ev[i].generation]++)
			l->wrong = "an event came twice";
		else if (ev[i].deadline > now)
			l->wrong = "an event came early";
	}
}

static void *read_under_load(void *arg)
{
	struct armer *a = arg;
	struct load *l = a->load;
	struct twheel_event ev[8];
	int n;

	a->make_it_fail = open("/proc/thread-self/make-it-fail", O_WRONLY);
	make_fail(a, true);
	while (running(l)) {
		n = wheel_read(l->fd, ev, 8);
		if (n == -EAGAIN)
			wheel_poll(l->fd, 1);
		else if (n < 0)
			l->failures[a->number]++;
		note_events(l, ev, n);
	}
	make_fail(a, false);
	close(a->make_it_fail);
	return NULL;
}

/* Wheels come and go: whatever they do may fail, and nothing may be left. */
static void *open_under_load(void *arg)
{
	struct armer *a = arg;
	struct shared s;
	struct twheel_event ev;

	a->make_it_fail = open("/proc/thread-self/make-it-fail", O_WRONLY);
	make_fail(a, true);
	while (running(a->load)) {
		__u32 r = next_random(&a->seed);

		if (shared_open(&s, 2 * CHUNK, 0)) {
			a->load->failures[a->number]++;
		} else {
			want(&s, r >> 1 & 255, 1);
			arm_in(s.fd, 300, r & 2 ? HOUR : USEC, 0);
			wheel_poll(s.fd, 1);
			wheel_read(s.fd, &ev, 1);
		}
		if (s.fd >= 0) {
			s.word = s.word == MAP_FAILED ? NULL : s.word;
			shared_close(&s);
		}
	}
	make_fail(a, false);
	close(a->make_it_fail);
	return NULL;
}

FIXTURE(load) {
	struct load *l;
};

FIXTURE_SETUP(load)
{
	if (getuid())
		SKIP(return, NEEDS_ROOT);
	self->l = calloc(1, sizeof(*self->l));
	ASSERT_TRUE(!!self->l);
	ASSERT_EQ(0, set_up_faults());
	/* Only who asks for it, or nothing would work any more. */
	for (int i = 0; i < ARRAY_SIZE(faults); i++)
		ASSERT_EQ(0, set_fault(faults[i], "task-filter", 1));
	for (int i = 0; i < ARRAY_SIZE(faults); i++)
		ASSERT_EQ(0, set_fault(faults[i], "probability", 4));
	self->l->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->l->fd);
}

FIXTURE_TEARDOWN(load)
{
	for (int i = 0; i < ARRAY_SIZE(faults); i++) {
		set_fault(faults[i], "probability", 0);
		set_fault(faults[i], "task-filter", 0);
	}
}

TEST_F(load, all_that_must_come_comes_under_random_failures)
{
	void *(*const run[])(void *) = {
		arm_under_load, arm_under_load, read_under_load, open_under_load,
	};
	struct load *l = self->l;
	struct armer armer[ARRAY_SIZE(run)];
	pthread_t thread[ARRAY_SIZE(run)];
	unsigned int armings = 0, events = 0;
	struct twheel_event ev[64];
	struct twheel_stats stats;

	for (unsigned int i = 0; i < ARRAY_SIZE(run); i++) {
		armer[i] = (struct armer){ .load = l, .number = i, .seed = i + 1 };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, run[i], &armer[i]));
	}
	sleep_until(now_ns() + 4 * SEC);
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < ARRAY_SIZE(run); i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));

	/* Nothing fails any more: the rest comes. */
	for (;;) {
		ASSERT_EQ(0, wheel_stats(l->fd, &stats));
		if (!(stats.pending + stats.expired))
			break;
		ASSERT_EQ(POLLIN | POLLRDNORM, wheel_poll(l->fd, NEVER_MS));
		note_events(l, ev, wheel_read(l->fd, ev, 64));
	}
	ASSERT_TRUE(!l->wrong)
		TH_LOG("%s", l->wrong);
	for (unsigned int id = 0; id < ARMERS * IDS; id++) {
		for (unsigned int g = 0; g < GENERATIONS; g++) {
			int seen = l->seen[id][g];

			events += seen;
			armings += l->known[id][g] != UNUSED;
			if (l->known[id][g] != UNKNOWN)
				ASSERT_EQ(l->known[id][g] == OPEN, seen)
					TH_LOG("id %u, arming %u", id, g);
		}
	}
	EXPECT_EQ(stats.delivered, events);
	EXPECT_EQ(stats.arms, armings);
	TH_LOG("%u armings, %u events; failures: %u %u %u %u", armings, events,
	       l->failures[0], l->failures[1], l->failures[2], l->failures[3]);
	for (unsigned int i = 0; i < ARRAY_SIZE(run); i++)
		EXPECT_LT(0, l->failures[i]);
	close(l->fd);
}

TEST_HARNESS_MAIN
