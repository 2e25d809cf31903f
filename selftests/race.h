/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A race of stores with looks, deliveries and each other, of which a log is kept; and
 * a daemon that may die anywhere, with its successor.
 */
#ifndef TWHEEL_RACE_H
#define TWHEEL_RACE_H

#include "words_test.h"

#define TICK		(100 * USEC)
#define IDS		32U
#define WRITERS		2U
#define LOG_MAX		400000U
#define ENOUGH		1000U

/* The fate of an arming. */
enum fate {
	OPEN,		/* wanted still */
	TAKEN_BACK,	/* its deadline was swapped for another: no event may count */
	GONE,		/* it was not there any more: an event has counted */
	UNKNOWN,	/* a plain store was put over it */
};

struct arming {
	__u64		deadline;
	__u32		id;
	enum fate	fate;
};

struct writer {
	struct race	*race;
	unsigned int	number;
	__u32		nr;
	struct arming	*log;
	__u32		last[IDS];	/* of each id, in the log, plus 1 */
	int		error;
};

struct race {
	struct shared	s;
	__u64		end;
	struct writer	writer[WRITERS];
	struct arming	*delivered;
	__u32		nr_delivered;
	__u64		seed;
	unsigned int	early;
	int		error;
	bool		stop;
	/* What came of it. */
	__u32		armed;		/* and not delivered in time */
	__u32		fates[UNKNOWN + 1];
	__u32		lost;
	__u32		stale;
	__u32		twice;
};

static inline __u64 random64(__u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Put another deadline, or 0, in the place of the last one. */
static inline int put(struct writer *w, __u32 id, __u64 deadline)
{
	struct arming *last = w->last[id] ? &w->log[w->last[id] - 1] : NULL;
	__u64 before;
	int ret;

	ret = want_instead(&w->race->s, id, deadline, &before);
	if (last && last->fate == OPEN)
		last->fate = before == last->deadline ? TAKEN_BACK : GONE;
	w->last[id] = 0;
	if (deadline) {
		w->log[w->nr] = (struct arming){ .deadline = deadline, .id = id };
		w->last[id] = ++w->nr;
	}
	return ret < 0 ? ret : 0;
}

/* Each id has one writer, so that what was there before is known. */
static inline void *write_words(void *arg)
{
	struct writer *w = arg;
	__u64 state = (88172645463325252ULL + w->race->seed) * (w->number + 1);

	/* On a slow machine it takes longer until something has been tried. */
	while ((now_ns() < w->race->end || w->nr <= ENOUGH) && w->nr < LOG_MAX && !w->error) {
		__u64 r = random64(&state);
		__u32 id = (r % (IDS / WRITERS)) * WRITERS + w->number;
		__u64 ahead = r >> 8 & 1 ? (r >> 16) % (20 * TICK) : (r >> 16) % TICK;

		switch (r >> 9 & 7) {
		case 0:
			/* Cancel by a plain store: the event may have counted or not. */
			cancel_by_store(&w->race->s, id);
			if (w->last[id] && w->log[w->last[id] - 1].fate == OPEN)
				w->log[w->last[id] - 1].fate = UNKNOWN;
			break;
		case 1:
			w->error = put(w, id, 0);
			break;
		case 2:
			/* Leave the others some time. */
			sleep_until(now_ns() + TICK);
			break;
		default:
			/* No deadline twice, so that each has one fate. */
			w->error = put(w, id, ((now_ns() + ahead) & ~0xffffULL) |
					      (w->nr & 0xffff));
		}
	}
	return NULL;
}

static inline void note(struct race *r, __u32 id, __u64 deadline)
{
	r->early += deadline > now_ns();
	if (r->nr_delivered < WRITERS * LOG_MAX)
		r->delivered[r->nr_delivered++] = (struct arming){ deadline, id, OPEN };
}

static inline int take_read(struct race *r)
{
	struct twheel_event ev[16];
	int n = wheel_read(r->s.fd, ev, 16);

	for (int i = 0; i < n; i++)
		note(r, ev[i].id, ev[i].deadline);
	return n;
}

static inline void *take_events(void *arg)
{
	struct race *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		int n = take_read(r);

		if (n == -EAGAIN)
			wheel_poll(r->s.fd, 1);
		else if (n < 0)
			r->error = n;
	}
	return NULL;
}

static inline int by_deadline(const void *a, const void *b)
{
	const struct arming *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->deadline < y->deadline ? -1 : x->deadline > y->deadline;
}

/* How often an event of this arming counted. */
static inline unsigned int times(const struct race *r, const struct arming *arming)
{
	const struct arming *end = r->delivered + r->nr_delivered, *at;
	unsigned int n = 1;

	at = bsearch(arming, r->delivered, r->nr_delivered, sizeof(*at), by_deadline);
	if (!at)
		return 0;
	for (const struct arming *i = at + 1; i < end && !by_deadline(i, arming); i++)
		n++;
	for (const struct arming *i = at; i > r->delivered && !by_deadline(i - 1, arming); i--)
		n++;
	return n;
}

static inline int race_open(struct race *r, __u64 seed)
{
	int ret = shared_open(&r->s, 1024, TICK);

	if (ret)
		return ret;
	r->seed = seed;
	r->delivered = calloc(WRITERS * LOG_MAX, sizeof(*r->delivered));
	if (!r->delivered)
		return -ENOMEM;
	for (unsigned int i = 0; i < WRITERS; i++) {
		r->writer[i].race = r;
		r->writer[i].number = i;
		r->writer[i].log = calloc(LOG_MAX, sizeof(*r->writer[i].log));
		if (!r->writer[i].log)
			return -ENOMEM;
	}
	return 0;
}

static inline void race_close(struct race *r)
{
	for (unsigned int i = 0; i < WRITERS; i++)
		free(r->writer[i].log);
	free(r->delivered);
	shared_close(&r->s);
}

/* Race for some time, and compare what was delivered with what was wanted. */
static inline int race_run(struct race *r, __u64 ns)
{
	pthread_t writers[WRITERS], reader;
	__u64 limit;

	r->end = now_ns() + ns;
	if (thread_start(&reader, take_events, r))
		return -EAGAIN;
	for (unsigned int i = 0; i < WRITERS; i++)
		if (thread_start(&writers[i], write_words, &r->writer[i]))
			return -EAGAIN;
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	/* Timers that are still armed come by themselves. */
	limit = now_ns() + NEVER_MS * MSEC;
	do {
		sleep_until(now_ns() + MSEC);
		r->armed = 0;
		for (__u32 id = 0; id < IDS; id++)
			r->armed += !!wanted(&r->s, id);
	} while (r->armed && now_ns() < limit);
	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);

	qsort(r->delivered, r->nr_delivered, sizeof(*r->delivered), by_deadline);
	for (unsigned int i = 0; i < WRITERS; i++) {
		struct writer *w = &r->writer[i];

		r->error = r->error ?: w->error;
		for (__u32 n = 0; n < w->nr; n++) {
			unsigned int seen = times(r, &w->log[n]);
			enum fate fate = w->log[n].fate;

			r->fates[fate]++;
			r->twice += seen > 1;
			r->stale += fate == TAKEN_BACK && seen;
			r->lost += (fate == GONE || fate == OPEN) && !seen;
		}
	}
	return r->error;
}

/* As want(), but with a store where an exchange has to be: it may be lost. */
static inline void want_barely(struct shared *s, __u32 id, __u64 deadline)
{
	__atomic_store_n(&s->word[id].deadline, deadline, __ATOMIC_RELAXED);
	want_looked_at(s, id, deadline);
}

/* Ids that a daemon serves. */
#define SERVED		2000U

/* Arm, move, cancel and take events, until killed; or until one is early. */
static inline void serve(struct shared *s, __u64 state, bool barely)
{
	struct twheel_event ev[64];
	int nr = 0;

	for (;;) {
		__u64 r = random64(&state);
		__u64 deadline = r >> 60 ? now_ns() + (r >> 32) % (30 * TICK) : 0;

		if (barely)
			want_barely(s, r % SERVED, deadline);
		else
			want(s, r % SERVED, deadline);
		if (!(r >> 20 & 15))
			nr = wheel_read(s->fd, ev, 64);
		for (; nr > 0; nr--)
			if (ev[nr - 1].deadline > now_ns())
				_exit(1);
	}
}

/* Be the successor: how many of the timers with ids below @ids do not come, or an errno. */
static inline int adopt(const struct shared *s, __u32 ids)
{
	__u64 limit = now_ns() + NEVER_MS * MSEC;
	struct twheel_event ev[64];
	int left, ret;

	/* It asks of each timer whether it is looked at. */
	for (__u32 id = 0; id < ids; id++) {
		ret = want_looked_at(s, id, wanted(s, id));
		if (ret < 0)
			return ret;
	}
	do {
		wheel_read(s->fd, ev, 64);
		left = 0;
		for (__u32 id = 0; id < ids; id++)
			left += !!wanted(s, id);
	} while (left && now_ns() < limit);
	return left;
}

#endif /* TWHEEL_RACE_H */
