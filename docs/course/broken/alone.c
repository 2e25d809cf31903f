// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command with a session keyring of its own: a key that it leaves there ends with it.
 *
 *	alone COMMAND [ARGUMENT...]
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/keyctl.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	/* Where that is not allowed, the command may use no keys either. */
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
