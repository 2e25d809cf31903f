// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handles: made and unmade, for a new wheel or one that is handed over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handle.h"
#include "sys.h"

#define OPEN_FLAGS \
	(TWHEEL_OPEN_FD | TWHEEL_OPEN_CLOCK | TWHEEL_OPEN_NO_WORDS | TWHEEL_OPEN_BATCH)

/* Up to the last field of the first version. */
#define OPTIONS_SIZE_MIN \
	(offsetof(struct twheel_options, ring_entries) + sizeof(uint32_t))

/* Can a word be stored and exchanged in one piece? */
#define ATOMIC_WORDS		__atomic_always_lock_free(sizeof(__u64), 0)

/* Take options of any version; what the caller's does not have is 0. */
static int copy_options(struct twheel_options *to, const struct twheel_options *from)
{
	const char *byte = (const char *)from;

	memset(to, 0, sizeof(*to));
	if (!from)
		return 0;
	if (from->size < OPTIONS_SIZE_MIN)
		return -EINVAL;
	for (size_t i = sizeof(*to); i < from->size; i++)
		if (byte[i])
			return -E2BIG;
	memcpy(to, from, from->size < sizeof(*to) ? from->size : sizeof(*to));
	if (to->flags & ~OPEN_FLAGS)
		return -EOPNOTSUPP;
	if (to->flags & TWHEEL_OPEN_FD) {
		if (to->flags & TWHEEL_OPEN_CLOCK || to->path || to->tick || to->capacity ||
		    to->ring_entries)
			return -EINVAL;
	} else if (to->fd) {
		return -EINVAL;
	}
	return to->clock && !(to->flags & TWHEEL_OPEN_CLOCK) ? -EINVAL : 0;
}

/* What the kernel can do, less what this program can't or doesn't want to. */
static int features(int fd, const struct twheel_options *options, uint64_t *has)
{
	struct twheel_features found;
	int ret;

	memset(&found, 0, sizeof(found));
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_FEATURES, &found);
	if (ret)
		return ret;
	if (found.abi != TWHEEL_ABI)
		return -EPROTO;
	*has = found.features;
	if (!ATOMIC_WORDS || options->flags & TWHEEL_OPEN_NO_WORDS)
		*has &= ~TWHEEL_FEATURE_WORDS;
	/* Entries count by the words. */
	if (!(*has & TWHEEL_FEATURE_WORDS))
		*has &= ~TWHEEL_FEATURE_RING;
	return 0;
}

/* Give a new wheel its shape, or ask one that has it. */
static int shape(int fd, const struct twheel_options *options, uint64_t has,
		 struct twheel_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	if (options->flags & TWHEEL_OPEN_FD)
		return twheel_sys_ioctl(fd, TWHEEL_IOC_GET_SETUP, setup);
	if (options->flags & TWHEEL_OPEN_CLOCK) {
		setup->flags = TWHEEL_SETUP_CLOCK;
		setup->clock = options->clock;
	}
	setup->tick = options->tick;
	setup->capacity = options->capacity;
	if (options->ring_entries && has & TWHEEL_FEATURE_RING) {
		setup->delivery = TWHEEL_DELIVER_RING;
		setup->ring_entries = options->ring_entries;
	}
	return twheel_sys_ioctl(fd, TWHEEL_IOC_SETUP, setup);
}

static int map_words(struct twheel *w, uint64_t offset)
{
	size_t size = sizeof(struct twheel_word) * (size_t)w->shared.capacity;
	void *at;
	int ret = twheel_sys_map(w->fd, offset, size, &at);

	if (ret)
		return ret;
	w->words_size = size;
	w->shared.words = at;
	w->shared.mapped = w->shared.capacity;
	return 0;
}

static int map_ring(struct twheel *w, const struct twheel_setup *setup)
{
	size_t size = TWHEEL_RING_HEADER +
		      sizeof(struct twheel_entry) * (size_t)setup->ring_entries;
	void *at;
	int ret = twheel_sys_map(w->fd, setup->ring_offset, size, &at);

	if (ret)
		return ret;
	w->ring_size = size;
	w->ring_mask = setup->ring_entries - 1;
	w->shared.ring = at;
	return 0;
}

/* Have words, ring and terms, as far as the wheel has and needs them. */
static int furnish(struct twheel *w, const struct twheel_setup *setup, uint64_t has)
{
	bool ring = setup->delivery == TWHEEL_DELIVER_RING;
	int ret;

	if (ring && !(has & TWHEEL_FEATURE_RING))
		return -EOPNOTSUPP;
	if (has & TWHEEL_FEATURE_WORDS && setup->words_offset) {
		ret = map_words(w, setup->words_offset);
		/* EBUSY: timers were armed without words, and have to go on like that. */
		if (ret && (ret != -EBUSY || ring))
			return ret;
	}
	if (ring) {
		ret = map_ring(w, setup);
		if (ret)
			return ret;
	}
	if (ring || !w->shared.mapped) {
		/* NOLINTNEXTLINE(clang-analyzer-optin.portability.*): a wheel has an id */
		w->terms = calloc(w->shared.capacity, sizeof(*w->terms));
		if (!w->terms)
			return -ENOMEM;
	}
	return 0;
}

/* All but the file descriptor. */
static void destroy(struct twheel *w)
{
	if (w->words_size)
		twheel_sys_unmap(w->shared.words, w->words_size);
	if (w->ring_size)
		twheel_sys_unmap(w->shared.ring, w->ring_size);
	pthread_mutex_destroy(&w->lock);
	free(w->terms);
	free(w);
}

/* A handle for an open file. */
static int create(struct twheel **out, int fd, const struct twheel_options *options)
{
	struct twheel_setup setup;
	struct twheel *w;
	uint64_t has;
	int ret;

	ret = features(fd, options, &has);
	if (ret)
		return ret;
	ret = shape(fd, options, has, &setup);
	if (ret)
		return ret;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	w->fd = fd;
	w->clock = setup.flags & TWHEEL_SETUP_CLOCK ? setup.clock : CLOCK_MONOTONIC;
	w->batching = options->flags & TWHEEL_OPEN_BATCH;
	w->shared.capacity = setup.capacity;
	ret = furnish(w, &setup, has);
	if (ret) {
		destroy(w);
		return ret;
	}
	*out = w;
	return 0;
}

PUBLIC int twheel_open(struct twheel **out, const struct twheel_options *options)
{
	struct twheel_options o;
	int ret, fd;

	ret = copy_options(&o, options);
	if (ret)
		return ret;
	if (o.flags & TWHEEL_OPEN_FD) {
		ret = create(out, o.fd, &o);
		if (ret)
			return ret;
		ret = twheel_sys_set_nonblocking(o.fd);
		if (ret)
			destroy(*out);
		return ret;
	}
	fd = twheel_sys_open(o.path ? o.path : "/dev/twheel");
	if (fd < 0)
		return fd;
	ret = create(out, fd, &o);
	if (ret)
		twheel_sys_close(fd);
	return ret;
}

PUBLIC void twheel_close(struct twheel *w)
{
	int fd;

	if (!w)
		return;
	fd = w->fd;
	destroy(w);
	twheel_sys_close(fd);
}

PUBLIC int twheel_fd(const struct twheel *w)
{
	return w->fd;
}

PUBLIC unsigned int twheel_has(const struct twheel *w)
{
	return (w->shared.mapped ? TWHEEL_HAS_WORDS : 0) |
	       (w->shared.ring ? TWHEEL_HAS_RING : 0);
}

PUBLIC uint32_t twheel_capacity(const struct twheel *w)
{
	return w->shared.capacity;
}

PUBLIC uint64_t twheel_now(const struct twheel *w)
{
	return twheel_sys_now(w->clock);
}
