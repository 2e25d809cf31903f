// SPDX-License-Identifier: GPL-2.0
/*
 * The shape of a wheel: its defaults, setup, and the kernel's limits.
 */
#include <linux/capability.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>

#include "twheel.h"

static_assert(sizeof(struct twheel_features) == 56);
static_assert(sizeof(struct twheel_setup) == 56);

/* Return the ns that the caller's time namespace adds to a clock. */
static s64 caller_offset(enum twheel_clock clock)
{
	struct timespec64 offset = {};

	switch (clock) {
	case TWHEEL_MONOTONIC:
		timens_add_monotonic(&offset);
		break;
	case TWHEEL_BOOTTIME:
		timens_add_boottime(&offset);
		break;
	case TWHEEL_REALTIME:
		break;
	}
	return timespec64_to_ns(&offset);
}

/* To tell what would be allowed is no use of the capability. */
static u64 min_tick(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE) ? 1 : TWHEEL_MIN_TICK;
}

/* A bit for each clock that a wheel may have. */
static u32 clocks(void)
{
	u32 bits = 0;

	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		bits |= BIT(clock_ids[i]);
	return bits;
}

static int ioctl_features(struct twheel *tw, void *arg)
{
	*(struct twheel_features *)arg = (struct twheel_features){
		.abi		 = TWHEEL_ABI,
		.clocks		 = clocks(),
		.min_tick	 = min_tick(),
		.max_capacity	 = TWHEEL_MAX_CAPACITY,
		.max_levels	 = TWHEEL_MAX_LEVELS,
		.max_slots	 = TWHEEL_MAX_SLOTS,
		.max_batch	 = TWHEEL_MAX_BATCH,
		.max_user_timers = users_max_timers(),
		.max_user_wheels = users_max_wheels(),
		.features	 = TWHEEL_FEATURE_WORDS,
	};
	return 0;
}

/* Tell the shape of a wheel that is locked. */
static void setup_tell(const struct twheel *tw, struct twheel_setup *setup)
{
	const struct timers *ts = &tw->timers;

	*setup = (struct twheel_setup){
		.flags		= TWHEEL_SETUP_CLOCK | (ts->word ? TWHEEL_SETUP_WORDS : 0),
		.clock		= clock_ids[tw->clock],
		.tick		= ts->tick,
		.levels		= ts->wheel.max_levels,
		.slots		= 1U << ts->wheel.bits,
		.capacity	= ts->wheel.capacity,
		.event_size	= sizeof(struct twheel_event),
		.words_offset	= ts->word ? WORDS_OFFSET : 0,
		.now		= ts->now,
		.clock_offset	= tw->offset[tw->clock] - caller_offset(tw->clock),
	};
}

static int ioctl_get_setup(struct twheel *tw, void *arg)
{
	twheel_begin(tw);
	setup_tell(tw, arg);
	twheel_end(tw);
	return 0;
}

/* Fill in the defaults; refuse what makes no sense. */
static int setup_check(struct twheel_setup *setup, enum twheel_clock *clock)
{
	if (setup->flags & ~(TWHEEL_SETUP_CLOCK | TWHEEL_SETUP_WORDS))
		return -EOPNOTSUPP;
	if (setup->event_size && setup->event_size < sizeof(struct twheel_event))
		return -EINVAL;
	*clock = TWHEEL_MONOTONIC;
	if (setup->flags & TWHEEL_SETUP_CLOCK) {
		for (*clock = 0; clock_ids[*clock] != setup->clock; ++*clock)
			if (*clock == TWHEEL_CLOCKS - 1)
				return -EOPNOTSUPP;
	} else if (setup->clock) {
		return -EINVAL;
	}
	return timers_check_shape(setup);
}

/* May the caller give a wheel this shape?  Asked only of a wheel that has none yet. */
static bool setup_allowed(const struct twheel_setup *setup)
{
	return (setup->tick >= TWHEEL_MIN_TICK && setup->slots == TWHEEL_DEFAULT_SLOTS &&
		(!setup->levels || setup->levels == TWHEEL_DEFAULT_LEVELS)) ||
	       capable(CAP_SYS_RESOURCE);
}

/* Make an empty wheel that holds no memory. */
static void setup_shape(const struct twheel *tw, struct timers *ts,
			const struct twheel_setup *setup, enum twheel_clock clock)
{
	timers_setup(ts, setup->capacity, setup->levels, setup->slots, setup->tick,
		     clock_now(clock) + tw->offset[clock]);
	ts->settable = clock_settable(clock);
}

/* Shape a wheel that is being opened; no other thread knows it. */
static void setup_defaults(struct twheel *tw)
{
	struct twheel_setup setup = {};

	for (int i = 0; i < TWHEEL_CLOCKS; i++)
		tw->offset[i] = caller_offset(i);
	timers_check_shape(&setup);
	setup_shape(tw, &tw->timers, &setup, tw->clock);
}

/*
 * Take what the wheel needs from the start, in a copy of it: if something fails, it
 * was never there, whatever other threads did meanwhile.
 */
static int setup_take(struct twheel *tw, const struct twheel_setup *setup,
		      enum twheel_clock clock, struct timers *ts)
{
	int ret;

	lockdep_assert_held(&tw->grow);
	setup_shape(tw, ts, setup, clock);
	if (!(setup->flags & TWHEEL_SETUP_WORDS))
		return 0;
	ret = memory_set_up(tw, ts, tw->user);
	if (ret)
		memory_free(ts, tw->user);
	return ret;
}

static int ioctl_setup(struct twheel *tw, void *arg)
{
	struct twheel_setup *setup = arg;
	enum twheel_clock clock;
	struct timers *ts;
	int ret;

	ret = setup_check(setup, &clock);
	if (ret)
		return ret;
	ts = kmalloc(sizeof(*ts), GFP_BRIEF);
	if (!ts)
		return -ENOMEM;
	ret = memory_begin(tw);
	if (ret)
		goto free;
	if (tw->used)
		ret = -EBUSY;
	else if (!setup_allowed(setup))
		ret = -EPERM;
	else
		ret = setup_take(tw, setup, clock, ts);
	if (!ret) {
		tw->used = true;
		twheel_begin(tw);
		WARN_ON_ONCE(timers_memory(&tw->timers));
		tw->timers = *ts;
		wheel_moved(&tw->timers.wheel);
		tw->clock = clock;
		twheel_end(tw);
	}
	mutex_unlock(&tw->grow);
free:
	kfree(ts);
	return ret ? ret : ioctl_get_setup(tw, arg);
}
