// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls: they check what an untrusted caller passes, and call timers.c.
 *
 * A call that may take long gives way and looks at signals after each step of COPY_MAX records.
 * Each step makes progress, except that an arm with TWHEEL_ARM_MOVE of a timer with a word starts
 * over when a store has changed the word meanwhile.
 */
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "twheel.h"

static_assert(sizeof(struct twheel_event) == 48);
static_assert(sizeof(struct twheel_op) == 64);
static_assert(sizeof(struct twheel_submit) == 32);
static_assert(sizeof(struct twheel_timer) == 64);
static_assert(sizeof(struct twheel_list) == 32);

/* Arm, cancel and submit */

static int twheel_do_op(struct timers *ts, struct twheel_op *op, u64 now, struct timers_need *need)
{
	switch (op->opcode) {
	case TWHEEL_OP_ARM:
		return timers_arm(ts, op, now, need);
	case TWHEEL_OP_CANCEL:
		return timers_cancel(ts, op, need);
	default:
		return -EINVAL;
	}
}

/*
 * Carry out at most COPY_MAX operations; each gets its result.  Returns how many were, which are
 * fewer if there is a signal where one behind the first needs memory or goes on searching.
 */
static unsigned int twheel_do_ops(struct twheel *tw, struct twheel_op *ops, unsigned int nr)
{
	struct timers *ts = &tw->timers;
	struct timers_need need = {};
	bool words = false;
	unsigned int i = 0;
	u64 now;
	int ret;

	while (i < nr) {
		if (READ_ONCE(ts->word) && !words) {
			if (mutex_lock_killable(&tw->exchange)) {
				ops[i].result = -EINTR;
				return i + 1;
			}
			words = true;
		}
		now = twheel_begin(tw);
		timers_prefetch_first(ts, &ops[i], nr - i);
		need.what = TIMERS_NEED_RETRY;
		/* If a setup came in between: once more. */
		need.handled = ts->word && !words ? WHEEL_STEP : 0;
		for (; i < nr && need.handled < WHEEL_STEP; i++) {
			timers_prefetch_later(ts, &ops[i], nr - i);
			need.handled++;
			ret = twheel_do_op(ts, &ops[i], now, &need);
			if (ret == -EAGAIN)
				break;
			ops[i].result = ret;
		}
		twheel_handled(tw, need.handled);
		twheel_end(tw);
		if (i == nr || (i && task_sigpending(current)))
			break;
		if (need.what == TIMERS_NEED_WORD && words_exchange(ts, &need))
			continue;
		ret = memory_grow(tw, &need);
		if (ret)
			ops[i++].result = ret;
	}
	if (words)
		mutex_unlock(&tw->exchange);
	return i;
}

static int twheel_single(struct twheel *tw, struct twheel_op *op, u32 opcode)
{
	if (op->opcode)
		return -EINVAL;
	op->opcode = opcode;
	twheel_do_ops(tw, op, 1);
	op->opcode = 0;
	return op->result;
}

static int ioctl_arm(struct twheel *tw, void *arg)
{
	return twheel_single(tw, arg, TWHEEL_OP_ARM);
}

static int ioctl_cancel(struct twheel *tw, void *arg)
{
	return twheel_single(tw, arg, TWHEEL_OP_CANCEL);
}

/* Of @nr records of @size bytes, how many were copied in full if @left bytes were not? */
static unsigned int copied_in_full(unsigned int nr, size_t size, size_t left)
{
	return nr - DIV_ROUND_UP(left, size);
}

/*
 * What an operation writes back: its last 16 bytes.  Operations must not be
 * carried out if their results have no place to go, so these are first written
 * as they were read.
 */
#define RESULT_SIZE	(sizeof(struct twheel_op) - offsetof(struct twheel_op, id))

static bool probe_result(struct twheel_op __user *user, const struct twheel_op *op)
{
	return !copy_to_user(&user->id, &op->id, RESULT_SIZE);
}

/*
 * Arrays have records of a size that the caller names, at least that of the first ABI: a longer
 * record must have a tail of zeroes, so that both sides can grow.
 */
static const size_t op_size = sizeof(struct twheel_op), timer_size = sizeof(struct twheel_timer);

/* Copy operations from the caller.  Return how many, or an errno for the first. */
static int copy_ops(struct twheel_op *ops, const void __user *array, unsigned int nr, size_t size)
{
	unsigned int n = 0;
	int ret = -EFAULT;

	/* A copy that faults may stop short of what there is: go on one by one. */
	if (size == op_size)
		n = copied_in_full(nr, size, copy_from_user(ops, array, nr * size));
	while (n < nr && !(ret = copy_struct_from_user(&ops[n], op_size, array + n * size, size)))
		n++;
	return n ? n : ret;
}

/* Copy timers to the caller.  Return how many. */
static unsigned int copy_timers(void __user *array, const struct twheel_timer *records,
				unsigned int nr, size_t size)
{
	unsigned int n = 0;

	if (size == timer_size)
		n = copied_in_full(nr, size, copy_to_user(array, records, nr * size));
	while (n < nr && !copy_to_user(array + n * size, &records[n], timer_size) &&
	       !clear_user(array + n * size + timer_size, size - timer_size))
		n++;
	return n;
}

/* For how many of the operations can results be written? */
static unsigned int probe_results(void __user *array, const struct twheel_op *ops,
				  unsigned int nr, size_t size)
{
	unsigned int n = 0;

	/* A copy's worth touches two pages at the most. */
	static_assert((COPY_MAX - 1) * sizeof(*ops) + RESULT_SIZE <= PAGE_SIZE);
	if (size == op_size && probe_result(array, ops) &&
	    probe_result(array + (nr - 1) * size, ops + nr - 1))
		return nr;
	while (n < nr && probe_result(array + n * size, ops + n))
		n++;
	return n;
}

/* Tell the results; returns how many could be. */
static unsigned int write_results(void __user *array, const struct twheel_op *ops, unsigned int nr,
				  size_t size)
{
	unsigned int n = 0;

	if (!user_write_access_begin(array, nr * size))
		return 0;
	for (; n < nr; n++) {
		struct twheel_op __user *op = array + n * size;

		unsafe_put_user(ops[n].id, &op->id, out);
		unsafe_put_user(ops[n].generation, &op->generation, out);
		unsafe_put_user(ops[n].state, &op->state, out);
		unsafe_put_user(ops[n].result, &op->result, out);
	}
out:
	user_write_access_end();
	return n;
}

static int ioctl_submit(struct twheel *tw, void *arg)
{
	struct twheel_submit *submit = arg;
	void __user *array = u64_to_user_ptr(submit->ops);
	const size_t size = submit->op_size;
	unsigned int done, copied;
	struct twheel_op *ops;
	int nr;

	if (submit->flags)
		return -EOPNOTSUPP;
	if (submit->reserved || size < op_size || size > TWHEEL_MAX_RECORD)
		return -EINVAL;
	if (submit->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	submit->done = 0;
	submit->failed = 0;
	if (!submit->nr)
		return 0;
	ops = kmalloc_array(min_t(u32, submit->nr, COPY_MAX), op_size, GFP_BRIEF);
	if (!ops)
		return -ENOMEM;

	do {
		nr = min_t(u32, submit->nr - submit->done, COPY_MAX);
		nr = copy_ops(ops, array, nr, size);
		if (nr > 0)
			nr = probe_results(array, ops, nr, size) ?: -EFAULT;
		if (nr < 0)
			break;
		done = twheel_do_ops(tw, ops, nr);
		copied = write_results(array, ops, done, size);
		for (unsigned int i = 0; i < copied; i++)
			submit->failed += ops[i].result < 0;
		submit->done += copied;
		array += copied * size;
		cond_resched();
	} while (copied == nr && submit->done < submit->nr && !task_sigpending(current));

	kfree(ops);
	return submit->done ? 0 : nr < 0 ? nr : -EFAULT;
}

/* Get and list */

static int ioctl_get(struct twheel *tw, void *arg)
{
	int ret;

	twheel_begin(tw);
	ret = timers_get(&tw->timers, arg);
	twheel_end(tw);
	return ret;
}

static int ioctl_list(struct twheel *tw, void *arg)
{
	struct twheel_list *list = arg;
	void __user *array = u64_to_user_ptr(list->timers);
	const size_t size = list->timer_size;
	struct twheel_timer *records;
	unsigned int nr, copied;
	int ret = 0;
	bool end;

	if (list->flags)
		return -EOPNOTSUPP;
	if (list->reserved || size < timer_size || size > TWHEEL_MAX_RECORD || !list->nr)
		return -EINVAL;
	if (list->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	records = kmalloc_array(min_t(u32, list->nr, COPY_MAX), timer_size, GFP_BRIEF);
	if (!records)
		return -ENOMEM;
	list->done = 0;

	do {
		twheel_begin(tw);
		nr = timers_list(&tw->timers, records,
				 min_t(u32, list->nr - list->done, COPY_MAX), &list->cursor);
		end = list->cursor == tw->timers.wheel.capacity;
		twheel_end(tw);
		copied = copy_timers(array, records, nr, size);
		list->done += copied;
		array += copied * size;
		if (copied < nr) {
			list->cursor = records[copied].id;
			ret = list->done ? 0 : -EFAULT;
			break;
		}
		cond_resched();
	} while (list->done < list->nr && !end && !signal_pending(current));

	kfree(records);
	if (!ret && !list->done && !end)
		return -ERESTARTSYS;
	return ret;
}

/* The table of ioctls */

/* The struct of a call, in the kernel. */
union twheel_arg {
	struct twheel_features	features;
	struct twheel_setup	setup;
	struct twheel_op	op;
	struct twheel_submit	submit;
	struct twheel_timer	timer;
	struct twheel_list	list;
	struct twheel_stats	stats;
};

/**
 * struct twheel_ioctl - a call
 * @cmd: its number, with direction and size
 * @min_size: of the struct when the call was introduced
 * @writes: changes the wheel, so the file must be open for writing
 * @run: called without locks
 */
struct twheel_ioctl {
	unsigned int	cmd;
	unsigned int	min_size;
	bool		writes;
	int		(*run)(struct twheel *tw, void *arg);
};

/* @last: the last field of struct @type when the call was introduced */
#define IOCTL(name, fn, type, last, changes)				\
	[_IOC_NR(TWHEEL_IOC_##name)] = {				\
		.cmd		= TWHEEL_IOC_##name +			\
				  BUILD_BUG_ON_ZERO(sizeof(struct type) > \
						    sizeof(union twheel_arg)), \
		.min_size	= offsetofend(struct type, last),	\
		.run		= (fn),					\
		.writes		= (changes),				\
	}

static const struct twheel_ioctl twheel_ioctls[] = {
	IOCTL(FEATURES,  ioctl_features,   twheel_features, reserved, false),
	IOCTL(SETUP,	 ioctl_setup,	   twheel_setup,    clock_offset, true),
	IOCTL(GET_SETUP, ioctl_get_setup,  twheel_setup,    clock_offset, false),
	IOCTL(ARM,	 ioctl_arm,	   twheel_op,	    result, true),
	IOCTL(CANCEL,	 ioctl_cancel,	   twheel_op,	    result, true),
	IOCTL(GET,	 ioctl_get,	   twheel_timer,    overruns, false),
	IOCTL(SUBMIT,	 ioctl_submit,	   twheel_submit,   reserved, true),
	IOCTL(LIST,	 ioctl_list,	   twheel_list,     reserved, false),
	IOCTL(STATS,	 ioctl_stats,	   twheel_stats,    late, false),
};

/**
 * fops_ioctl() - a call
 * @file: the wheel's
 * @cmd: TWHEEL_IOC_*, perhaps with another size of the struct
 * @user_arg: where the struct is
 *
 * Return: 0 or an errno; uapi/linux/twheel.h says which.  Sleeps.
 */
static long fops_ioctl(struct file *file, unsigned int cmd, unsigned long user_arg)
{
	unsigned int nr = _IOC_NR(cmd), user_size = _IOC_SIZE(cmd);
	struct twheel *tw = file->private_data;
	void __user *user = (void __user *)user_arg;
	const struct twheel_ioctl *ioctl;
	union twheel_arg arg;
	size_t size;
	int ret;

	if (_IOC_TYPE(cmd) != TWHEEL_IOC_MAGIC || nr >= ARRAY_SIZE(twheel_ioctls))
		return -ENOIOCTLCMD;
	ioctl = &twheel_ioctls[array_index_nospec(nr, ARRAY_SIZE(twheel_ioctls))];
	if (_IOC_DIR(cmd) != _IOC_DIR(ioctl->cmd))
		return -ENOIOCTLCMD;
	if (ioctl->writes && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (user_size < ioctl->min_size)
		return -EINVAL;
	size = min(user_size, _IOC_SIZE(ioctl->cmd));

	/* A call whose results can't be copied must change nothing. */
	if (_IOC_DIR(cmd) & _IOC_WRITE) {
		ret = copy_struct_from_user(&arg, _IOC_SIZE(ioctl->cmd), user, user_size);
		if (ret)
			return ret;
		if (copy_to_user(user, &arg, size))
			return -EFAULT;
	} else if (clear_user(user, user_size)) {
		/* The part of a newer struct that this kernel does not know stays 0. */
		return -EFAULT;
	}
	ret = ioctl->run(tw, &arg);
	/* After a signal the call resumes from the cursor saved in the struct. */
	if (ret && ret != -ERESTARTSYS)
		return ret;
	return copy_to_user(user, &arg, size) ? -EFAULT : ret;
}
