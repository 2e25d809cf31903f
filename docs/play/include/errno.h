/* SPDX-License-Identifier: GPL-2.0 */
/* The errors that the wheel tells of, with the numbers of Linux. */
#define ENOENT		2
#define EINTR		4
#define EAGAIN		11
#define ENOMEM		12
#define EFAULT		14
#define EBUSY		16
#define EEXIST		17
#define EINVAL		22
#define ENOSPC		28
#define ERANGE		34
#define EOVERFLOW	75
#define EOPNOTSUPP	95
#define ESTALE		116
