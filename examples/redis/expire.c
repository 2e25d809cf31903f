// SPDX-License-Identifier: MIT
/*
 * A module for redis-server that has a timer for each key that expires, so that the key goes when
 * it is due and not when redis comes upon it.
 *
 *	loadmodule /usr/lib/redis/twheel.so [timers NUMBER] [slack MS]
 *
 * One rule for all that can happen to a key: whenever something has, its timer is set to what redis
 * then says of its expiry; and when a timer comes, redis is asked for the key, as a command that
 * writes would ask.  So it is redis that finds the key expired and deletes it, with all that goes
 * along: replicas and the append-only file are told, subscribers, statistics.  A timer that comes
 * for a key that is not due does no harm.
 *
 * That is done before the event loop sleeps, and never while a command or a script is running.
 *
 * Some things happen to many keys at once, of which redis does not tell one by one: it has loaded
 * them, or this server has become a master.  Then the keys are scanned, a few each time the event
 * loop turns; and so are the timers freed of keys that were flushed.
 *
 * A child that redis forks to save never comes here.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <twheel.h>

#include "redis.h"

#define MS		1000000ULL
/* So many timers, or keys, before clients have their turn. */
#define PART		128
/* While clients are paused no key expires: look again after that. */
#define PAUSE		(100 * MS)

/* The keys of a database that have timers. */
struct space {
	/* As redis counts them, or -1: the keys are gone, and the last timer frees this. */
	int		db;
	uint32_t	nr_timers;
};

/* Of a key; its place is the timer's id. */
struct timer {
	/* NULL: free */
	struct redis_string	*name;
	struct space		*space;
	uint32_t		hash;
	/* The next in the bucket or of the free ones, its place + 1; 0: none. */
	uint32_t		next;
};

/* A key to which something has happened. */
struct change {
	struct redis_string	*name;
	struct space		*space;
};

/* Keys expire here: this is a master, and not loading. */
static bool active;

static struct twheel *wheel;
static struct timer *timers;
/* Of timers and buckets, in bytes. */
static size_t mapped;
/* Those before it were used. */
static uint32_t fresh;
static uint32_t free_timers;
/* The first timer of each bucket, its place + 1. */
static uint32_t *buckets;
static uint32_t bucket_mask;
static uint64_t hash_key[2];
/* Keys have no timer because there was none; they get one when fewer than that are armed. */
static bool full;
static uint64_t refill;

static struct space **spaces;
static int nr_spaces;

static struct change *changes;
static size_t nr_changes;
static size_t room_for_changes;

/* Readable: there is something to do for which the event loop is not to sleep. */
static int busy_fd;
static bool busy;
/* It is about to sleep. */
static bool sleepy;
/* How many timers have keys that are gone; the sweep for them goes on at this place. */
static uint32_t nr_gone;
static uint32_t cleaned;
static struct redis_cursor *cursor;
/* The database that is scanned; nr_spaces: none is. */
static int scanned;
/* When the last scan had ended, ns: what was due before, nobody could have found in time. */
static uint64_t settled;

/* The wheel has events. */
static bool due;
/* What redis deletes, it does because a timer came. */
static bool in_time;

static struct {
	uint64_t	armed;
	uint64_t	expired;
	uint64_t	without;
	/* ns */
	uint64_t	latest;
} counts;

static void be_busy(void)
{
	if (!busy)
		eventfd_write(busy_fd, 1);
	busy = true;
}

static void scan_all(void)
{
	scanned = 0;
	redis.ScanCursorRestart(cursor);
	be_busy();
}

static struct space *new_space(int db)
{
	struct space *space = redis.Calloc(1, sizeof(*space));

	space->db = db;
	return space;
}

/* The keys of a database are gone, all at once. */
static void leave_space(int db)
{
	struct space *space = spaces[db];

	if (!space->nr_timers)
		return;
	spaces[db] = new_space(db);
	space->db = -1;
	nr_gone += space->nr_timers;
	be_busy();
}

static void leave_all(void)
{
	for (int db = 0; db < nr_spaces; db++)
		leave_space(db);
}

static uint64_t rotate(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

/* SipHash-1-3 with a secret key: clients choose names, and must not choose buckets. */
static uint32_t hash_of(const struct redis_string *name)
{
	uint64_t v[4] = {
		hash_key[0] ^ 0x736f6d6570736575, hash_key[1] ^ 0x646f72616e646f6d,
		hash_key[0] ^ 0x6c7967656e657261, hash_key[1] ^ 0x7465646279746573,
	};
	size_t length, left;
	const char *text = redis.StringPtrLen(name, &length);
	uint64_t word = 0;

	for (left = length; left >= sizeof(word); left -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	word = (uint64_t)length << 56;
	memcpy(&word, text, left);
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The link to a key's timer, or the empty one at the end of its bucket. */
static uint32_t *find_link(struct space *space, struct redis_string *name, uint32_t hash)
{
	uint32_t *link = &buckets[hash & bucket_mask];

	while (*link) {
		struct timer *timer = &timers[*link - 1];

		if (timer->hash == hash && timer->space == space &&
		    !redis.StringCompare(timer->name, name))
			break;
		link = &timer->next;
	}
	return link;
}

static void no_timer(const char *why)
{
	counts.without++;
	if (full)
		return;
	redis.Log(NULL, "warning", "%s: of the others, redis has to find itself what expires", why);
	full = true;
	refill = (counts.armed + 1) / 2;
}

/* For a key that has none; @link ends its bucket. */
static struct timer *new_timer(uint32_t *link, struct space *space, struct redis_string *name,
			       uint32_t hash)
{
	struct timer *timer;

	if (free_timers) {
		*link = free_timers;
		free_timers = timers[free_timers - 1].next;
	} else if (fresh < twheel_capacity(wheel)) {
		*link = ++fresh;
	} else {
		no_timer("more keys expire than there are timers");
		return NULL;
	}
	timer = &timers[*link - 1];
	*timer = (struct timer) { redis.HoldString(NULL, name), space, hash, 0 };
	space->nr_timers++;
	counts.armed++;
	return timer;
}

static void free_timer(struct timer *timer)
{
	struct space *space = timer->space;
	uint32_t *link = find_link(space, timer->name, timer->hash);
	uint32_t place = *link;

	twheel_cancel(wheel, timer - timers);
	redis.FreeString(NULL, timer->name);
	timer->name = NULL;
	*link = timer->next;
	timer->next = free_timers;
	free_timers = place;
	counts.armed--;
	space->nr_timers--;
	if (space->db >= 0)
		return;
	nr_gone--;
	if (!space->nr_timers)
		redis.Free(space);
}

/* A key expires then, in ms; its timer is to say so. */
static void set_timer(struct space *space, struct redis_string *name, long long expiry)
{
	uint32_t hash = hash_of(name);
	uint32_t *link = find_link(space, name, hash);
	struct timer *timer = *link ? &timers[*link - 1] : NULL;

	/* What is centuries ahead, no clock of the kernel's tells. */
	if (expiry == REDIS_NO_EXPIRE || (unsigned long long)expiry >= INT64_MAX / MS) {
		if (timer)
			free_timer(timer);
		return;
	}
	if (!timer)
		timer = new_timer(link, space, name, hash);
	if (!timer)
		return;
	/* Redis takes it for expired when that ms is over. */
	if (twheel_extend(wheel, timer - timers, (expiry + 1) * MS)) {
		free_timer(timer);
		no_timer("a timer could not be armed");
	}
}

/* What does redis say of a key?  If it has expired, redis deletes it. */
static void look(struct redis_ctx *ctx, struct space *space, struct redis_string *name)
{
	uint64_t expired = counts.expired;
	struct redis_key *key;

	if (!active || space->db < 0)
		return;
	/* Redis hides a key that has expired meanwhile, and says no more of it. */
	if (redis.AvoidReplicaTraffic()) {
		set_timer(space, name, (twheel_now(wheel) + PAUSE) / MS);
		return;
	}
	redis.SelectDb(ctx, space->db);
	key = redis.OpenKey(ctx, name, REDIS_WRITE | REDIS_NOTOUCH);
	/* Otherwise it had expired, and on_key() has freed its timer. */
	if (counts.expired == expired)
		set_timer(space, name, redis.GetAbsExpire(key));
	redis.CloseKey(key);
}

/* Something has happened to a key; a command is running still. */
static int on_key(struct redis_ctx *ctx, int type, const char *event, struct redis_string *name)
{
	struct space *space = spaces[redis.GetSelectedDb(ctx)];

	(void)event;
	if (!active)
		return REDIS_OK;
	if (type & (REDIS_KEY_EXPIRED | REDIS_KEY_EVICTED)) {
		uint32_t link = *find_link(space, name, hash_of(name));

		if (link)
			free_timer(&timers[link - 1]);
		counts.expired += in_time;
		return REDIS_OK;
	}
	if (nr_changes == room_for_changes) {
		room_for_changes = room_for_changes ? 2 * room_for_changes : PART;
		changes = redis.Realloc(changes, room_for_changes * sizeof(*changes));
	}
	changes[nr_changes++] = (struct change) { redis.HoldString(NULL, name), space };
	/* A client that was blocked goes on behind on_loop(). */
	if (sleepy)
		be_busy();
	return REDIS_OK;
}

static void look_at_changes(struct redis_ctx *ctx)
{
	/* There may be more of them meanwhile. */
	for (size_t i = 0; i < nr_changes; i++) {
		struct redis_string *name = changes[i].name;

		look(ctx, changes[i].space, name);
		redis.FreeString(NULL, name);
	}
	nr_changes = 0;
}

static void expire(struct redis_ctx *ctx)
{
	struct twheel_event events[PART];
	uint64_t now = twheel_now(wheel);
	int nr = twheel_take(wheel, events, PART);

	due = false;
	if (nr < 0)
		redis.Log(ctx, "warning", "no events of timers: %s", strerror(-nr));
	for (int i = 0; i < nr; i++) {
		struct timer *timer = &timers[events[i].id];
		struct redis_string *name = timer->name;

		/* Another one of these has had it deleted. */
		if (!name)
			continue;
		if (events[i].deadline > settled && now > events[i].deadline + counts.latest)
			counts.latest = now - events[i].deadline;
		redis.HoldString(NULL, name);
		in_time = true;
		look(ctx, timer->space, name);
		in_time = false;
		redis.FreeString(NULL, name);
	}
}

/* Look at one timer: is its key gone? */
static void clean(void)
{
	struct timer *timer = &timers[cleaned % fresh];

	cleaned = cleaned % fresh + 1;
	if (timer->name && timer->space->db < 0)
		free_timer(timer);
}

static void on_scan(struct redis_ctx *ctx, struct redis_string *name, struct redis_key *key,
		    void *space)
{
	long long expiry = redis.GetAbsExpire(key);

	(void)ctx;
	if (expiry != REDIS_NO_EXPIRE)
		set_timer(space, name, expiry);
}

static void scan(struct redis_ctx *ctx)
{
	redis.SelectDb(ctx, scanned);
	if (redis.Scan(ctx, cursor, on_scan, spaces[scanned]))
		return;
	redis.ScanCursorRestart(cursor);
	scanned++;
	if (scanned == nr_spaces)
		settled = twheel_now(wheel);
}

static void do_part(struct redis_ctx *ctx)
{
	eventfd_t nr;

	for (int i = 0; i < PART; i++) {
		if (nr_gone) {
			clean();
		} else if (scanned < nr_spaces) {
			scan(ctx);
		} else {
			eventfd_read(busy_fd, &nr);
			busy = false;
			return;
		}
	}
}

static void on_loop(struct redis_ctx *ctx, struct redis_event event, uint64_t what, void *data)
{
	(void)event;
	(void)data;
	sleepy = what == REDIS_LOOP_BEFORE_SLEEP;
	if (!sleepy)
		return;
	look_at_changes(ctx);
	if (due)
		expire(ctx);
	if (full && counts.armed < refill && scanned == nr_spaces) {
		full = false;
		scan_all();
	}
	if (busy)
		do_part(ctx);
	twheel_flush(wheel);
}

static void be_active(bool yes)
{
	active = yes;
	full = false;
	scanned = nr_spaces;
	if (active)
		scan_all();
	else
		leave_all();
}

static void on_role(struct redis_ctx *ctx, struct redis_event event, uint64_t what, void *data)
{
	(void)ctx;
	(void)event;
	(void)data;
	be_active(what == REDIS_ROLE_MASTER);
}

static void on_loading(struct redis_ctx *ctx, struct redis_event event, uint64_t what, void *data)
{
	(void)event;
	(void)data;
	be_active(what >= REDIS_LOADING_ENDED && redis.GetContextFlags(ctx) & REDIS_IS_MASTER);
}

static void on_flush(struct redis_ctx *ctx, struct redis_event event, uint64_t what, void *data)
{
	const struct redis_flush *flush = data;

	(void)ctx;
	(void)event;
	if (what != REDIS_FLUSH_END)
		return;
	if (flush->db < 0)
		leave_all();
	else
		leave_space(flush->db);
}

static void on_swap(struct redis_ctx *ctx, struct redis_event event, uint64_t what, void *data)
{
	const struct redis_swap *swap = data;
	struct space *first = spaces[swap->first];

	(void)ctx;
	(void)event;
	(void)what;
	spaces[swap->first] = spaces[swap->second];
	spaces[swap->first]->db = swap->first;
	spaces[swap->second] = first;
	first->db = swap->second;
	/* A cursor is good for one database. */
	if (scanned < nr_spaces)
		scan_all();
}

/* The event loop is not to sleep: the rest is done before it would. */
static void on_file(int fd, void *data, int mask)
{
	(void)data;
	(void)mask;
	if (fd == twheel_fd(wheel))
		due = true;
}

static void on_info(struct redis_info *info, int crash)
{
	(void)crash;
	redis.InfoAddSection(info, "");
	redis.InfoAddFieldCString(info, "wheel", twheel_has(wheel) & TWHEEL_HAS_FALLBACK ?
				  "in the process" : "/dev/twheel");
	redis.InfoAddFieldULongLong(info, "timers", twheel_capacity(wheel));
	redis.InfoAddFieldULongLong(info, "armed", counts.armed);
	redis.InfoAddFieldULongLong(info, "expired", counts.expired);
	redis.InfoAddFieldULongLong(info, "late_max_us", counts.latest / 1000);
	redis.InfoAddFieldULongLong(info, "without_timer", counts.without);
	redis.InfoAddFieldULongLong(info, "scanning", scanned < nr_spaces);
}

static int read_arguments(struct redis_ctx *ctx, struct redis_string **argv, int argc,
			  struct twheel_options *options)
{
	for (int i = 0; i < argc; i += 2) {
		const char *what = redis.StringPtrLen(argv[i], NULL);
		long long value = 0;

		if (i + 1 < argc)
			redis.StringToLongLong(argv[i + 1], &value);
		if (!strcmp(what, "timers") && value >= 1 && value <= TWHEEL_MAX_CAPACITY) {
			options->capacity = value;
		} else if (!strcmp(what, "slack") && value >= 1 && value <= 1000) {
			options->tick = value * MS;
		} else {
			redis.Log(ctx, "warning",
				  "twheel takes timers (1 to %u) and slack (1 to 1000 ms), not %s",
				  TWHEEL_MAX_CAPACITY, what);
			return REDIS_ERR;
		}
	}
	return REDIS_OK;
}

/*
 * Not from redis: for its first large block the allocator makes an arena, and redis, which asks for
 * statistics ten times a second, would pay for that as much as for all else when it is idle.
 */
static int map_timers(struct redis_ctx *ctx, uint32_t nr)
{
	while (bucket_mask < nr - 1)
		bucket_mask = 2 * bucket_mask + 1;
	mapped = nr * sizeof(*timers) + (bucket_mask + 1) * sizeof(*buckets);
	timers = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (timers == MAP_FAILED) {
		redis.Log(ctx, "warning", "no memory for %u timers", nr);
		return REDIS_ERR;
	}
	buckets = (uint32_t *)(timers + nr);
	return REDIS_OK;
}

static int open_wheel(struct redis_ctx *ctx, const struct twheel_options *options)
{
	int ret = twheel_open(&wheel, options);

	if (!ret) {
		busy_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (busy_fd >= 0 &&
		    !redis.EventLoopAdd(twheel_fd(wheel), REDIS_READABLE, on_file, NULL) &&
		    !redis.EventLoopAdd(busy_fd, REDIS_READABLE, on_file, NULL))
			return REDIS_OK;
		redis.Log(ctx, "warning", "too many open files: no timers");
		redis.EventLoopDel(twheel_fd(wheel), REDIS_READABLE);
		close(busy_fd);
		twheel_close(wheel);
		return REDIS_ERR;
	}
	redis.Log(ctx, "warning", "no wheel of %u timers: %s%s", options->capacity, strerror(-ret),
		  ret == -EACCES ? ": is this user in the group of /dev/twheel?" :
		  ret == -EPERM ? ": does the service's DeviceAllow= have /dev/twheel?" : "");
	return REDIS_ERR;
}

static void subscribe(struct redis_ctx *ctx, uint64_t id, redis_on_event *handler)
{
	redis.SubscribeToServerEvent(ctx, (struct redis_event) { id, 1 }, handler);
}

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
	struct twheel_options options = {
		.size = sizeof(options),
		.flags = TWHEEL_OPEN_CLOCK | TWHEEL_OPEN_BATCH,
		.clock = CLOCK_REALTIME,
		.tick = MS,
		.capacity = 1U << 20,
	};
	const char *missing = redis_find(ctx);

	if (missing) {
		if (redis.Log)
			redis.Log(ctx, "warning", "this redis is too old: it has no %s", missing);
		return REDIS_ERR;
	}
	redis.SetModuleAttribs(ctx, "twheel", 1, REDIS_API);
	if (read_arguments(ctx, argv, argc, &options) != REDIS_OK ||
	    map_timers(ctx, options.capacity) != REDIS_OK)
		return REDIS_ERR;
	if (open_wheel(ctx, &options) != REDIS_OK) {
		munmap(timers, mapped);
		return REDIS_ERR;
	}
	redis.GetRandomBytes((unsigned char *)hash_key, sizeof(hash_key));
	cursor = redis.ScanCursorCreate();
	while (redis.SelectDb(ctx, nr_spaces) == REDIS_OK) {
		spaces = redis.Realloc(spaces, (nr_spaces + 1) * sizeof(*spaces));
		spaces[nr_spaces] = new_space(nr_spaces);
		nr_spaces++;
	}
	redis.SetModuleOptions(ctx, REDIS_NO_IMPLICIT_SIGNAL);
	redis.RegisterInfoFunc(ctx, on_info);
	redis.SubscribeToKeyspaceEvents(ctx, REDIS_KEY_GENERIC | REDIS_KEY_EXPIRED |
					REDIS_KEY_EVICTED, on_key);
	subscribe(ctx, REDIS_ROLE, on_role);
	subscribe(ctx, REDIS_LOADING, on_loading);
	subscribe(ctx, REDIS_FLUSH, on_flush);
	subscribe(ctx, REDIS_SWAP, on_swap);
	subscribe(ctx, REDIS_LOOP, on_loop);
	be_active(redis.GetContextFlags(ctx) & REDIS_IS_MASTER);
	return REDIS_OK;
}

int RedisModule_OnUnload(struct redis_ctx *ctx)
{
	(void)ctx;
	redis.EventLoopDel(twheel_fd(wheel), REDIS_READABLE);
	redis.EventLoopDel(busy_fd, REDIS_READABLE);
	for (size_t i = 0; i < nr_changes; i++)
		redis.FreeString(NULL, changes[i].name);
	redis.Free(changes);
	leave_all();
	while (nr_gone)
		clean();
	for (int db = 0; db < nr_spaces; db++)
		redis.Free(spaces[db]);
	redis.Free(spaces);
	redis.ScanCursorDestroy(cursor);
	munmap(timers, mapped);
	close(busy_fd);
	twheel_close(wheel);
	return REDIS_OK;
}
