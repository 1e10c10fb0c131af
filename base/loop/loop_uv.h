#ifndef BASE_LOOP_LOOP_UV_H
#define BASE_LOOP_LOOP_UV_H

#include "base/loop/loop.h"

/* The real loop, on libuv. Ignores SIGPIPE process-wide. */
struct loop *loop_uv_new(void);

#endif
