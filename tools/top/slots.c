// SPDX-License-Identifier: GPL-2.0
/*
 * In which slots the timers of a live wheel are.
 *
 * No call tells how full the slots are, only where one timer is.  A call passes 64 timers of a
 * list at most while it holds the wheel's lock, and a look makes no more than SAMPLE * CALLS of
 * them.  So of many timers a sample is taken; and where a timer stands far behind in a long list
 * is not sought, but it is shown where its time says: on the lowest level that reaches it.
 */
#include <stdlib.h>

#include "device.h"
#include "top/slots.h"
#include "where.h"

/* Timers that are looked for, at most; and calls for each of them. */
#define SAMPLE		1024
#define CALLS		4

/* Neighbours that one call tells of; few, as they were often armed together. */
#define BATCH		4

/* Levels that are there in any case. */
#define LEVELS_MIN	3

/**
 * struct survey - a look at a wheel
 * @where: what was found of it
 * @setup: its shape
 * @bits: log2 of the slots that a level turns through
 * @levels: how many are in use, as far as is known
 * @max_levels: how many there can be
 * @at: the tick that it is
 * @found: of each place of each level, how many timers of the sample are there
 */
struct survey {
	struct where			where;
	const struct twheel_setup	*setup;
	unsigned int			bits;
	unsigned int			levels;
	unsigned int			max_levels;
	uint64_t			at;
	uint32_t			found[FRAME_LEVELS][FRAME_PLACES];
};

static uint32_t places(const struct survey *survey)
{
	return 2U << survey->bits;
}

static bool add(struct survey *survey, uint32_t level, uint32_t slot)
{
	if (level >= survey->max_levels || slot >= places(survey))
		return false;
	survey->found[level][slot]++;
	if (level >= survey->levels)
		survey->levels = level + 1;
	return true;
}

/* The slot that it would be put into if it were armed now. */
static void guess(struct survey *survey, uint64_t time)
{
	uint64_t tick = time / survey->setup->tick;
	unsigned int level = 0, shift = 0;

	if (tick < survey->at)
		tick = survey->at;
	while (level + 1 < survey->max_levels &&
	       (tick >> shift) - (survey->at >> shift) >= places(survey)) {
		level++;
		shift += survey->bits;
	}
	add(survey, level, (tick >> shift) & (places(survey) - 1));
}

static void look_for(struct survey *survey, struct frame *frame, const struct twheel_timer *timer)
{
	struct twheel_where told;

	if (timer->state != TWHEEL_STATE_PENDING)
		return;
	/* Of whatever arming it is by now. */
	where_seek(&survey->where, timer->id, 0, &told);
	/* It has expired by now, or was cancelled. */
	if (told.place == TWHEEL_PLACE_DUE || told.place == TWHEEL_PLACE_NONE)
		return;
	frame->looked_at++;
	if (told.place == TWHEEL_PLACE_SLOT && add(survey, told.level, told.slot))
		return;
	frame->by_time++;
	guess(survey, told.filed ? told.filed : timer->deadline);
}

/* Some timers from all over the wheel, and each time the same ones, as far as they are armed. */
static void sample(struct survey *survey, struct frame *frame)
{
	/* So many batches of neighbours for each that is looked at. */
	uint64_t batches = (frame->pending + frame->expired) / SAMPLE + 1, skip;
	struct twheel_timer timers[BATCH];
	uint32_t random = 1;
	uint64_t next = 0;
	__u32 cursor;
	int nr, i;

	while (next < survey->setup->capacity && frame->looked_at < SAMPLE) {
		cursor = next;
		nr = wheel_list(survey->where.wheel, &cursor, timers, BATCH);
		if (nr <= 0)
			return;
		for (i = 0; i < nr; i++)
			look_for(survey, frame, &timers[i]);
		/* Not the same step each time: what ids mean to a program may have a period. */
		skip = (batches - 1) * (timers[nr - 1].id - timers[0].id + 1);
		random = random * 1664525 + 1013904223;
		next = cursor + skip / 2 + (uint64_t)((double)skip * random / UINT32_MAX);
	}
}

static void add_levels(const struct survey *survey, struct frame *frame)
{
	unsigned int shift = 0, l;
	uint32_t i;

	for (l = 0; l < survey->levels; l++, shift += survey->bits) {
		struct frame_level *level = frame_add_level(frame, survey->setup->tick << shift,
							    places(survey));

		level->hand = (survey->at >> shift) & (places(survey) - 1);
		for (i = 0; i < level->places; i++)
			level->timers[i] = frame_scale(frame, survey->found[l][i]);
	}
}

static unsigned int levels_of(const struct survey *survey)
{
	unsigned int most = survey->setup->levels ? survey->setup->levels : FRAME_LEVELS;
	unsigned int levels = 0;

	while (levels < most && levels < FRAME_LEVELS && levels * survey->bits < 64 &&
	       survey->setup->tick <= UINT64_MAX >> levels * survey->bits)
		levels++;
	return levels;
}

void slots_look(struct frame *frame, int wheel, const struct twheel_setup *setup)
{
	static struct survey *survey;

	if (!survey)
		survey = malloc(sizeof(*survey));
	if (!survey || !setup->tick || setup->slots < 2 || setup->slots > FRAME_PLACES / 2)
		return;
	*survey = (struct survey){
		.where = { .wheel = wheel, .calls = CALLS }, .setup = setup,
	};
	while (1U << survey->bits < setup->slots)
		survey->bits++;
	survey->max_levels = levels_of(survey);
	survey->levels = survey->max_levels < LEVELS_MIN ? survey->max_levels : LEVELS_MIN;
	survey->at = setup->now / setup->tick;
	frame->reached = true;
	sample(survey, frame);
	where_free(&survey->where);
	/* What was armed and cancelled meanwhile makes no sample of it. */
	if (frame->pending + frame->expired <= SAMPLE)
		frame->looked_at = frame->pending;
	add_levels(survey, frame);
}
