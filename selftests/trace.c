// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints: each is there, and its fields say what has happened.  Read from an instance of
 * tracefs of a test's own.
 *
 * Bed: fast
 */
#include "words_test.h"

#define TRACEFS		"/sys/kernel/tracing"
#define EVENTS		"/events/twheel"
/* So much of a trace is looked at. */
#define TRACE_SIZE	(1 << 20)

static void __attribute__((constructor)) need_tracing(void)
{
	if (access(TRACEFS "/instances", F_OK))
		ksft_exit_skip("no " TRACEFS ": this kernel does not trace, or none is mounted\n");
	if (access(TRACEFS EVENTS, F_OK))
		ksft_exit_skip("no " TRACEFS EVENTS ": this kernel traces no modules\n");
	/* With tracepoints of its own, too, where the processor is emulated. */
	if (getenv("TWHEEL_STORM"))
		ksft_exit_skip("in a storm of signals a kernel may hang that patches its code\n");
}

FIXTURE(trace) {
	char instance[64];
	char *text;
	struct shared shared;
	int fd;
};

/* A file of the instance. */
static const char *of(const char *instance, const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s%s", instance, file);
	return path;
}

FIXTURE_SETUP(trace)
{
	memset(&self->shared, 0, sizeof(self->shared));
	self->text = malloc(TRACE_SIZE);
	ASSERT_NE(NULL, self->text);
	self->fd = wheel_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	snprintf(self->instance, sizeof(self->instance), TRACEFS "/instances/twheel-%d", getpid());
	/* Names of tasks take tracepoints of the scheduler, and emulators may miss patched code. */
	ASSERT_EQ(0, write_file(TRACEFS "/options/record-cmd", "0"));
	ASSERT_EQ(0, mkdir(self->instance, 0700));
	ASSERT_EQ(0, write_file(of(self->instance, EVENTS "/enable"), "1"));
}

FIXTURE_TEARDOWN(trace)
{
	close(self->fd);
	if (self->shared.fd)
		shared_close(&self->shared);
	free(self->text);
	/* The instance is busy as long as somebody reads it. */
	write_file(of(self->instance, EVENTS "/enable"), "0");
	rmdir(self->instance);
}

/* All that was traced so far. */
static void trace_read(const char *instance, char *text)
{
	FILE *file = fopen(of(instance, "/trace"), "r");
	size_t n = file ? fread(text, 1, TRACE_SIZE - 1, file) : 0;

	text[n] = 0;
	if (file)
		fclose(file);
}

/* The number of a field of a line, which is -1 for a field that is not there. */
static long long field(const char *line, const char *name)
{
	const char *end = strchr(line, '\n');
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(line, key);
	return at && at < end ? strtoll(at + strlen(key), NULL, 10) : -1;
}

/* Has a line this text? */
static bool has(const char *line, const char *text)
{
	const char *end = strchr(line, '\n'), *at = strstr(line, text);

	return at && at < end;
}

/*
 * The next line of an event behind a place in the text; of this wheel, unless that is 0.  NULL:
 * there is none.
 */
static const char *next_line(const char *from, const char *event, __u64 wheel)
{
	char key[48];
	const char *at = from;

	snprintf(key, sizeof(key), ": %s:", event);
	while ((at = strstr(at, key))) {
		at += strlen(key) - 1;
		if (strchr(at, '\n') && (!wheel || field(at, "wheel") == wheel))
			return at;
	}
	return NULL;
}

/* How many lines of an event there are of a wheel. */
static int lines(const char *text, const char *event, __u64 wheel)
{
	int n = 0;

	while ((text = next_line(text, event, wheel)))
		n++;
	return n;
}

TEST_F(trace, all_tracepoints_have_a_format)
{
	static const char * const events[] = {
		"twheel_timer_arm", "twheel_timer_cancel", "twheel_timer_let_go",
		"twheel_timer_stale", "twheel_timer_file", "twheel_timer_move",
		"twheel_timer_expire", "twheel_timer_deliver", "twheel_cascade",
		"twheel_hrtimer_start", "twheel_hrtimer_fire",
	};
	char path[128], format[4096];
	const char *late;

	for (int i = 0; i < ARRAY_SIZE(events); i++) {
		snprintf(path, sizeof(path), TRACEFS EVENTS "/%s/format", events[i]);
		ASSERT_LT(0, read_file(path, format, sizeof(format))) {
			TH_LOG("no %s", path);
		}
	}
	/* A histogram of what may be negative would be one of something else. */
	ASSERT_LT(0, read_file(TRACEFS EVENTS "/twheel_timer_deliver/format", format,
			       sizeof(format)));
	late = strstr(format, "field:u64 late_ns;");
	ASSERT_NE(NULL, late);
	EXPECT_TRUE(has(late, "size:8;\tsigned:0;"));
}

TEST_F(trace, arm_and_cancel_are_traced)
{
	__u64 number = number_of(self->fd), base = now_ns() + HOUR;
	struct twheel_op op = {
		.deadline = base, .interval = 5 * SEC, .cookie = 0xfedcba9876543210, .id = 7,
	};
	const char *line;
	__u64 slot;

	ASSERT_EQ(0, wheel_arm(self->fd, &op));
	ASSERT_EQ(0, arm_at(self->fd, 7, base + HOUR, 3));
	ASSERT_EQ(TWHEEL_STATE_PENDING, wheel_cancel(self->fd, 7));
	ASSERT_EQ(TWHEEL_STATE_IDLE, wheel_cancel(self->fd, 7));
	ASSERT_EQ(0, arm_at(self->fd, 7, 1, 4));
	ASSERT_EQ(TWHEEL_STATE_EXPIRED, wheel_cancel(self->fd, 7));
	trace_read(self->instance, self->text);
	EXPECT_EQ(3, lines(self->text, "twheel_timer_arm", number));
	EXPECT_EQ(2, lines(self->text, "twheel_timer_cancel", number));

	line = next_line(self->text, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(7, field(line, "id"));
	EXPECT_EQ(1, field(line, "generation"));
	EXPECT_TRUE(has(line, " cookie=18364758544493064720 "));
	EXPECT_EQ(base, field(line, "deadline"));
	EXPECT_EQ(5 * SEC, field(line, "interval"));
	EXPECT_EQ((base + MSEC - 1) / MSEC, field(line, "tick"));
	EXPECT_EQ(3, field(line, "level"));
	EXPECT_EQ((base + MSEC - 1) / MSEC >> 18 & 127, field(line, "slot"));
	EXPECT_TRUE(has(line, " found=idle\n"));

	/* Moved later it keeps its entry. */
	slot = field(line, "slot");
	line = next_line(line, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(2, field(line, "generation"));
	EXPECT_EQ((base + MSEC - 1) / MSEC, field(line, "tick"));
	EXPECT_EQ(3, field(line, "level"));
	EXPECT_EQ(slot, field(line, "slot"));
	EXPECT_TRUE(has(line, " found=pending\n"));
	line = next_line(line, "twheel_timer_cancel", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(7, field(line, "id"));
	EXPECT_EQ(2, field(line, "generation"));
	EXPECT_EQ(base + HOUR, field(line, "deadline"));
	EXPECT_EQ((base + MSEC - 1) / MSEC, field(line, "tick"));
	EXPECT_TRUE(has(line, " found=pending\n"));

	/* For a time that has passed: the arm is told before the event that it makes. */
	line = next_line(line, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(1, field(line, "deadline"));
	EXPECT_EQ(0, field(line, "tick"));
	EXPECT_EQ(-1, field(line, "level"));
	line = next_line(line, "twheel_timer_expire", number);
	ASSERT_NE(NULL, line);
	EXPECT_LE(base - HOUR, field(line, "late_ns") + 1);
	EXPECT_EQ(0, field(line, "unread_ns"));
	line = next_line(line, "twheel_timer_cancel", number);
	ASSERT_NE(NULL, line);
	EXPECT_TRUE(has(line, " found=expired\n"));
}

/* Behind others in its list, of which there are eight, a timer does not know its slot. */
TEST_F(trace, a_timer_moved_behind_others_is_traced_without_a_slot)
{
	__u64 base = now_ns() + HOUR;
	const char *line = self->text;

	ASSERT_EQ(0, arm_many(self->fd, 9, base, 0));
	ASSERT_EQ(0, arm_at(self->fd, 0, base + SEC, 0));
	trace_read(self->instance, self->text);
	for (int i = 0; i < 10; i++) {
		line = next_line(line, "twheel_timer_arm", number_of(self->fd));
		ASSERT_NE(NULL, line);
		EXPECT_EQ(i < 9 ? 3 : -1, field(line, "level"));
		EXPECT_EQ(i < 9 ? 0 : 1, field(line, "slot") < 0);
	}
}

/* The tracepoints of an event agree with its record and with the wheel's statistics. */
TEST_F(trace, expiry_and_delivery_are_traced_as_they_are_counted)
{
	/* Far enough ahead that all are armed before, on a slow kernel too. */
	__u64 number = number_of(self->fd), base = now_ns() + 500 * MSEC;
	struct twheel_event ev[4];
	struct twheel_stats s;
	const char *line, *expire;

	ASSERT_EQ(0, arm_at(self->fd, 0, base, 11));
	ASSERT_EQ(0, arm_at(self->fd, 1, base, 12));
	ASSERT_EQ(0, arm_every(self->fd, 2, base, 10 * MSEC, 3));
	/* All periods of the last have passed then. */
	sleep_until(base + 60 * MSEC);
	ASSERT_EQ(3, collect(self->fd, ev, 3));
	ASSERT_EQ(0, wheel_stats(self->fd, &s));
	trace_read(self->instance, self->text);
	EXPECT_EQ(s.fired, lines(self->text, "twheel_timer_expire", number));
	EXPECT_EQ(s.delivered, lines(self->text, "twheel_timer_deliver", number));
	expire = self->text;
	line = self->text;
	for (int i = 0; i < 3; i++) {
		line = next_line(line, "twheel_timer_deliver", number);
		ASSERT_NE(NULL, line);
		EXPECT_EQ(ev[i].id, field(line, "id"));
		EXPECT_EQ(ev[i].generation, field(line, "generation"));
		EXPECT_EQ(ev[i].cookie, field(line, "cookie"));
		EXPECT_EQ(ev[i].deadline, field(line, "deadline"));
		EXPECT_EQ(ev[i].fired - ev[i].deadline, field(line, "late_ns"));
		EXPECT_EQ(ev[i].overruns, field(line, "overruns"));
		EXPECT_LE((long long)(base + 60 * MSEC - ev[i].fired), field(line, "unread_ns"));
		EXPECT_GE(now_ns() - ev[i].fired, field(line, "unread_ns"));
		/* They wait in the order in which they were found. */
		expire = next_line(expire, "twheel_timer_expire", number);
		ASSERT_NE(NULL, expire);
		EXPECT_EQ(ev[i].id, field(expire, "id"));
		EXPECT_EQ(ev[i].generation, field(expire, "generation"));
		EXPECT_EQ(ev[i].deadline, field(expire, "deadline"));
		EXPECT_EQ(field(line, "late_ns"), field(expire, "late_ns"));
		EXPECT_EQ(0, field(expire, "unread_ns"));
	}
}

/* The next line of twheel_timer_file is of this timer, and has its place. */
static const char *filed(struct __test_metadata *_metadata, const char *from, __u64 number,
			 __u32 id, __u64 deadline)
{
	const char *line = next_line(from, "twheel_timer_file", number);

	ASSERT_NE(NULL, line);
	EXPECT_EQ(id, field(line, "id"));
	EXPECT_EQ(deadline, field(line, "deadline"));
	EXPECT_EQ((deadline + MSEC - 1) / MSEC, field(line, "tick"));
	EXPECT_LT(0, field(line, "level"));
	EXPECT_LE(0, field(line, "slot"));
	return line;
}

TEST_F(trace, the_next_period_is_traced_when_a_read_begins_it)
{
	__u64 number = number_of(self->fd), base = now_ns() + 20 * MSEC;
	struct twheel_event ev;
	const char *line;

	ASSERT_EQ(0, arm_every(self->fd, 3, base, 40 * SEC, 0));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	trace_read(self->instance, self->text);
	line = next_line(self->text, "twheel_timer_deliver", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(1, lines(self->text, "twheel_timer_file", number));
	filed(_metadata, line, number, 3, base + 40 * SEC);
}

TEST_F(trace, a_timer_with_a_word_is_traced_where_it_is_filed)
{
	struct shared *s = &self->shared;
	struct twheel_event ev;
	const char *line;
	__u64 far, number;

	ASSERT_EQ(0, shared_open(s, 256, 0));
	number = number_of(s->fd);
	far = now_ns() + HOUR;
	/* By an arm; and by a store, found when an event is read that does not count any more. */
	ASSERT_EQ(1, want(s, 7, far));
	ASSERT_EQ(1, want(s, 8, 1));
	__atomic_store_n(&s->word[8].deadline, far + SEC, __ATOMIC_SEQ_CST);
	EXPECT_EQ(-EAGAIN, wheel_read(s->fd, &ev, 1));
	trace_read(self->instance, self->text);
	line = next_line(self->text, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	line = filed(_metadata, line, number, 7, far);
	line = next_line(line, "twheel_timer_stale", number);
	ASSERT_NE(NULL, line);
	filed(_metadata, line, number, 8, far + SEC);
}

/*
 * In a slot of level 1, which comes down for the first of them, and the others with it, each to its
 * own slot.
 */
TEST_F(trace, a_cascade_is_traced_with_its_timers)
{
	__u64 number = number_of(self->fd), slot = 64 * MSEC;
	__u64 base = (now_ns() / slot + 16) * slot + 5 * MSEC;
	struct twheel_event ev[4];
	const char *line, *move;

	/* One that is not in the slot is not counted with it. */
	ASSERT_EQ(0, arm_at(self->fd, 50, base + HOUR, 0));
	ASSERT_EQ(0, arm_many(self->fd, 3, base, 10 * MSEC));
	ASSERT_EQ(3, collect(self->fd, ev, 3));
	trace_read(self->instance, self->text);
	line = next_line(self->text, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	line = next_line(line, "twheel_timer_arm", number);
	ASSERT_NE(NULL, line);
	ASSERT_EQ(1, field(line, "level"));
	EXPECT_EQ(1, lines(self->text, "twheel_cascade", number));
	/* The first is due then. */
	EXPECT_EQ(2, lines(self->text, "twheel_timer_move", number));

	line = next_line(self->text, "twheel_cascade", number);
	ASSERT_NE(NULL, line);
	EXPECT_EQ(1, field(line, "level"));
	EXPECT_EQ(base / slot % 128, field(line, "slot"));
	EXPECT_EQ(3, field(line, "timers"));
	move = line;
	for (int i = 0; (move = next_line(move, "twheel_timer_move", number)); i++) {
		__u64 tick = field(move, "tick");

		EXPECT_EQ(tick, field(move, "from"));
		EXPECT_EQ(0, field(move, "level"));
		EXPECT_EQ(tick % 128, field(move, "slot"));
		EXPECT_EQ(base / MSEC + 10 * field(move, "id"), tick);
	}
}

/* Of four timers of one tick, stores push two back and cancel one before it comes. */
TEST_F(trace, timers_pushed_back_and_cancelled_by_stores_are_traced)
{
	struct shared *s = &self->shared;
	__u64 base, number;
	struct twheel_event ev;
	const char *line;

	ASSERT_EQ(0, shared_open(s, 256, 0));
	number = number_of(s->fd);
	base = (now_ns() / MSEC + 40) * MSEC;
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(1, want(s, i, base));
	ASSERT_EQ(0, want(s, 1, base + HOUR));
	ASSERT_EQ(0, want(s, 2, base + 2 * HOUR));
	cancel_by_store(s, 3);
	if (now_ns() >= base)
		SKIP(return, "this machine is too slow");
	ASSERT_EQ(1, collect(s->fd, &ev, 1));
	EXPECT_EQ(0, ev.id);
	trace_read(self->instance, self->text);
	EXPECT_EQ(1, lines(self->text, "twheel_timer_expire", number));
	EXPECT_EQ(2, lines(self->text, "twheel_timer_move", number));
	line = self->text;
	for (int i = 0; i < 2; i++) {
		__u64 id, tick;

		line = next_line(line, "twheel_timer_move", number);
		ASSERT_NE(NULL, line);
		id = field(line, "id");
		tick = field(line, "tick");
		EXPECT_TRUE(id == 1 || id == 2);
		EXPECT_EQ(base + id * HOUR, field(line, "deadline"));
		EXPECT_EQ(base / MSEC, field(line, "from"));
		EXPECT_EQ((base + id * HOUR) / MSEC, tick);
		EXPECT_EQ(3, field(line, "level"));
		EXPECT_EQ(tick >> 18 & 127, field(line, "slot"));
	}
	ASSERT_EQ(1, lines(self->text, "twheel_timer_let_go", number));
	line = next_line(self->text, "twheel_timer_let_go", number);
	EXPECT_EQ(3, field(line, "id"));
	EXPECT_TRUE(has(line, " found=pending\n"));
}

/* An event that waits, and is pushed back by a store before it is read. */
TEST_F(trace, a_stale_event_is_traced)
{
	struct shared *s = &self->shared;
	__u64 base, number;
	struct twheel_event ev;
	const char *line;

	ASSERT_EQ(0, shared_open(s, 256, 0));
	number = number_of(s->fd);
	base = now_ns() + 10 * MSEC;
	ASSERT_EQ(1, want(s, 5, base));
	ASSERT_TRUE(wait_expired(s->fd, 1));
	__atomic_store_n(&s->word[5].deadline, base + HOUR, __ATOMIC_SEQ_CST);
	EXPECT_EQ(-EAGAIN, wheel_read(s->fd, &ev, 1));
	trace_read(self->instance, self->text);
	ASSERT_EQ(1, lines(self->text, "twheel_timer_stale", number));
	line = next_line(self->text, "twheel_timer_stale", number);
	EXPECT_EQ(5, field(line, "id"));
	EXPECT_EQ(base, field(line, "deadline"));
	EXPECT_TRUE(has(line, " found=expired\n"));
	EXPECT_EQ(0, lines(self->text, "twheel_timer_deliver", number));
}

/* The hrtimer of the clock is set to no later than the deadline's tick, and fires for it. */
TEST_F(trace, the_hrtimer_is_traced_for_its_deadline)
{
	__u64 base = now_ns() + 30 * MSEC;
	struct twheel_event ev;
	const char *line, *fire = NULL;

	ASSERT_EQ(0, arm_at(self->fd, 0, base, 0));
	ASSERT_EQ(1, collect(self->fd, &ev, 1));
	trace_read(self->instance, self->text);
	for (line = self->text; (line = next_line(line, "twheel_hrtimer_start", 0));) {
		__u64 expires = field(line, "expires");

		if (field(line, "clock") != CLOCK_MONOTONIC || expires < base ||
		    expires > base + MSEC)
			continue;
		for (fire = line; (fire = next_line(fire, "twheel_hrtimer_fire", 0));)
			if (field(fire, "expires") == expires)
				break;
		if (fire)
			break;
	}
	ASSERT_NE(NULL, fire);
	EXPECT_EQ(CLOCK_MONOTONIC, field(fire, "clock"));
	EXPECT_GE(now_ns() - base, field(fire, "late_ns"));
	EXPECT_LE(0, field(fire, "late_ns"));
}

/* What needs no package: a histogram that the kernel keeps. */
TEST_F(trace, the_kernel_keeps_a_histogram_of_lateness)
{
	char trigger[128], path[128], text[4096];
	const char *at;

	snprintf(trigger, sizeof(trigger), "%s" EVENTS "/twheel_timer_deliver/trigger",
		 self->instance);
	if (write_file(trigger, "hist:keys=late_ns.log2 if wheel == %llu",
		       (unsigned long long)number_of(self->fd)))
		SKIP(return, "no hist triggers: the kernel is built without CONFIG_HIST_TRIGGERS");
	ASSERT_EQ(0, expire(self->fd, 5));
	for (int i = 0; i < 5; i++) {
		struct twheel_event ev;

		ASSERT_EQ(1, collect(self->fd, &ev, 1));
	}
	snprintf(path, sizeof(path), "%s" EVENTS "/twheel_timer_deliver/hist", self->instance);
	ASSERT_LT(0, read_file(path, text, sizeof(text)));
	at = strstr(text, "Hits: ");
	ASSERT_NE(NULL, at);
	EXPECT_EQ(5, atoi(at + strlen("Hits: ")));
	EXPECT_EQ(0, write_file(trigger, "!hist:keys=late_ns.log2"));
}

TEST_HARNESS_MAIN
