/* SPDX-License-Identifier: GPL-2.0 */
/* The ABI's header asks for it; there is no device here, so no command is used. */
