// SPDX-License-Identifier: GPL-2.0
/* The command's system calls, and what their errors mean. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"

static int call(int wheel, unsigned long request, void *arg)
{
	return ioctl(wheel, request, arg) < 0 ? -errno : 0;
}

int wheel_open(void)
{
	int wheel = open(WHEEL_PATH, O_RDWR | O_CLOEXEC);

	if (wheel >= 0)
		return wheel;
	/* Only here ENOENT is about the device, not about a timer. */
	return errno == ENOENT ? -ENODEV : -errno;
}

int wheel_features(int wheel, struct twheel_features *features)
{
	memset(features, 0, sizeof(*features));
	return call(wheel, TWHEEL_IOC_FEATURES, features);
}

int wheel_setup(int wheel, struct twheel_setup *setup)
{
	return call(wheel, TWHEEL_IOC_SETUP, setup);
}

int wheel_get_setup(int wheel, struct twheel_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	return call(wheel, TWHEEL_IOC_GET_SETUP, setup);
}

int wheel_stats(int wheel, struct twheel_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	return call(wheel, TWHEEL_IOC_STATS, stats);
}

int wheel_list(int wheel, __u32 *cursor, struct twheel_timer *timers, __u32 nr)
{
	struct twheel_list list = {
		.timers = (uintptr_t)timers,
		.nr = nr,
		.timer_size = sizeof(*timers),
		.cursor = *cursor,
	};
	int err;

	/* After a signal the search continues at the cursor. */
	do
		err = call(wheel, TWHEEL_IOC_LIST, &list);
	while (err == -EINTR);
	if (err)
		return err;
	*cursor = list.cursor;
	return list.done;
}

int wheel_get(int wheel, struct twheel_timer *timer)
{
	return call(wheel, TWHEEL_IOC_GET, timer);
}

int wheel_submit(int wheel, struct twheel_op *ops, size_t nr, size_t *done)
{
	int err;

	*done = 0;
	while (*done < nr) {
		size_t left = nr - *done;
		struct twheel_submit submit = {
			.ops = (uintptr_t)(ops + *done),
			.nr = left < TWHEEL_MAX_BATCH ? left : TWHEEL_MAX_BATCH,
			.op_size = sizeof(*ops),
		};

		err = call(wheel, TWHEEL_IOC_SUBMIT, &submit);
		if (err == -EINTR)
			continue;
		if (err)
			return err;
		*done += submit.done;
	}
	return 0;
}

int wheel_read(int wheel, struct twheel_event *events, size_t nr)
{
	ssize_t len = read(wheel, events, nr * sizeof(*events));

	return len < 0 ? -errno : (int)(len / (ssize_t)sizeof(*events));
}

bool wheel_is(int fd)
{
	struct twheel_features features;

	return wheel_features(fd, &features) == 0;
}

const char *wheel_explain(int err)
{
	switch (-err) {
	case ENODEV:
	case ENXIO:
		return "no " WHEEL_PATH ": twheel doctor says why";
	case EACCES:
		return "not permitted to open " WHEEL_PATH ": twheel doctor says who may";
	case ENOTTY:
		return "not a wheel, or its module is older than this program";
	case EFAULT:
		return "the kernel could not reach this program's memory: please report it";
	case E2BIG:
		return "this program is newer than the module: see twheel doctor";
	case EPROTO:
		return "module and program differ in their ABI: see twheel doctor";
	case EINVAL:
		return "the kernel refused this request as invalid: see --help";
	case EOPNOTSUPP:
		return "this kernel's twheel does not have that flag or clock";
	case ERANGE:
		return "a number is out of its range (id, tick, shape, count): see twheel features";
	case EOVERFLOW:
		return "too many entries in one call: give fewer";
	case EPERM:
		return "a tick below 100us, or another shape than the default, needs "
		       "CAP_SYS_RESOURCE: be root";
	case EBUSY:
		return "the wheel is in use already: it can be set up only before the first timer";
	case EEXIST:
		return "the timer is armed already";
	case ENOENT:
		return "the timer is not armed";
	case ESTALE:
		return "the timer was armed again meanwhile: its generation has changed";
	case ENOSPC:
		return "every id of the wheel is in use: give it more --capacity";
	case EDQUOT:
		return "your user has reached its limit on wheels or timers: see twheel doctor";
	case ENOMEM:
		return "out of memory, or over the cgroup's limit: free some, or raise the limit";
	case EINTR:
		return "interrupted by a signal";
	case EMFILE:
	case ENFILE:
		return "too many open files: raise the limit (ulimit -n)";
	default:
		return strerror(-err);
	}
}

const char *wheel_explain_open(int err)
{
	return wheel_explain(err == -EPERM ? -EACCES : err);
}
