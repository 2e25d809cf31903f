// SPDX-License-Identifier: GPL-2.0
/* What JSON Lines of twheel sim --trace and of twheel trace tell. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "plot/story.h"

#define NONE		UINT32_MAX
#define NEVER		UINT64_MAX

/**
 * struct life - where a timer has come to
 * @id: its id
 * @number: among all that are told of
 * @bar: which goes on; NONE: it is not armed
 * @since: when something was told of it last
 */
struct life {
	uint32_t	id;
	uint32_t	number;
	uint32_t	bar;
	uint64_t	since;
};

/**
 * struct system - a system that counters are told of
 * @name: its name, cut off
 * @number: among all that are told of
 */
struct system {
	char		name[STORY_NAME];
	uint32_t	number;
};

/**
 * struct reader - a file of lines
 * @story: what they tell
 * @name: of the file
 * @line: which one, from 1
 * @now: the time that it has come to
 * @told: a line was of a trace, and not of counters
 * @lives: a tree of struct life, by id
 * @systems: a tree of struct system, by name
 */
struct reader {
	struct story	*story;
	const char	*name;
	size_t		line;
	uint64_t	now;
	bool		told;
	void		*lives;
	void		*systems;
};

static void __attribute__((noreturn)) wrong(const struct reader *r, const char *what)
{
	fail("%s:%zu: %s: give what twheel trace --json or twheel sim --trace --json prints",
	     r->name, r->line, what);
}

/* Arrays, which double when they are full, that is, when there are a power of two. */
static void *grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	array = reallocarray(array, nr ? 2 * nr : 1, size);
	if (!array)
		fail("out of memory");
	return array;
}

#define ADD(array, nr)	((array) = grow(array, nr, sizeof(*(array))), &(array)[(nr)++])

/* Keys of a line */

static struct json_object *key(const struct reader *r, struct json_object *line, const char *name,
			       enum json_type type)
{
	struct json_object *value;
	char text[64];

	if (json_object_object_get_ex(line, name, &value) && json_object_is_type(value, type))
		return value;
	snprintf(text, sizeof(text), "it has no %s", name);
	wrong(r, text);
}

static uint64_t number_of(const struct reader *r, struct json_object *line, const char *name)
{
	/* What does not fit is as large as can be. */
	int64_t value = json_object_get_int64(key(r, line, name, json_type_int));

	if (value < 0)
		wrong(r, "a number below 0");
	return value;
}

static const char *text_of(const struct reader *r, struct json_object *line, const char *name)
{
	return json_object_get_string(key(r, line, name, json_type_string));
}

/* The same of what has less room. */
static uint32_t fits(uint64_t value)
{
	return value < UINT32_MAX ? value : UINT32_MAX;
}

/* What happens */

/* What a tree has like @wanted; if it has nothing like that yet, a copy of it from now on. */
static void *entry_of(void **tree, const void *wanted, size_t size,
		      int (*compare)(const void *a, const void *b))
{
	void **node = tfind(wanted, tree, compare), *entry;

	if (node)
		return *node;
	entry = malloc(size);
	if (!entry)
		fail("out of memory");
	memcpy(entry, wanted, size);
	if (!tsearch(entry, tree, compare))
		fail("out of memory");
	return entry;
}

static int compare_lives(const void *a, const void *b)
{
	const struct life *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

/* The timer of a line: a picture is of the time from the first such line to the last. */
static struct life *life_of(struct reader *r, struct json_object *line)
{
	struct life wanted = { .number = NONE, .bar = NONE, .since = r->now }, *life;
	uint64_t id = number_of(r, line, "id");
	struct story *story = r->story;

	if (id > UINT32_MAX)
		wrong(r, "no timer has such an id");
	wanted.id = id;
	life = entry_of(&r->lives, &wanted, sizeof(wanted), compare_lives);
	if (!story->nr_timers)
		story->begin = r->now;
	story->end = r->now;
	if (life->number == NONE) {
		life->number = story->nr_timers;
		*ADD(story->id, story->nr_timers) = id;
	}
	return life;
}

static void end_bar(struct reader *r, struct life *life)
{
	if (life->bar != NONE)
		r->story->bar[life->bar].to = r->now;
	life->bar = NONE;
	life->since = r->now;
}

static struct story_bar *begin_bar(struct reader *r, struct life *life, enum story_place place)
{
	struct story_bar *bar;

	end_bar(r, life);
	life->bar = r->story->nr_bars;
	bar = ADD(r->story->bar, r->story->nr_bars);
	*bar = (struct story_bar){
		.timer = life->number, .place = place, .from = r->now, .to = NEVER,
	};
	return bar;
}

static struct story_mark *mark(struct reader *r, const struct life *life, enum story_what what)
{
	struct story_mark *mark = ADD(r->story->mark, r->story->nr_marks);

	*mark = (struct story_mark){ .what = what, .timer = life->number, .at = r->now };
	r->story->count[what]++;
	return mark;
}

/* The last wake-up has found something to do, however long that took: a guest may be slow. */
static void was_of_use(struct reader *r)
{
	struct story *story = r->story;

	if (story->nr_wakes)
		story->wake[story->nr_wakes - 1].of_use = true;
}

static bool is_armed(const struct reader *r, const struct life *life)
{
	return life->bar != NONE && r->story->bar[life->bar].place != STORY_UNREAD;
}

static void place(struct reader *r, struct life *life, struct json_object *line)
{
	struct json_object *where = key(r, line, "where", json_type_object);
	const char *kind = text_of(r, where, "place");
	struct story_bar *bar, before;

	if (!strcmp(kind, "slot")) {
		uint64_t level = number_of(r, where, "level");

		bar = begin_bar(r, life, level < STORY_LEVELS ? level : STORY_LEVELS - 1);
		bar->level = fits(level);
		bar->slot = fits(number_of(r, where, "slot"));
	} else if (!strcmp(kind, "due")) {
		begin_bar(r, life, STORY_UNREAD);
	} else if (!strcmp(kind, "queue")) {
		begin_bar(r, life, STORY_QUEUE);
	} else if (!strcmp(kind, "order")) {
		begin_bar(r, life, STORY_ORDER);
	} else if (is_armed(r, life)) {
		/* Pushed back: it stays where it is. */
		before = r->story->bar[life->bar];
		bar = begin_bar(r, life, before.place);
		bar->level = before.level;
		bar->slot = before.slot;
	} else {
		begin_bar(r, life, STORY_UNKNOWN);
	}
}

/* If the line is missing which tells that a period begins, it began when the one before ended. */
static void notice_period(struct reader *r, struct life *life)
{
	uint64_t since = life->since;

	if (life->bar == NONE && since < r->now)
		begin_bar(r, life, STORY_UNKNOWN)->from = since;
}

static void woken(struct reader *r, struct json_object *line)
{
	(void)line;
	*ADD(r->story->wake, r->story->nr_wakes) = (struct story_wake){ .at = r->now };
}

static void placed(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);
	bool armed = is_armed(r, life);
	bool queued = armed && r->story->bar[life->bar].place == STORY_QUEUE;

	place(r, life, line);
	/* From a queue into a slot is no push, but what the wake-up was for. */
	if (queued && r->story->bar[life->bar].place != STORY_QUEUE)
		was_of_use(r);
	else if (armed)
		mark(r, life, STORY_PUSHED_BACK);
}

static void moved(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);

	notice_period(r, life);
	mark(r, life, STORY_MOVED);
	was_of_use(r);
	place(r, life, line);
}

/* It was armed before anybody listened. */
static void where(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);

	if (!is_armed(r, life))
		place(r, life, line);
}

static void expired(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);
	uint64_t deadline = number_of(r, line, "deadline_ns");
	struct story_mark *m;
	bool is_live;

	notice_period(r, life);
	end_bar(r, life);
	m = mark(r, life, STORY_EXPIRED);
	m->deadline = deadline;
	is_live = json_object_object_get_ex(line, "late_ns", NULL);
	if (is_live) {
		m->late = number_of(r, line, "late_ns");
	} else {
		m->early = r->now < deadline;
		m->late = m->early ? 0 : r->now - deadline;
	}
	was_of_use(r);
	/* Of these somebody tells when they are delivered. */
	if (is_live)
		begin_bar(r, life, STORY_UNREAD);
}

static void delivered(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);

	end_bar(r, life);
	mark(r, life, STORY_DELIVERED);
}

static void cancelled(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);

	end_bar(r, life);
	mark(r, life, STORY_CANCELLED);
}

static void stale(struct reader *r, struct json_object *line)
{
	struct life *life = life_of(r, line);

	/* If it goes on, the next line says so. */
	end_bar(r, life);
	mark(r, life, STORY_STALE);
}

static void lost(struct reader *r, struct json_object *line)
{
	r->story->lost += number_of(r, line, "events");
}

static int compare_systems(const void *a, const void *b)
{
	const struct system *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static void name_system(struct reader *r, struct story_costs *costs, const char *name)
{
	struct system wanted = { .number = NONE }, *system;
	struct story *story = r->story;

	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	system = entry_of(&r->systems, &wanted, sizeof(wanted), compare_systems);
	if (system->number == NONE) {
		system->number = story->nr_systems;
		strcpy(*ADD(story->system, story->nr_systems), system->name);
	}
	costs->system = system->number;
}

static void counters(struct reader *r, struct json_object *line)
{
	struct story_costs *costs = ADD(r->story->costs, r->story->nr_costs);

	*costs = (struct story_costs){
		.slots = number_of(r, line, "slots"),
		.inserts = number_of(r, line, "inserts"),
		.periods = number_of(r, line, "periods"),
		.moves = number_of(r, line, "moves"),
		.passed = number_of(r, line, "passed"),
		.wakeups = number_of(r, line, "wakeups"),
		.empty = number_of(r, line, "empty"),
		.late_mean = number_of(r, line, "late_mean_ns"),
		.memory = number_of(r, line, "memory_max"),
	};
	name_system(r, costs, text_of(r, line, "system"));
}

static const struct {
	const char *what;
	void (*tell)(struct reader *r, struct json_object *line);
} tellers[] = {
	{ "woken", woken },
	{ "placed", placed },
	{ "moved", moved },
	{ "where", where },
	{ "expired", expired },
	{ "delivered", delivered },
	{ "cancelled", cancelled },
	{ "stale", stale },
	{ "lost", lost },
	{ "counters", counters },
};

static void read_time(struct reader *r, struct json_object *line)
{
	uint64_t time = number_of(r, line, "time_ns");

	if (time < r->now)
		fail("%s:%zu: time goes back: draw each trace by itself", r->name, r->line);
	r->now = time;
}

/* Counters end a trace; all others are of another run, and would not be in its picture. */
static void check_mixed(const struct reader *r, bool trace)
{
	if (r->story->nr_costs && (trace || r->told))
		fail("%s:%zu: a trace and the counters of another run are in one file: draw each "
		     "by itself", r->name, r->line);
}

static void read_line(struct reader *r, struct json_object *line)
{
	const char *what = text_of(r, line, "what");
	struct json_object *time;

	for (size_t i = 0; i < ARRAY_SIZE(tellers); i++) {
		bool trace = tellers[i].tell != counters;

		if (strcmp(tellers[i].what, what))
			continue;
		check_mixed(r, trace);
		r->told |= trace;
		/* Systems one after the other are no course of time. */
		if (trace)
			read_time(r, line);
		tellers[i].tell(r, line);
		return;
	}
	/* Nothing to draw, but time has passed. */
	if (json_object_object_get_ex(line, "time_ns", &time) &&
	    json_object_get_int64(time) > (int64_t)r->now)
		r->now = json_object_get_int64(time);
}

/* What has not ended yet goes on to the last line, whatever that is about. */
static void end_bars(struct story *story, uint64_t now)
{
	for (size_t i = 0; i < story->nr_bars; i++) {
		if (story->bar[i].to != NEVER)
			continue;
		story->bar[i].to = now;
		story->end = now;
	}
}

void story_read(struct story *story, FILE *file, const char *name)
{
	struct reader r = { .story = story, .name = name };
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	memset(story, 0, sizeof(*story));
	while ((length = getline(&text, &size, file)) > 0) {
		struct json_object *line = json_parse(text, length);

		r.line++;
		if (!line)
			wrong(&r, "this is no line of JSON");
		read_line(&r, line);
		json_object_put(line);
	}
	if (!feof(file))
		fail("%s: it can't be read: %s", name, strerror(errno));
	end_bars(story, r.now);
	tdestroy(r.lives, free);
	tdestroy(r.systems, free);
	free(text);
}

void story_free(struct story *story)
{
	free(story->id);
	free(story->bar);
	free(story->mark);
	free(story->wake);
	free(story->system);
	free(story->costs);
}
