// SPDX-License-Identifier: GPL-2.0
/* The lives of timers, from records. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "plot/lives.h"

/**
 * struct seen - a timer
 * @open: the number of its open stay, or NO_STAY
 * @last: the number of its last closed stay, or NO_STAY
 */
struct seen {
	size_t	open;
	size_t	last;
};

/**
 * struct maker - lives in the making
 * @lives: the result
 * @stays: room for this many stays
 * @wakes: room for this many wake-ups
 * @timer: timers by id
 * @ids: room for this many ids
 * @begin: time of the first record
 */
struct maker {
	struct lives	*lives;
	size_t		stays;
	size_t		wakes;
	struct seen	*timer;
	size_t		ids;
	uint64_t	begin;
};

static struct seen *timer_of(struct maker *m, uint32_t id)
{
	size_t before = m->ids, i;

	m->timer = array_grown(m->timer, id, &m->ids, sizeof(*m->timer));
	for (i = before; i < m->ids; i++)
		m->timer[i] = (struct seen){ NO_STAY, NO_STAY };
	return &m->timer[id];
}

static struct stay *begin(struct maker *m, const struct record *record, uint64_t from)
{
	struct lives *lives = m->lives;
	struct seen *timer = timer_of(m, record->id);
	struct stay *stay;

	lives->stay = array_grown(lives->stay, lives->nr, &m->stays, sizeof(*lives->stay));
	lives->timers += timer->last == NO_STAY && timer->open == NO_STAY;
	timer->open = lives->nr;
	stay = &lives->stay[lives->nr++];
	*stay = (struct stay){
		.id = record->id, .level = record->level, .slot = record->slot,
		.rounds = record->rounds, .span = record->span, .from = from, .to = from,
		.deadline = record->deadline, .next = NO_STAY,
	};
	return stay;
}

/*
 * The open stay of a timer.  The place is unknown for a timer that was armed before the recording
 * began, or for which events are missing: such a stay lasts since the last one, or since the
 * recording began.
 */
static struct stay *open_stay(struct maker *m, const struct record *record)
{
	struct seen *timer = timer_of(m, record->id);
	struct record unknown = *record;
	uint64_t from = m->begin;

	if (timer->open != NO_STAY)
		return &m->lives->stay[timer->open];
	if (timer->last != NO_STAY) {
		const struct stay *last = &m->lives->stay[timer->last];

		from = last->delivered ? last->delivered : last->to;
	}
	unknown.level = LEVEL_UNKNOWN;
	unknown.slot = 0;
	unknown.span = 0;
	return begin(m, &unknown, from);
}

static void end(struct maker *m, struct stay *stay, enum stay_end how, uint64_t time)
{
	struct seen *timer = timer_of(m, stay->id);

	stay->to = time > stay->from ? time : stay->from;
	stay->end = how;
	timer->last = timer->open;
	timer->open = NO_STAY;
}

static void go_on(struct maker *m, const struct record *record, enum stay_end how)
{
	size_t before = timer_of(m, record->id)->open;

	if (before != NO_STAY)
		end(m, &m->lives->stay[before], how, record->time);
	begin(m, record, record->time)->came_down = how == STAY_MOVED;
	if (before != NO_STAY)
		m->lives->stay[before].next = m->lives->nr - 1;
}

static void file(struct maker *m, const struct record *record)
{
	size_t open = timer_of(m, record->id)->open;
	struct stay *stay = open == NO_STAY ? NULL : &m->lives->stay[open];

	if (!stay || stay->level != LEVEL_UNKNOWN || stay->deadline != record->deadline) {
		go_on(m, record, STAY_REARMED);
		return;
	}
	/* The arm of a timer with a word does not tell the place. */
	stay->level = record->level;
	stay->slot = record->slot;
}

static void wake(struct maker *m, const struct record *record)
{
	struct lives *lives = m->lives;

	lives->wake = array_grown(lives->wake, lives->wakes, &m->wakes, sizeof(*lives->wake));
	lives->wake[lives->wakes++] = (struct wake){ .time = record->time };
}

static void of_use(struct lives *lives)
{
	if (lives->wakes)
		lives->wake[lives->wakes - 1].of_use = true;
}

static void expire(struct maker *m, const struct record *record)
{
	struct stay *stay = open_stay(m, record);

	stay->late = record->late;
	stay->deadline = record->deadline;
	end(m, stay, STAY_EXPIRED, record->time);
}

/* A timer has expired: its event was read, or was dropped. */
static void after(struct maker *m, const struct record *record)
{
	struct seen *timer = timer_of(m, record->id);
	struct stay *last = timer->last == NO_STAY ? NULL : &m->lives->stay[timer->last];

	if (record->what == RECORD_DELIVERED && timer->open == NO_STAY) {
		if (!last || last->end != STAY_EXPIRED || last->delivered) {
			expire(m, record);
			last = &m->lives->stay[timer_of(m, record->id)->last];
		}
		last->delivered = record->time;
	} else if (record->what == RECORD_CANCELLED && timer->open != NO_STAY) {
		end(m, &m->lives->stay[timer->open], STAY_CANCELLED, record->time);
	} else if (record->what == RECORD_CANCELLED && last && last->end == STAY_EXPIRED) {
		last->end = STAY_CANCELLED;
	}
}

/* The timer keeps its entry, even if it was cancelled meanwhile. */
static void keep(struct maker *m, const struct record *record)
{
	struct seen *timer = timer_of(m, record->id);
	struct record again = *record;

	if (timer->open != NO_STAY) {
		m->lives->stay[timer->open].deadline = record->deadline;
		return;
	}
	if (timer->last != NO_STAY) {
		const struct stay *last = &m->lives->stay[timer->last];

		again.level = last->level;
		again.slot = last->slot;
		again.span = last->span;
	}
	begin(m, &again, record->time);
}

static void end_all(struct maker *m, uint64_t time)
{
	size_t id;

	for (id = 0; id < m->ids; id++)
		if (m->timer[id].open != NO_STAY)
			end(m, &m->lives->stay[m->timer[id].open], STAY_LISTED, time);
}

static void take(struct maker *m, const struct record *record)
{
	switch (record->what) {
	case RECORD_WOKEN:
		wake(m, record);
		return;
	case RECORD_PLACED:
		go_on(m, record, STAY_REARMED);
		return;
	case RECORD_KEPT:
		keep(m, record);
		return;
	case RECORD_FILED:
		file(m, record);
		return;
	case RECORD_MOVED:
		open_stay(m, record);
		go_on(m, record, STAY_MOVED);
		return;
	case RECORD_EXPIRED:
		expire(m, record);
		return;
	case RECORD_DELIVERED:
	case RECORD_CANCELLED:
		after(m, record);
		return;
	case RECORD_LISTED:
		end_all(m, record->time);
		return;
	}
}

static bool names_timer(const struct record *record)
{
	return record->what != RECORD_WOKEN && record->what != RECORD_LISTED;
}

bool lives_of(struct lives *lives, const struct recording *recording, uint64_t wheel,
	      const struct choice *choice)
{
	struct maker m = { .lives = lives };
	bool has_begun = false;
	size_t i;

	*lives = (struct lives){ .is_trace = recording->is_trace, .slots = recording->slots };
	snprintf(lives->name, sizeof(lives->name), "%s", recording->name);
	if (recording->nr)
		m.begin = recording->record[0].time;
	for (i = 0; i < recording->nr; i++) {
		const struct record *record = &recording->record[i];

		if (record->what == RECORD_MOVED || record->what == RECORD_EXPIRED)
			of_use(lives);
		if (names_timer(record) &&
		    (record->id < choice->first || record->id > choice->last))
			continue;
		if (record->what != RECORD_WOKEN && record->wheel != wheel)
			continue;
		take(&m, record);
		if (!names_timer(record))
			continue;
		if (!has_begun)
			lives->begin = record->time;
		has_begun = true;
		if (record->time > lives->end)
			lives->end = record->time;
	}
	for (i = 0; i < lives->nr; i++) {
		if (lives->stay[i].end == STAY_OPEN)
			lives->stay[i].to = lives->end;
		if (lives->stay[i].from < lives->begin)
			lives->begin = lives->stay[i].from;
	}
	free(m.timer);
	return lives->nr;
}

void lives_free(struct lives *lives)
{
	free(lives->stay);
	free(lives->wake);
}

enum lateness_class lateness_class(int64_t late)
{
	enum lateness_class class = LATE_100US;
	int64_t most;

	if (late <= 0)
		return late < 0 ? LATE_EARLY : LATE_NOT;
	for (most = 100 * NSEC_PER_USEC; late > most && class < LATE_MORE; most *= 10)
		class++;
	return class;
}
