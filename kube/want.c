#include "kube/want.h"

#include <string.h>
#include "base/mem.h"
#include "base/str.h"

/* Tests: tests/unit/kube/test_list.c, tests/unit/kube/test_cache.c */

#define CAUSES_WEIGHT 4096

static const struct scan_want all_meta[] = {KUBE_WANT_META, SCAN_DROP("managedFields"), SCAN_REST};
const struct scan_want kube_want_all[] = {SCAN_SOME("metadata", all_meta), SCAN_REST};

static const struct scan_want named_writer[] = {SCAN_PLAIN("manager"), SCAN_PLAIN("time"),
						SCAN_PLAIN("subresource"), SCAN_END};
static const struct scan_want written_meta[] = {
	SCAN_SOME_OF("managedFields", named_writer, KUBE_WRITERS_WEIGHT), SCAN_REST};
const struct scan_want kube_want_with_writers[] = {SCAN_SOME("metadata", written_meta), SCAN_REST};

static const struct scan_want identity_meta[] = {KUBE_WANT_META, SCAN_END};
const struct scan_want kube_want_identity[] = {SCAN_SOME("metadata", identity_meta), SCAN_END};

const struct scan_want kube_want_writer[] = {SCAN_PLAIN("time"), SCAN_END};

int64_t kube_written_at(const json_t *object)
{
	int64_t at, newest = 0;
	const json_t *writers = json_at(object, "metadata", "managedFields"), *x;
	size_t i;

	if (scan_weight(writers) >= KUBE_WRITERS_WEIGHT)
		return 0;
	json_array_foreach (writers, i, x)
		if (str_to_time(str_or(json_str_at(x, "time"), ""), &at) && at > newest)
			newest = at;
	return newest;
}

int64_t kube_last_writer(const json_t *object, const char **manager)
{
	const json_t *writers = json_at(object, "metadata", "managedFields"), *x;
	int64_t at, newest = 0;
	bool single = true;
	size_t i;

	*manager = NULL;
	if (scan_weight(writers) >= KUBE_WRITERS_WEIGHT)
		return 0;
	json_array_foreach (writers, i, x) {
		const char *name = json_str_at(x, "manager");

		if (!str_empty(json_str_at(x, "subresource")) ||
		    !str_to_time(str_or(json_str_at(x, "time"), ""), &at) || at < newest)
			continue;
		single = at > newest || (single && str_eq(name, *manager));
		newest = at;
		*manager = name;
	}
	if (!single)
		*manager = NULL;
	return newest;
}

static const struct scan_want status_cause[] = {SCAN_PLAIN("message"), SCAN_END};
static const struct scan_want status_details[] = {
	SCAN_SOME_OF("causes", status_cause, CAUSES_WEIGHT), SCAN_END};
const struct scan_want kube_want_status[] = {SCAN_PLAIN("kind"), SCAN_PLAIN("reason"),
					     SCAN_PLAIN("message"),
					     SCAN_SOME("details", status_details), SCAN_END};

static const struct scan_want list_meta[] = {SCAN_PLAIN("resourceVersion"), SCAN_PLAIN("continue"),
					     SCAN_END};

struct scan_want *kube_want_list(const struct scan_want *object)
{
	const struct scan_want rows[] = {SCAN_SOME("metadata", list_meta),
					 SCAN_EACH("items", object), SCAN_END};
	struct scan_want *w = mem_calloc(1, sizeof(rows));

	memcpy(w, rows, sizeof(rows));
	return w;
}

/* Adds the rows of a Status to those of the object. An ERROR event has a Status instead of an
 * object, and the scanner may meet the object before the member type that distinguishes the two. */
struct scan_want *kube_want_line(const struct scan_want *object)
{
	const struct scan_want error[] = {SCAN_PLAIN("reason"), SCAN_PLAIN("message"),
					  SCAN_PLAIN("code")};
	const size_t extra = sizeof(error) / sizeof(error[0]);
	struct scan_want *w, *line, *of;
	size_t n = 0;

	while (object[n].name)
		n++;
	w = mem_calloc(3 + n + extra + 1, sizeof(*w));
	line = w;
	of = w + 3;
	line[0] = (struct scan_want)SCAN_NOTED("type", KUBE_NOTE_TYPE);
	line[1] = (struct scan_want)SCAN_DIGEST("object", of);
	memcpy(of, object, n * sizeof(*of));
	memcpy(of + n, error, sizeof(error));
	of[n + extra] = object[n];
	return w;
}
