/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libtwheel: timers of /dev/twheel, armed, moved and cancelled with a store.
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
 * A handle is one wheel.  A timer is an id below the wheel's capacity.  Its deadline is in ns of
 * the wheel's clock (twheel_now()), and 0 means never.  Where kernel and processor support it, each
 * timer has a word in memory shared with the kernel, and most changes are a store into it.
 * Elsewhere each change is a system call.  The functions do the same either way, except for
 * generations: a call that arms a timer gives it a new generation, a store does not.
 *
 * A function returns 0, a count or a negative errno; the variable errno is not used.
 * <linux/twheel.h> lists the errors of the system calls, in addition to those listed with a
 * function.  A call that fails has changed nothing, unless its description says otherwise.
 *
 * An event is final when it is taken.  If its timer is cancelled or armed again before that, the
 * event is dropped.
 *
 * Without a device (another kernel, a container, a laptop) twheel_open() creates a fallback: a
 * wheel in this process, with the same functions, words and promises.  The differences:
 * - It ends with the process and its children by fork(), and cannot be handed over.
 * - Only calls turn it: twheel_take() and twheel_wait() find due timers.  Until then
 *   twheel_cancel_tell() may return TWHEEL_STATE_PENDING for a timer that is due.
 * - Its memory is the process's own, and is allocated for all ids at once.  It counts against no
 *   quota, and any user may choose any tick.
 * - A call takes a lock, unless TWHEEL_OPEN_ONE_THREAD is given, and sets a timerfd if the timer is
 *   sooner than all others.
 * - A process that ends inside a call leaves a shared wheel unusable: calls of the other
 *   processes return -ENOTRECOVERABLE.
 * twheel_has() tells which kind a wheel is.  TWHEEL_OPEN_DEVICE refuses a fallback.
 *
 * Threads: any thread may call any function at any time, except twheel_extend(), which needs a
 * timer that no other thread uses, and twheel_close().  A thread may be cancelled
 * (pthread_cancel(), deferred) while it takes events or waits for them: no event is lost.
 *
 * Fork: a child and its parent are like two threads with a handle each.  Each closes its own, and
 * has its own batch and free ids.  fork() waits until no other thread is inside a function that
 * locks the handle.  These may call no function of the library: a child of vfork(), _Fork() or
 * clone(), a signal handler, and a handler registered with pthread_atfork() before the first
 * twheel_open().
 *
 * One thread: with TWHEEL_OPEN_ONE_THREAD a handle takes no lock, and a fallback is armed with
 * plain stores.  Then no two threads may be inside functions of the handle at the same time, and a
 * child by fork() may only close it.
 *
 * Namespaces: deadlines are in the time namespace in which the file was opened, so compute them
 * from twheel_now() and not from clock_gettime().  A process that enters another time namespace
 * calls twheel_open() again, with TWHEEL_OPEN_FD.
 *
 * Sandboxes: twheel_open() makes the system calls openat, fcntl, ioctl and mmap, and for a fallback
 * timerfd_create and mmap.  Other functions make ioctl, read, ppoll and futex, for a fallback
 * timerfd_settime, ppoll and futex; twheel_close() makes close and munmap.  Calls of the C library
 * for memory and clocks come on top.
 *
 * Quotas: a wheel is charged to the user who first uses it, and twheel_open() is a use.  EDQUOT
 * means that this user's limit on wheels or timers is reached.  In a user namespace not made by
 * root, the user is the creator of the outermost one.
 */

struct twheel;

/* The release of this header; see twheel_version(). */
#define TWHEEL_VERSION	"0.9.0"

/**
 * twheel_version() - the release of the library that the program is linked to
 *
 * It may differ from TWHEEL_VERSION, the release that the program was compiled with.  Programs do
 * not need to compare them: twheel_open() refuses options that the library does not know.
 *
 * Return: a text for display, "0.9.0" for example.
 */
const char *twheel_version(void);

/* The library defines it to export the inline functions as symbols. */
#ifndef TWHEEL_LINKAGE
#define TWHEEL_LINKAGE	static
#endif

/* Open and close */

/**
 * struct twheel_options - the wheel to open
 * @size: sizeof(struct twheel_options); the struct can grow at its end
 * @flags: TWHEEL_OPEN_*
 * @path: of the device; NULL: /dev/twheel, or a fallback if that does not exist
 * @fd: with TWHEEL_OPEN_FD: the wheel; otherwise 0
 * @clock: with TWHEEL_OPEN_CLOCK: CLOCK_MONOTONIC or another that the kernel has;
 *	else 0: CLOCK_MONOTONIC
 * @tick: ns; timers are due at its multiples, so that they share wake-ups; 0: TWHEEL_DEFAULT_TICK
 * @capacity: ids are below it, at most TWHEEL_MAX_CAPACITY; 0: TWHEEL_DEFAULT_CAPACITY.
 *	With words, the kernel's memory for all timers is allocated by twheel_open()
 * @reserved: 0
 *
 * A member that is 0 means the default.
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
 * @fd is a wheel that was opened before: inherited, or handed over.  An unused one gets its shape
 * and words here.  A used one keeps its own: clock, tick and capacity, if given, must match.
 */
#define TWHEEL_OPEN_FD		(1U << 0)
/* @clock is given. */
#define TWHEEL_OPEN_CLOCK	(1U << 1)
/* Make a system call for each change, even where timers could have words. */
#define TWHEEL_OPEN_NO_WORDS	(1U << 2)
/* Batch the calls that stores need, see twheel_flush(). */
#define TWHEEL_OPEN_BATCH	(1U << 3)
/* Without a device, fail instead of making a fallback.  A @path implies it. */
#define TWHEEL_OPEN_DEVICE	(1U << 4)
/* Make a fallback, even where there is a device. */
#define TWHEEL_OPEN_FALLBACK	(1U << 5)
/*
 * No two threads use the handle at the same time, and a child by fork() does not use it: then the
 * handle takes no lock.
 */
#define TWHEEL_OPEN_ONE_THREAD	(1U << 6)

/**
 * twheel_open() - open a wheel
 * @out: where to write the handle
 * @options: NULL: all defaults
 *
 * The file is close-on-exec and non-blocking.  To let a program executed by this one inherit the
 * wheel, clear FD_CLOEXEC with fcntl().  An @fd given is made non-blocking and must stay so:
 * otherwise twheel_take() may sleep.  If the call fails, @fd remains the caller's.
 *
 * Return: 0;
 * -ENODEV: there is no device, and TWHEEL_OPEN_DEVICE or a path is given;
 * -EACCES: no permission to open the device: then no fallback is made; or @fd is not open for
 * reading and writing, which words need;
 * -EPERM: the cgroup's device policy (DevicePolicy= of systemd) denies the device: then no fallback
 * is made; the tick needs privileges; or all mappings of the program are executable
 * (personality(2), READ_IMPLIES_EXEC);
 * -EBADF: @fd is not open;
 * -ENOTTY: @fd or @path is not a wheel;
 * -EPROTO: the kernel's twheel has another version of the ABI;
 * -EINVAL: the size is invalid; reserved is not 0; TWHEEL_OPEN_FD with a path;
 * TWHEEL_OPEN_FALLBACK with a path, TWHEEL_OPEN_FD or TWHEEL_OPEN_DEVICE; or a clock or @fd
 * without its flag;
 * -E2BIG: an option is set that only a newer library knows;
 * -EOPNOTSUPP: an unknown flag or clock;
 * -EBUSY: @fd is in use, with another clock, tick or capacity than given;
 * -ERANGE: tick or capacity is out of its range;
 * -ENOTDIR, -EISDIR, -ELOOP, -ENAMETOOLONG, -ETXTBSY: open(2) of @path failed;
 * -EDQUOT, -ENOMEM, -EMFILE, -ENFILE: a limit is reached.
 *
 * After -EDQUOT, -ENOMEM, -EMFILE, -ENFILE or the -EPERM of personality(2), an @fd may have got its
 * clock, tick, capacity and memory, and keeps them.  The same call may be repeated.
 */
int twheel_open(struct twheel **out, const struct twheel_options *options);

/**
 * twheel_close() - close a wheel
 * @w: the handle, which no thread may be using; NULL is fine
 *
 * Closes the file descriptor.  If it was the last one, the timers are gone.  The batch is
 * discarded.
 */
void twheel_close(struct twheel *w);

/**
 * twheel_fd() - the file descriptor of a wheel
 * @w: the handle
 *
 * For poll() and epoll: readable when there are events to take, and sometimes when there are
 * none.  With TWHEEL_OPEN_BATCH, call twheel_flush() before sleeping.
 *
 * Return: the file descriptor, which the handle still owns.
 */
int twheel_fd(const struct twheel *w);

/* What twheel_has() returns */

/* Timers have words, so that most changes are a store. */
#define TWHEEL_HAS_WORDS	(1U << 0)
/* The wheel is a fallback: in this process, not in the kernel. */
#define TWHEEL_HAS_FALLBACK	(1U << 1)

/**
 * twheel_has() - whether a wheel has words, and where it is
 * @w: the handle
 *
 * For display; the functions behave the same with all wheels.
 *
 * Return: TWHEEL_HAS_*.
 */
unsigned int twheel_has(const struct twheel *w);

/**
 * twheel_capacity() - how many ids a wheel has
 * @w: the handle
 *
 * Return: the capacity; ids are below it.
 */
uint32_t twheel_capacity(const struct twheel *w);

/**
 * twheel_now() - the time of a wheel's clock
 * @w: the handle
 *
 * Return: the time of the wheel's clock in ns, in the time namespace in which the wheel was opened.
 */
uint64_t twheel_now(const struct twheel *w);

/* Arm and cancel */

/**
 * struct twheel_arming - how a timer is armed
 * @flags: TWHEEL_ARM_RELATIVE, _NEW, _MOVE
 * @count: number of expirations, at most TWHEEL_MAX_COUNT; 0: no limit.  0 for a one-shot
 * @deadline: ns; absolute, or from now with TWHEEL_ARM_RELATIVE; 0: never
 * @interval: period in ns, below 2^63; 0: one-shot
 * @slack: ns by which the timer may be late, so that timers share a wake-up
 * @cookie: returned in the timer's events
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
 * twheel_arm_with() - arm a timer, with interval, slack, count and cookie
 * @w: the handle
 * @id: the timer
 * @arming: how
 *
 * Always a system call.  Interval, slack and cookie stay with the id until the next
 * twheel_arm_with(); twheel_arm() keeps them.  Each event that is taken reduces the count by one
 * and its overruns.  When the count is used up, the timer is a one-shot until it is armed with an
 * interval again.
 *
 * Return: 0;
 * -ERANGE: id, interval, slack or count are out of their range;
 * -EINVAL: a count without an interval, NEW and MOVE together, reserved not 0;
 * -EOPNOTSUPP: an unknown flag;
 * -EEXIST: TWHEEL_ARM_NEW, and the timer is armed;
 * -ENOENT: TWHEEL_ARM_MOVE, and the timer is not armed;
 * -ESTALE: the timer has another generation;
 * -EDQUOT, -ENOMEM: a limit is reached.
 */
int twheel_arm_with(struct twheel *w, uint32_t id, const struct twheel_arming *arming);

/**
 * twheel_id_get() - take an id from the handle's list of free ones
 * @w: the handle
 * @id: where to write it
 *
 * For programs that do not number their timers.  Ids come from the top down, so a program may
 * number other timers from 0.  Each process has its own list, which does not know of timers that
 * another process has armed.
 *
 * Return: 0; -ENOSPC: all ids are given out; -ENOMEM.
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
 * @ops: arms and cancels, as for TWHEEL_IOC_SUBMIT
 * @nr: length of @ops, without a limit
 *
 * Operations of other threads may come in between.  Each operation has its own result.  If a call
 * fails, the operations that were not carried out have its error as result.  TWHEEL_ARM_STORED
 * needs words, and TWHEEL_ID_ANY a wheel without them.
 *
 * Return: how many operations failed, or the negative errno of a call that failed.
 */
int twheel_submit_ops(struct twheel *w, struct twheel_op *ops, uint32_t nr);

/**
 * twheel_get() - get the state of a timer
 * @w: the handle
 * @id: the timer
 * @timer: where to write it
 *
 * A system call.
 *
 * Return: 0, or -ERANGE.
 */
int twheel_get(struct twheel *w, uint32_t id, struct twheel_timer *timer);

/**
 * twheel_flush() - submit the batch
 * @w: the handle
 *
 * With TWHEEL_OPEN_BATCH a timer whose store needs a call is put on the handle's batch, which holds
 * up to 128 arms of all threads together.  It is submitted when it is full, by twheel_wait() before
 * it sleeps, and here.  Until then its timers may be late, so a thread calls this before it sleeps
 * in any other call.  An empty batch costs no system call.
 *
 * A flush does not fail for lack of memory.
 *
 * Return: 0, or the first error, for instance if the file descriptor was closed.  A timer whose arm
 * failed may be late until it is armed again.
 */
int twheel_flush(struct twheel *w);

/* Events */

/**
 * twheel_take() - take events that have come
 * @w: the handle
 * @events: where to write them
 * @nr: length of @events
 *
 * Never sleeps.  It drops stale events, so 0 means that no timer is due, except for timers on the
 * batch.  A handler that arms its timer for "now" again and again hides no other timers, but a loop
 * that takes until 0 then never ends.  So take a bounded number of events at a time.
 *
 * Return: how many, 0 if there are none, or a negative errno.
 */
int twheel_take(struct twheel *w, struct twheel_event *events, uint32_t nr);

/**
 * twheel_wait() - take events, wait for the first
 * @w: the handle
 * @events: where to write them
 * @nr: length of @events, not 0
 * @timeout: ns to wait for a first event; negative: for ever; 0: not at all.  As with
 *	poll(2), the kernel may take some 50 us more
 *
 * Submits the batch first.
 *
 * Return: how many, 0 after the timeout, or a negative errno;
 * -EINTR: a signal came before the first event;
 * -EINVAL: @nr is 0.
 */
int twheel_wait(struct twheel *w, struct twheel_event *events, uint32_t nr, int64_t timeout);

/* All timers */

/**
 * twheel_list_armed() - enumerate the armed timers
 * @w: the handle
 * @cursor: first id to look at, 0 to start; set to the id to continue with
 * @timers: where to write their states
 * @nr: length of @timers, 1 to TWHEEL_MAX_BATCH
 *
 * Resumes after a signal.  If it fails, @cursor is after the ids that were looked at.  A timer
 * whose event another thread is reading is not found.
 *
 * Return: how many, 0 at the end, or a negative errno;
 * -EINVAL, -EOVERFLOW: @nr is 0, or too large.
 */
int twheel_list_armed(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr);

/**
 * twheel_drain() - cancel the armed timers, and return them
 * @w: the handle
 * @cursor: as for twheel_list_armed()
 * @timers: where to write the states that they had
 * @nr: length of @timers, 1 to TWHEEL_MAX_BATCH
 *
 * Lists timers and cancels each with the generation that was listed.  A timer is left out if
 * another thread arms it by a call, or takes its event, in between.  The state of each is pending
 * or expired.
 *
 * Return: how many, 0 at the end, or a negative errno;
 * -EINVAL, -EOVERFLOW: @nr is 0, or too large.
 */
int twheel_drain(struct twheel *w, uint32_t *cursor, struct twheel_timer *timers, uint32_t nr);

/**
 * twheel_adopt() - take over a wheel that another process has left
 * @w: the handle, opened with TWHEEL_OPEN_FD
 *
 * A store may need a call, which an exec or a crash may have prevented: this makes these calls.
 * The wheel has kept the interval, slack, count and cookie of each timer.
 *
 * It takes time in proportion to the capacity, and other threads' calls may come in between.
 * Signals do not stop it.  It may be repeated.
 *
 * Return: how many timers it armed, or a negative errno.  If the words are mapped here, it arms the
 * timers that the kernel may look at too late and those whose event waits; otherwise all armed
 * timers that have a word.
 */
int twheel_adopt(struct twheel *w);

/* For languages that can't read this header */

/**
 * twheel_words() - the words of a wheel's timers, to store deadlines by hand
 * @w: the handle
 * @nr: where to write how many ids have a word: those below it
 *
 * A language that cannot use the inline functions of this header does the same with atomic loads
 * and stores of 64 bits.  It stores the deadline of struct twheel_word, and loads the promise,
 * which only the kernel writes.  Any number is a valid deadline.
 *
 * To arm or to move a timer, exchange the deadline, and then load the promise, both sequentially
 * consistent.  If deadline - 1 < promise - 1, unsigned, call twheel_arm_slow().
 *
 * A relaxed store is enough to move a timer to later, if no other thread uses the timer (see
 * twheel_extend()) and the deadline that it replaces, loaded before, is neither 0 nor later.
 *
 * To cancel, store 0, with release.  If no other thread may take an event from then on, exchange
 * the deadline for 0 instead, sequentially consistent.
 *
 * The words are valid until twheel_close(), and after fork() in the child, at the same address and
 * by the same rules as for another thread.  They are gone after an exec.  Compute deadlines from
 * twheel_now(), because they are in the wheel's time.  The rules are the same with a fallback.
 *
 * Return: the word of id 0, which the others follow; NULL, and @nr is 0: timers have no words.
 * An id that is not below @nr is armed, moved and cancelled by calls.
 */
struct twheel_word *twheel_words(const struct twheel *w, uint32_t *nr);

/**
 * twheel_arm_slow() - arm a timer for which a store is not enough
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute; ignored for a timer that has a word, whose deadline is there
 *
 * The rest of twheel_arm(), if the kernel would look too late or the timer has no word.  Do not
 * call twheel_arm() in its place: that stores the deadline again, so if the event was taken
 * meanwhile, there would be a second one.
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
 * @alone: not 0: no other thread uses the words, so an exchange need not be atomic
 *
 * Not for programs.  It may grow at its end: the library allocates the handle, so no program
 * depends on the size.
 */
struct twheel_shared {
	struct twheel_word	*words;
	uint32_t		mapped;
	uint32_t		capacity;
	uint32_t		alone;
};

/* For the inline functions, where a store is not enough. */
int twheel_cancel_slow(struct twheel *w, uint32_t id);
int twheel_cancel_state(const struct twheel *w, uint64_t deadline);

static inline const struct twheel_shared *twheel_shared_of(const struct twheel *w)
{
	return (const struct twheel_shared *)w;
}

/* Would the kernel look too late?  Either may be 0, which means never. */
static inline int twheel_uncovered(uint64_t deadline, uint64_t promise)
{
	return deadline - 1 < promise - 1;
}

/* Store a deadline before the promise is loaded.  Returns the one that it replaces. */
static inline uint64_t twheel_exchange(const struct twheel_shared *shared, uint32_t id,
				       uint64_t deadline)
{
	struct twheel_word *word = &shared->words[id];
	uint64_t before;

	/* Pairs with the kernel's barrier between its store of the promise and its second look. */
	if (!shared->alone)
		return __atomic_exchange_n(&word->deadline, deadline, __ATOMIC_SEQ_CST);
	before = __atomic_load_n(&word->deadline, __ATOMIC_RELAXED);
	__atomic_store_n(&word->deadline, deadline, __ATOMIC_RELAXED);
	return before;
}

/**
 * twheel_arm() - arm a timer, or move it
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute; in the past: due now; 0: never
 *
 * An exchange and a load, and a system call if the kernel would look too late.  Interval, slack,
 * count and cookie stay as twheel_arm_with() set them, and are 0 before.
 *
 * With words no limit is reached, because the memory of all timers is allocated.  If a call fails
 * for another reason, the deadline is in the word, and the timer may be late until it is armed
 * again.
 *
 * Return: 0;
 * -ERANGE: the id is not below the capacity;
 * -ENOMEM, -EDQUOT: a limit is reached, without words only.
 */
TWHEEL_LINKAGE inline int twheel_arm(struct twheel *w, uint32_t id, uint64_t deadline)
{
	const struct twheel_shared *shared = twheel_shared_of(w);

	if (id >= shared->mapped)
		return twheel_arm_slow(w, id, deadline);
	twheel_exchange(shared, id, deadline);
	if (!twheel_uncovered(deadline, __atomic_load_n(&shared->words[id].promise,
							__ATOMIC_SEQ_CST)))
		return 0;
	return twheel_arm_slow(w, id, deadline);
}

/**
 * twheel_extend() - move a timer to later
 * @w: the handle
 * @id: the timer
 * @deadline: ns, absolute
 *
 * A load and a store.  Only for a timer that no other thread arms, extends, cancels or takes events
 * of: otherwise another thread's change could be undone, or the timer lost.  For other timers use
 * twheel_arm().  If the timer is not armed or the deadline is earlier, it calls twheel_arm().
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
	/* An event that is queued by now is stale: the read that drops it files the timer again. */
	__atomic_store_n(&word->deadline, deadline, __ATOMIC_RELAXED);
	return 0;
}

/**
 * twheel_extend_armed() - move to later a timer that is known to be armed
 * @w: the handle
 * @id: the timer, which was armed, and whose last event was not taken since
 * @deadline: ns, absolute, not before the one it has
 *
 * Like twheel_extend(), but a store without a check.  If @id or @deadline are not as required, the
 * timer may never expire.
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
 * A store.  Another thread may still take an event until the store is visible to it.  The exchange
 * of twheel_cancel_tell() is visible when it returns.
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
 * twheel_cancel_tell() - cancel a timer, and return the state that it had
 * @w: the handle
 * @id: the timer
 *
 * An exchange, and a reading of the clock if the deadline may have passed.
 *
 * Return: the state, or a negative errno;
 * TWHEEL_STATE_IDLE, which is 0: it was not armed, or its last event was taken;
 * TWHEEL_STATE_PENDING: its event was not queued, though its deadline may have passed;
 * TWHEEL_STATE_EXPIRED: its event was queued, or its deadline passed while it was on a batch;
 * -ERANGE: the id is not below the capacity.
 */
TWHEEL_LINKAGE inline int twheel_cancel_tell(struct twheel *w, uint32_t id)
{
	const struct twheel_shared *shared = twheel_shared_of(w);
	uint64_t deadline;

	if (id >= shared->mapped)
		return twheel_cancel_slow(w, id);
	deadline = twheel_exchange(shared, id, 0);
	if (!deadline)
		return TWHEEL_STATE_IDLE;
	/* While the promise covers the deadline there is no event.  Ordered as in twheel_arm(). */
	if (!twheel_uncovered(deadline, __atomic_load_n(&shared->words[id].promise,
							__ATOMIC_SEQ_CST)))
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
