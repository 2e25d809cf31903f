// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/twheel: timers for daemons that hold a million of them.
 *
 * Each open file is a wheel: ioctls arm and cancel its timers, and events wait for read() and
 * poll().  timer.h has the timer, wheel.c the wheel, users.c the accounting, expiry.c the CPU time.
 * ioctls.c and events.c check what programs pass in; this file opens, maps and closes a wheel.
 *
 * Shared memory: setup allocates the pages of the words, and they stay until the wheel is closed.
 * Only words.c reads what the daemon writes there.
 *
 * Locks: twheel.exchange, then twheel.grow, then twheel.lock, then what expiry.c takes.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "compat/kernel.h"

#include "twheel.h"

/* The other parts have declared them; what they write down is known here. */
#define CREATE_TRACE_POINTS
#include "trace.h"

/* Shared memory */

static_assert(WORDS_OFFSET % PAGE_SIZE == 0);

static vm_fault_t twheel_fault(struct vm_fault *vmf)
{
	const struct twheel *tw = vmf->vma->vm_private_data;
	struct twheel_word *page, **words = READ_ONCE(tw->timers.word);
	unsigned long nr = words_pages(&tw->timers), i = vmf->pgoff - WORDS_OFFSET / PAGE_SIZE;

	if (!words || i >= nr)
		return VM_FAULT_SIGBUS;
	page = words[array_index_nospec(i, nr)];
	/* No struct page is handed out: nothing can pin words beyond the life of the wheel. */
	return vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(virt_to_page(page)));
}

static const struct vm_operations_struct twheel_vm_ops = {
	.fault	= twheel_fault,
};

/* Does the wheel have these pages of its file? */
static bool twheel_has_pages(struct twheel *tw, unsigned long pgoff, unsigned long pages)
{
	const unsigned long first = WORDS_OFFSET / PAGE_SIZE;
	unsigned long nr;

	twheel_begin(tw);
	nr = tw->timers.word ? words_pages(&tw->timers) : 0;
	twheel_end(tw);
	return pgoff >= first && pages <= nr && pgoff - first <= nr - pages;
}

static int fops_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct twheel *tw = file->private_data;

	/*
	 * Stores to a private copy would be lost.  VM_SHARED is not there where the file
	 * was opened to be read only.
	 */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (!twheel_has_pages(tw, vma->vm_pgoff, vma_pages(vma)))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = tw;
	vma->vm_ops = &twheel_vm_ops;
	return 0;
}

/* Open and release */

static void twheel_free(struct kref *kref)
{
	kfree(container_of(kref, struct twheel, entry.kref));
}

static int fops_open(struct inode *inode, struct file *file)
{
	static atomic64_t opened;
	struct twheel *tw;

	tw = kzalloc(sizeof(*tw), GFP_CHARGED);
	if (!tw)
		return -ENOMEM;
	raw_spin_lock_init(&tw->lock);
	mutex_init(&tw->exchange);
	mutex_init(&tw->grow);
	init_waitqueue_head(&tw->wait);
	tw->entry.lock = &tw->lock;
	tw->entry.turn = twheel_turn;
	tw->entry.wake = twheel_wake;
	tw->entry.free = twheel_free;
	kref_init(&tw->entry.kref);
	timerqueue_init(&tw->entry.node);
	tw->number = atomic64_inc_return(&opened);
	setup_defaults(tw);
	file->private_data = tw;
	file->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, file);
}

/* Nothing here waits for softirq longer than for a step. */
static int fops_release(struct inode *inode, struct file *file)
{
	struct twheel *tw = file->private_data;

	twheel_stop(tw);
	if (tw->user) {
		memory_free(&tw->timers, tw->user);
		user_put(tw->user);
	}
	/* One after the other: thousands that are freed together delay others on the CPU. */
	kref_put(&tw->entry.kref, twheel_free);
	return 0;
}

static const struct file_operations twheel_fops = {
	.owner		= THIS_MODULE,
	.open		= fops_open,
	.release	= fops_release,
	.read_iter	= fops_read_iter,
	.poll		= fops_poll,
	.mmap		= fops_mmap,
	.unlocked_ioctl	= fops_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.show_fdinfo	= fops_show_fdinfo,
};

static struct miscdevice twheel_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "twheel",
	.fops	= &twheel_fops,
	.mode	= 0600,
};

static int __init twheel_init(void)
{
	users_init();
	expiry_init();
	return misc_register(&twheel_misc);
}
module_init(twheel_init);

static void __exit twheel_exit(void)
{
	misc_deregister(&twheel_misc);
	expiry_exit();
}
module_exit(twheel_exit);

MODULE_DESCRIPTION("Timers for daemons that hold a million of them");
MODULE_VERSION(TWHEEL_VERSION);
MODULE_LICENSE("GPL");
