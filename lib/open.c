// SPDX-License-Identifier: LGPL-2.1-or-later
/* Handles: made and unmade, for a new wheel or one that is handed over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handle.h"

#define OPEN_FLAGS \
	(TWHEEL_OPEN_FD | TWHEEL_OPEN_CLOCK | TWHEEL_OPEN_NO_WORDS | TWHEEL_OPEN_BATCH | \
	 TWHEEL_OPEN_DEVICE | TWHEEL_OPEN_FALLBACK)

/* Up to the last field of the first version. */
#define OPTIONS_SIZE_MIN \
	(offsetof(struct twheel_options, reserved) + sizeof(uint32_t))

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
	if (to->reserved)
		return -EINVAL;
	if (to->flags & TWHEEL_OPEN_FD) {
		if (to->path)
			return -EINVAL;
	} else if (to->fd) {
		return -EINVAL;
	}
	if (to->flags & TWHEEL_OPEN_FALLBACK &&
	    (to->path || to->flags & (TWHEEL_OPEN_FD | TWHEEL_OPEN_DEVICE)))
		return -EINVAL;
	return to->clock && !(to->flags & TWHEEL_OPEN_CLOCK) ? -EINVAL : 0;
}

/* What the kernel can do, less what this program can't or doesn't want to. */
static int features(int fd, const struct twheel_options *options, uint64_t *has)
{
	struct twheel_features found;
	int ret;

	memset(&found, 0, sizeof(found));
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_FEATURES, &found);
	/* What some other files say of an ioctl that they do not know. */
	if (ret == -EINVAL)
		return -ENOTTY;
	if (ret)
		return ret;
	if (found.abi != TWHEEL_ABI)
		return -EPROTO;
	*has = found.features;
	if (!ATOMIC_WORDS || options->flags & TWHEEL_OPEN_NO_WORDS)
		*has &= ~TWHEEL_FEATURE_WORDS;
	return 0;
}

/* Is there anything that only a wheel not in use can be given? */
static bool gives_shape(const struct twheel_options *options)
{
	return options->flags & TWHEEL_OPEN_CLOCK || options->tick || options->capacity;
}

/* Is a wheel as it would be made by these? */
static bool is_alike(const struct twheel_setup *is, const struct twheel_setup *asked)
{
	return (!(asked->flags & TWHEEL_SETUP_CLOCK) || asked->clock == is->clock) &&
	       (!asked->tick || asked->tick == is->tick) &&
	       (!asked->capacity || asked->capacity == is->capacity);
}

/* The shape that is asked for. */
static void ask(const struct twheel_options *options, uint64_t has, struct twheel_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	if (options->flags & TWHEEL_OPEN_CLOCK) {
		setup->flags |= TWHEEL_SETUP_CLOCK;
		setup->clock = options->clock;
	}
	if (has & TWHEEL_FEATURE_WORDS)
		setup->flags |= TWHEEL_SETUP_WORDS;
	setup->tick = options->tick;
	setup->capacity = options->capacity;
}

/*
 * Give a new wheel its shape, or ask one that has it.  One that was given the same shape
 * before is fine: who could not map it, for want of memory, asks once more.
 */
static int shape(int fd, const struct twheel_options *options, uint64_t has,
		 struct twheel_setup *setup)
{
	struct twheel_setup asked;
	int ret;

	ask(options, has, setup);
	asked = *setup;
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_SETUP, setup);
	if (ret != -EBUSY)
		return ret;
	memset(setup, 0, sizeof(*setup));
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_GET_SETUP, setup);
	if (ret)
		return ret;
	return gives_shape(options) && !is_alike(setup, &asked) ? -EBUSY : 0;
}

static int map_words(struct twheel *w, const struct twheel_setup *setup)
{
	size_t size = sizeof(struct twheel_word) * (size_t)setup->words_nr;
	void *at;
	int ret = twheel_sys_map(w->fd, setup->words_offset, size, &at);

	if (ret)
		return ret;
	w->words_size = size;
	w->shared.words = at;
	w->shared.mapped = setup->words_nr;
	return 0;
}

/* Map the words, as far as the wheel has them. */
static int furnish(struct twheel *w, const struct twheel_setup *setup, uint64_t has)
{
	int ret;

	if (setup->flags & TWHEEL_SETUP_WORDS) {
		w->words_first = setup->words_first;
		w->words_end = setup->words_first + setup->words_nr;
		/* Words that do not begin with the first id are not from this library. */
		if (has & TWHEEL_FEATURE_WORDS && !setup->words_first) {
			ret = map_words(w, setup);
			if (ret)
				return ret;
		}
	}
	return twheel_fork_add(w);
}

/* All but the file descriptor. */
static void destroy(struct twheel *w)
{
	twheel_fork_remove(w);
	if (w->words_size)
		twheel_sys_unmap(w->shared.words, w->words_size);
	if (w->fallback)
		twheel_fallback_close(w->fallback);
	pthread_mutex_destroy(&w->lock);
	free(w->free);
	free(w);
}

/* A handle of a wheel that has a shape; without its words. */
static struct twheel *create(int fd, const struct twheel_options *options,
			     const struct twheel_setup *setup)
{
	struct twheel *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	w->fd = fd;
	w->clock = setup->flags & TWHEEL_SETUP_CLOCK ? setup->clock : CLOCK_MONOTONIC;
	w->clock_offset = setup->clock_offset;
	w->batching = options->flags & TWHEEL_OPEN_BATCH;
	w->shared.capacity = setup->capacity;
	w->fresh = setup->capacity;
	return w;
}

/* A handle for an open file. */
static int open_file(struct twheel **out, int fd, const struct twheel_options *options)
{
	struct twheel_setup setup;
	struct twheel *w;
	uint64_t has;
	int ret;

	ret = features(fd, options, &has);
	if (ret)
		return ret;
	/* Words are mapped to be written, and a wheel that was set up stays so. */
	if (has & TWHEEL_FEATURE_WORDS && !twheel_sys_writable(fd))
		return -EACCES;
	ret = shape(fd, options, has, &setup);
	if (ret)
		return ret;
	w = create(fd, options, &setup);
	if (!w)
		return -ENOMEM;
	ret = furnish(w, &setup, has);
	if (ret) {
		destroy(w);
		return ret;
	}
	*out = w;
	return 0;
}

/* A handle for a wheel in this process. */
static int open_fallback(struct twheel **out, const struct twheel_options *options)
{
	const bool words = ATOMIC_WORDS && !(options->flags & TWHEEL_OPEN_NO_WORDS);
	struct twheel_setup setup;
	struct fallback *fallback;
	struct twheel *w;
	int ret, fd;

	ask(options, words ? TWHEEL_FEATURE_WORDS : 0, &setup);
	fd = twheel_fallback_open(&fallback, &setup);
	if (fd < 0)
		return fd;
	w = create(fd, options, &setup);
	if (!w) {
		twheel_fallback_close(fallback);
		twheel_sys_close(fd);
		return -ENOMEM;
	}
	w->fallback = fallback;
	w->shared.words = twheel_fallback_words(fallback);
	w->shared.mapped = setup.words_nr;
	w->words_end = setup.words_nr;
	ret = twheel_fork_add(w);
	if (ret) {
		destroy(w);
		twheel_sys_close(fd);
		return ret;
	}
	*out = w;
	return 0;
}

PUBLIC int twheel_open(struct twheel **out, const struct twheel_options *options)
{
	struct twheel_options o;
	struct twheel *w;
	int ret, fd;

	ret = copy_options(&o, options);
	if (ret)
		return ret;
	if (o.flags & TWHEEL_OPEN_FD) {
		ret = open_file(&w, o.fd, &o);
		if (ret)
			return ret;
		ret = twheel_sys_set_nonblocking(o.fd);
		if (ret)
			destroy(w);
		else
			*out = w;
		return ret;
	}
	if (o.flags & TWHEEL_OPEN_FALLBACK)
		return open_fallback(out, &o);
	fd = twheel_sys_open(o.path ? o.path : "/dev/twheel");
	if (fd == -ENODEV && !o.path && !(o.flags & TWHEEL_OPEN_DEVICE))
		return open_fallback(out, &o);
	if (fd < 0)
		return fd;
	ret = open_file(out, fd, &o);
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

PUBLIC const char *twheel_version(void)
{
	return TWHEEL_VERSION;
}

PUBLIC int twheel_fd(const struct twheel *w)
{
	return w->fd;
}

PUBLIC unsigned int twheel_has(const struct twheel *w)
{
	return (w->shared.mapped ? TWHEEL_HAS_WORDS : 0) |
	       (w->fallback ? TWHEEL_HAS_FALLBACK : 0);
}

PUBLIC uint32_t twheel_capacity(const struct twheel *w)
{
	return w->shared.capacity;
}

PUBLIC struct twheel_word *twheel_words(const struct twheel *w, uint32_t *nr)
{
	*nr = w->shared.mapped;
	return w->shared.words;
}

PUBLIC uint64_t twheel_now(const struct twheel *w)
{
	return twheel_sys_now(w->clock) + w->clock_offset;
}
