/*
 * ports: URLs of the ports of `drover up`.
 * Tests: tests/real/up.py, examples/demo.py
 */
#include "cli/up/ports.h"

#include "base/mem.h"

char *up_url(int64_t first, const char *scheme, enum up_port port)
{
	return mem_printf("%s://127.0.0.1:%lld", scheme, (long long)(first + port));
}
