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
	{"wipe", cli_wipe, "check the records of wipes", "drover wipe verify records/"},
	{"apiserver", cli_apiserver, "a Kubernetes API to try things on",
	 "drover apiserver --data ~/.drover/api"},
	{"crds", cli_crds, "print the CustomResourceDefinitions",
	 "drover crds | kubectl apply -f -"},
	{"up", cli_up, "run all of it on a laptop, simulated", "drover up --machines 4"},
	{"sim", cli_sim, "simulated racks, for trying things", "drover sim rack --machines 8"},
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
	fputs("\n`drover VERB --help` says more.\n", f);
}

int main(int argc, char **argv)
{
	char title[64];

	mem_init();
	if (argc < 2 || str_eq(argv[1], "help") || str_eq(argv[1], "--help") ||
	    str_eq(argv[1], "-h")) {
		help(argc < 2 ? stderr : stdout);
		return argc < 2 ? 2 : 0;
	}
	for (size_t i = 0; i < VERBS; i++)
		if (str_eq(argv[1], verbs[i].name)) {
			str_format(title, sizeof(title), "drover %s",
				   argv[1]); /* how help calls it */
			argv[1] = title;
			return verbs[i].run(argc - 1, argv + 1);
		}
	fprintf(stderr, "drover: there is no verb '%s'; `drover help` lists them\n", argv[1]);
	return 2;
}
