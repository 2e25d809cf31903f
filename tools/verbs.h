/* SPDX-License-Identifier: GPL-2.0 */
/* The verbs of the command: each gets its own argv, argv[0] is "twheel VERB". */
#ifndef TWHEEL_VERBS_H
#define TWHEEL_VERBS_H

int verb_arm(int argc, char **argv);
int verb_watch(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_get(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_features(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_sim(int argc, char **argv);
int verb_plot(int argc, char **argv);
int verb_top(int argc, char **argv);
int verb_demo(int argc, char **argv);

#endif
