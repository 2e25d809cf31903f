// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "load.h"

uint64_t *load_due;

static struct slice slice;
static struct window *window;
static uint64_t *late;
static uint32_t ids[TAKE_MAX];

/* Timed: what the peer does in the program's own time. */
static void change(void (*op)(const struct work *, uint32_t), const struct work *work,
		   uint32_t nr)
{
	uint64_t start;

	if (!nr)
		return;
	start = now_ns();
	op(work, nr);
	window->changes += (now_ns() - start) / 1e9;
	window->ops += nr;
}

static void change_all(const struct peer *peer)
{
	for (uint32_t i = 0; i < slice.nr_arm; i++)
		load_due[slice.arm[i].id] = slice.arm[i].deadline;
	change(peer->cancel, slice.cancel, slice.nr_cancel);
	change(peer->arm, slice.arm, slice.nr_arm);
	change(peer->extend ?: peer->move, slice.extend, slice.nr_extend);
	slice.nr_cancel = 0;
	slice.nr_arm = 0;
	slice.nr_extend = 0;
}

static void take(const struct load *load, const struct peer *peer, uint64_t now)
{
	uint64_t start = now_ns();
	uint32_t room = TAKE_MAX / 2 - slice.nr_arm, got;

	got = peer->take(ids, room, now);
	window->takes += (now_ns() - start) / 1e9;
	/* Some may have come due meanwhile. */
	if (!native)
		now = now_ns();
	for (uint32_t i = 0; i < got; i++) {
		if (now < load_due[ids[i]])
			window->wrong++;
		else
			late[window->expired++ % load->ids] = now - load_due[ids[i]];
		load->expired(&slice, ids[i], now);
	}
}

/*
 * The real clock, or natively one that stands until the slice is done. A slice that is late takes
 * once: its changes must not wait until nothing expires, because without them ever more does.
 */
static void sleep_and_take(const struct load *load, const struct peer *peer, uint64_t until)
{
	if (!native) {
		while (now_ns() < until && wait_until(peer->ready(), until)) {
			window->wakeups++;
			take(load, peer, now_ns());
		}
	}
	take(load, peer, native ? until : now_ns());
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sum_up(const struct load *load, struct window *w)
{
	uint64_t nr = w->expired < load->ids ? w->expired : load->ids;

	if (!nr)
		return;
	qsort(late, nr, sizeof(*late), compare);
	w->p50 = late[nr / 2];
	w->p99 = late[nr - 1 - nr / 100];
}

/* @slices of them; returns when the last began, or 0: it is far behind. */
static uint64_t run(const struct load *load, const struct peer *peer, struct window *w,
		    uint32_t slices, uint64_t now)
{
	uint64_t looks = peer->looks ? peer->looks() : 0;
	uint64_t calls = system_calls;
	double before = native ? 0 : busy_seconds();

	memset(w, 0, sizeof(*w));
	window = w;
	w->seconds = slices * (SLICE / 1e9);
	for (; slices; slices--) {
		now += SLICE;
		sleep_and_take(load, peer, now);
		if (!native && now_ns() > now + NSEC)
			return 0;
		load->fill(&slice, now);
		change_all(peer);
	}
	w->busy = native ? 0 : busy_seconds() - before;
	w->calls = system_calls - calls;
	w->looks = peer->looks ? peer->looks() - looks : 0;
	sum_up(load, w);
	return now;
}

static struct work *slice_room(void)
{
	return work_alloc(TAKE_MAX);
}

bool load_run(const struct load *load, const struct peer *peer, struct window *windows)
{
	struct work *work = work_alloc(load->ids);
	struct window warm;
	uint64_t now;

	load_due = calloc(load->ids, sizeof(*load_due));
	late = calloc(load->ids, sizeof(*late));
	if (!load_due || !late)
		die("no memory for a load");
	slice = (struct slice){
		.cancel = slice_room(), .arm = slice_room(), .extend = slice_room(),
	};
	peer->open(load->ids, native ? USE_OPS : USE_DELIVERY);
	now = now_ns();
	/* As if it had been so for long: the next deadlines are spread over a timeout. */
	work_deadlines(work, load->ids, now + load->timeout / 4, load->timeout * 3 / 4);
	for (uint32_t i = 0; i < load->ids; i++)
		load_due[i] = work[i].deadline;
	peer->arm(work, load->ids);
	free(work);

	now = run(load, peer, &warm, load->warm, native ? now : now_ns());
	for (unsigned int i = 0; now && i < WINDOWS; i++)
		now = run(load, peer, &windows[i], load->window, now);

	peer->close();
	free(slice.cancel);
	free(slice.arm);
	free(slice.extend);
	free(load_due);
	free(late);
	return now;
}
