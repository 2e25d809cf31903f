// SPDX-License-Identifier: GPL-2.0
/*
 * What an event costs on its whole way, from its slot to the program that takes it, with the
 * module's own code and the library's, in one thread.  The way into the kernel and the wake-up
 * are not in it; bench/delivery has those.
 */
#include "../../lib/twheel.h"

#include "inside.h"
#include "loops.h"

#define TIMERS		(1U << 20)
#define TICK_SHIFT	20
#define SPAN		300000U
#define STEPS		10000U

static const struct way {
	const char	*name;
	u32		flags;
} ways[] = {
	{ "without words", TWHEEL_OPEN_NO_WORDS },
	{ "with words",	   0 },
};

static u64 clock_of(u32 ticks)
{
	return (START + ticks) << TICK_SHIFT;
}

static int arm_all(struct twheel *w, const struct work *work)
{
	int failed = 0;

	for (u32 i = 0; i < TIMERS; i++) {
		struct twheel_arming arming = {
			.deadline = clock_of(work[i].ticks),
			.cookie = cookie_of(work[i].id),
		};

		failed += !!twheel_arm_with(w, work[i].id, &arming);
	}
	return failed ? host_fail("timers could not be armed:", failed) : 0;
}

/* Let the time go in steps, and take what comes in each. */
static int take_all(struct twheel *w, const char *part, const struct way *way)
{
	static struct twheel_event events[256];
	u64 nr = 0, cookies = 0, all = 0, start = host_busy_ns();
	int got;

	for (u32 step = 1; step <= STEPS; step++) {
		inside_turn(clock_of((u64)SPAN * step / STEPS));
		while ((got = twheel_take(w, events, 256)) > 0) {
			for (int i = 0; i < got; i++)
				cookies += events[i].cookie;
			nr += got;
		}
		if (got < 0)
			return host_fail("no event could be taken:", -got);
	}
	host_tell(part, way->name, "timers", TIMERS, "ns", host_busy_ns() - start, TIMERS);

	for (u32 id = 0; id < TIMERS; id++)
		all += cookie_of(id);
	if (nr != TIMERS || cookies != all || inside_armed())
		return host_fail("timers were lost or came twice; seen", nr);
	return 0;
}

static int run_of_way(const char *part, const struct way *way, unsigned int run)
{
	struct twheel_options options = { .size = sizeof(options), .flags = way->flags };
	struct work *work = host_alloc(TIMERS * sizeof(*work));
	struct twheel *w = NULL;
	int ret;

	if (!work || !inside_start(TIMERS, START << TICK_SHIFT)) {
		ret = host_fail("no memory for timers:", TIMERS);
		goto out;
	}
	work_seed(run);
	work_in_sequence(work, TIMERS);
	work_shuffle(work, TIMERS);
	work_deadlines(work, TIMERS, SPAN);
	ret = twheel_open(&w, &options);
	if (ret) {
		ret = host_fail("no wheel:", -ret);
		goto out;
	}
	ret = arm_all(w, work) ?: take_all(w, part, way);
	twheel_close(w);
out:
	host_free_all();
	return ret;
}

int loops_delivery(const char *part, unsigned int run)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(ways); i++)
		ret = run_of_way(part, &ways[i], run);
	return ret;
}
