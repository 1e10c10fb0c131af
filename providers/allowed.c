/* allowed: compares each entry of the list with the command word by word, without copying them. */
#include "providers/allowed.h"

#include <string.h>

#include "base/str.h"

static bool begins_with(const char *const *command, const char *words)
{
	size_t i = 0;

	words += strspn(words, " ");
	for (; /* mutant: exec-arguments */ *words; i++) {
		const size_t n = strcspn(words, " ");

		if (!command[i] || strlen(command[i]) != n || memcmp(command[i], words, n) != 0)
			return false;
		words += n;
		words += strspn(words, " ");
	}
	return i > 0;
}

bool allowed_runs(const char *const *allowed, const char *const *command)
{
	for (size_t i = 0; allowed && command && command[0] && allowed[i]; i++)
		if (str_eq(allowed[i], command[0]) || begins_with(command, allowed[i]))
			return true;
	return false;
}

const char *allowed_refuses(const char *text)
{
	static const char *const anything[] = {"drover", "sh",	 "bash",  "dash",   "ksh",  "zsh",
					       "env",	 "sudo", "perl",  "ruby",   "node", "xargs",
					       "awk",	 "lua",	 "tclsh", "busybox"};
	const size_t n = strcspn(text, " ");
	const char *name = text;

	if (text[0] != '/')
		return "want an absolute path";
	for (size_t i = 0; i < n; i++)
		name = text[i] == '/' ? text + i + 1 : name;
	if (text[n + strspn(text + n, " ")])
		return NULL;
	for (size_t i = 0; i < sizeof(anything) / sizeof(*anything); i++)
		if (strlen(anything[i]) == n - (size_t)(name - text) &&
		    str_starts(name, anything[i]))
			return "this program runs any program given as an argument: add its first "
			       "argument to the entry";
	return str_starts(name, "python")
		       ? "this program runs any program given as an argument: add its first "
			 "argument to the entry"
		       : NULL;
}
