/* SPDX-License-Identifier: MIT */
/*
 * What this module uses of redis-server's interface to modules, of which Debian packages no
 * header.  Redis finds the functions by their names when the module is loaded; in its own
 * documentation they begin with RedisModule_.
 */
#ifndef REDIS_H
#define REDIS_H

#include <stddef.h>
#include <stdint.h>

struct redis_ctx;
struct redis_string;
struct redis_key;
struct redis_cursor;
struct redis_info;

#define REDIS_OK		0
#define REDIS_ERR		1
#define REDIS_API		1

#define REDIS_NO_EXPIRE		(-1)

/* How a key is opened: as it is by a command that writes, but its age for eviction stays. */
#define REDIS_WRITE		(1 << 1)
#define REDIS_NOTOUCH		(1 << 16)

/* A key that was opened to be written is not taken for changed. */
#define REDIS_NO_IMPLICIT_SIGNAL	(1 << 1)

#define REDIS_IS_MASTER		(1 << 2)

#define REDIS_READABLE		1

/* Key-space events: any command of several types; a key has expired, or was evicted. */
#define REDIS_KEY_GENERIC	(1 << 2)
#define REDIS_KEY_EXPIRED	(1 << 8)
#define REDIS_KEY_EVICTED	(1 << 9)

/* Server events are told by value. */
struct redis_event {
	uint64_t	id;
	uint64_t	version;
};

#define REDIS_ROLE		0
#define REDIS_ROLE_MASTER	0

#define REDIS_FLUSH		2
#define REDIS_FLUSH_END		1

struct redis_flush {
	uint64_t	version;
	int32_t		sync;
	/* -1: all */
	int32_t		db;
};

/* Below REDIS_LOADING_ENDED it begins; from there on it has come to an end, good or bad. */
#define REDIS_LOADING		3
#define REDIS_LOADING_ENDED	3

#define REDIS_SWAP		11

struct redis_swap {
	uint64_t	version;
	int32_t		first;
	int32_t		second;
};

#define REDIS_LOOP		15
#define REDIS_LOOP_BEFORE_SLEEP	0

typedef int redis_on_key(struct redis_ctx *ctx, int type, const char *event,
			 struct redis_string *name);
typedef void redis_on_event(struct redis_ctx *ctx, struct redis_event event, uint64_t what,
			    void *data);
typedef void redis_on_file(int fd, void *data, int mask);
typedef void redis_on_scan(struct redis_ctx *ctx, struct redis_string *name,
			   struct redis_key *key, void *data);
typedef void redis_on_info(struct redis_info *info, int crash);

/* Named and typed as there. */
static struct {
	int (*SetModuleAttribs)(struct redis_ctx *ctx, const char *name, int version, int api);
	void (*SetModuleOptions)(struct redis_ctx *ctx, int options);
	int (*GetContextFlags)(struct redis_ctx *ctx);
	void (*Log)(struct redis_ctx *ctx, const char *level, const char *format, ...)
		__attribute__((__format__(__printf__, 3, 4)));
	void *(*Calloc)(size_t nr, size_t size);
	void *(*Realloc)(void *memory, size_t size);
	void (*Free)(void *memory);
	const char *(*StringPtrLen)(const struct redis_string *string, size_t *length);
	int (*StringCompare)(const struct redis_string *a, const struct redis_string *b);
	int (*StringToLongLong)(const struct redis_string *string, long long *value);
	struct redis_string *(*HoldString)(struct redis_ctx *ctx, struct redis_string *string);
	void (*FreeString)(struct redis_ctx *ctx, struct redis_string *string);
	void (*GetRandomBytes)(unsigned char *to, size_t length);
	int (*GetSelectedDb)(struct redis_ctx *ctx);
	int (*SelectDb)(struct redis_ctx *ctx, int db);
	struct redis_key *(*OpenKey)(struct redis_ctx *ctx, struct redis_string *name, int mode);
	void (*CloseKey)(struct redis_key *key);
	long long (*GetAbsExpire)(struct redis_key *key);
	int (*AvoidReplicaTraffic)(void);
	struct redis_cursor *(*ScanCursorCreate)(void);
	void (*ScanCursorRestart)(struct redis_cursor *cursor);
	void (*ScanCursorDestroy)(struct redis_cursor *cursor);
	int (*Scan)(struct redis_ctx *ctx, struct redis_cursor *cursor, redis_on_scan *on_scan,
		    void *data);
	int (*EventLoopAdd)(int fd, int mask, redis_on_file *on_file, void *data);
	int (*EventLoopDel)(int fd, int mask);
	int (*SubscribeToKeyspaceEvents)(struct redis_ctx *ctx, int types, redis_on_key *on_key);
	int (*SubscribeToServerEvent)(struct redis_ctx *ctx, struct redis_event event,
				      redis_on_event *on_event);
	int (*RegisterInfoFunc)(struct redis_ctx *ctx, redis_on_info *on_info);
	int (*InfoAddSection)(struct redis_info *info, const char *name);
	int (*InfoAddFieldCString)(struct redis_info *info, const char *name, const char *value);
	int (*InfoAddFieldULongLong)(struct redis_info *info, const char *name,
				     unsigned long long value);
} redis;

#define REDIS_FUNCTION(name)	{ "RedisModule_" #name, &redis.name }
static const struct {
	const char	*name;
	void		*to;
} redis_functions[] = {
	REDIS_FUNCTION(SetModuleAttribs),
	REDIS_FUNCTION(SetModuleOptions),
	REDIS_FUNCTION(GetContextFlags),
	REDIS_FUNCTION(Log),
	REDIS_FUNCTION(Calloc),
	REDIS_FUNCTION(Realloc),
	REDIS_FUNCTION(Free),
	REDIS_FUNCTION(StringPtrLen),
	REDIS_FUNCTION(StringCompare),
	REDIS_FUNCTION(StringToLongLong),
	REDIS_FUNCTION(HoldString),
	REDIS_FUNCTION(FreeString),
	REDIS_FUNCTION(GetRandomBytes),
	REDIS_FUNCTION(GetSelectedDb),
	REDIS_FUNCTION(SelectDb),
	REDIS_FUNCTION(OpenKey),
	REDIS_FUNCTION(CloseKey),
	REDIS_FUNCTION(GetAbsExpire),
	REDIS_FUNCTION(AvoidReplicaTraffic),
	REDIS_FUNCTION(ScanCursorCreate),
	REDIS_FUNCTION(ScanCursorRestart),
	REDIS_FUNCTION(ScanCursorDestroy),
	REDIS_FUNCTION(Scan),
	REDIS_FUNCTION(EventLoopAdd),
	REDIS_FUNCTION(EventLoopDel),
	REDIS_FUNCTION(SubscribeToKeyspaceEvents),
	REDIS_FUNCTION(SubscribeToServerEvent),
	REDIS_FUNCTION(RegisterInfoFunc),
	REDIS_FUNCTION(InfoAddSection),
	REDIS_FUNCTION(InfoAddFieldCString),
	REDIS_FUNCTION(InfoAddFieldULongLong),
};

_Static_assert(sizeof(redis_functions) / sizeof(*redis_functions) == sizeof(redis) / sizeof(void *),
	       "a function is missing, or twice there");

/* Find them all.  Returns the name of one that this redis-server does not have, or NULL. */
static inline const char *redis_find(struct redis_ctx *ctx)
{
	/* A context begins with the function that finds the others. */
	int (*find)(const char *name, void *to) = *(int (**)(const char *, void *))ctx;
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(redis_functions) / sizeof(*redis_functions); i++)
		if (find(redis_functions[i].name, redis_functions[i].to) != REDIS_OK)
			missing = redis_functions[i].name;
	return missing;
}

#endif
