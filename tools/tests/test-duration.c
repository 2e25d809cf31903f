// SPDX-License-Identifier: GPL-2.0
/* Durations: good and bad texts, and that what is printed reads the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "duration.h"

static int nr, failed;

static void result(int ok, const char *what, const char *text)
{
	printf("%sok %d - %s '%s'\n", ok ? "" : "not ", ++nr, what, text);
	if (!ok)
		failed = 1;
}

static const struct {
	const char *text;
	uint64_t ns;
} good[] = {
	{ "0", 0 }, { "0s", 0 }, { "10ns", 10 }, { "100us", 100000 },
	{ "100\302\265s", 100000 }, { "250ms", 250000000 },
	{ "1.5s", 1500000000 }, { ".5s", 500000000 }, { "0.1s", 100000000 },
	{ "1.123456789s", 1123456789 }, { "1.1234567890s", 1123456789 },
	{ "1h30m", 5400000000000 }, { "1h 30m", 5400000000000 }, { "90min", 5400000000000 },
	{ "2d", 172800000000000 }, { "1.5h", 5400000000000 }, { "0.25us", 250 },
	{ "1d2h3m4s5ms6us7ns", 93784005006007 }, { "0.000000001s", 1 },
	{ "9223372036854775807ns", INT64_MAX }, { "106751d", 9223286400000000000 },
	{ "0.0000000000025h", 9 }, { "0.0000125m", 750000 },
};

static const char * const bad[] = {
	"", " ", "90", "1.5", "00.5", "-1s", "1x", "s", "1.s", ".s", "1e3s", "+1s", "1s1",
	"1m1h", "1s1s", "1ms 1s", "0.5ns", "1.0000000001s", "9223372036854775808ns",
	"106752d", "99999999999999999999d", "300y", "1,5s", "1h30", "1S", "1H", "0x10s", "1 2s",
};

static const uint64_t round_trip[] = {
	0, 1, 999, 1000, 1001, 1234567, 999999999, 1000000000, 59999999999, 60000000000,
	90250000000, 5400000000000, 86400000000000, 93784005006007, INT64_MAX,
};

static const struct {
	uint64_t ns;
	const char *text;
} brief[] = {
	{ 0, "0" }, { 412345, "412.3us" }, { 1234567, "1.235ms" }, { 250000000, "250ms" },
	{ 9999999, "10ms" }, { 1500000000, "1.5s" }, { 59999999999, "1m" },
	{ 83400000000, "1m23s" }, { 5412000000000, "1h30m12s" }, { 187260000000000, "2d4h1m" },
};

static void test_round_trip(uint64_t ns)
{
	char text[DURATION_LEN];
	uint64_t back = ~ns;
	const char *why = duration_parse(duration_exact(text, ns), &back);

	result(!why && back == ns, "prints and reads the same:", text);
}

int main(void)
{
	char text[DURATION_LEN];
	const char *why;
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ns = ~0ULL;
		why = duration_parse(good[i].text, &ns);
		result(!why && ns == good[i].ns, "reads", good[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ns = 42;
		why = duration_parse(bad[i], &ns);
		result(why && ns == 42, "refuses", bad[i]);
	}
	for (i = 0; i < ARRAY_SIZE(round_trip); i++)
		test_round_trip(round_trip[i]);
	for (i = 0; i < ARRAY_SIZE(brief); i++)
		result(!strcmp(duration_short(text, brief[i].ns), brief[i].text),
		       "prints briefly", brief[i].text);
	printf("1..%d\n", nr);
	return failed;
}
