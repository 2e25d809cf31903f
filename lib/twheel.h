/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtwheel: timers of /dev/twheel, armed, extended and cancelled with a store.
 */
#ifndef TWHEEL_H
#define TWHEEL_H

#include <stdint.h>
#include <linux/twheel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * DOC: the library in brief
 *
 * A handle is one wheel.  A timer of it is an id below its capacity; its deadline is in ns, of the
 * wheel's clock (twheel_now()), and 0 means never.  Where kernel and processor can, each timer
 * has a word in memory shared with the kernel, and most changes are a store into it.  Where
 * they can't, each change is a system call.  A function does the same either way, but for
 * generations: each call that arms a timer gives it another one, a store does not.
 *
 * A function returns 0, or a count, or a negative errno; errno itself means nothing.  Beside
 * the errors listed with a function, <linux/twheel.h> lists those of the system calls.  A call
 * that fails has changed nothing, unless said otherwise.
 *
 * An event counts when it is taken: no cancel and no arm undoes it then.  An event whose timer
 * was cancelled or armed again before that is never seen.
 *
 * Without a device (another kernel, a container, a laptop) twheel_open() makes a fallback: a
 * wheel in this process, with the same functions, words and promises, but:
 * - It ends with the process and its children by fork(), and can't be handed over.
 * - Only calls turn it: twheel_take() and twheel_wait() find what is due.  Until then
 *   twheel_cancel_tell() may say TWHEEL_STATE_PENDING of a timer that is due.
 * - Its memory is the process's own, for all ids at once; no quota counts it, and any user may have
 *   any tick.
 * - A call takes a lock, and sets a timerfd if the timer is sooner than all others.
 * - A process that ends inside a call, while others share the wheel, leaves it of no use to
 *   them: their calls return -ENOTRECOVERABLE.
 * twheel_has() tells which it is.  TWHEEL_OPEN_DEVICE refuses a fallback.
 *
 * Threads: any function may be called by any thread at any time, except twheel_extend(), which
 * needs a timer that is this thread's alone, and twheel_close().  A thread may be cancelled
 * (pthread_cancel(), deferred) while it takes events or waits for them: no event is lost.
 *
 * Fork: a child and its parent are like two threads with a handle each; each closes its own, and
 * has its own batch and free ids.  fork() waits until no other thread is inside a function that
 * locks the handle.  A child of vfork(), _Fork() or clone() may call nothing here, nor may a
 * signal handler, nor a handler that pthread_atfork() knew before the first twheel_open().
 *
 * Namespaces: deadlines are in the time namespace in which the file was opened, so make them from
 * twheel_now() and not from clock_gettime().  A process that enters another time namespace calls
 * twheel_open() again, with TWHEEL_OPEN_FD.
 *
 * Quotas: a wheel belongs to the user who first uses it, and twheel_open() is a use.  EDQUOT
 * means that this user's limit on wheels or timers is reached.  In a user namespace not made by
 * root, the user is the creator of the outermost one.
 *
 * System calls, for a sandbox: with a device openat, ioctl, mmap, munmap, fcntl, read, ppoll,
 * futex, close, clock_gettime; a fallback needs timerfd_create, timerfd_settime, mmap, munmap,
 * ppoll, futex, close and clock_gettime.
 */

struct twheel;

/* The release of this header; see twheel_version(). */
#define TWHEEL_VERSION	"0.9.0"

/**
 * twheel_version() - the release of the library that the program has found
 *
 * It may be another than TWHEEL_VERSION, which is what the program was compiled with.  Nobody
 * needs to compare them: twheel_open() refuses what does not fit, and twheel_has() tells what
 * there is.
 *
 * Return: a text for a person to read, "0.9.0" for example.
 */
const char *twheel_version(void);

/* The library defines it to make symbols of the inline functions. */
#ifndef TWHEEL_LINKAGE
#define TWHEEL_LINKAGE	static
#endif

/* Open and close */

/**
 * struct twheel_options - what wheel to open
 * @size: sizeof(struct twheel_options); the struct can grow at its end
 * @flags: TWHEEL_OPEN_*
 * @path: of the device; NULL: /dev/twheel, or a fallback if that is not there
 * @fd: with TWHEEL_OPEN_FD: the wheel; else 0
 * @clock: with TWHEEL_OPEN_CLOCK: CLOCK_MONOTONIC or another that the kernel has;
 *	else 0: CLOCK_MONOTONIC
 * @tick: how long a deadline may have to wait, so that timers are due together, ns;
 *	0: TWHEEL_DEFAULT_TICK
 * @capacity: ids are below it, at most TWHEEL_MAX_CAPACITY; 0:
 *	TWHEEL_DEFAULT_CAPACITY.  With words, the kernel's memory for all of them
 *	is taken at once, or if it is not there, nothing is.
 * @reserved: 0
 *
 * All that is 0 or not given stands for the default.
 */
struct twheel_options {
	uint32_t	size;
	uint32_t	flags;
	const char	*path;
	int32_t		fd;
	uint32_t	clock;
	uint64_t	tick;
	uint32_t	capacity;
	uint32_t	reserved;
};

/*
 * @fd is a wheel that was opened before: inherited, or handed over.  One that was not
 * used yet gets its shape and words here.  One that was keeps what it has, and of clock,
 * tick and capacity those that are given must be the same.
 */
#define TWHEEL_OPEN_FD		(1U << 0)
/* @clock is given. */
#define TWHEEL_OPEN_CLOCK	(1U << 1)
/* Make a system call for each change, also where there could be words. */
#define TWHEEL_OPEN_NO_WORDS	(1U << 2)
/* Collect the calls that stores need, see twheel_flush(). */
#define TWHEEL_OPEN_BATCH	(1U << 3)
/* Where there is no device, fail: a fallback will not do.  A @path says the same. */
#define TWHEEL_OPEN_DEVICE	(1U << 4)
/* A fallback, also where there is a device. */
#define TWHEEL_OPEN_FALLBACK	(1U << 5)

/**
 * twheel_open() - open a wheel
 * @out: where to write the handle
 * @options: NULL: all defaults
 *
 * The file is close-on-exec and non-blocking; an @fd given is made non-blocking, and has to
 * stay so: else who takes events may sleep in it.  Whoever is to inherit the wheel needs the
 * first undone, by fcntl().
 *
 * If it fails, an @fd given is still the caller's.
 *
 * Return: 0;
 * -ENODEV: there is no device, and TWHEEL_OPEN_DEVICE or a path is given;
 * -EACCES: not permitted to open it; or @fd is not open for reading and writing, which
 * words need;
 * -EPERM: the cgroup's list of devices (DevicePolicy= of systemd) does not have it.  This is no
 * reason for a fallback, as little as -EACCES is; see also below;
 * -EBADF: @fd is not open;
 * -ENOTTY: @fd or @path is not a wheel;
 * -EPROTO: the kernel's twheel has another version of the ABI;
 * -EINVAL: no valid size, or reserved is not 0; with TWHEEL_OPEN_FD a path is given; with
 * TWHEEL_OPEN_FALLBACK that, a path or TWHEEL_OPEN_DEVICE; or a clock or @fd without its flag;
 * -E2BIG: the options are those of a newer library, and used;
 * -EOPNOTSUPP: an unknown flag or clock;
 * -EBUSY: @fd is in use, with another clock, tick or capacity than given;
 * -ERANGE, -EPERM: tick or capacity are out of their range; or -EPERM: all
 * that the program maps is to be executable (personality(2), READ_IMPLIES_EXEC);
 * -ENOTDIR, -EISDIR, -ELOOP, -ENAMETOOLONG, -ETXTBSY: what open(2) says of @path;
 * -EDQUOT, -ENOMEM, -EMFILE, -ENFILE: a limit is reached.
 *
 * With one of the latter four, or the -EPERM of personality(2), an @fd may have got its
 * clock, tick, capacity and memory before that, and keeps them; the same call may be made
 * again.
 */
int twheel_open(struct twheel **out, const struct twheel_options *options);

/**
 * twheel_close() - close a wheel
 * @w: the handle, which no thread may be using; NULL is fine
 *
 * Closes the file descriptor.  If it was the last one, the timers are gone.
 * What is on the batch is not submitted.
 */
void twheel_close(struct twheel *w);

/**
 * twheel_fd() - the file descriptor of a wheel
 * @w: the handle
 *
 * For poll() and epoll: readable when there are events to take, or nearly so.
 * With TWHEEL_OPEN_BATCH, call twheel_flush() before sleeping.
 *
 * Return: the file descriptor; it stays the handle's.
 */
int twheel_fd(const struct twheel *w);

/* What twheel_has() tells */

/* Timers have words, so that most changes are a store. */
#define TWHEEL_HAS_WORDS	(1U << 0)
/* The wheel is in this process, and not the kernel's. */
#define TWHEEL_HAS_FALLBACK	(1U << 1)

/**
 * twheel_has() - what a wheel works with
 * @w: the handle
 *
 * Nobody needs to know, except to tell a person.
 *
 * Return: TWHEEL_HAS_*.
 */
unsigned int twheel_has(const struct twheel *w);

/**
 * twheel_capacity() - how many ids a wheel has
 * @w: the handle
 *
 * Return: the number that all ids are below.
 */
uint32_t twheel_capacity(const struct twheel *w);

/**
 * twheel_now() - what time it is
 * @w: the handle
 *
 * Return: the time in ns, in the wheel's clock: that of the time namespace in which it was
 * opened.
 */
uint64_t twheel_now(const struct twheel *w);

/* Arm and cancel */

/**
 * struct twheel_arming - all about how a timer is armed
 * @flags: TWHEEL_ARM_RELATIVE, _NEW, _MOVE
 * @count: expire this often, at most TWHEEL_MAX_COUNT; 0: for ever.  0 for a
 *	one-shot
 * @deadline: ns; absolute, or from now with TWHEEL_ARM_RELATIVE; 0: never
 * @interval: period in ns, below 2^63; 0: one-shot
 * @slack: it may be up to this many ns late
 * @cookie: handed back in the events
 * @generation: if not 0, the generation that the timer must have
 * @reserved: 0
 */
struct twheel_arming {
	uint32_t	flags;
	uint32_t	count;
	uint64_t	deadline;
	uint64_t	interval;
	uint64_t	slack;
	uint64_t	cookie;
	uint32_t	generation;
	uint32_t	reserved[5];
};

/**
 * twheel_arm_with() - arm a timer, with all there is to say
 * @w: the handle
 * @id: the timer
 * @arming: how
 *
 * Always a system call.  Interval, slack and cookie stay with the id until the
 * next arm_with, also through twheel_arm(); a count until it has run out, after
 * which the timer is a one-shot until it is armed with an interval again.  Only
 * events that were taken are counted.
 *
 * Return: 0;
 * -ERANGE: id, interval, slack or count are out of their range;
 * -EINVAL: a count without an interval, NEW and MOVE together, reserved not 0;
 * -EOPNOTSUPP: an unknown flag;
 * -EEXIST, -ENOENT: TWHEEL_ARM_NEW and it is armed, TWHEEL_ARM_MOVE and it is not;
 * -ESTALE: it does not have that generation;
 * -EDQUOT, -ENOMEM: a limit is reached.
 */
int twheel_arm_with(struct twheel *w, uint32_t id, const struct twheel_arming *arming);

/**
 * twheel_id_get() - take an id from the handle's list of free ones
 * @w: the handle
 * @id: where to write it
 *
 * For programs that do not number their timers.  Ids come from the top down, so a program may
 * number others from 0.  The list is this process's: it knows nothing of ids that another
 * process has armed.
 *
 * Return: 0; -ENOSPC: all were given out; -ENOMEM.
 */
int twheel_id_get(struct twheel *w, uint32_t *id);

/**
 * twheel_id_put() - put an id back
 * @w: the handle
 * @id: from twheel_id_get(), once; its timer is cancelled, or its last event was taken
 */
void twheel_id_put(struct twheel *w, uint32_t id);

/**
 * twheel_submit_ops() - carry out many operations in few calls
 * @w: the handle
 * @ops: each an arm or a cancel, as TWHEEL_IOC_SUBMIT takes them
 * @nr: how many, any number; other threads get in between
 *
 * Each gets a result of its own; those that a failing call did not come to have
 * its error.
 *
 * Return: how many have failed, or what stopped it: a negative errno.
 */
int twheel_submit_ops(struct twheel *w, struct twheel_op *ops, uint32_t nr);

/**
 * twheel_get() - tell about a timer
 * @w: the handle
 * @id: the timer
 * @timer: where to write what is known; nothing of it is read
 *
 * A system call.
 *
 * Return: 0, or -ERANGE.
 */
int twheel_get(struct twheel *w, uint32_t id, struct twheel_timer *timer);

/**
 * twheel_flush() - make the calls that were collected
 * @w: the handle
 *
 * With TWHEEL_OPEN_BATCH a timer whose store needs a call is put on the handle's
 * batch: up to 128 arms, of any threads, submitted when it is full, by
 * twheel_wait() before it sleeps, and here.  Until then it may come late.  So a
 * thread that sleeps otherwise calls this first.  Costs no system call if there
 * is nothing to do.
 *
 * None of this needs memory that may be short: what is stored in words can be armed as long as
 * the wheel is there.
 *
 * Return: 0, or the first error: somebody else has closed the file descriptor, for instance.
 * What it tells of may be late, and is armed by another arm.
 */
int twheel_flush(struct twheel *w);

/* Events */

/**
 * twheel_take() - take events that have come
 * @w: the handle
 * @events: where to write them
 * @nr: at most so many
 *
 * Never sleeps.  A read(): it drops stale events in front of those that count, so 0 means that
 * there is none, except for timers that are on the batch.  It turns the wheel by a step first, so
 * timers that a handler arms for "now" again and again hide no others.  But such a handler
 * keeps a loop that takes until 0 from ending: take a bounded number, and look after the rest of
 * the program in between.
 *
 * Return: how many, 0 if there are none, or a negative errno.
 */
int twheel_take(struct twheel *w, struct twheel_event *events, uint32_t nr);

/**
 * twheel_wait() - take events, wait for the first
 * @w: the handle
 * @events: where to write them
 * @nr: at most so many, not 0
 * @timeout: ns to wait for a first event; negative: for ever; 0: not at all.  As with
 *	poll(2), the kernel may take some 50 us more
 *
 * Submits the batch first.
 *
 * Return: how many, 0 if the time is over, or a negative errno;
 * -EINTR: a signal came before the first event;
 * -EINVAL: @nr is 0.
 */
int twheel_wait(struct twheel *w, struct twheel_event *events, uint32_t nr, int64_t timeout);

/* All timers */

/**
 * twheel_list_armed() - enumerate the armed timers
 * @w: the handle
 * @cursor: first id to look at, 0 to start; where to go on is written to it
 * @timers: where to write what is known of them
 * @nr: at most so many, 1 to TWHEEL_MAX_BATCH
 *
 * Goes on where a signal has interrupted it.  If it fails, @cursor has moved over those
 * that were looked at.  A timer whose event another thread is reading is not found.
 *
 * Return: how many, 0 at the end, or a negative errno;
 * -EINVAL, -EOVERFLOW: @nr is 0, or too large.
 */
int twheel_list_armed(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr);

/**
 * twheel_drain() - cancel the armed timers, and hand them back
 * @w: the handle
 * @cursor: as for twheel_list_armed()
 * @timers: where to write what they were
 * @nr: at most so many, 1 to TWHEEL_MAX_BATCH
 *
 * Lists timers and cancels each with the generation that was listed: a timer that another thread
 * arms by a call, or takes the event of, in between is not handed back.  @state of each tells if it
 * was pending or expired.
 *
 * Return: how many, 0 at the end, or a negative errno;
 * -EINVAL, -EOVERFLOW: @nr is 0, or too large.
 */
int twheel_drain(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr);

/**
 * twheel_adopt() - go on with a wheel that another process has left
 * @w: the handle, opened with TWHEEL_OPEN_FD
 *
 * Finds what was stored and not called, or come due and not taken, by whoever had
 * the wheel before exec or crash.  What was said of a timer is the wheel's.
 *
 * Time goes with the capacity, and other threads get in between.  Signals do not stop it.  To
 * call it once more than needed is harmless.
 *
 * Return: how many timers it has armed: those of which the kernel may not know when they are
 * due, and those whose event waits; where their words are not mapped here, all; 0 for a wheel
 * without words, of which the kernel knows all; or a negative errno.
 */
int twheel_adopt(struct twheel *w);

/* For languages that can't read this header */

/**
 * twheel_words() - the words of a wheel's timers, to store deadlines by hand
 * @w: the handle
 * @nr: where to write how many there are: those of the ids below it
 *
 * What the inline functions of this header do, a language without them does with loads and
 * stores of its own.  Of struct twheel_word it stores the deadline, and loads the promise, which
 * is the kernel's; each at once, which takes atomics of 64 bits.  Any number is a deadline.
 *
 * To arm or to move a timer, exchange the deadline, and then load the promise, both sequentially
 * consistent.  If deadline - 1 < promise - 1, unsigned, call twheel_arm_slow().
 *
 * To move a timer to later that is this thread's alone (see twheel_extend()), a relaxed store is
 * enough, if the deadline that it replaces, loaded before, is not 0 and not later.
 *
 * To cancel, store 0, with release.  If another thread is to take no event from then on, exchange
 * it, sequentially consistent.
 *
 * The words are the handle's, and stay where they are until twheel_close().  A child after fork()
 * has the same ones at the same address, and goes by the same rules as another thread; after an
 * exec they are gone.  Deadlines are in the wheel's time, in another time namespace too: so they
 * are made from twheel_now().  With a fallback the words are memory of the process, and the rules
 * are the same.
 *
 * Return: the word of id 0, which the others follow; NULL, and @nr is 0: timers have no words.
 * An id that is not below @nr is armed, moved and cancelled by calls.
 */
struct twheel_word *twheel_words(const struct twheel *w, uint32_t *nr);

/**
 * twheel_arm_slow() - arm a timer for which a store is not enough
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute; of a timer that has a word what counts is the deadline there
 *
 * The rest of twheel_arm(), where the kernel would look too late, or where there is no word.
 * twheel_arm() in its place would store the deadline again, and of a timer whose event was taken
 * meanwhile there would be a second event.
 *
 * Return: as twheel_arm().
 */
int twheel_arm_slow(struct twheel *w, uint32_t id, uint64_t deadline);

/* The inline functions, and what they need */

/**
 * struct twheel_shared - the first part of a handle, for the inline functions
 * @words: one for each id below @mapped
 * @mapped: the capacity, or 0: there are no words
 * @capacity: ids are below it
 *
 * Not for programs.  The library makes the handle, and no program knows its size:
 * so this may grow at its end, and the rest of a handle change at will, without
 * harm to programs compiled before.
 */
struct twheel_shared {
	struct twheel_word	*words;
	uint32_t		mapped;
	uint32_t		capacity;
};

/* For the inline functions: what a store is not enough for. */
int twheel_cancel_slow(struct twheel *w, uint32_t id);
int twheel_cancel_state(const struct twheel *w, uint64_t deadline);

static inline const struct twheel_shared *twheel_shared_of(const struct twheel *w)
{
	return (const struct twheel_shared *)w;
}

/* Would the kernel look too late?  0 stands for never, on either side. */
static inline int twheel_uncovered(uint64_t deadline, uint64_t promise)
{
	return deadline - 1 < promise - 1;
}

/**
 * twheel_arm() - arm a timer, or move it
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute; in the past: due now; 0: never
 *
 * An exchange and a load; a system call too if the kernel would look too late:
 * it is not looking, or for something later.  Interval, slack, count and cookie
 * stay as twheel_arm_with() gave them; 0 if it did not.
 *
 * Where timers have words no limit stops it, because their memory is there.  If a call fails for
 * another reason, the deadline stands in the word, and the timer may be late: by another arm the
 * call is tried again.
 *
 * Return: 0;
 * -ERANGE: the id is not below the capacity;
 * -ENOMEM, -EDQUOT: a limit is reached, where timers have no words.
 */
TWHEEL_LINKAGE inline int twheel_arm(struct twheel *w, uint32_t id, uint64_t deadline)
{
	const struct twheel_shared *shared = twheel_shared_of(w);
	struct twheel_word *word;

	if (id >= shared->mapped)
		return twheel_arm_slow(w, id, deadline);
	word = &shared->words[id];
	/* Pairs with the kernel's barrier between its store of the promise and its second look. */
	__atomic_exchange_n(&word->deadline, deadline, __ATOMIC_SEQ_CST);
	if (!twheel_uncovered(deadline, __atomic_load_n(&word->promise, __ATOMIC_SEQ_CST)))
		return 0;
	return twheel_arm_slow(w, id, deadline);
}

/**
 * twheel_extend() - move a timer to later
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute
 *
 * Only for a timer that is this thread's alone: no other arms, extends or cancels
 * it, or takes its events.  (What another has changed meanwhile could be undone, or
 * the timer lost.)  Else use twheel_arm().  A load and a store.  If the timer is
 * not armed or the deadline is earlier, it is twheel_arm().
 *
 * Return: as twheel_arm().
 */
TWHEEL_LINKAGE inline int twheel_extend(struct twheel *w, uint32_t id, uint64_t deadline)
{
	const struct twheel_shared *shared = twheel_shared_of(w);
	struct twheel_word *word;

	if (id >= shared->mapped)
		return twheel_arm_slow(w, id, deadline);
	word = &shared->words[id];
	if (twheel_uncovered(deadline, __atomic_load_n(&word->deadline, __ATOMIC_RELAXED)))
		return twheel_arm(w, id, deadline);
	/*
	 * If an event has come meanwhile it does not have this deadline: its taker, who
	 * is this thread, finds it stale, and sees to it that the kernel looks again.
	 */
	__atomic_store_n(&word->deadline, deadline, __ATOMIC_RELAXED);
	return 0;
}

/**
 * twheel_extend_armed() - move a timer to later that is known to be armed
 * @w: the handle
 * @id: the timer, which has been armed, and of which no last event was taken since
 * @deadline: ns, absolute, not before the one it has
 *
 * As twheel_extend(), but looks at nothing: a store.  If the timer is not as said,
 * it may never expire.
 *
 * Return: as twheel_arm().
 */
TWHEEL_LINKAGE inline int twheel_extend_armed(struct twheel *w, uint32_t id, uint64_t deadline)
{
	const struct twheel_shared *shared = twheel_shared_of(w);

	if (id >= shared->mapped)
		return twheel_arm_slow(w, id, deadline);
	__atomic_store_n(&shared->words[id].deadline, deadline, __ATOMIC_RELAXED);
	return 0;
}

/**
 * twheel_cancel() - make sure that a timer is not armed
 * @w: the handle
 * @id: the timer
 *
 * A store.  Another thread may still take an event until it is told of the cancel, or until the
 * store has left the processor; an exchange, as in twheel_cancel_tell(), takes that moment away.
 *
 * Return: 0, or -ERANGE: the id is not below the capacity.
 */
TWHEEL_LINKAGE inline int twheel_cancel(struct twheel *w, uint32_t id)
{
	const struct twheel_shared *shared = twheel_shared_of(w);
	int state;

	if (id < shared->mapped) {
		__atomic_store_n(&shared->words[id].deadline, 0, __ATOMIC_RELEASE);
		return 0;
	}
	state = twheel_cancel_slow(w, id);
	return state < 0 ? state : 0;
}

/**
 * twheel_cancel_tell() - cancel a timer, and tell what it was
 * @w: the handle
 * @id: the timer
 *
 * An exchange, and a look at the clock if its deadline may have passed.
 *
 * Return: what it was, or a negative errno;
 * TWHEEL_STATE_IDLE, which is 0: it was not armed, or its last event was taken;
 * TWHEEL_STATE_PENDING: no event had come, though its deadline may have;
 * TWHEEL_STATE_EXPIRED: its event had come, or its deadline while it was on a batch;
 * -ERANGE: the id is not below the capacity.
 */
TWHEEL_LINKAGE inline int twheel_cancel_tell(struct twheel *w, uint32_t id)
{
	const struct twheel_shared *shared = twheel_shared_of(w);
	struct twheel_word *word;
	uint64_t deadline;

	if (id >= shared->mapped)
		return twheel_cancel_slow(w, id);
	word = &shared->words[id];
	deadline = __atomic_exchange_n(&word->deadline, 0, __ATOMIC_SEQ_CST);
	if (!deadline)
		return TWHEEL_STATE_IDLE;
	/* As long as the kernel looks in time there is no event.  In order, as in twheel_arm(). */
	if (!twheel_uncovered(deadline, __atomic_load_n(&word->promise, __ATOMIC_SEQ_CST)))
		return TWHEEL_STATE_PENDING;
	return twheel_cancel_state(w, deadline);
}

/**
 * twheel_next() - take one event
 * @w: the handle
 * @event: where to write it
 *
 * Return: 1, 0 if there is none, or a negative errno.  See twheel_take().
 */
TWHEEL_LINKAGE inline int twheel_next(struct twheel *w, struct twheel_event *event)
{
	return twheel_take(w, event, 1);
}

#ifdef __cplusplus
}
#endif

#endif /* TWHEEL_H */
