/* SPDX-License-Identifier: GPL-2.0 */
/* What timers should do, by two sorted lists: see reference.c. */
#ifndef TWHEEL_TESTS_REFERENCE_H
#define TWHEEL_TESTS_REFERENCE_H

#include "../compat/user.h"
#include "../uapi/linux/twheel.h"

#define REF_MAX_CAPACITY	1536

enum ref_where { REF_NOWHERE, REF_PENDING, REF_EXPIRED, REF_HELD };

struct ref_timer {
	struct ref_timer	*next;		/* in the list that it is in */
	enum ref_where		where;
	bool			delivered;	/* nowhere, because of a read */
	u32			id, generation, count;
	u64			cookie, deadline, interval;
	u64			slack;		/* ticks */
	u64			due;		/* tick */
	u64			fired;		/* ns */
};

struct reference {
	u64			tick;		/* ns */
	u64			now;		/* ns, when it was asked last */
	u32			capacity;
	bool			settable;	/* the clock may be set */
	struct ref_timer	*pending;	/* sorted by tick */
	struct ref_timer	*expired;	/* in the order they are read */
	struct twheel_stats	stats;
	struct ref_timer	timer[REF_MAX_CAPACITY];
};

void ref_init(struct reference *r, u32 capacity, u64 tick, bool settable);
bool ref_armed(const struct reference *r, const struct ref_timer *t);
bool ref_free(const struct ref_timer *t);

int ref_check_arm(const struct reference *r, const struct twheel_op *op);
int ref_check_cancel(const struct reference *r, const struct twheel_op *op);
int ref_arm(struct reference *r, struct twheel_op *op, u32 chosen, u64 now);
int ref_cancel(struct reference *r, struct twheel_op *op);
int ref_get(const struct reference *r, struct twheel_timer *record, u64 now);

void ref_expire(struct reference *r, struct ref_timer *t, u64 now);
struct twheel_event ref_claim(struct reference *r, u64 now);
void ref_commit(struct reference *r, const struct twheel_event *event, u64 now);
void ref_put_back(struct reference *r, const struct twheel_event *event);

#endif /* TWHEEL_TESTS_REFERENCE_H */
