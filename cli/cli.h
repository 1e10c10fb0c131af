#ifndef CLI_CLI_H
#define CLI_CLI_H

/*
 * cli: the commands of the drover binary. Each cli_NAME() runs `drover NAME` with its own argv
 * (argv[0] is the command) and returns the exit status: 0 success, 1 failure (the cause is printed
 * on standard error), 2 wrong usage.
 */
struct cli_verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what, *example;
};

int cli_run(int argc, char **argv);
int cli_apiserver(int argc, char **argv);
int cli_approve(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_bmc(int argc, char **argv);
int cli_cancel(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_completion(int argc, char **argv);
int cli_confirm_off(int argc, char **argv);
int cli_console(int argc, char **argv);
int cli_cost(int argc, char **argv);
int cli_crds(int argc, char **argv);
int cli_deny(int argc, char **argv);
int cli_drain(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_get_objects(int argc, char **argv);
int cli_machine_import(int argc, char **argv);
int cli_network(int argc, char **argv);
int cli_pause(int argc, char **argv);
int cli_provider(int argc, char **argv);
int cli_quarantine(int argc, char **argv);
int cli_release(int argc, char **argv);
int cli_resume(int argc, char **argv);
int cli_retire(int argc, char **argv);
int cli_retry(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_simulate(int argc, char **argv);
int cli_burst(int argc, char **argv);
int cli_snapshot(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_support_bundle(int argc, char **argv);
int cli_tenant(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_uninstall(int argc, char **argv);
int cli_up(int argc, char **argv);
int cli_why(int argc, char **argv);
int cli_wipe(int argc, char **argv);
int cli_version(int argc, char **argv);

/* Completes the last argument for kubectl, which runs the program kubectl_complete-drover with the
 * words after `kubectl drover`. Prints the candidates, one a line, and the line ":4" (kubectl then
 * offers no files), or only ":0" (kubectl then offers files). Always returns 0. */
int cli_complete_kubectl(int argc, char **argv);

#endif
