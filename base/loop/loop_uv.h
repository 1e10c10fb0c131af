#ifndef BASE_LOOP_LOOP_UV_H
#define BASE_LOOP_LOOP_UV_H

#include "base/loop/loop.h"

/* Creates the real loop, on libuv. Ignores SIGPIPE in the whole process. */
struct loop *loop_uv_new(void);

#endif
