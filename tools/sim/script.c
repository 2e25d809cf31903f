// SPDX-License-Identifier: GPL-2.0
/* Operations from a script.  An error message names the line, and what to write instead. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"
#include "output.h"
#include "sim/script.h"
#include "sim/sim.h"

#define WORDS_MAX	8
/* As the wheel in the kernel takes it: TWHEEL_MAX_COUNT. */
#define TIMES_MAX	((1U << 23) - 1)

/**
 * struct line - a line in the making
 * @script: that it is of
 * @nr: its number
 * @word: its words
 * @words: how many
 * @op: what it says
 */
struct line {
	const struct script	*script;
	uint32_t		nr;
	char			*word[WORDS_MAX];
	unsigned int		words;
	struct op		op;
};

static const char * const names[] = {
	[OP_ARM] = "arm", [OP_EXTEND] = "extend", [OP_PUSH_BACK] = "extend",
	[OP_CANCEL] = "cancel", [OP_AT] = "at", [OP_RUN] = "run", [OP_RUN_ALL] = "run",
	[OP_WHERE] = "where", [OP_STOP] = "stop",
};

const char *op_name(enum op_kind kind)
{
	return names[kind];
}

#define wrong(line, format, ...)							\
	fail("%s:%u: " format, (line)->script->name, (line)->nr, ##__VA_ARGS__)

static uint64_t parse_count(const struct line *line, const char *what, const char *text,
			    uint64_t max)
{
	unsigned long long value;
	char *end;

	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value > max)
		wrong(line, "%s %s: give a number up to %llu", what, text,
		      (unsigned long long)max);
	return value;
}

static uint64_t parse_duration(const struct line *line, const char *what, const char *text)
{
	const char *why;
	uint64_t ns;

	why = duration_parse(text, &ns);
	if (why)
		wrong(line, "%s '%s' %s", what, text, why);
	if (!ns)
		wrong(line, "%s 0: give at least 1ns, because 0 is never", what);
	return ns;
}

static void parse_id(struct line *line)
{
	line->op.id = parse_count(line, line->word[0], line->word[1], SIM_MAX_CAPACITY - 1);
}

static void parse_arm(struct line *line)
{
	struct op *op = &line->op;

	parse_id(line);
	op->time = parse_duration(line, "arm", line->word[2]);
	if (line->words == 3)
		return;
	if (line->words == 4 || line->words == 6 || strcmp(line->word[3], "every"))
		wrong(line, "write: arm ID DURATION every DURATION times N");
	op->interval = parse_duration(line, "every", line->word[4]);
	if (line->words == 5)
		return;
	if (strcmp(line->word[5], "times"))
		wrong(line, "%s: write: arm ID DURATION every DURATION times N", line->word[5]);
	/* Wheels with repeat counts use -1 for "for ever". */
	if (strcmp(line->word[6], "-1")) {
		op->times = parse_count(line, "times", line->word[6], TIMES_MAX);
		if (!op->times)
			wrong(line, "times 0: give how often it is to expire, or -1 for ever");
	}
}

static void parse_extend(struct line *line)
{
	const char *text = line->word[2];

	parse_id(line);
	if (*text == '+') {
		line->op.kind = OP_PUSH_BACK;
		text++;
	}
	line->op.time = parse_duration(line, "extend", text);
}

static void parse_time(struct line *line)
{
	line->op.time = parse_duration(line, line->word[0], line->word[1]);
}

static void parse_run(struct line *line)
{
	if (line->words == 1)
		line->op.kind = OP_RUN_ALL;
	else
		parse_time(line);
}

static void parse_nothing(struct line *line)
{
	(void)line;
}

/* What a line may be; words are counted with its first. */
static const struct form {
	enum op_kind kind;
	unsigned int least;
	unsigned int most;
	void (*parse)(struct line *line);
	const char *usage;
} forms[] = {
	{ OP_ARM, 3, 7, parse_arm, "arm ID DURATION, as in arm 1 350ms, and if it is to repeat "
				   "every DURATION times N" },
	{ OP_EXTEND, 3, 3, parse_extend, "extend ID DURATION, as in extend 1 +100ms" },
	{ OP_CANCEL, 2, 2, parse_id, "cancel ID, as in cancel 1" },
	{ OP_AT, 2, 2, parse_time, "at DURATION, as in at 100ms" },
	{ OP_RUN, 1, 2, parse_run, "run DURATION, as in run 1s, or run alone" },
	{ OP_WHERE, 2, 2, parse_id, "where ID, as in where 1" },
	{ OP_STOP, 1, 1, parse_nothing, "stop alone" },
};

static void parse_words(struct line *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *form = &forms[i];

		if (strcmp(line->word[0], op_name(form->kind)))
			continue;
		if (line->words < form->least || line->words > form->most)
			wrong(line, "write: %s", form->usage);
		line->op.kind = form->kind;
		form->parse(line);
		return;
	}
	wrong(line, "%s: no such operation: use arm, extend, cancel, at, run, where or stop",
	      line->word[0]);
}

static void add(struct script *script, const struct op *op)
{
	if (script->nr == script->size) {
		script->size = script->size ? 2 * script->size : 64;
		script->op = reallocarray(script->op, script->size, sizeof(*op));
		if (!script->op)
			fail("out of memory");
	}
	script->op[script->nr++] = *op;
}

/* Returns false if there is nothing in the line. */
static bool parse_line(struct line *line, char *text)
{
	char *rest = NULL, *word;

	text[strcspn(text, "#\n")] = 0;
	for (word = strtok_r(text, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
		if (line->words == WORDS_MAX)
			wrong(line, "%s: too many words: one operation on a line", word);
		line->word[line->words++] = word;
	}
	if (!line->words)
		return false;
	line->op.line = line->nr;
	parse_words(line);
	return true;
}

void script_read(struct script *script, FILE *file, const char *name)
{
	uint64_t at = 0;
	uint32_t nr = 0;
	char *text = NULL;
	size_t size = 0;

	script->name = name;
	while (getline(&text, &size, file) > 0) {
		struct line line = { .script = script, .nr = ++nr };

		if (!parse_line(&line, text))
			continue;
		if (line.op.kind == OP_AT) {
			if (line.op.time < at)
				wrong(&line, "at %s: time does not go back", line.word[1]);
			at = line.op.time;
		}
		add(script, &line.op);
	}
	if (!feof(file))
		fail("%s: cannot be read", name);
	free(text);
}

void script_free(struct script *script)
{
	free(script->op);
}
