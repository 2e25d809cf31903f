// SPDX-License-Identifier: GPL-2.0
/* twheel-sim: twheel sim by itself, which needs no library but C's. */
#include "output.h"
#include "verbs.h"

int main(int argc, char **argv)
{
	output_begin();
	argv[0] = "twheel-sim";
	return verb_sim(argc, argv);
}
