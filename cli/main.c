/*
 * main: the drover program, which is both the controller and the command line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"

static const struct cli_verb verbs[] = {
	{"run", cli_run, "run the controller", "drover run -k host.conf -a drover-agent.iso"},
	{"approve", cli_approve, "let drover manage and wipe a machine",
	 "drover approve gpu-r1-07 --wipe"},
	{"deny", cli_deny, "deny a claim that waits for approval",
	 "drover deny claim/h100-x7k2p --reason budget"},
	{"drain", cli_drain, "drain machines: evict pods, then wipe",
	 "drover drain gpu-r1-07 --reason fan --then Quarantine"},
	{"cancel", cli_cancel, "cancel a drain", "drover cancel drain-gpu-r1-07-1f2e"},
	{"release", cli_release, "end a hold or a manual quarantine", "drover release gpu-r1-07"},
	{"retry", cli_retry, "retry a machine's operation now", "drover retry gpu-r1-07"},
	{"quarantine", cli_quarantine, "take a machine out of use",
	 "drover quarantine gpu-r1-07 --reason RMA-881"},
	{"confirm-off", cli_confirm_off, "confirm that a machine has no power",
	 "drover confirm-off gpu-r1-07"},
	{"retire", cli_retire, "stop managing a machine for good", "drover retire gpu-r1-07"},
	{"pause", cli_pause, "pause a pool, machine, tenant, ...", "drover pause pool/h100"},
	{"resume", cli_resume, "resume a pool, machine, tenant, ...", "drover resume pool/h100"},
	{"get", cli_get_objects, "list objects as a table", "drover get machines -o wide"},
	{"status", cli_status, "show the fleet on one screen", "drover status"},
	{"top", cli_top, "show all machines, updated live", "drover top"},
	{"why", cli_why, "show what is stuck, and what helps", "drover why; drover why gpu-r1-07"},
	{"check", cli_check, "check the installation", "drover check"},
	{"uninstall", cli_uninstall, "list what is left, or delete it", "drover uninstall --check"},
	{"support-bundle", cli_support_bundle, "collect diagnostics without secrets",
	 "drover support-bundle -o night.tar.zst"},
	{"explain", cli_explain, "explain a reason, state or field", "drover explain DriveMissing"},
	{"cost", cli_cost, "show cost by tenant and month", "drover cost --month 2026-11"},
	{"bmc", cli_bmc, "show what drover can do with a BMC",
	 "drover bmc probe https://10.0.8.17 --user drover --password-file pw"},
	{"console", cli_console, "open a serial console over IPMI", "drover console old-7"},
	{"network", cli_network, "check the network fabric of Providers",
	 "drover network check hall-a"},
	{"provider", cli_provider, "test the program of an exec Provider",
	 "drover provider test --machine gpu-7 -- /etc/drover/machines"},
	{"wipe", cli_wipe, "verify and report wipe records", "drover wipe verify records/"},
	{"audit", cli_audit, "list and verify the audit log", "drover audit verify"},
	{"apiserver", cli_apiserver, "run a Kubernetes API server for tests",
	 "drover apiserver --data ~/.drover/api"},
	{"crds", cli_crds, "print the CustomResourceDefinitions",
	 "drover crds | kubectl apply -f -"},
	{"up", cli_up, "try all of drover on a simulated rack", "drover up --machines 4"},
	{"sim", cli_sim, "run one simulated device, for tests", "drover sim rack --machines 8"},
	{"tenant", cli_tenant, "print YAML that imports vClusters",
	 "drover tenant import team-a | less"},
	{"machine", cli_machine_import, "print Machines for Metal3's hosts",
	 "drover machine import --provider hall-a | less"},
	{"snapshot", cli_snapshot, "save the fleet as a file for simulate",
	 "drover snapshot --tenants -o now.yaml"},
	{"simulate", cli_simulate, "plan and replay a fleet from a file",
	 "drover simulate month.yaml --what-if machines+=10"},
	{"burst", cli_burst, "preview cloud bursts, reset budgets",
	 "drover burst plan -f policies.yaml -f now.yaml"},
	{"completion", cli_completion, "print completion for bash, fish, zsh",
	 "source <(drover completion bash)"},
	{"version", cli_version, "print the version", "drover version"},
};
/* name of the program in messages: "drover" or "kubectl drover" */
static const char *program = "drover";

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void help(FILE *f)
{
	fputs("drover turns racks of GPU servers into Kubernetes nodes for whichever tenant needs "
	      "them now,\nand takes them back clean.\n\n",
	      f);
	fprintf(f,
		"Usage: %s COMMAND [OPTION...]\nTo try it on this machine, without hardware: %s "
		"up\n"
		"\n",
		program, program);
	for (size_t i = 0; i < VERBS; i++) {
		char *plugin = args_as_plugin(verbs[i].example);

		fprintf(f, "  %-14s %-38s %s\n", verbs[i].name, verbs[i].what,
			str_eq(program, ARGS_PLUGIN) ? plugin : verbs[i].example);
		free(plugin);
	}
	fprintf(f,
		"\n"
		"`%s COMMAND --help` and `%s help COMMAND` show the options of a command; `%s "
		"--version` "
		"prints the version.\n",
		program, program, program);
}

static const struct cli_verb *find(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (str_eq(name, verbs[i].name))
			return &verbs[i];
	fprintf(stderr, "%s: unknown command '%s'; `%s help` lists all commands\n", program, name,
		program);
	return NULL;
}

/* Runs one command and returns its exit status. argv[0]: name of the command. */
static int run(int argc, char **argv)
{
	const struct cli_verb *v = find(argv[0]);
	char title[64];

	if (!v)
		return 2;
	/* Gives the command its full name, which its --help and its errors show. */
	str_format(title, sizeof(title), "%s %s", program, v->name);
	argv[0] = title;
	return v->run(argc, argv);
}

/* Prints the help of a command (drover help sim), or of a subcommand (drover help sim rack).
 * Returns the exit status. */
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

/* Returns the file name in a path. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	char version[] = "version", *told[] = {version, NULL};

	mem_init();
	/* For `kubectl NAME`, kubectl runs kubectl-NAME from PATH, and kubectl_complete-NAME to
	 * complete a line that begins so. */
	if (argc > 0 && str_eq(file_name(argv[0]), "kubectl_complete-drover"))
		return cli_complete_kubectl(argc, argv);
	if (argc > 0 && str_eq(file_name(argv[0]), "kubectl-drover"))
		program = ARGS_PLUGIN;
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
