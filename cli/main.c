/*
 * main: drover, the daemon and the command line in one binary.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

static const struct cli_verb verbs[] = {
	{"run", cli_run, "run the controller", "drover run -k host.conf -a drover-agent.iso"},
	{"approve", cli_approve, "let drover act on a machine", "drover approve gpu-r1-07 --wipe"},
	{"drain", cli_drain, "ask machines to leave their tenants",
	 "drover drain gpu-r1-07 --reason 'fan' --wait"},
	{"cancel", cli_cancel, "cancel a drain", "drover cancel drain-gpu-r1-07-1f2e"},
	{"release", cli_release, "end a hold, or a person's quarantine",
	 "drover release gpu-r1-07"},
	{"retry", cli_retry, "try again now", "drover retry gpu-r1-07"},
	{"quarantine", cli_quarantine, "take a machine out of use",
	 "drover quarantine gpu-r1-07 --reason RMA-881"},
	{"confirm-off", cli_confirm_off, "say that you saw it without power",
	 "drover confirm-off gpu-r1-07"},
	{"retire", cli_retire, "give a machine up", "drover retire gpu-r1-07"},
	{"resume", cli_resume, "let a stopped line go on", "drover resume nodepool/h100"},
	{"why", cli_why, "say what is stuck, and what helps", "drover why gpu-r1-07"},
	{"cost", cli_cost, "what tenants' machines cost, by month", "drover cost --month 2026-11"},
	{"console", cli_console, "a machine's serial console, by IPMI", "drover console old-7"},
	{"network", cli_network, "check what moves machines' ports", "drover network check hall-a"},
	{"provider", cli_provider, "check a program for type exec",
	 "drover provider test --machine gpu-7 -- /etc/drover/machines"},
	{"wipe", cli_wipe, "check the records of wipes", "drover wipe verify records/"},
	{"apiserver", cli_apiserver, "a Kubernetes API to try things on",
	 "drover apiserver --data ~/.drover/api"},
	{"crds", cli_crds, "print the CustomResourceDefinitions",
	 "drover crds | kubectl apply -f -"},
	{"up", cli_up, "run all of it on a laptop, simulated", "drover up --machines 4"},
	{"sim", cli_sim, "simulated racks, for trying things", "drover sim rack --machines 8"},
	{"snapshot", cli_snapshot, "a live fleet as a file for simulate",
	 "drover snapshot --tenants -o now.yaml"},
	{"simulate", cli_simulate, "plan a fleet from a file, over time",
	 "drover simulate month.yaml --what-if machines+=10"},
	{"burst", cli_burst, "what would go to a cloud now, and why not",
	 "drover burst plan -f examples/burst/research.yaml"},
	{"version", cli_version, "print the version", "drover version"},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void help(FILE *f)
{
	fputs("drover turns racks of GPU servers into Kubernetes nodes for whichever tenant needs them now,\n"
	      "and takes them back clean.\n\nUsage: drover VERB [OPTION...]\n"
	      "To try it on this machine, without hardware: drover up\n\n",
	      f);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(f, "  %-11s %-38s %s\n", verbs[i].name, verbs[i].what, verbs[i].example);
	fputs("\n`drover VERB --help` says more, as `drover help VERB` does; `drover --version` prints the version.\n",
	      f);
}

static const struct cli_verb *find(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (str_eq(name, verbs[i].name))
			return &verbs[i];
	fprintf(stderr, "drover: there is no verb '%s'; `drover help` lists them\n", name);
	return NULL;
}

/* argv[0] is the verb's name. */
static int run(int argc, char **argv)
{
	const struct cli_verb *v = find(argv[0]);
	char title[64];

	if (!v)
		return 2;
	str_format(title, sizeof(title), "drover %s", v->name); /* how help calls it */
	argv[0] = title;
	return v->run(argc, argv);
}

/* drover help VERB, or of what is below it: drover help sim rack. */
static int help_with(int argc, char **argv)
{
	char ask[] = "--help", *asked[4] = {argv[0]};
	int n = 1;

	if (argc > 1)
		asked[n++] = argv[1];
	asked[n++] = ask;
	return run(n, asked);
}

static bool is_one(const char *arg, const char *a, const char *b, const char *c)
{
	return str_eq(arg, a) || str_eq(arg, b) || str_eq(arg, c);
}

int main(int argc, char **argv)
{
	char version[] = "version", *told[] = {version, NULL};

	mem_init();
	if (argc > 2 && str_eq(argv[1], "help"))
		return help_with(argc - 2, argv + 2);
	if (argc < 2 || is_one(argv[1], "help", "--help", "-h")) {
		help(argc < 2 ? stderr : stdout);
		return argc < 2 ? 2 : 0;
	}
	if (is_one(argv[1], "--version", "-V", "-v"))
		return run(1, told);
	return run(argc - 1, argv + 1);
}
