/*
 * completion: `drover completion bash|fish|zsh`: prints a completion script for a shell. Each
 * script calls `drover completion words -- WORD...`, which prints the candidates for the last WORD.
 *
 * Candidates come from drover itself: `drover help` lists the commands, --help of a command lists
 * its options with their values, `drover get` lists names of objects. Completion therefore always
 * matches the installed version. Each of these calls is a process of its own; one that asks the
 * cluster is killed after LIMIT_S, so that an API server that does not answer never blocks the
 * shell.
 * Tests: tests/unit/cli/test_main.c; tests/tools/test_completion runs the scripts in the shells
 */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/machine_states.h"
#include "api/target.h"
#include "base/args.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/explain_field.h"

enum {
	/* Longest time, in seconds, of a call of drover. LIMIT_S: of a call that asks the cluster.
	 * LOCAL_LIMIT_S: of any other call. */
	LIMIT_S = 1,
	LOCAL_LIMIT_S = 10,
	/* Maximum output of one call, in bytes; text after that is not read. */
	OUTPUT_MAX = 4 << 20,
	/* Maximum number of words before the one to complete; further words are ignored. */
	WORDS_MAX = 256,
};

/* --- the scripts ------------------------------------------------------------------------------ */

static const char bash[] =
	"# Completion of drover for bash: source <(drover completion bash)\n"
	"_drover() {\n"
	"    local cur=${COMP_WORDS[COMP_CWORD]}\n"
	"    mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" completion words -- "
	"\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"    [ \"${#COMPREPLY[@]}\" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"complete -o filenames -F _drover drover\n";

static const char zsh[] =
	"# Completion of drover for zsh: source <(drover completion zsh)\n"
	"_drover_zsh() {\n"
	"    local -a found\n"
	"    found=(${(f)\"$($words[1] completion words -- \"${(@)words[2,CURRENT]}\" "
	"2>/dev/null)\"})\n"
	"    if (( $#found )); then compadd -a found; else _files; fi\n"
	"}\n"
	"compdef _drover_zsh drover\n";

static const char fish[] =
	"# Completion of drover for fish: drover completion fish | source\n"
	"function __drover_words\n"
	"    set -l words (commandline -opc)\n"
	"    set -l cur (commandline -ct)\n"
	"    set -l found ($words[1] completion words -- $words[2..-1] \"$cur\" 2>/dev/null)\n"
	"    if set -q found[1]\n"
	"        printf '%s\\n' $found\n"
	"    else\n"
	"        __fish_complete_path \"$cur\"\n"
	"    end\n"
	"end\n"
	"complete -c drover -f -a '(__drover_words)'\n";

static const struct {
	const char *name, *text;
} scripts[] = {{"bash", bash}, {"fish", fish}, {"zsh", zsh}};

static const char *script_of(const char *shell)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (str_eq(shell, scripts[i].name))
			return scripts[i].text;
	return NULL;
}

/* --- calls of drover -------------------------------------------------------------------------- */

/* Runs this program with args (at most 8, ending with NULL) for a limited time, and returns its
 * standard output; the caller frees it. The text is empty if the call failed. */
static char *said(const char *const *args)
{
	char name[] = "drover", *argv[10] = {name}, piece[4096];
	int out[2], n = 1, none;
	struct buf b;
	ssize_t got;
	pid_t pid;

	for (; args[n - 1] && n < 9; n++)
		argv[n] = (char *)args[n - 1];
	buf_init(&b, OUTPUT_MAX);
	buf_puts(&b, "");
	if (pipe2(out, O_CLOEXEC) < 0)
		return buf_steal(&b);
	pid = fork();
	if (pid == 0) {
		none = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(none, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(none, STDERR_FILENO);
		/* exec keeps the alarm; it kills the new program. */
		alarm(str_eq(args[0], "get") ? LIMIT_S : LOCAL_LIMIT_S);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(out[1]);
	while (pid > 0 && (got = read(out[0], piece, sizeof(piece))) > 0)
		buf_put(&b, piece, (size_t)got);
	close(out[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return buf_steal(&b);
}

/* --- candidates ------------------------------------------------------------------------------- */

struct ask {
	/* words after the program name; the last one is to be completed */
	const char *words[WORDS_MAX];
	size_t n;
	/* values of the options --kubeconfig and --context among the words before the last one;
	 * NULL: not given */
	const char *kubeconfig, *context;
	/* number of candidates that were printed */
	size_t found;
	/* true: the word before the last one is an option with a value */
	bool valued;
};

static const char *current(const struct ask *q)
{
	return q->words[q->n - 1];
}

/* Prints a candidate of len bytes if it begins with the current word. Candidates with other
 * characters than those of names are left out: shells evaluate what is inserted. */
static void offer(struct ask *q, const char *word, size_t len)
{
	const size_t typed = strlen(current(q));

	if (!len || len < typed || strncmp(word, current(q), typed) != 0)
		return;
	for (size_t i = 0; i < len; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/",
			    word[i]))
			return;
	printf("%.*s\n", (int)len, word);
	q->found++;
}

/* Offers each word of a list that is separated by blanks. */
static void offer_words(struct ask *q, const char *list)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		offer(q, list, n);
	}
}

/* Calls each(q, line, length) for each line of the output of drover with these arguments. */
static void each_line(struct ask *q, const char *const *args,
		      void (*each)(struct ask *q, const char *line, size_t len))
{
	char *text = said(args);

	for (const char *line = text; *line; line += line[0] == '\n') {
		size_t len = strcspn(line, "\n");

		each(q, line, len);
		line += len;
	}
	free(text);
}

static void on_command(struct ask *q, const char *line, size_t len)
{
	(void)len;
	if (str_starts(line, "  ") && line[2] >= 'a' && line[2] <= 'z')
		offer(q, line + 2, strcspn(line + 2, " \n"));
}

/* Offers the long options in a line of --help. */
static void on_option(struct ask *q, const char *line, size_t len)
{
	const char *at = line, *end = line + len, *from = line + strspn(line, " ");

	if (from == line || *from != '-') /* not a row of the list of options */
		return;
	for (; (at = memmem(at, (size_t)(end - at), "--", 2)); at += 2) {
		size_t n = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");

		if (n > 2 && at[-1] == ' ')
			offer(q, at, n);
	}
}

/* Returns the name of the value of `option` in a row of the list of options, such as FILE or
 * json|yaml, with its length in *len; NULL: the row is of another option, or without a value. */
static const char *value_name_of(const char *line, size_t *len, const char *option)
{
	const char *from = line + strspn(line, " "), *end = line + *len, *at;
	const size_t n = strlen(option);

	if (from == line || *from != '-')
		return NULL;
	at = memmem(from, (size_t)(end - from), option, n);
	if (!at || !(at == from || at[-1] == ' ') || (at[n] != '=' && at[n] != ','))
		return NULL;
	at = memchr(at, '=', (size_t)(end - at));
	*len = at ? strcspn(at + 1, " \n") : 0;
	return at ? at + 1 : NULL;
}

/* Offers the values of the option before the current word if a line of --help lists them: a
 * name of values with '|' between them, or of one in small letters. */
static void on_value(struct ask *q, const char *line, size_t len)
{
	const char *value = value_name_of(line, &len, q->words[q->n - 2]);
	size_t n;

	if (!value)
		return;
	q->valued = true;
	if (!memchr(value, '|', len) && strspn(value, "abcdefghijklmnopqrstuvwxyz") != len)
		return;
	for (const char *end = value + len; value < end; value += n + 1) {
		n = strcspn(value, "| \n");
		offer(q, value, n);
	}
}

static void on_first_word(struct ask *q, const char *line, size_t len)
{
	(void)len;
	offer(q, line, strcspn(line, " \n"));
}

/* Offers the name in a line TYPE.drover.dev/NAME. */
static void on_name(struct ask *q, const char *line, size_t len)
{
	const char *slash = memchr(line, '/', len);

	if (slash)
		offer(q, slash + 1, (size_t)(line + len - slash - 1));
}

/* Offers TYPE/NAME for a line TYPE.drover.dev/NAME. */
static void on_typed(struct ask *q, const char *line, size_t len)
{
	static const char group[] = "." OBJECT_GROUP "/";
	const char *dot = memmem(line, len, group, sizeof(group) - 1), *name;
	char *typed;

	if (!dot)
		return;
	name = dot + sizeof(group) - 1;
	typed = mem_printf("%.*s/%.*s", (int)(dot - line), line, (int)(line + len - name), name);
	offer(q, typed, strlen(typed));
	free(typed);
}

/* Offers the names of all objects of these types. */
static void offer_names(struct ask *q, const char *types,
			void (*each)(struct ask *q, const char *line, size_t len))
{
	const char *args[9] = {"get", types, "-o", "name"};
	size_t n = 4;

	if (q->kubeconfig) {
		args[n++] = "--kubeconfig";
		args[n++] = q->kubeconfig;
	}
	if (q->context) {
		args[n++] = "--context";
		args[n++] = q->context;
	}
	each_line(q, args, each);
}

#define COMMANDS ((const char *const[]){"help", NULL})

/* What follows each command. words: fixed words for its first argument. names, typed: types of
 * objects that complete its arguments, as NAME (names) or TYPE/NAME (typed). If there are words,
 * names applies to the later arguments only. */
static const struct {
	const char *verb, *words, *names, *typed;
} rows[] = {
	{.verb = "approve", .names = "machines", .typed = "nodeclaims"},
	{.verb = "audit", .words = "list verify"},
	{.verb = "bmc", .words = "probe", .names = "machines"},
	{.verb = "burst", .words = "plan reset", .names = "burstpolicies"},
	{.verb = "cancel", .names = "drains"},
	{.verb = "completion", .words = "bash fish zsh"},
	{.verb = "confirm-off", .names = "machines"},
	{.verb = "console", .names = "machines"},
	{.verb = "deny", .typed = "nodeclaims"},
	{.verb = "drain", .names = "machines"},
	{.verb = "get", .words = "machine claim pool tenant drain wipe provider burstpolicy"},
	{.verb = "machine", .words = "import"},
	{.verb = "network", .words = "check", .names = "providers"},
	{.verb = "pause", .typed = "nodepools,providers,virtualclusters"},
	{.verb = "provider", .words = "test"},
	{.verb = "quarantine", .names = "machines"},
	{.verb = "release", .names = "machines,claims"},
	{.verb = "resume", .typed = "nodepools,providers,virtualclusters"},
	{.verb = "retire", .names = "machines"},
	{.verb = "retry", .names = "machines"},
	{.verb = "sim", .words = "rack bcm port-move fault netris ec2"},
	{.verb = "tenant", .words = "import"},
	{.verb = "why",
	 .names = "machines,claims",
	 .typed = "nodepools,providers,virtualclusters,drains"},
	{.verb = "wipe", .words = "verify report keys", .names = "wipes"},
};

/* Offers what `drover explain` explains: reasons, states and object types, or, after a '.', the
 * fields of an object. */
static void offer_explained(struct ask *q)
{
	const char *dot = strrchr(current(q), '.');
	OWN(arena) a = arena_new();
	struct explain_field f;

	if (!dot) {
		each_line(q, (const char *const[]){"explain", NULL}, on_first_word);
		for (int s = 0; s < MACHINE_STATES; s++)
			offer_words(q, machine_state_info[s].name);
		for (int k = 0; k < OBJECT_KINDS; k++)
			offer_words(q, object_kinds[k].singular);
		return;
	}
	if (!explain_field_find(arena_strndup(a, current(q), (size_t)(dot - current(q))), a, &f) ||
	    f.unknown)
		return;
	for (const struct field *row = explain_field_below(&f); row->name; row++)
		if (explain_field_shown(row))
			offer_words(q, arena_printf(a, "%.*s.%s", (int)(dot - current(q)),
						    current(q), row->name));
}

/* Offers what follows the command. first: the current word is its first argument. */
static void offer_arguments(struct ask *q, bool first)
{
	const char *verb = q->words[0];

	if (str_eq(verb, "help") && first)
		each_line(q, COMMANDS, on_command);
	if (str_eq(verb, "explain") && first)
		offer_explained(q);
	if (str_eq(verb, "get") && !first)
		offer_names(q, q->words[1], on_name);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!str_eq(verb, rows[i].verb))
			continue;
		if (first && rows[i].words)
			offer_words(q, rows[i].words);
		if (rows[i].names && (!first || !rows[i].words))
			offer_names(q, rows[i].names, on_name);
		if (rows[i].typed)
			offer_names(q, rows[i].typed, on_typed);
	}
}

/* True if `option` is followed by the name of an object: an option with the name of a type. */
static bool is_followed_by_name(const char *option)
{
	return str_starts(option, "--") &&
	       target_kind(option + 2, strlen(option + 2)) != OBJECT_KINDS;
}

/* Calls each(q, line, length) for each line of the help of the command, or of the subcommand, in
 * words. */
static void each_help_line(struct ask *q, void (*each)(struct ask *q, const char *line, size_t len))
{
	/* A command whose first argument is no subcommand ignores it. */
	const bool below = q->n > 2 && *q->words[1] != '-';

	each_line(q, (const char *const[]){"help", q->words[0], below ? q->words[1] : NULL, NULL},
		  each);
}

static void offer_all(struct ask *q)
{
	const char *before = q->n > 1 ? q->words[q->n - 2] : "";

	for (size_t i = 1; i + 2 < q->n; i++) {
		if (str_eq(q->words[i], "-k") || str_eq(q->words[i], "--kubeconfig"))
			q->kubeconfig = q->words[i + 1];
		if (str_eq(q->words[i], "--context"))
			q->context = q->words[i + 1];
	}
	if (q->n == 1) {
		each_line(q, COMMANDS, on_command);
	} else if (*current(q) == '-') {
		each_help_line(q, on_option);
	} else if (is_followed_by_name(before)) {
		offer_names(q, before + 2, on_name);
	} else {
		if (*before == '-' && q->n > 2)
			each_help_line(q, on_value);
		/* If the value is a file, nothing is offered here: the shell offers files. */
		if (!q->valued)
			offer_arguments(q, q->n == 2);
	}
}

/* --- the command ------------------------------------------------------------------------------ */

struct completion_args {
	const char *script;
	/* true: `completion words` was given; q has the words */
	bool words;
	struct ask q;
};

static error_t parse(int key, char *arg, struct argp_state *st)
{
	struct completion_args *v = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (v->words) {
			if (v->q.n < WORDS_MAX)
				v->q.words[v->q.n++] = arg;
			return 0;
		}
		if (v->script)
			argp_error(st, "one shell at a time");
		v->script = script_of(arg);
		v->words = str_eq(arg, "words");
		if (!v->script && !v->words)
			argp_error(st, "want bash, fish or zsh, got '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!v->script && !v->words)
			argp_error(st, "give a shell: bash, fish or zsh");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_completion(int argc, char **argv)
{
	static const struct argp a = {
		.parser = parse,
		.args_doc = "bash|fish|zsh\nwords -- [WORD...]",
		.doc = "Print a script that makes the shell complete commands, options and names "
		       "of objects in the cluster.\v"
		       "Examples:\n"
		       "  source <(drover completion bash)\n"
		       "  drover completion bash > /etc/bash_completion.d/drover\n"
		       "  echo 'source <(drover completion zsh)' >> ~/.zshrc\n"
		       "  drover completion fish > ~/.config/fish/completions/drover.fish\n"
		       "The scripts call `drover completion words`, which prints the possible "
		       "completions of the last WORD, one per line. If the cluster does not answer "
		       "within a second, no names are offered."};
	struct completion_args v = {0};

	args_parse(&a, argc, argv, &v);
	if (v.script)
		fputs(v.script, stdout);
	else if (v.q.n)
		offer_all(&v.q);
	return fflush(stdout) ? 1 : 0;
}

int cli_complete_kubectl(int argc, char **argv)
{
	struct ask q = {0};

	for (int i = 1; i < argc && q.n < WORDS_MAX; i++)
		q.words[q.n++] = argv[i];
	if (q.n)
		offer_all(&q);
	puts(q.found ? ":4" : ":0");
	return 0;
}
