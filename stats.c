// SPDX-License-Identifier: GPL-2.0
/*
 * What a wheel has done: the ioctl and fdinfo.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "twheel.h"

static_assert(sizeof(struct twheel_stats) == 280);

/* Tell the counters of a wheel that is locked. */
static void stats_tell(const struct twheel *tw, struct twheel_stats *stats)
{
	const struct timers *ts = &tw->timers;

	*stats = (struct twheel_stats){
		.pending	= ts->wheel.filed,
		.expired	= timers_queued(ts),
		.arms		= ts->arms,
		.cancels	= ts->cancels,
		.fired		= ts->fired,
		.delivered	= ts->delivered,
		.overruns	= ts->overruns,
		.interrupts	= tw->interrupts,
		.memory		= ksize(tw) + timers_memory(ts),
		.next		= timers_bound(ts),
		.max_late	= ts->max_late,
	};
	memcpy(stats->late, ts->late, sizeof(ts->late));
}

static int ioctl_stats(struct twheel *tw, void *arg)
{
	twheel_begin(tw);
	stats_tell(tw, arg);
	twheel_end(tw);
	return 0;
}

static void fops_show_fdinfo(struct seq_file *m, struct file *file)
{
	struct twheel *tw = file->private_data;
	struct twheel_setup setup;
	struct twheel_stats done;

	twheel_begin(tw);
	setup_tell(tw, &setup);
	stats_tell(tw, &done);
	twheel_end(tw);
	seq_printf(m, "twheel-number:\t%llu\n", tw->number);
	seq_printf(m, "twheel-clock:\t%u\n", setup.clock);
	seq_printf(m, "twheel-tick-ns:\t%llu\n", setup.tick);
	seq_printf(m, "twheel-levels:\t%u\n", setup.levels);
	seq_printf(m, "twheel-slots:\t%u\n", setup.slots);
	seq_printf(m, "twheel-capacity:\t%u\n", setup.capacity);
	seq_printf(m, "twheel-now-ns:\t%llu\n", setup.now);
	seq_printf(m, "twheel-pending:\t%llu\n", done.pending);
	seq_printf(m, "twheel-expired:\t%llu\n", done.expired);
	seq_printf(m, "twheel-arms:\t%llu\n", done.arms);
	seq_printf(m, "twheel-cancels:\t%llu\n", done.cancels);
	seq_printf(m, "twheel-fired:\t%llu\n", done.fired);
	seq_printf(m, "twheel-delivered:\t%llu\n", done.delivered);
	seq_printf(m, "twheel-overruns:\t%llu\n", done.overruns);
	seq_printf(m, "twheel-interrupts:\t%llu\n", done.interrupts);
	seq_printf(m, "twheel-memory:\t%llu\n", done.memory);
	seq_printf(m, "twheel-next-ns:\t%llu\n", done.next);
	seq_printf(m, "twheel-max-late-ns:\t%llu\n", done.max_late);
	seq_puts(m, "twheel-late:");
	for (unsigned int i = 0; i < TWHEEL_LATE_CLASSES; i++)
		seq_printf(m, "%c%llu", i ? ' ' : '\t', done.late[i]);
	seq_putc(m, '\n');
}
