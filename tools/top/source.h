/* SPDX-License-Identifier: GPL-2.0 */
/* Where frames come from: wheels that are open, a simulation, a recording. */
#ifndef TWHEEL_TOP_SOURCE_H
#define TWHEEL_TOP_SOURCE_H

#include "sim/choice.h"
#include "sim/script.h"
#include "target.h"
#include "top/frame.h"

/**
 * struct source - what is looked at
 * @frame: what there is to see now
 * @pass: so much time passes, ns; a live wheel is looked at then.  False: it was over before.
 * @step: the next thing happens, or a look.  False: there is none.
 * @choose: go to the wheel that is so much further in the list of wheels; NULL: there is one
 * @close: free it
 * @live: its time passes whether or not somebody looks
 * @number: which wheel it is, from 1 on
 * @of: how many wheels there are
 * @end: why it is over, for people, or NULL
 * @error: why it has failed, or NULL
 */
struct source {
	struct frame	frame;
	bool		(*pass)(struct source *source, uint64_t ns);
	bool		(*step)(struct source *source);
	void		(*choose)(struct source *source, int by);
	void		(*close)(struct source *source);
	bool		live;
	unsigned int	number;
	unsigned int	of;
	const char	*end;
	const char	*error;
};

/* These exit with one line if there is nothing to see. */

/* The wheels that options leave to choose from. */
struct source *live_open(const struct target_options *options);

/**
 * struct start - how far a simulation is when it is seen first
 * @done: operations that are done
 * @now: and then, by the clock
 */
struct start {
	uint64_t	done;
	uint64_t	now;
};

/* A script, in which @pace ns pass in a second. */
struct source *simulation_open(const struct choice *choice, const struct script *script,
			       uint64_t pace, const struct start *start);

/* What was recorded before. */
struct source *replay_open(const char *path);

#endif
