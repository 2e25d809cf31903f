/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame: all that a picture of twheel top shows, and nothing of how it is drawn.
 *
 * Frames come from a live wheel, from a simulation, or from a file to which earlier ones were
 * recorded, a line of JSON each.
 */
#ifndef TWHEEL_TOP_FRAME_H
#define TWHEEL_TOP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>
#include <linux/twheel.h>

#define FRAME_LEVELS	16
/* A ring may hold two turns. */
#define FRAME_PLACES	(2 * 4096)
#define FRAME_TEXT	160

/* What is counted, and how often it happens in a second. */
enum frame_count {
	FRAME_ARMS,
	FRAME_CANCELS,
	FRAME_FIRED,
	FRAME_DELIVERED,
	FRAME_MOVES,
	FRAME_CASCADES,
	FRAME_INTERRUPTS,
	FRAME_IDLE,
	FRAME_COUNTS,
};

/**
 * struct frame_level - a level of the wheel
 * @span: how long a slot is
 * @places: of its ring
 * @hand: at which place the wheel's time is
 * @timers: how many are at each place, as far as that is known
 * @opened: of each place: its timers have come down, or expired, since the frame before
 */
struct frame_level {
	uint64_t	span;
	uint32_t	places;
	uint32_t	hand;
	uint64_t	*timers;
	bool		*opened;
};

/**
 * struct frame - what there is to see at a time
 * @title: of which wheel
 * @said: what has happened last, of a simulation; or ""
 * @elapsed: ns from the first frame to this one, as they were seen
 * @now: what the wheel's clock tells
 * @tick: the wheel's resolution
 * @next: no timer is due before that, by that clock; 0: none is armed
 * @pending: timers that are armed
 * @expired: events that wait to be taken
 * @outside: timers that wait in no slot: in a queue in front of them, or in one order of all
 * @reached: the slots could be looked at
 * @looked_at: so many timers were sought in the slots.  If these are less than are pending, the
 *	others are taken to be where these are
 * @by_time: of these, so many were not found, and stand where their time says
 * @memory: bytes that the wheel holds; 0: not known
 * @count: since the wheel was opened
 * @per_second: since the frame before
 * @late: how late timers were, in classes as those of struct twheel_stats
 * @max_late: the latest
 * @levels: how many of @level there are
 * @level: the finest first
 */
struct frame {
	char			title[FRAME_TEXT];
	char			said[FRAME_TEXT];
	uint64_t		elapsed;
	uint64_t		now;
	uint64_t		tick;
	uint64_t		next;
	uint64_t		pending;
	uint64_t		expired;
	uint64_t		outside;
	bool			reached;
	uint64_t		looked_at;
	uint64_t		by_time;
	uint64_t		memory;
	uint64_t		count[FRAME_COUNTS];
	uint64_t		per_second[FRAME_COUNTS];
	__u64			late[TWHEEL_LATE_CLASSES];
	uint64_t		max_late;
	unsigned int		levels;
	struct frame_level	level[FRAME_LEVELS];
};

/* One more level, which is empty.  Of a frame that is used again its memory is kept. */
struct frame_level *frame_add_level(struct frame *frame, uint64_t span, uint32_t places);
void frame_free(struct frame *frame);

/* Set the rates by what was counted at the frame before, and the time that has passed since. */
void frame_rates(struct frame *frame, const struct frame *before, uint64_t ns);

/* How many of the timers those stand for that were found among the ones that were looked at. */
uint64_t frame_scale(const struct frame *frame, uint64_t found);

struct json_object *frame_json(const struct frame *frame);
/* False: the line is no frame. */
bool frame_parse(struct frame *frame, const char *line, size_t length);

#endif
