#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "cli/simulate/report.h"
#include "cli/simulate/what_if.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define JOBS 50 /* Highest number of jobs that are replayed, because each plan takes time */

static const char tenants[] =
	"apiVersion: drover.dev/v1alpha1\nkind: VirtualCluster\nmetadata: {name: acme}\n"
	"spec: {kubeconfigSecretRef: {name: x}, quota: {nvidia.com/gpu: \"64\"}}\n"
	"---\napiVersion: drover.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\n"
	"spec: {kubernetesVersion: \"1.36\"}\n";

/* Reads the input as a file of arrivals if it begins with "time", otherwise as a scenario. If the
 * first line of a scenario is a comment, the comment is read as a what-if. An accepted input is
 * planned, and replayed if it is small. */
static void arrivals(const char *text, size_t len, struct err *e)
{
	OWN(arena) a = arena_new();
	struct scenario_file f;
	struct scenario s;
	int rc;

	rc = scenario_parse(&f, "t", tenants, sizeof(tenants) - 1, e);
	assert(rc == 0);
	rc = scenario_build(&f, &s, a, e);
	assert(rc == 0);
	if (scenario_arrivals(&s, "a.csv", text, len, a, e) == 0 && s.njobs <= JOBS)
		json_decref(report_make(&s));
	scenario_done(&s);
	scenario_file_done(&f);
}

static void scenario(const char *text, size_t len, struct err *e)
{
	OWN(arena) a = arena_new();
	struct scenario_file f;
	struct scenario s = {0};
	char change[128] = "";
	const char *nl = memchr(text, '\n', len);

	if (len && *text == '#' && nl && (size_t)(nl - text) < sizeof(change))
		memcpy(change, text + 1, (size_t)(nl - text) - 1);
	if (scenario_parse(&f, "s.yaml", text, len, e) == 0 &&
	    (!*change || what_if_apply(&f, change, e) == 0) && scenario_build(&f, &s, a, e) == 0) {
		s.njobs = 0;
		json_decref(report_make(&s));
	}
	scenario_done(&s);
	scenario_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct err e;

	if (size >= 4 && memcmp(text, "time", 4) == 0)
		arrivals(text, size, &e);
	else
		scenario(text, size, &e);
	return 0;
}
