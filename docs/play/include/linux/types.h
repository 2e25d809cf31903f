/* SPDX-License-Identifier: GPL-2.0 */
/* The types of the ABI. */
#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;

/* A word of 64 bits is aligned in WebAssembly. */
#define __aligned_u64	__u64
