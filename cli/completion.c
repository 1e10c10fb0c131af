/*
 * completion: `drover completion bash|zsh`: prints a completion script for a shell. The script
 * calls drover itself: `drover help` for commands, a command's --help for options, `drover get` for
 * names of objects. Completion therefore always matches the installed version.
 * Tests: tests/unit/cli/test_main.c; tests/tools/test_completion runs the script in bash
 */
#include <argp.h>
#include <stdio.h>

#include "base/args.h"
#include "base/str.h"
#include "cli/cli.h"

static const char bash[] =
	"# Completion of drover for bash: source <(drover completion bash)\n"
	"_drover_names() {\n"
	"    \"$1\" get \"$2\" -o name 2>/dev/null | sed 's|.*/||'\n"
	"}\n"
	"_drover_typed() { # with a type before each name\n"
	"    \"$1\" get \"$2\" -o name 2>/dev/null | sed 's|[.]drover[.]dev/|/|'\n"
	"}\n"
	"_drover() {\n"
	"    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
	"    local drover=${COMP_WORDS[0]} types='machine claim pool tenant drain wipe provider "
	"burstpolicy'\n"
	"    local all=nodepools,providers,virtualclusters\n"
	"    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	"        words=$(\"$drover\" help 2>/dev/null | sed -n 's/^  \\([a-z][a-z-]*\\) "
	".*/\\1/p')\n"
	"    elif [ \"${cur#-}\" != \"$cur\" ]; then\n"
	"        words=$(\"$drover\" \"$verb\" --help 2>/dev/null | grep -o -- '--[a-z][a-z-]*')\n"
	"    else\n"
	"        case $verb in\n"
	"        approve|drain|retry|quarantine|confirm-off|retire|console) "
	"words=$(_drover_names \"$drover\" machines) ;;\n"
	"        release) words=$(_drover_names \"$drover\" machines,claims) ;;\n"
	"        cancel) words=$(_drover_names \"$drover\" drains) ;;\n"
	"        pause|resume) words=$(_drover_typed \"$drover\" \"$all\") ;;\n"
	"        explain) words=$(\"$drover\" explain 2>/dev/null | cut -d' ' -f1) ;;\n"
	"        completion) words='bash zsh' ;;\n"
	"        help) words=$(\"$drover\" help 2>/dev/null | sed -n 's/^  \\([a-z][a-z-]*\\) "
	".*/\\1/p') ;;\n"
	"        why) words=$(_drover_names \"$drover\" machines,claims; _drover_typed "
	"\"$drover\" \"$all,drains\") ;;\n"
	"        get) if [ \"$COMP_CWORD\" -eq 2 ]; then words=$types; else "
	"words=$(_drover_names \"$drover\" \"${COMP_WORDS[2]}\"); fi ;;\n"
	"        esac\n"
	"    fi\n"
	"    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\" | sort -u)\n"
	"    [ \"${#COMPREPLY[@]}\" -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"complete -o filenames -F _drover drover\n";

static const char zsh[] =
	"# Completion of drover for zsh: source <(drover completion zsh)\n"
	"_drover_zsh() {\n"
	"    local -a found\n"
	"    found=(${(f)\"$(bash -c 'source <($1 completion bash); COMP_WORDS=(\"${@:3}\"); "
	"COMP_CWORD=$2; _drover; printf \"%s\\n\" \"${COMPREPLY[@]}\"' _ $words[1] "
	"$((CURRENT - 1)) $words 2>/dev/null)\"})\n"
	"    compadd -a found\n"
	"}\n"
	"compdef _drover_zsh drover\n";

static error_t parse(int key, char *arg, struct argp_state *st)
{
	const char **script = st->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*script)
			argp_error(st, "one shell at a time");
		*script = str_eq(arg, "bash") ? bash : str_eq(arg, "zsh") ? zsh : NULL;
		if (!*script)
			argp_error(st, "want bash or zsh, got '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if (!*script)
			argp_error(st, "give a shell: bash or zsh");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cli_completion(int argc, char **argv)
{
	static const struct argp a = {
		.parser = parse,
		.args_doc = "bash|zsh",
		.doc = "Print a script that makes the shell complete commands, options and names "
		       "of objects in the cluster.\v"
		       "Examples:\n  source <(drover completion bash)\n"
		       "  drover completion bash > /etc/bash_completion.d/drover\n"
		       "  echo 'source <(drover completion zsh)' >> ~/.zshrc\n"
		       "The script for zsh needs bash."};
	const char *script = NULL;

	args_parse(&a, argc, argv, &script);
	fputs(script, stdout);
	return fflush(stdout) ? 1 : 0;
}
