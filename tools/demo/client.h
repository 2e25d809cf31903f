/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TWHEEL_DEMO_CLIENT_H
#define TWHEEL_DEMO_CLIENT_H

#include "record.h"
#include "schedule.h"

/*
 * Follow the schedule from @start on, with real connections to @port, and note
 * what happens in @records.  Gives up on connections that are still open
 * @patience ns behind the end.
 */
void client_run(const struct schedule *schedule, const struct records *records, uint16_t port,
		uint64_t start, uint64_t patience);

#endif
