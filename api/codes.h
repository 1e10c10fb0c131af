#ifndef API_CODES_H
#define API_CODES_H

/*
 * codes: the list of codes.def: reasons in conditions and events of drover's objects that are not
 * reasons of a machine (api/reasons.h).
 * Tests: tests/unit/api/test_runbooks.c, tests/unit/cli/test_main.c
 */
struct code_info {
	/* name; kind of the condition or event that has it; meaning; what the operator can do, ""
	 * if nothing is needed */
	const char *name, *where, *means, *helps;
};
/* All codes by name; ends with a row whose name is NULL. */
extern const struct code_info code_info[];

/* Returns the code with this name in any case of letters; NULL if name is NULL or unknown. */
const struct code_info *code_find(const char *name);

#endif
