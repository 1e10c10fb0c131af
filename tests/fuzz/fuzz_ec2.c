#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "providers/ec2/errors.h"
#include "providers/ec2/instances.h"
#include "providers/ec2/query.h"

/* Parses the input as EC2's answers: as XML, as an error, and as sets of instances. Asserts that
 * the input as the value of a query parameter cannot add further parameters. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct ec2_reply *r, struct arena *a)
{
	const char *code = NULL, *message = NULL;
	struct err e;

	if (ec2_reply_error(r, a, &code, &message)) {
		struct ec2_failure f = {.status = 400, .code = code, .message = message};

		(void)!ec2_error(&f, &e);
		if (e.kind == ERR_NONE)
			abort();
	}
	ec2_for_each(group, ec2_reply_root(r), "reservationSet")
	{
		ec2_for_each(i, group, "instancesSet")
		{
			struct elastic_instance v;

			if (ec2_instance_read(i, "r", a, &v) &&
			    (!*v.id || v.state > ELASTIC_TERMINATED))
				abort();
		}
	}
}

static void form(const char *text)
{
	size_t parameters = 0;
	struct buf b;

	query_begin(&b, "A", "V");
	query_add(&b, text, "N.%d", 1);
	for (const char *c = b.data; *c; c++)
		parameters += *c == '=';
	if (!b.over && parameters != 3)
		abort();
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	OWN(arena) a = arena_new();
	OWN(ec2_reply) r = NULL;
	struct err e;

	memcpy(text, data, size);
	text[size] = '\0';
	r = ec2_reply_parse(text, size, &e);
	if (r)
		walk(r, a);
	form(text);
	free(text);
	return 0;
}
