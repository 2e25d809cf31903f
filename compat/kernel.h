/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between kernels, so that the rest reads as if only the newest
 * existed. HAVE_* come from the compile probes in compat/probe, because stable
 * kernels take over new interfaces and their version numbers tell nothing.
 */
#ifndef TWHEEL_COMPAT_KERNEL_H
#define TWHEEL_COMPAT_KERNEL_H

#include <linux/hrtimer.h>
#include <linux/mm.h>

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif /* TWHEEL_COMPAT_KERNEL_H */
