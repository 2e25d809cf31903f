// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel of trial.h: the module's source in user space.  It is compiled with the folder of a
 * variant as the first to include from, in which one of the files has a fault.
 */
#include <stdio.h>

#include "compat/user.h"

/* Of the parts that know no device, not all is needed here. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* Another thread may store at any time; here it does before the wheel itself stores. */
static void others_run(void);

#undef WRITE_ONCE
#define WRITE_ONCE(x, value)						\
	({								\
		one_access(x);						\
		others_run();						\
		__atomic_store_n(&(x), (value), __ATOMIC_RELAXED);	\
	})

#include "unit.c"
#include "compat/owner.h"
#include "trial.h"

#define DEFAULT_CAPACITY	4096

/**
 * struct trial - a wheel with its time
 * @timers: the wheel and its timers
 * @now: ns
 * @told: the wheel has told of events
 */
struct trial {
	struct timers	timers;
	u64		now;
	bool		told;
};

/* Who else stores, and where. */
static void (*other_thread)(struct trial *t);
static struct trial *other_trial;

static_assert((int)TRIAL_IDLE == TWHEEL_STATE_IDLE);
static_assert((int)TRIAL_PENDING == TWHEEL_STATE_PENDING);
static_assert((int)TRIAL_EXPIRED == TWHEEL_STATE_EXPIRED);
static_assert((int)TRIAL_DELIVERED == TWHEEL_STATE_DELIVERED);

_Noreturn void trial_fail(const char *file, int line, const char *what)
{
	printf("%s:%d: this does not hold: %s\n", file, line, what);
	exit(1);
}

/* What a test asks for can be done, or the test is wrong. */
static void must(bool good, const char *what)
{
	if (good)
		return;
	printf("trial: %s\n", what);
	exit(1);
}

static void others_run(void)
{
	void (*other)(struct trial *t) = other_thread;

	other_thread = NULL;
	if (other)
		other(other_trial);
}

struct trial *trial_new(struct trial_shape shape)
{
	struct trial *t = calloc(1, sizeof(*t));
	struct twheel_setup setup = {
		.tick = shape.tick, .slots = shape.slots, .levels = shape.levels,
		.capacity = shape.capacity ? shape.capacity : DEFAULT_CAPACITY,
	};

	must(t, "no memory");
	must(!timers_check_shape(&setup), "there is no wheel of that shape");
	t->now = shape.start;
	timers_setup(&t->timers, setup.capacity, setup.levels, setup.slots, setup.tick, t->now);
	/* What is only stored gets no memory later. */
	must(owner_add_chunks(&t->timers.wheel), "no memory");
	for (u32 id = 0; shape.words && id < setup.capacity; id += WORDS_PER_PAGE)
		must(owner_add_words(&t->timers, id), "no memory");
	must(!shape.words || owner_add_levels(&t->timers.wheel, t->timers.wheel.max_levels),
	     "no memory");
	return t;
}

void trial_free(struct trial *t)
{
	words_destroy(&t->timers);
	wheel_destroy(&t->timers.wheel);
	free(t);
}

uint64_t trial_now(const struct trial *t)
{
	return t->now;
}

static void note_news(struct trial *t)
{
	t->told |= t->timers.news;
	t->timers.news = false;
}

static u32 arm(struct trial *t, struct twheel_op op)
{
	int ret = owner_arm(&t->timers, &op, t->now);

	must(ret != -ENOMEM, "no memory");
	must(!ret, "there is no such id or interval");
	note_news(t);
	return op.generation;
}

uint32_t trial_arm(struct trial *t, uint32_t id, uint64_t deadline)
{
	return trial_repeat(t, id, deadline, 0);
}

uint32_t trial_repeat(struct trial *t, uint32_t id, uint64_t deadline, uint64_t interval)
{
	must(id != TWHEEL_ID_ANY && deadline, "arm an id for a deadline that is not 0");
	return arm(t, (struct twheel_op){ .id = id, .deadline = deadline, .interval = interval });
}

enum trial_state trial_cancel(struct trial *t, uint32_t id, uint32_t generation)
{
	struct twheel_op op = { .id = id, .generation = generation };
	int ret;

	timers_turn(&t->timers, t->now);
	ret = owner_cancel(&t->timers, &op);
	must(!ret || ret == -ESTALE, "there is no such id");
	return ret ? TRIAL_STALE : (enum trial_state)op.state;
}

uint64_t trial_next(struct trial *t)
{
	u64 next = timers_next(&t->timers);

	return next == KTIME_MAX ? TRIAL_NEVER : max(next, t->now);
}

unsigned int trial_step(struct trial *t, uint64_t now)
{
	unsigned int done;

	must(now >= t->now, "the time does not go back");
	t->now = now;
	done = timers_advance(&t->timers, now, WHEEL_STEP);
	note_news(t);
	return done;
}

unsigned int trial_run(struct trial *t, uint64_t until)
{
	unsigned int turned = 0;
	u64 next;

	must(until >= t->now && until != TRIAL_NEVER, "the time does not go back, nor for ever on");
	for (; (next = trial_next(t)) <= until; turned++)
		while (trial_step(t, next) == WHEEL_STEP)
			;
	t->now = until;
	return turned;
}

bool trial_told(struct trial *t)
{
	bool told = t->told;

	t->told = false;
	return told;
}

bool trial_read(struct trial *t, struct trial_event *event)
{
	struct twheel_event e;

	if (!owner_read(&t->timers, &e, t->now))
		return false;
	*event = (struct trial_event){ e.id, e.generation, e.deadline, e.fired, e.overruns };
	return true;
}

bool trial_store(struct trial *t, uint32_t id, uint64_t deadline)
{
	struct twheel_word *word = id < t->timers.wheel.capacity ? word_of(&t->timers, id) : NULL;

	must(word, "there is no such id, or the wheel has no words");
	xchg(&word->deadline, deadline);
	return !word_uncovered(word_deadline(word), READ_ONCE(word->promise));
}

void trial_call(struct trial *t, uint32_t id)
{
	arm(t, (struct twheel_op){ .id = id, .flags = TWHEEL_ARM_STORED });
}

void trial_meanwhile(struct trial *t, void (*other)(struct trial *t))
{
	other_trial = t;
	other_thread = other;
}
