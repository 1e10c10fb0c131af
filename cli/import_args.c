#include "cli/import_args.h"

#include "base/str.h"

error_t import_args_parse(int key, char *arg, struct argp_state *st, struct import_args *i,
			  const char *what)
{
	switch (key) {
	case 'n':
		if (!str_is_dns_label(arg))
			argp_error(st, "--namespace: want the name of a namespace, got '%s'", arg);
		i->ns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!i->import && !str_eq(arg, "import"))
			argp_error(st, "unknown subcommand '%s': want import", arg);
		if (i->of)
			argp_error(st,
				   "give at most one %s; without a name, the command reads "
				   "all",
				   what);
		if (i->import)
			i->of = arg;
		i->import = true;
		return 0;
	case ARGP_KEY_END:
		if (!i->import)
			argp_error(st, "missing subcommand: want import");
		return 0;
	default:
		return cli_option(key, arg, st, &i->o);
	}
}
