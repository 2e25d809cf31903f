/* SPDX-License-Identifier: GPL-2.0 */
/* compat/user.h asks for it, and with memory of our own (COMPAT_OWN_MEMORY) uses nothing of it. */
