#ifndef PROVIDERS_EXEC_PROVIDER_H
#define PROVIDERS_EXEC_PROVIDER_H

/* exec_provider: settings of Provider type exec (provider_spec.exec). */

/* A program of the operator that switches machines, or launches instances. */
struct provider_exec {
	/* argv of the program, NULL-terminated, run without a shell; [0] is an absolute path. */
	const char *const *command;
	/* Programs that drover may run, with first arguments (allowed.h). NULL-terminated; NULL:
	 * none. */
	const char *const *allowed;
};

#endif
