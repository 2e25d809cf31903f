// SPDX-License-Identifier: MIT
/* Another module, for the tests: as soon as a key named "flush" has expired, it flushes all. */
#include <string.h>

#include "redis.h"

static void *(*call)(struct redis_ctx *ctx, const char *command, const char *format, ...);
static void (*free_reply)(void *reply);

static int on_key(struct redis_ctx *ctx, int type, const char *event, struct redis_string *name)
{
	(void)type;
	(void)event;
	if (!strcmp(redis.StringPtrLen(name, NULL), "flush"))
		free_reply(call(ctx, "FLUSHALL", ""));
	return REDIS_OK;
}

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
	int (*find)(const char *name, void *to) = *(int (**)(const char *, void *))ctx;

	(void)argv;
	(void)argc;
	if (redis_find(ctx) || find("RedisModule_Call", &call) != REDIS_OK ||
	    find("RedisModule_FreeCallReply", &free_reply) != REDIS_OK)
		return REDIS_ERR;
	redis.SetModuleAttribs(ctx, "flush", 1, REDIS_API);
	return redis.SubscribeToKeyspaceEvents(ctx, REDIS_KEY_EXPIRED, on_key);
}
