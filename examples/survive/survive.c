// SPDX-License-Identifier: MIT
/*
 * A service whose timers survive it: it reminds of something at times that it was told once, and
 * may be killed, updated and restarted in between.  The wheel waits in systemd's file descriptor
 * store meanwhile, where time goes on for it.
 *
 *	survive FILE NUMBER STEP	remind NUMBER times, STEP ms apart, of which each is a
 *					line in FILE
 *
 * What it was reminded of before it died is in FILE; but for the one that it had just taken.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>
#include <twheel.h>

#define MS	1000000ULL

static int fail(const char *what, int ret)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	return 1;
}

/* The wheel that a predecessor has left, or -1. */
static int from_store(void)
{
	char **names = NULL;
	int wheel = -1, nr = sd_listen_fds_with_names(0, &names);

	for (int i = 0; i < nr; i++) {
		if (wheel < 0 && !strcmp(names[i], "wheel"))
			wheel = SD_LISTEN_FDS_START + i;
		free(names[i]);
	}
	free(names);
	return wheel;
}

/* A wheel that is to survive is the kernel's. */
static int open_wheel(struct twheel **wheel, int fd)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = fd < 0 ? TWHEEL_OPEN_DEVICE : TWHEEL_OPEN_FD,
		.fd = fd < 0 ? 0 : fd,
	};

	return twheel_open(wheel, &options);
}

static int arm_all(struct twheel *wheel, unsigned int nr, unsigned int step)
{
	uint64_t start = twheel_now(wheel);
	int ret = 0;

	for (uint32_t id = 0; id < nr && !ret; id++)
		ret = twheel_arm(wheel, id, start + (id + 1) * step * MS);
	return ret;
}

/* Give a copy of the descriptor to systemd, which hands it to the next one of us. */
static int store(const struct twheel *wheel)
{
	int fd = twheel_fd(wheel);
	int ret = sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=wheel", &fd, 1);

	return ret > 0 ? 0 : ret ? ret : -ENOTCONN;
}

int main(int argc, char **argv)
{
	struct twheel_event event;
	struct twheel *wheel;
	int ret, fd = from_store();
	FILE *file;

	if (argc != 4) {
		fprintf(stderr, "usage: survive FILE NUMBER STEP\n");
		return 2;
	}
	file = fopen(argv[1], "a");
	if (!file)
		return fail(argv[1], -errno);
	ret = open_wheel(&wheel, fd);
	if (ret)
		return fail("no wheel", ret);
	if (fd < 0) {
		ret = arm_all(wheel, strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
		if (!ret)
			ret = store(wheel);
		if (ret)
			return fail("the wheel could not be stored", ret);
	} else {
		/* What was stored and not called, or came due meanwhile, is found. */
		ret = twheel_adopt(wheel);
		if (ret < 0)
			return fail("the wheel could not be taken over", ret);
	}
	sd_notify(0, "READY=1");
	while ((ret = twheel_wait(wheel, &event, 1, -1)) == 1) {
		fprintf(file, "%u\n", event.id);
		fflush(file);
	}
	return fail("no event", ret);
}
