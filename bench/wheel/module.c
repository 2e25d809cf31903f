// SPDX-License-Identifier: GPL-2.0
/*
 * The wheel's benchmark in a kernel: runs when the module is loaded, and writes
 * raw data to the kernel's log. For a guest that runs natively, and has nothing
 * else to do: User-Mode Linux.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "loops.h"

static unsigned int runs = 5;
module_param(runs, uint, 0444);
MODULE_PARM_DESC(runs, "how often each figure is taken");

/* Before each piece of memory, so that all can be given back. */
struct piece {
	struct list_head	list;
} __aligned(64);

static LIST_HEAD(pieces);

void *host_alloc(size_t size)
{
	struct piece *piece = vzalloc(sizeof(*piece) + size);

	if (!piece)
		return NULL;
	list_add(&piece->list, &pieces);
	return piece + 1;
}

void host_free_all(void)
{
	struct piece *piece, *next;

	list_for_each_entry_safe(piece, next, &pieces, list) {
		list_del(&piece->list);
		vfree(piece);
	}
}

u64 host_ns(void)
{
	return ktime_get_ns();
}

u64 host_busy_ns(void)
{
	return ktime_get_ns();
}

/* No floating point here: thousandths. */
void host_tell(const char *part, const char *name, const char *peer, u32 nr,
	       const char *unit, u64 total, u64 count)
{
	u64 value = count ? div64_u64(total * 1000, count) : 0;
	u32 thousandths;

	value = div_u64_rem(value, 1000, &thousandths);
	pr_info("sample|%s|um|%s|%s|%u|%s|%llu.%03u\n", part, name, peer, nr, unit,
		value, thousandths);
}

void host_progress(const char *part, unsigned int run, unsigned int runs)
{
	pr_info("progress|%s: run %u of %u\n", part, run + 1, runs);
}

int host_fail(const char *what, u64 figure)
{
	pr_err("failed: %s %llu\n", what, figure);
	return -EIO;
}

const struct peer *const peers[] = { &peer_wheel, &peer_timers, &peer_heap, NULL };

static int __init bench_init(void)
{
	int ret = 0;

	pr_info("fact|um runs|%u\n", runs);
	for (unsigned int run = 0; !ret && run < runs; run++) {
		host_progress("operations", run, runs);
		ret = loops_ops("1M over 300k ticks", 1000000, 300000, run) ?:
		      loops_ops("100k over 300k ticks", 100000, 300000, run);
	}
	ret = ret ?: loops_passes("1M in one upper slot", true, runs) ?:
		     loops_passes("1M over 300k, tick by tick", false, runs);
	pr_info("end|%d\n", ret);
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The benchmark of twheel's timing wheel");
