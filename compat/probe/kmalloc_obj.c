// SPDX-License-Identifier: GPL-2.0
/* kmalloc_obj(), kzalloc_obj(): 7.0 and later, and stable kernels that took them over */
#include <linux/slab.h>

void *probe(unsigned long *object, gfp_t gfp);
void *probe(unsigned long *object, gfp_t gfp)
{
	object = kmalloc_obj(*object, gfp);
	kfree(object);
	return kzalloc_obj(*object, gfp);
}
