// SPDX-License-Identifier: GPL-2.0
/* A wheel, built from its records. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "top/model.h"

void model_start(struct model *model, const struct recording *recording, uint64_t wheel)
{
	*model = (struct model){ .recording = recording, .wheel = wheel };
}

void model_end(struct model *model)
{
	unsigned int level;

	for (level = 0; level < MODEL_LEVELS; level++)
		free(model->ring[level].count);
	free(model->timer);
}

static struct waiting *timer_of(struct model *model, uint32_t id)
{
	model->timer = array_grown(model->timer, id, &model->ids, sizeof(*model->timer));
	return &model->timer[id];
}

/*
 * A ring has the slots of the recording's shape, or those seen so far.  The rings of twheel, in the
 * kernel and in twheel sim, hold two turns.
 */
static struct ring *ring_of(struct model *model, int32_t level, uint32_t slot)
{
	struct ring *ring = &model->ring[level];
	uint32_t size = ring->size;

	if (!size)
		size = model->recording->slots ? model->recording->slots : 1;
	if (!ring->size && model->recording->slots &&
	    (model->recording->is_trace || !strcmp(model->recording->name, "twheel")))
		size *= 2;
	while (size <= slot)
		size *= 2;
	if (size > ring->size) {
		ring->count = reallocarray(ring->count, size, sizeof(*ring->count));
		if (!ring->count)
			fail("out of memory");
		memset(ring->count + ring->size, 0, (size - ring->size) * sizeof(*ring->count));
		ring->size = size;
	}
	if ((unsigned int)level >= model->levels)
		model->levels = level + 1;
	/* Timers come down to the level below. */
	if (level && !ring[-1].size && model->recording->slots)
		ring_of(model, level - 1, 0);
	return ring;
}

static void take_out(struct model *model, struct waiting *timer)
{
	if (!timer->is_armed)
		return;
	timer->is_armed = false;
	model->armed--;
	if (timer->level < 0) {
		model->elsewhere[-1 - timer->level]--;
		return;
	}
	model->ring[timer->level].count[timer->slot]--;
	model->ring[timer->level].timers--;
}

static void put_in(struct model *model, struct waiting *timer, const struct record *record)
{
	struct ring *ring;

	take_out(model, timer);
	timer->is_armed = true;
	timer->level = record->level < MODEL_LEVELS ? record->level : LEVEL_UNKNOWN;
	timer->slot = record->slot;
	timer->deadline = record->deadline;
	model->armed++;
	if (timer->level < 0) {
		model->elsewhere[-1 - timer->level]++;
		return;
	}
	ring = ring_of(model, timer->level, timer->slot);
	ring->count[timer->slot]++;
	ring->timers++;
	if (record->span)
		ring->span = record->span;
}

static void note_move(struct model *model, const struct waiting *timer, const struct record *record)
{
	struct move *move = &model->move[0];
	/* The kernel takes time to move each timer. */
	uint64_t most = model->recording->is_trace ? 10 * NSEC_PER_MSEC : 0;

	if (!timer->is_armed || timer->level < 0 || record->level < 0)
		return;
	if (!move->timers || record->time - move->time > most || move->from != timer->level ||
	    move->slot != timer->slot || move->to != record->level) {
		memmove(move + 1, move, (MODEL_MOVES - 1) * sizeof(*move));
		*move = (struct move){ .time = record->time, .from = timer->level,
				       .slot = timer->slot, .to = record->level };
	}
	move->to_slot = record->slot;
	move->timers++;
}

static void take_out_all(struct model *model)
{
	size_t id;

	for (id = 0; id < model->ids; id++)
		take_out(model, &model->timer[id]);
}

static void note_late(struct model *model, int64_t late)
{
	model->late[lateness_class(late)]++;
	if (late > model->late_max)
		model->late_max = late;
}

/* The thread of hashed starts with the first timer, and counts ticks from then on. */
static void note_zero(struct model *model, const struct record *record)
{
	if (!model->has_zero && !strcmp(model->recording->name, "hashed"))
		model->zero = record->time;
	model->has_zero = true;
}

void model_take(struct model *model, const struct record *record)
{
	struct waiting *timer;

	if (record->time > model->time)
		model->time = record->time;
	if (record->what == RECORD_WOKEN) {
		model->counts.woken++;
		return;
	}
	if (record->wheel != model->wheel)
		return;
	if (record->what == RECORD_LISTED) {
		take_out_all(model);
		return;
	}
	timer = timer_of(model, record->id);
	switch (record->what) {
	case RECORD_PLACED:
		model->counts.armed++;
		note_zero(model, record);
		put_in(model, timer, record);
		return;
	case RECORD_KEPT:
		model->counts.armed++;
		if (timer->is_armed)
			timer->deadline = record->deadline;
		else
			put_in(model, timer, record);
		return;
	case RECORD_FILED:
		put_in(model, timer, record);
		return;
	case RECORD_MOVED:
		model->counts.moved++;
		note_move(model, timer, record);
		put_in(model, timer, record);
		return;
	case RECORD_EXPIRED:
		model->counts.expired++;
		note_late(model, record->late);
		take_out(model, timer);
		return;
	case RECORD_CANCELLED:
		model->counts.cancelled += timer->is_armed;
		take_out(model, timer);
		return;
	case RECORD_DELIVERED:
	case RECORD_WOKEN:
	case RECORD_LISTED:
		return;
	}
}

bool model_hand(const struct model *model, unsigned int level, uint64_t time, uint32_t *slot)
{
	const struct recording *recording = model->recording;
	const struct ring *ring = &model->ring[level];
	uint64_t span = ring->span;
	unsigned int i;

	if (!span && recording->tick && recording->slots)
		for (i = 0, span = recording->tick; i < level; i++)
			span *= recording->slots;
	if (!span || !ring->size)
		return false;
	*slot = (time + recording->ahead - model->zero) / span % ring->size;
	return true;
}

uint64_t model_next(const struct model *model)
{
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < model->ids; i++) {
		const struct waiting *timer = &model->timer[i];

		if (timer->is_armed && timer->deadline && (!next || timer->deadline < next))
			next = timer->deadline;
	}
	return next;
}
