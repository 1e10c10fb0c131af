#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "providers/bcm/client.h"
#include "providers/bcm/node.h"

/* Parses the input as answers of a BCM head node: a device, a state, the result of a write, and a
 * version. Asserts that a mark which was added to a device can be read back, and that removing it
 * leaves the rest unchanged. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void mark(struct exact device, struct arena *a)
{
	struct bcm_lock l = {
		.machine = "uid", .token = "op", .fence = 7, .category = "\"\\u00e4\""};
	struct bcm_node n;
	struct exact o;
	struct err e;
	const char *text = bcm_with_lock(device, &l, a, &e);

	if (!text)
		return;
	must(exact_read(text, strlen(text), &o, &e) == 0 && bcm_node_read(o, a, &n, &e) == 0);
	must(!n.lock_broken && str_eq(n.lock.machine, "uid") && str_eq(n.lock.token, "op"));
	must(n.lock.fence == 7 && str_eq(n.lock.category, "\"\\u00e4\""));
	text = bcm_with_lock(o, NULL, a, &e);
	must(text && exact_read(text, strlen(text), &o, &e) == 0);
	must(bcm_node_read(o, a, &n, &e) == 0 && !n.lock.machine && !n.lock_broken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	OWN(arena) a = arena_new();
	struct bcm_state s;
	struct bcm_node n;
	struct exact_iter it;
	struct exact v;
	const char *of;
	int64_t parts[3];
	struct err e;

	memcpy(text, data, size);
	text[size] = '\0';
	(void)bcm_version_parts(text, parts);
	if (exact_read(text, size, &v, &e) == 0) {
		(void)!bcm_written(v, &e);
		if (bcm_node_read(v, a, &n, &e) == 0) {
			(void)!bcm_node_fit(&n, &e);
			mark(v, a);
		}
		exact_for_each(it, v) if (bcm_state_read(it.value, a, &of, &s)) must(of && s.name);
	}
	free(text);
	return 0;
}
