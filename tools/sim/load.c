// SPDX-License-Identifier: GPL-2.0
/*
 * A load, the same for the same seed: a server with a timeout for each request.  Requests come
 * evenly.  The timeouts of some are pushed back after half a second; most are answered after a
 * second, and their timeouts cancelled; the others expire.
 */
#include "sim/script.h"

/* A number that looks random, the same one for the same timer and purpose. */
static uint64_t number(const struct load *load, uint32_t nr, uint32_t purpose)
{
	uint64_t x = load->seed * 0x9e3779b97f4a7c15 + ((uint64_t)purpose << 32 | nr);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

enum { TIMEOUT, NEW_TIMEOUT, EXTENDED, CANCELLED };

/* In whole ms, as in most programs; with at_once no timer is due before all are armed. */
static uint64_t timeout(const struct load *load, uint32_t nr, uint32_t purpose)
{
	const uint64_t least = load->at_once ? 1000 : 1;

	return (least + number(load, nr, purpose) % (LOAD_SPAN / 1000000 + 1 - least)) * 1000000;
}

static bool is_chosen(const struct load *load, uint32_t nr, uint32_t purpose, uint32_t percent)
{
	return number(load, nr, purpose) % 100 < percent;
}

/* So many timers are armed in a part of the time; at least one. */
static uint32_t armed_in(const struct load *load, uint64_t time)
{
	uint32_t nr = load->timers * time / LOAD_SPAN;

	if (load->at_once)
		return load->timers;
	return nr ? nr : 1;
}

/* When timer @nr is armed; also for the numbers after the last timer. */
static uint64_t time_of(const struct load *load, uint32_t nr)
{
	if (load->at_once)
		return nr / load->timers * 1000000000ULL;
	return (nr + 1) * LOAD_SPAN / load->timers;
}

/* Steps for each timer that is armed: what becomes of those before it follows. */
bool load_next(struct load *load, struct op *op)
{
	uint32_t second = armed_in(load, 1000000000), half = armed_in(load, 500000000);
	uint32_t end = load->timers + second;

	while (load->nr < end) {
		uint32_t nr = load->nr;

		*op = (struct op){};
		switch (load->step++) {
		case 0:
			op->kind = OP_AT;
			op->time = time_of(load, nr);
			if (!load->at_once || nr % load->timers == 0)
				return true;
			break;
		case 1:
			op->kind = OP_ARM;
			op->id = nr;
			op->time = timeout(load, nr, TIMEOUT);
			if (nr < load->timers)
				return true;
			break;
		case 2:
			op->kind = OP_EXTEND;
			op->id = nr - half;
			op->time = timeout(load, op->id, NEW_TIMEOUT);
			if (nr >= half && op->id < load->timers &&
			    is_chosen(load, op->id, EXTENDED, load->extended))
				return true;
			break;
		default:
			load->nr++;
			load->step = 0;
			op->kind = OP_CANCEL;
			op->id = nr - second;
			if (nr >= second && is_chosen(load, op->id, CANCELLED, load->cancelled))
				return true;
			break;
		}
	}
	/* The remaining timers expire. */
	op->kind = OP_RUN_ALL;
	return load->step++ == 0;
}
