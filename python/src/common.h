/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TWHEEL_PYTHON_COMMON_H
#define TWHEEL_PYTHON_COMMON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <twheel.h>

/* A method with another signature than that of a PyCFunction, of which its flags tell. */
#define METHOD(function)	((PyCFunction)(void (*)(void))(function))

/* An OSError with that errno, which is negative, as the library returns it.  Returns NULL. */
static inline PyObject *twheel_error(int ret)
{
	errno = -ret;
	return PyErr_SetFromErrno(PyExc_OSError);
}

#endif
