// SPDX-License-Identifier: GPL-2.0
/*
 * Frames of wheels that are open.
 *
 * Counters come from whoever may reach the wheel, or from its fdinfo, which takes fewer rights; the
 * slots only from the wheel.  It is borrowed for each look and given back at once.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "device.h"
#include "duration.h"
#include "info.h"
#include "output.h"
#include "top/slots.h"
#include "top/source.h"

/**
 * struct live - wheels that are open
 * @source: what is known of the one that is looked at
 * @options: which wheels are meant
 * @target: the one that is looked at
 * @wheel: its number
 * @before: the frame before
 * @looked: when that was
 */
struct live {
	struct source		source;
	struct target_options	options;
	struct target		target;
	uint64_t		wheel;
	struct frame		before;
	uint64_t		looked;
};

static void set_title(struct frame *frame, const struct target *target)
{
	if (target->pid)
		snprintf(frame->title, sizeof(frame->title), "process %d (%s), file descriptor %d",
			 target->pid, target->comm, target->fd);
	else
		snprintf(frame->title, sizeof(frame->title), "inherited file descriptor %d",
			 target->fd);
}

static void set_counters(struct frame *frame, const struct info *info)
{
	const struct twheel_stats *stats = &info->stats;

	frame->now = info->setup.now;
	frame->tick = info->setup.tick;
	frame->next = stats->next;
	frame->pending = stats->pending;
	frame->expired = stats->expired;
	frame->memory = stats->memory;
	frame->count[FRAME_ARMS] = stats->arms;
	frame->count[FRAME_CANCELS] = stats->cancels;
	frame->count[FRAME_FIRED] = stats->fired;
	frame->count[FRAME_DELIVERED] = stats->delivered;
	frame->count[FRAME_MOVES] = stats->moves;
	frame->count[FRAME_CASCADES] = stats->cascades;
	frame->count[FRAME_INTERRUPTS] = stats->interrupts;
	frame->count[FRAME_IDLE] = stats->idle_interrupts;
	memcpy(frame->late, stats->late, sizeof(frame->late));
	frame->max_late = stats->max_late;
}

/* False: it was closed.  Sets @wheel, or -1 if it can't be reached. */
static bool get_info(const struct target *target, struct info *info, int *wheel)
{
	*wheel = target_open(target);
	if (*wheel < 0)
		return target->pid && info_read(target->pid, target->fd, info);
	/* The number is told nowhere else. */
	info_read(getpid(), *wheel, info);
	if (!wheel_get_setup(*wheel, &info->setup) && !wheel_stats(*wheel, &info->stats))
		return true;
	close(*wheel);
	return false;
}

/* Slots that had timers, and that the hand has come to, and that have none any more. */
static void note_opened(struct frame_level *level, const struct frame_level *before)
{
	uint32_t place;

	if (level->places != before->places || level->span != before->span)
		return;
	for (place = before->hand; ; place = (place + 1) % level->places) {
		level->opened[place] = before->timers[place] && !level->timers[place];
		if (place == level->hand)
			break;
	}
}

static bool look(struct live *live)
{
	struct frame *frame = &live->source.frame, last = live->before;
	struct info info;
	uint64_t time;
	unsigned int l;
	int wheel;

	if (!get_info(&live->target, &info, &wheel))
		return false;
	if (!live->wheel)
		live->wheel = info.number;
	if (info.number != live->wheel) {
		close(wheel);
		return false;
	}
	/* Its memory is used again. */
	live->before = *frame;
	*frame = last;
	frame->levels = 0;
	frame->looked_at = 0;
	frame->by_time = 0;
	frame->reached = false;
	frame->elapsed = live->before.elapsed;
	time = now();
	set_title(frame, &live->target);
	set_counters(frame, &info);
	frame_rates(frame, &live->before, live->looked ? time - live->looked : 0);
	live->looked = time;
	if (wheel < 0)
		return true;
	slots_look(frame, wheel, &info.setup);
	close(wheel);
	/* Of level 0 this is what expires. */
	for (l = 1; l < frame->levels && l < live->before.levels; l++)
		note_opened(&frame->level[l], &live->before.level[l]);
	return true;
}

static bool live_step(struct source *source)
{
	source->end = look((struct live *)source) ? NULL : "the wheel was closed";
	return !source->end;
}

static bool live_pass(struct source *source, uint64_t ns)
{
	(void)ns;
	return live_step(source);
}

/* Begin with another wheel: what was counted before was another one's. */
static void live_set(struct live *live, const struct target *targets, size_t nr, size_t chosen)
{
	live->target = targets[chosen];
	live->source.number = chosen + 1;
	live->source.of = nr;
	live->wheel = 0;
	live->looked = 0;
	live->source.frame.levels = 0;
	live->before.levels = 0;
}

static void live_choose(struct source *source, int by)
{
	struct live *live = (struct live *)source;
	struct target *targets;
	size_t nr, denied, i;

	if (live->options.fd >= 0 || live->options.pid_fd >= 0)
		return;
	/* Wheels come and go. */
	targets = target_scan(live->options.pid, &nr, &denied);
	for (i = 0; i < nr; i++) {
		if (targets[i].pid == live->target.pid && targets[i].fd == live->target.fd)
			break;
	}
	if (nr) {
		live_set(live, targets, nr, i < nr ? (i + nr + by) % nr : 0);
		live_step(source);
	}
	free(targets);
}

static void live_close(struct source *source)
{
	struct live *live = (struct live *)source;

	frame_free(&live->source.frame);
	frame_free(&live->before);
	free(live);
}

struct source *live_open(const struct target_options *options)
{
	struct live *live = calloc(1, sizeof(*live));
	struct target *targets;
	size_t nr;

	if (!live)
		fail("out of memory");
	live->source.pass = live_pass;
	live->source.step = live_step;
	live->source.choose = live_choose;
	live->source.close = live_close;
	live->source.live = true;
	live->options = *options;
	targets = target_choices(options, &nr);
	live_set(live, targets, nr, 0);
	free(targets);
	if (!look(live)) {
		/* Says which of the many reasons it is. */
		close(target_open_or_fail(&live->target));
		fail("the wheel was closed");
	}
	return &live->source;
}
