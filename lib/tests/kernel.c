// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernel.h"
#include "sys.h"

#define FILES		16U
#define FIRST_FD	100
#define FIRST_ALARM	200

#define WORDS_OFFSET	0x10000000ULL

/* Words come in pages of so many. */

/*
 * struct timer - the kernel's part
 * @tag: of the event that waits, 0: none
 * @promise: what stands in the word
 * @delivered: its last event was read
 */
struct timer {
	uint64_t	tag;
	uint64_t	promise;
	uint64_t	cookie;
	uint64_t	interval;
	uint64_t	slack;
	uint32_t	count;
	uint32_t	generation;
	bool		delivered;
};

struct wheel {
	pthread_mutex_t		lock;
	unsigned int		users;
	struct twheel_setup	setup;
	bool			used;
	struct twheel_word	word[KERNEL_CAPACITY_MAX];
	struct timer		timer[KERNEL_CAPACITY_MAX];
	/* The ids of events that wait, oldest first. */
	uint32_t		due[KERNEL_CAPACITY_MAX];
	uint32_t		due_nr;
};

struct file {
	struct wheel	*wheel;
	bool		nonblocking;
	bool		read_only;
};

struct kernel kernel;

/* Which of them are open changes under the lock. */
static struct file files[FILES];
/* Which timerfds are open, and from when on each is readable: that, children share. */
static bool alarm_open[FILES];
static uint64_t *alarms;
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t clock_now;
static unsigned int mappings;
/* Memory that is mapped for real. */
static void *memory[FILES];

static void count(unsigned long *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static uint64_t wanted(const struct wheel *wheel, uint32_t id)
{
	return __atomic_load_n(&wheel->word[id].deadline, __ATOMIC_SEQ_CST);
}

static bool uncovered(uint64_t deadline, uint64_t promise)
{
	return deadline - 1 < promise - 1;
}

uint64_t kernel_now(void)
{
	return __atomic_load_n(&clock_now, __ATOMIC_SEQ_CST);
}

static struct wheel *wheel_of(int fd)
{
	unsigned int nr = (unsigned int)(fd - FIRST_FD);

	return nr < FILES ? files[nr].wheel : NULL;
}

/* The words */

static void promise(struct wheel *wheel, uint32_t id, uint64_t what)
{
	wheel->timer[id].promise = what;
	__atomic_store_n(&wheel->word[id].promise, what, __ATOMIC_SEQ_CST);
}

static void unqueue(struct wheel *wheel, uint32_t id)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < wheel->due_nr; i++)
		if (wheel->due[i] != id)
			wheel->due[to++] = wheel->due[i];
	wheel->due_nr = to;
	wheel->timer[id].tag = 0;
}

static void count_down(struct timer *t, uint64_t periods)
{
	if (!t->count)
		return;
	t->count -= periods < t->count ? periods : t->count;
	if (!t->count)
		t->interval = 0;
}

/* By the rules: raise the promise, then read once more. */
static void look(struct wheel *wheel, uint32_t id)
{
	struct timer *t = &wheel->timer[id];
	uint64_t deadline = wanted(wheel, id), again;
	bool due = deadline && deadline <= kernel_now();

	promise(wheel, id, due ? 0 : deadline);
	again = wanted(wheel, id);
	if (again != deadline) {
		if (uncovered(again, t->promise))
			promise(wheel, id, again);
	} else if (due) {
		t->tag = deadline;
		wheel->due[wheel->due_nr++] = id;
	}
}

/* Is it looked at in time?  If not, see to it. */
static void arm_stored(struct wheel *wheel, uint32_t id)
{
	struct timer *t = &wheel->timer[id];
	uint64_t deadline = wanted(wheel, id);

	if (t->tag && t->tag == deadline && deadline <= kernel_now())
		return;
	if (t->tag)
		unqueue(wheel, id);
	if (!uncovered(deadline, t->promise))
		return;
	if (deadline > kernel_now())
		promise(wheel, id, deadline);
	else
		look(wheel, id);
}

static bool last_event(const struct timer *t, uint64_t overruns)
{
	return !t->interval || (t->count && overruns + 1 >= t->count);
}

static uint64_t overruns_of(const struct timer *t)
{
	uint64_t passed = t->interval ? (kernel_now() - t->tag) / t->interval : 0;

	return t->count && passed >= t->count ? t->count - 1 : passed;
}

static void turn(struct wheel *wheel)
{
	for (uint32_t id = 0; id < wheel->setup.capacity; id++)
		if (wheel->timer[id].promise && wheel->timer[id].promise <= kernel_now())
			look(wheel, id);
}

void kernel_advance(uint64_t ns)
{
	__atomic_fetch_add(&clock_now, ns, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < FILES; i++) {
		struct wheel *wheel = files[i].wheel;

		if (!wheel)
			continue;
		pthread_mutex_lock(&wheel->lock);
		turn(wheel);
		pthread_mutex_unlock(&wheel->lock);
	}
}

void kernel_set_back(uint64_t ns)
{
	__atomic_fetch_sub(&clock_now, ns, __ATOMIC_SEQ_CST);
}

/* Calls */

static enum twheel_state state_of(const struct wheel *wheel, uint32_t id)
{
	const struct timer *t = &wheel->timer[id];
	uint64_t deadline = wanted(wheel, id);

	if (!deadline)
		return t->delivered ? TWHEEL_STATE_DELIVERED : TWHEEL_STATE_IDLE;
	if (t->promise)
		return TWHEEL_STATE_PENDING;
	return deadline <= kernel_now() ? TWHEEL_STATE_EXPIRED : TWHEEL_STATE_PENDING;
}

static bool has_word(const struct wheel *wheel, uint32_t id)
{
	return wheel->setup.words_offset && id < wheel->setup.capacity;
}

static bool armed(enum twheel_state state)
{
	return state == TWHEEL_STATE_PENDING || state == TWHEEL_STATE_EXPIRED;
}

static int choose_id(const struct wheel *wheel, uint32_t *id)
{
	for (*id = wheel->setup.capacity; (*id)--;)
		if (!wanted(wheel, *id))
			return 0;
	return -ENOSPC;
}

static int arm(struct wheel *wheel, struct twheel_op *op)
{
	const uint32_t flags = TWHEEL_ARM_RELATIVE | TWHEEL_ARM_NEW | TWHEEL_ARM_MOVE |
			       TWHEEL_ARM_STORED | TWHEEL_ARM_KEEP;
	enum twheel_state state;
	uint64_t deadline;
	struct timer *t;
	uint32_t id = op->id;

	if (op->flags & ~flags)
		return -EOPNOTSUPP;
	if (op->reserved || (op->count && !op->interval))
		return -EINVAL;
	if (op->flags & TWHEEL_ARM_KEEP &&
	    (op->interval || op->slack || op->cookie || op->count || id == TWHEEL_ID_ANY))
		return -EINVAL;
	if (id == TWHEEL_ID_ANY) {
		if (op->flags & TWHEEL_ARM_MOVE || op->generation || !op->deadline)
			return -EINVAL;
		if (wheel->setup.words_offset)
			return -EOPNOTSUPP;
		if (choose_id(wheel, &id))
			return -ENOSPC;
	} else if (id >= wheel->setup.capacity) {
		return -ERANGE;
	}
	t = &wheel->timer[id];
	wheel->used = true;
	if (op->flags & TWHEEL_ARM_STORED) {
		if (!has_word(wheel, id))
			return -ENOENT;
		if (op->flags != TWHEEL_ARM_STORED || op->deadline || op->interval ||
		    op->slack || op->cookie || op->generation)
			return -EINVAL;
		if (kernel.stored_fails) {
			kernel.stored_fails--;
			return -ENOMEM;
		}
		count(&kernel.stored);
		arm_stored(wheel, id);
		op->generation = t->generation;
		return 0;
	}
	state = state_of(wheel, id);
	if (op->generation && op->generation != t->generation)
		return -ESTALE;
	if (op->flags & TWHEEL_ARM_NEW && armed(state))
		return -EEXIST;
	if (op->flags & TWHEEL_ARM_MOVE && !armed(state))
		return -ENOENT;
	deadline = op->deadline;
	if (op->flags & TWHEEL_ARM_RELATIVE && deadline)
		deadline += kernel_now();
	t->generation += kernel.generations ? kernel.generations : 1;
	t->delivered = false;
	if (!(op->flags & TWHEEL_ARM_KEEP)) {
		t->cookie = op->cookie;
		t->interval = op->interval;
		t->slack = op->slack;
		t->count = op->count;
	}
	op->id = id;
	op->generation = t->generation;
	op->state = state;
	__atomic_exchange_n(&wheel->word[id].deadline, deadline, __ATOMIC_SEQ_CST);
	/* Not an event of the earlier arming, even if it has this deadline. */
	unqueue(wheel, id);
	look(wheel, id);
	return 0;
}

static int cancel(struct wheel *wheel, struct twheel_op *op)
{
	if (op->id >= wheel->setup.capacity)
		return -ERANGE;
	op->state = state_of(wheel, op->id);
	wheel->timer[op->id].delivered = false;
	__atomic_exchange_n(&wheel->word[op->id].deadline, 0, __ATOMIC_SEQ_CST);
	unqueue(wheel, op->id);
	return 0;
}

static int submit(struct wheel *wheel, struct twheel_submit *submit)
{
	struct twheel_op *ops = (void *)(uintptr_t)submit->ops;
	int ret = kernel.submit_error;

	if (submit->op_size != sizeof(*ops) || submit->flags || submit->reserved)
		return -EINVAL;
	if (submit->nr > TWHEEL_MAX_BATCH)
		return -EOVERFLOW;
	kernel.submit_error = 0;
	if (ret)
		return ret;
	submit->done = 0;
	submit->failed = 0;
	while (submit->done < submit->nr &&
	       !(kernel.submit_max && submit->done == kernel.submit_max)) {
		struct twheel_op *op = &ops[submit->done++];

		op->result = op->opcode == TWHEEL_OP_ARM ? arm(wheel, op) :
			     op->opcode == TWHEEL_OP_CANCEL ? cancel(wheel, op) : -EINVAL;
		submit->failed += op->result < 0;
	}
	return 0;
}

static int get(struct wheel *wheel, struct twheel_timer *timer)
{
	uint32_t id = timer->id;
	const struct timer *t = &wheel->timer[id];
	uint64_t deadline;

	if (id >= wheel->setup.capacity)
		return -ERANGE;
	deadline = wanted(wheel, id);
	*timer = (struct twheel_timer){
		.id		= id,
		.generation	= t->generation,
		.state		= state_of(wheel, id),
	};
	if (!armed(timer->state))
		return 0;
	timer->count = t->count;
	timer->cookie = t->cookie;
	timer->deadline = deadline;
	timer->remaining = deadline > kernel_now() ? deadline - kernel_now() : 1;
	timer->interval = t->interval;
	timer->slack = t->slack;
	return 0;
}

static int list(struct wheel *wheel, struct twheel_list *list)
{
	struct twheel_timer *timers = (void *)(uintptr_t)list->timers;
	uint32_t left = kernel.list_max;

	if (!list->nr || list->timer_size != sizeof(*timers))
		return -EINVAL;
	list->done = 0;
	while (list->cursor < wheel->setup.capacity && list->done < list->nr) {
		if (kernel.list_max && !left--)
			return list->done ? 0 : -EINTR;
		struct twheel_timer *timer = &timers[list->done];

		timer->id = list->cursor++;
		get(wheel, timer);
		if (!armed(timer->state))
			continue;
		list->done++;
	}
	return 0;
}

static void get_setup(const struct wheel *wheel, struct twheel_setup *setup)
{
	*setup = wheel->setup;
	setup->now = kernel_now();
	setup->clock_offset = kernel.clock_offset;
}

static int set_up(struct wheel *wheel, struct twheel_setup *setup)
{
	const uint32_t flags = TWHEEL_SETUP_CLOCK |
			       (kernel.features & TWHEEL_FEATURE_WORDS ? TWHEEL_SETUP_WORDS : 0);

	if (wheel->used)
		return -EBUSY;
	if (setup->flags & ~flags ||
	    (setup->flags & TWHEEL_SETUP_CLOCK && setup->clock != CLOCK_MONOTONIC &&
	     setup->clock != CLOCK_REALTIME && setup->clock != CLOCK_BOOTTIME))
		return -EOPNOTSUPP;
	if (setup->capacity > KERNEL_CAPACITY_MAX)
		return -ERANGE;
	if (!setup->tick)
		setup->tick = TWHEEL_DEFAULT_TICK;
	if (!setup->capacity)
		setup->capacity = KERNEL_CAPACITY_MAX;
	if (setup->flags & TWHEEL_SETUP_WORDS && kernel.words_error)
		return kernel.words_error;
	setup->words_offset = setup->flags & TWHEEL_SETUP_WORDS ? WORDS_OFFSET : 0;
	wheel->used = true;
	wheel->setup = *setup;
	get_setup(wheel, setup);
	return 0;
}

static int features(struct twheel_features *features)
{
	features->abi = kernel.abi;
	features->features = kernel.features;
	return 0;
}

/* Call it, if there is one, and no more. */
static void call_once(void (**callback)(void))
{
	void (*call)(void);

	call = __atomic_exchange_n(callback, NULL, __ATOMIC_SEQ_CST);
	if (call)
		call();
}

int twheel_sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct wheel *wheel = wheel_of(fd);
	int ret;

	count(&kernel.calls);
	if (!wheel)
		return -ENOTTY;
	if (request == TWHEEL_IOC_GET && kernel.in_get)
		kernel.in_get();
	if (request == TWHEEL_IOC_LIST)
		call_once(&kernel.in_list);
	if (request == TWHEEL_IOC_SUBMIT)
		call_once(&kernel.in_submit);
	pthread_mutex_lock(&wheel->lock);
	turn(wheel);
	switch (request) {
	case TWHEEL_IOC_FEATURES:
		ret = features(arg);
		break;
	case TWHEEL_IOC_SETUP:
		ret = set_up(wheel, arg);
		break;
	case TWHEEL_IOC_GET_SETUP:
		get_setup(wheel, arg);
		ret = 0;
		break;
	case TWHEEL_IOC_ARM:
		count(&kernel.arms);
		ret = arm(wheel, arg);
		break;
	case TWHEEL_IOC_CANCEL:
		ret = cancel(wheel, arg);
		break;
	case TWHEEL_IOC_GET:
		count(&kernel.gets);
		ret = get(wheel, arg);
		break;
	case TWHEEL_IOC_SUBMIT:
		count(&kernel.submits);
		ret = submit(wheel, arg);
		break;
	case TWHEEL_IOC_LIST:
		ret = list(wheel, arg);
		break;
	default:
		ret = -ENOTTY;
	}
	pthread_mutex_unlock(&wheel->lock);
	if (request == TWHEEL_IOC_GET && kernel.after_get)
		kernel.after_get();
	if (__atomic_exchange_n(&kernel.hold, false, __ATOMIC_SEQ_CST))
		nanosleep(&(struct timespec){ .tv_nsec = KERNEL_HOLD }, NULL);
	return ret;
}

/* One event, if that of the front counts. */
static bool read_event(struct wheel *wheel, struct twheel_event *event)
{
	uint32_t id = wheel->due[0];
	struct timer *t = &wheel->timer[id];
	uint64_t overruns = overruns_of(t);
	bool last = last_event(t, overruns);
	__u64 tag = t->tag, found = tag;
	__u64 next = last ? 0 : tag + (overruns + 1) * t->interval;

	*event = (struct twheel_event){
		.id		= id,
		.generation	= t->generation,
		.cookie		= t->cookie,
		.deadline	= tag,
		.fired		= kernel_now(),
		.overruns	= overruns,
		.flags		= last ? TWHEEL_EVENT_LAST : 0,
	};
	unqueue(wheel, id);
	if (!__atomic_compare_exchange_n(&wheel->word[id].deadline, &found, next, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		arm_stored(wheel, id);
		return false;
	}
	count_down(t, overruns + 1);
	t->delivered = last;
	if (next)
		look(wheel, id);
	return true;
}

int twheel_sys_read(int fd, void *to, size_t size)
{
	struct wheel *wheel = wheel_of(fd);
	struct twheel_event *events = to;
	size_t nr = 0;

	count(&kernel.reads);
	pthread_mutex_lock(&wheel->lock);
	turn(wheel);
	while (wheel->due_nr && (nr + 1) * sizeof(*events) <= size)
		nr += read_event(wheel, &events[nr]);
	pthread_mutex_unlock(&wheel->lock);
	return (int)(nr * sizeof(*events));
}

/* Are there events?  If not, when may there be? */
static bool readable(struct wheel *wheel, uint64_t *next)
{
	bool is;

	*next = UINT64_MAX;
	if (!wheel)
		return false;
	pthread_mutex_lock(&wheel->lock);
	turn(wheel);
	is = wheel->due_nr;
	for (uint32_t id = 0; id < wheel->setup.capacity; id++)
		if (wheel->timer[id].promise && wheel->timer[id].promise < *next)
			*next = wheel->timer[id].promise;
	pthread_mutex_unlock(&wheel->lock);
	return is;
}

static uint64_t *alarm_of(int fd)
{
	unsigned int nr = (unsigned int)(fd - FIRST_ALARM);

	return nr < FILES && __atomic_load_n(&alarm_open[nr], __ATOMIC_RELAXED) ? &alarms[nr]
										: NULL;
}

static bool file_readable(int fd, uint64_t *next)
{
	uint64_t *alarm = alarm_of(fd);

	if (!alarm)
		return readable(wheel_of(fd), next);
	*next = __atomic_load_n(alarm, __ATOMIC_SEQ_CST);
	return *next <= kernel_now();
}

int twheel_sys_poll(int fd, int64_t timeout)
{
	uint64_t end = timeout < 0 ? UINT64_MAX : kernel_now() + (uint64_t)timeout, next;

	while (!file_readable(fd, &next)) {
		if (kernel.interrupt && timeout) {
			kernel.interrupt = false;
			return -EINTR;
		}
		if (kernel_now() >= end)
			return 0;
		count(&kernel.polls);
		if (kernel.threads) {
			sched_yield();
			continue;
		}
		if (next > end)
			next = end;
		/* This would sleep for ever. */
		if (next == UINT64_MAX)
			return -EDEADLK;
		kernel_advance(next - kernel_now());
	}
	return 1;
}

/* Files */

/* Another descriptor of what @file has open. */
static int install(struct file file)
{
	int fd = -EMFILE;

	pthread_mutex_lock(&files_lock);
	for (unsigned int i = 0; i < FILES && fd < 0; i++) {
		if (files[i].wheel)
			continue;
		file.wheel->users++;
		files[i] = file;
		fd = FIRST_FD + (int)i;
	}
	pthread_mutex_unlock(&files_lock);
	return fd;
}

int twheel_sys_open(const char *path)
{
	struct wheel *wheel;
	int fd;

	if (kernel.open_error)
		return kernel.open_error;
	if (strcmp(path, "/dev/twheel"))
		return -ENODEV;
	wheel = aligned_alloc(64, (sizeof(*wheel) + 63) / 64 * 64);
	if (!wheel)
		return -ENOMEM;
	memset(wheel, 0, sizeof(*wheel));
	pthread_mutex_init(&wheel->lock, NULL);
	fd = install((struct file){ .wheel = wheel, .nonblocking = true });
	if (fd < 0)
		free(wheel);
	return fd;
}

int twheel_sys_timer(uint32_t clock)
{
	int fd = kernel.timer_error;

	(void)clock;
	pthread_mutex_lock(&files_lock);
	for (unsigned int i = 0; i < FILES && !fd; i++) {
		if (__atomic_load_n(&alarm_open[i], __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&alarm_open[i], true, __ATOMIC_RELAXED);
		alarms[i] = UINT64_MAX;
		fd = FIRST_ALARM + (int)i;
	}
	pthread_mutex_unlock(&files_lock);
	return fd;
}

void twheel_sys_timer_set(int fd, uint64_t when)
{
	count(&kernel.calls);
	if (kernel.in_timer_set)
		kernel.in_timer_set();
	__atomic_store_n(alarm_of(fd), when >= INT64_MAX ? UINT64_MAX : when,
			 __ATOMIC_SEQ_CST);
}

void twheel_sys_close(int fd)
{
	struct file *file;

	if (alarm_of(fd)) {
		__atomic_store_n(&alarm_open[fd - FIRST_ALARM], false, __ATOMIC_RELAXED);
		return;
	}
	file = &files[fd - FIRST_FD];
	pthread_mutex_lock(&files_lock);
	if (!--file->wheel->users) {
		pthread_mutex_destroy(&file->wheel->lock);
		free(file->wheel);
	}
	file->wheel = NULL;
	pthread_mutex_unlock(&files_lock);
}

int kernel_dup(int fd)
{
	return install(files[fd - FIRST_FD]);
}

unsigned int kernel_open_files(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < FILES; i++)
		nr += !!files[i].wheel + alarm_open[i];
	return nr;
}

unsigned int kernel_mappings(void)
{
	return mappings;
}

bool kernel_nonblocking(int fd)
{
	return files[fd - FIRST_FD].nonblocking;
}

void kernel_make_blocking(int fd)
{
	files[fd - FIRST_FD].nonblocking = false;
}

int twheel_sys_set_nonblocking(int fd)
{
	if (!wheel_of(fd))
		return -EBADF;
	files[fd - FIRST_FD].nonblocking = true;
	return 0;
}

bool twheel_sys_writable(int fd)
{
	return !files[fd - FIRST_FD].read_only;
}

void kernel_make_read_only(int fd)
{
	files[fd - FIRST_FD].read_only = true;
}

int twheel_sys_map(int fd, uint64_t offset, size_t size, void **at)
{
	struct wheel *wheel = wheel_of(fd);

	if (kernel.map_error)
		return kernel.map_error;
	if (wheel->setup.words_offset &&
	    offset == WORDS_OFFSET && size <= wheel->setup.capacity * sizeof(*wheel->word)) {
		*at = wheel->word;
	} else {
		return -EINVAL;
	}
	mappings++;
	return 0;
}

int twheel_sys_memory(size_t size, bool share, void **at)
{
	unsigned int i = 0;

	if (kernel.map_error)
		return kernel.map_error;
	*at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		   (share ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (*at == MAP_FAILED)
		return -errno;
	pthread_mutex_lock(&files_lock);
	while (memory[i])
		i++;
	memory[i] = *at;
	mappings++;
	pthread_mutex_unlock(&files_lock);
	return 0;
}

void twheel_sys_unmap(void *at, size_t size)
{
	pthread_mutex_lock(&files_lock);
	for (unsigned int i = 0; i < FILES; i++) {
		if (memory[i] != at)
			continue;
		munmap(at, size);
		memory[i] = NULL;
	}
	mappings--;
	pthread_mutex_unlock(&files_lock);
}

uint64_t twheel_sys_now(uint32_t clock)
{
	(void)clock;
	return kernel_now() - kernel.clock_offset;
}

/*
 * A child has a copy of this kernel, which is nobody's outside of a test: no other thread of
 * the parent may be in the middle of a call then.  The library's locks are taken before these,
 * because this is prepared first.
 */
static void each_wheel(int (*call)(pthread_mutex_t *lock))
{
	for (unsigned int i = 0; i < FILES; i++) {
		unsigned int first = 0;

		while (files[first].wheel != files[i].wheel)
			first++;
		if (files[i].wheel && first == i)
			call(&files[i].wheel->lock);
	}
}

static void before_fork(void)
{
	each_wheel(pthread_mutex_lock);
}

static void after_fork(void)
{
	each_wheel(pthread_mutex_unlock);
}

__attribute__((constructor(101))) static void prepare_for_forks(void)
{
	alarms = mmap(NULL, FILES * sizeof(*alarms), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (alarms == MAP_FAILED || pthread_atfork(before_fork, after_fork, after_fork))
		abort();
}

void kernel_boot(uint64_t features)
{
	for (unsigned int i = 0; i < FILES; i++)
		if (files[i].wheel)
			twheel_sys_close(FIRST_FD + (int)i);
	memset(alarm_open, 0, sizeof(alarm_open));
	memset(&kernel, 0, sizeof(kernel));
	kernel.features = features;
	kernel.abi = TWHEEL_ABI;
	clock_now = 1000000000000;
	mappings = 0;
}
