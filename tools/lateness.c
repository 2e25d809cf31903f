// SPDX-License-Identifier: GPL-2.0
/* The histograms of struct twheel_stats. */
#include <stdio.h>

#include "duration.h"
#include "lateness.h"
#include "output.h"

#define LAST		(TWHEEL_LATE_CLASSES - 1)
#define BAR_WIDTH	30

uint64_t lateness_events(const __u64 *classes)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < TWHEEL_LATE_CLASSES; i++)
		sum += classes[i];
	return sum;
}

unsigned int lateness_class(const __u64 *classes, unsigned int percent)
{
	uint64_t events = lateness_events(classes), sum = classes[0];
	unsigned int i = 0;

	while ((double)sum * 100 < (double)events * percent && i < LAST)
		sum += classes[++i];
	return i;
}

static void print_percentile(const __u64 *classes, unsigned int percent)
{
	unsigned int class = lateness_class(classes, percent);
	char text[DURATION_LEN];

	if (class < LAST)
		output_row(percent == 50 ? "p50: less than" : "p99: less than",
			   duration_short(text, lateness_end(class)), "");
	else
		output_row(percent == 50 ? "p50: at least" : "p99: at least",
			   duration_short(text, lateness_end(LAST - 1)), "");
}

static void print_class(unsigned int class, uint64_t nr, uint64_t events, uint64_t most)
{
	/* One of many is seen, too. */
	int width = nr ? 1 + (int)((double)nr / most * (BAR_WIDTH - 1)) : 0;
	char what[DURATION_LEN + 16], text[DURATION_LEN], note[BAR_WIDTH + 16];

	if (class < LAST)
		snprintf(what, sizeof(what), "less than %9s",
			 duration_short(text, lateness_end(class)));
	else
		snprintf(what, sizeof(what), "at least  %9s",
			 duration_short(text, lateness_end(LAST - 1)));
	snprintf(note, sizeof(note), "%5.1f %%%s%.*s", 100.0 * nr / events, width ? " " : "", width,
		 "##############################");
	output_row(what, number(text, nr), note);
}

void lateness_print(const __u64 *classes, uint64_t max)
{
	uint64_t events = lateness_events(classes), most = 0;
	unsigned int first = 0, last = LAST, i;
	char text[DURATION_LEN];

	output_row("events", number(text, events), "");
	if (!events)
		return;
	print_percentile(classes, 50);
	print_percentile(classes, 99);
	output_row("max", duration_short(text, max), "");
	while (!classes[first])
		first++;
	while (!classes[last])
		last--;
	for (i = first; i <= last; i++) {
		if (classes[i] > most)
			most = classes[i];
	}
	for (i = first; i <= last; i++)
		print_class(i, classes[i], events, most);
}
