// SPDX-License-Identifier: GPL-2.0
/* Durations as people write them.  All arithmetic is in integers: exact. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "duration.h"

#define NSEC_PER_MIN	(60 * NSEC_PER_SEC)
#define NSEC_PER_HOUR	(60 * NSEC_PER_MIN)
#define NSEC_PER_DAY	(24 * NSEC_PER_HOUR)

struct unit {
	const char *name;
	uint64_t ns;
};

/* The larger first; a unit's second name comes right behind it. */
static const struct unit units[] = {
	{ "d", NSEC_PER_DAY },
	{ "h", NSEC_PER_HOUR },
	{ "m", NSEC_PER_MIN },
	{ "min", NSEC_PER_MIN },
	{ "s", NSEC_PER_SEC },
	{ "ms", NSEC_PER_MSEC },
	{ "us", NSEC_PER_USEC },
	{ "\302\265s", NSEC_PER_USEC },		/* micro sign */
	{ "\316\274s", NSEC_PER_USEC },		/* Greek mu */
	{ "ns", 1 },
};

static const char too_long[] = "is longer than 292 years, the most that a timer takes";
static const char no_unit[] = "needs a unit: d, h, m, s, ms, us or ns, as in 250ms or 1h30m";
static const char bad_unit[] = "has an unknown unit: use d, h, m, s, ms, us or ns, as in 1h30m";

/* A unit ends where the next number, a blank or the text does. */
static const struct unit *parse_unit(const char **text)
{
	size_t len = strcspn(*text, "0123456789. \t");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i].name) == len && !memcmp(units[i].name, *text, len)) {
			*text += len;
			return &units[i];
		}
	}
	return NULL;
}

struct number {
	uint64_t whole;
	const char *fraction;
	int fraction_len;
	bool overflow;
};

static bool parse_number(const char **text, struct number *n)
{
	const char *p = *text;
	bool digits = isdigit((unsigned char)*p);

	memset(n, 0, sizeof(*n));
	for (; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(n->whole, 10, &n->whole) ||
		    __builtin_add_overflow(n->whole, *p - '0', &n->whole))
			n->overflow = true;
	}
	if (*p == '.') {
		n->fraction = ++p;
		while (isdigit((unsigned char)*p))
			p++;
		n->fraction_len = p - n->fraction;
		if (!n->fraction_len)
			return false;
	}
	*text = p;
	return digits || n->fraction_len;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	return b ? gcd(b, a % b) : a;
}

/*
 * digits / 10^len of the unit.  With the common divisor taken out first
 * nothing overflows, and the remainder shows whether it is a whole number of ns.
 */
static const char *fraction_to_ns(const struct number *n, uint64_t unit, uint64_t *ns)
{
	static const char too_fine[] = "is finer than a nanosecond";
	uint64_t digits = 0, power = 1, common;
	int len = n->fraction_len, i;

	while (len && n->fraction[len - 1] == '0')
		len--;
	if (len > 18)
		return too_fine;
	for (i = 0; i < len; i++) {
		digits = digits * 10 + (n->fraction[i] - '0');
		power *= 10;
	}
	common = gcd(unit, power);
	if (digits % (power / common))
		return too_fine;
	*ns = digits / (power / common) * (unit / common);
	return NULL;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

const char *duration_parse(const char *text, uint64_t *ns)
{
	uint64_t sum = 0, part, last_unit = UINT64_MAX;
	const struct unit *unit;
	const char *why;
	struct number n;

	text = skip_blanks(text);
	if (!*text)
		return "is empty: write a duration such as 250ms or 1h30m";
	if (*text == '-')
		return "is negative: a duration counts from now";

	while (*text) {
		if (!parse_number(&text, &n))
			return "is not a duration: write it as 250ms, 1h30m or 1.5s";
		text = skip_blanks(text);
		if (!*text) {
			if (last_unit == UINT64_MAX && !n.whole && !n.fraction && !n.overflow)
				break;
			return no_unit;
		}
		unit = parse_unit(&text);
		if (!unit)
			return bad_unit;
		if (unit->ns >= last_unit)
			return "names its units out of order: larger first, each once: 1h30m";
		last_unit = unit->ns;
		why = fraction_to_ns(&n, unit->ns, &part);
		if (why)
			return why;
		if (n.overflow || __builtin_mul_overflow(n.whole, unit->ns, &n.whole) ||
		    __builtin_add_overflow(sum, n.whole, &sum) ||
		    __builtin_add_overflow(sum, part, &sum) || sum > DURATION_MAX)
			return too_long;
		text = skip_blanks(text);
	}
	*ns = sum;
	return NULL;
}

/* The rest below a minute: one number in the largest unit that it fills. */
static int write_rest(char *buf, size_t size, uint64_t ns)
{
	uint64_t unit = 1, fraction;
	const char *name = "ns";
	int digits = 0, len;
	char text[16];

	if (ns >= NSEC_PER_SEC) {
		unit = NSEC_PER_SEC;
		name = "s";
		digits = 9;
	} else if (ns >= NSEC_PER_MSEC) {
		unit = NSEC_PER_MSEC;
		name = "ms";
		digits = 6;
	} else if (ns >= NSEC_PER_USEC) {
		unit = NSEC_PER_USEC;
		name = "us";
		digits = 3;
	}
	fraction = ns % unit;
	if (!fraction)
		return snprintf(buf, size, "%llu%s", (unsigned long long)(ns / unit), name);

	len = snprintf(text, sizeof(text), "%0*llu", digits, (unsigned long long)fraction);
	while (text[len - 1] == '0')
		text[--len] = 0;
	return snprintf(buf, size, "%llu.%s%s", (unsigned long long)(ns / unit), text, name);
}

char *duration_exact(char *buf, uint64_t ns)
{
	static const struct unit large[] = {
		{ "d", NSEC_PER_DAY },
		{ "h", NSEC_PER_HOUR },
		{ "m", NSEC_PER_MIN },
	};
	uint64_t rest = ns;
	size_t len = 0, i;

	if (!ns)
		return strcpy(buf, "0");
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		if (rest < large[i].ns)
			continue;
		len += snprintf(buf + len, DURATION_LEN - len, "%llu%s",
				(unsigned long long)(rest / large[i].ns), large[i].name);
		rest %= large[i].ns;
	}
	if (rest)
		write_rest(buf + len, DURATION_LEN - len, rest);
	return buf;
}

static uint64_t round_to(uint64_t ns, uint64_t step)
{
	if (ns > UINT64_MAX - step)
		return ns;
	return (ns + step / 2) / step * step;
}

char *duration_short(char *buf, uint64_t ns)
{
	uint64_t step = 1, top;

	if (ns >= 100 * NSEC_PER_DAY) {
		step = NSEC_PER_HOUR;
	} else if (ns >= NSEC_PER_DAY) {
		step = NSEC_PER_MIN;
	} else if (ns >= NSEC_PER_MIN) {
		step = NSEC_PER_SEC;
	} else {
		for (top = ns; top >= 10000; top /= 10)
			step *= 10;
	}
	return duration_exact(buf, round_to(ns, step));
}
