/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of a script, carried out. */
#ifndef TWHEEL_SIM_OPERATE_H
#define TWHEEL_SIM_OPERATE_H

#include "sim/script.h"
#include "sim/sim.h"

/* Is it an at for a time that has passed? */
bool op_is_past(const struct sim *s, const struct op *op);

/* Carry out an operation; where only finds out whether there is such a timer. */
enum sim_result op_carry_out(struct sim *s, const struct op *op);

/* Why nothing that follows makes sense: a sentence, or NULL if what follows does. */
const char *op_explain(struct sim *s, const struct op *op, enum sim_result result);

#endif
