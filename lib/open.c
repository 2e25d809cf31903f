// SPDX-License-Identifier: LGPL-2.1-or-later
/* Create and destroy handles, for a new wheel or one that was handed over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handle.h"

#define OPEN_FLAGS \
	(TWHEEL_OPEN_FD | TWHEEL_OPEN_CLOCK | TWHEEL_OPEN_NO_WORDS | TWHEEL_OPEN_BATCH | \
	 TWHEEL_OPEN_DEVICE | TWHEEL_OPEN_FALLBACK | TWHEEL_OPEN_ONE_THREAD)

/* The first version of the struct. */
#define OPTIONS_SIZE_MIN	(offsetof(struct twheel_options, reserved) + sizeof(uint32_t))

/* Are stores and exchanges of a word atomic? */
#define ATOMIC_WORDS		__atomic_always_lock_free(sizeof(__u64), 0)

/* Copy options of any version; members that the caller's lacks are 0. */
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

/* Can the program use words, and does it want to? */
static bool wants_words(const struct twheel_options *options)
{
	return ATOMIC_WORDS && !(options->flags & TWHEEL_OPEN_NO_WORDS);
}

/* Check that the file is a wheel with the ABI of this library.  Sets @words if it can have any. */
static int check_wheel(int fd, bool *words)
{
	struct twheel_features found = { 0 };
	int ret;

	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_FEATURES, &found);
	/* Some other files return it for an ioctl that they do not know. */
	if (ret == -EINVAL)
		return -ENOTTY;
	if (ret)
		return ret;
	if (found.abi != TWHEEL_ABI)
		return -EPROTO;
	*words = found.features & TWHEEL_FEATURE_WORDS;
	return 0;
}

/* Does a wheel in use have what is asked for? */
static bool is_alike(const struct twheel_setup *is, const struct twheel_setup *asked)
{
	return (!(asked->flags & TWHEEL_SETUP_CLOCK) || asked->clock == is->clock) &&
	       (!asked->tick || asked->tick == is->tick) &&
	       (!asked->capacity || asked->capacity == is->capacity);
}

/* Make a setup of options. */
static struct twheel_setup ask(const struct twheel_options *options, bool words)
{
	return (struct twheel_setup){
		.flags = (options->flags & TWHEEL_OPEN_CLOCK ? TWHEEL_SETUP_CLOCK : 0) |
			 (words ? TWHEEL_SETUP_WORDS : 0),
		.clock = options->clock,
		.tick = options->tick,
		.capacity = options->capacity,
	};
}

/*
 * Set a new wheel up, or get the setup of one in use.  A caller whose mmap() failed for lack of
 * memory asks again, so a wheel that is as asked for is no error.
 */
static int set_up(int fd, const struct twheel_setup *asked, struct twheel_setup *setup)
{
	int ret;

	*setup = *asked;
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_SETUP, setup);
	if (ret != -EBUSY)
		return ret;
	memset(setup, 0, sizeof(*setup));
	ret = twheel_sys_ioctl(fd, TWHEEL_IOC_GET_SETUP, setup);
	if (ret)
		return ret;
	return is_alike(setup, asked) ? 0 : -EBUSY;
}

/* Destroy a handle, but leave its file descriptor open. */
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

/* Create a handle that has no words mapped. */
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
	w->one_thread = options->flags & TWHEEL_OPEN_ONE_THREAD;
	w->has_words = setup->flags & TWHEEL_SETUP_WORDS;
	w->shared.capacity = setup->capacity;
	w->fresh = setup->capacity;
	if (twheel_fork_add(w))
		return w;
	free(w);
	return NULL;
}

/* Map the words of a handle, if the wheel has any. */
static int map_words(struct twheel *w, const struct twheel_setup *setup)
{
	size_t size = sizeof(struct twheel_word) * (size_t)setup->capacity;
	void *at;
	int ret;

	if (!w->has_words)
		return 0;
	ret = twheel_sys_map(w->fd, setup->words_offset, size, &at);
	if (ret)
		return ret;
	w->words_size = size;
	w->shared.words = at;
	w->shared.mapped = setup->capacity;
	return 0;
}

/* Create a handle for an open file. */
static int open_file(struct twheel **out, int fd, const struct twheel_options *options)
{
	struct twheel_setup asked, setup;
	struct twheel *w;
	bool words;
	int ret;

	ret = check_wheel(fd, &words);
	if (ret)
		return ret;
	words = words && wants_words(options);
	/* A wheel that was set up stays so, so check first that its words can be mapped. */
	if (words && !twheel_sys_writable(fd))
		return -EACCES;
	asked = ask(options, words);
	ret = set_up(fd, &asked, &setup);
	if (ret)
		return ret;
	w = create(fd, options, &setup);
	if (!w)
		return -ENOMEM;
	ret = words ? map_words(w, &setup) : 0;
	if (ret)
		destroy(w);
	else
		*out = w;
	return ret;
}

/* Create a handle for a wheel in this process. */
static int open_fallback(struct twheel **out, const struct twheel_options *options)
{
	struct twheel_setup setup = ask(options, wants_words(options));
	struct fallback *fallback;
	struct twheel *w;
	int fd;

	fd = twheel_fallback_open(&fallback, &setup, options->flags & TWHEEL_OPEN_ONE_THREAD);
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
	w->shared.mapped = w->shared.words ? setup.capacity : 0;
	w->shared.alone = w->one_thread;
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
