/* notify: hands a notice to whoever composed the parts; a file of its own, so that no part needs
 * that one's header. */
#include "controller/core/notify.h"

#include "controller/core/context.h"

void notify(const struct context *c, enum notice what, const char *name)
{
	if (c->on_notice)
		c->on_notice(what, name, c->on_notice_arg);
}
