/*
 * approve: `drover approve`: lets drover manage a machine, and records decisions that only an
 * operator can make: the machine may be wiped, it already serves a claim, its drives have changed,
 * or its BMC may get the password.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <string.h>

#include "base/arena.h"
#include "api/machine_states.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "cli/waive.h"

static bool has_drive(const json_t *drives, const json_t *one)
{
	json_t *d;
	size_t i;

	json_array_foreach (drives, i, d)
		if (str_eq(json_str_at(d, "wwn"), json_str_at(one, "wwn")) &&
		    json_int_at(d, "bytes") == json_int_at(one, "bytes"))
			return true;
	return false;
}

/* Prints the drives that are in a but not in b, each with sign before it. Returns the number of
 * these drives. */
static size_t show(FILE *out, const json_t *a, const json_t *b, char sign)
{
	static const char *const members[][2] = {
		{"serialNumber", "serial"}, {"slot", ""}, {"model", ""}};
	size_t i, n = 0;
	json_t *d;

	json_array_foreach (a, i, d) {
		if (has_drive(b, d))
			continue;
		n++;
		fprintf(out, "%c %s %lld bytes", sign, str_or(json_str_at(d, "wwn"), "(no wwn)"),
			(long long)json_int_at(d, "bytes"));
		for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
			if (!str_empty(json_str_at(d, members[k][0])))
				fprintf(out, ", %s%s%s", members[k][1], *members[k][1] ? " " : "",
					json_str_at(d, members[k][0]));
		fputc('\n', out);
	}
	return n;
}

/* Asks the operator to confirm that drives leave the list: drover has not wiped them and will never
 * look for them again. Returns 0 for yes. */
static int confirm_forgotten(struct cli_client *c, const char *machine, const json_t *m)
{
	OWN(arena) a = arena_new();
	const char *tenant = json_str_at(m, "status", "tenant", "name");

	fprintf(stderr,
		"If you confirm, the drives marked - or ! no longer belong to machine %s (serial "
		"number %s), and drover will not look for them again.\n"
		"drover has not wiped them%s. They may still hold data.\n"
		"If a drive can be put back, put it back and have it wiped: drover approve %s "
		"--wipe\n"
		"Confirm only if each of these drives was destroyed, or is kept where nobody can "
		"read it.\n",
		machine, str_or(json_str_at(m, "spec", "identity", "serialNumber"), "unknown"),
		tenant ? arena_printf(a, " since tenant %s used the machine", tenant) : "",
		machine);
	return cli_confirm(c);
}

/* Prints the storage controllers without a driver. The approval accepts that the drives behind them
 * are neither seen nor wiped. */
static void show_dark(struct cli_client *c, const json_t *controllers)
{
	json_t *o;
	size_t i;

	json_array_foreach (controllers, i, o)
		if (json_int_at(o, "dark") > 0)
			fprintf(c->json ? stderr : c->out,
				"! storage controllers without a driver in the agent's image: %lld "
				"of type %s (PCI ID); drover neither sees nor wipes the drives "
				"behind them\n",
				(long long)json_int_at(o, "dark"), json_str_at(o, "id"));
}

static bool has_wwn(const json_t *drives, const char *wwn)
{
	json_t *d;
	size_t i;

	json_array_foreach (drives, i, d)
		if (str_eq(json_str_at(d, "wwn"), wwn))
			return true;
	return false;
}

/* Records the drives that leave spec.drives, and those of ids that only the BMC lists, if no
 * operator has accepted them before. Returns 0, or 1 after printing the error. */
static int waive_drives(struct waive *w, const json_t *seen, const json_t *ids)
{
	const json_t *known = json_at(w->machine, "spec", "unseenDrives");
	json_t *d;
	size_t i;

	json_array_foreach (json_at(w->machine, "spec", "drives"), i, d)
		if (/* mutant: drives-forgotten-unrecorded */ !has_wwn(seen,
								       json_str_at(d, "wwn")) &&
		    waive_add(w, WAIVED_DRIVE, json_str_at(d, "wwn"),
			      json_str_at(d, "serialNumber")))
			return 1;
	json_array_foreach (ids, i, d)
		if (!json_has_str(known, str_or(json_string_value(d), "")) &&
		    waive_add(w, WAIVED_UNSEEN_DRIVE, json_string_value(d), NULL))
			return 1;
	return 0;
}

/* Prints the drives that the BMC lists and the agent does not see. Returns their IDs, owned by the
 * caller. *new: number of these that no operator has accepted before. */
static json_t *unseen(struct cli_client *c, const json_t *m, size_t *new)
{
	const json_t *want = json_at(m, "spec", "unseenDrives");
	json_t *list = json_array(), *u;
	size_t i;

	*new = 0;
	json_array_foreach (json_at(m, "status", "inventory", "unseenDrives"), i, u) {
		const char *id = str_or(json_str_at(u, "id"), "");
		const char *volume = json_str_at(u, "volume");

		*new += !json_has_str(want, id);
		fprintf(c->json ? stderr : c->out,
			"! %s %lld bytes, %s, %s%s%s: the BMC lists this drive, but drover's agent "
			"does not see it and cannot wipe it\n",
			id, (long long)json_int_at(u, "bytes"),
			str_or(json_str_at(u, "model"), "?"),
			str_or(json_str_at(u, "slot"), "slot unknown"),
			volume ? ", part of virtual disk " : "", str_or(volume, ""));
		json_array_append_new(list, json_string(id));
	}
	return list;
}

static json_t *approval(struct cli_client *c, const char *action, const char *claim)
{
	char id[33];
	uint8_t raw[16];

	loop_random_bytes(c->loop, raw, sizeof(raw));
	str_hex(id, raw, sizeof(raw));
	return json_pack("{s:s, s:s, s:s*}", "action", action, "id", id, "claim", claim);
}

/* Sets spec.drives to the drives of the last inspection, and spec.unseenDrives to the drives that
 * only the BMC lists. Returns 0. Any other result: the machine was not inspected yet, or the
 * operator did not confirm. Then the function has printed the cause, and the caller must write
 * nothing. */
static int drives(struct cli_client *c, const struct cli_approve *a, const json_t *m, json_t *spec,
		  struct waive *w)
{
	FILE *out = c->json ? stderr : c->out;
	size_t forgotten, new;
	json_t *seen = json_at(m, "status", "inventory", "drives");
	OWN_JSON ids = NULL;
	const json_t *want = json_at(m, "spec", "drives");

	if (!json_array_size(seen))
		return cli_failed(
			c,
			"drover's agent has not inspected this machine yet, so its drives are "
			"unknown; wait for the inspection: `drover why %s` shows its progress",
			a->machine);
	forgotten = show(out, want, seen, '-');
	(void)show(out, seen, want, '+');
	ids = unseen(c, m, &new);
	fflush(out);
	/* mutant: drives-forgotten-unasked */
	if (forgotten + new && !a->yes && confirm_forgotten(c, a->machine, m))
		return -1;
	if (waive_drives(w, seen, ids))
		return -1;
	json_object_set(spec, "drives", seen);
	if (json_array_size(ids) || json_at(m, "spec", "unseenDrives"))
		json_object_set(spec, "unseenDrives", ids);
	return 0;
}

/* Checks that the NodeClaim a->adopt exists, is not being deleted and names the machine. The check
 * is made here because the operator sees the error; with a wrong claim, steps/adopt.c would wait
 * forever. Returns 0, or 1 after printing the error. */
static int check_claim(struct cli_client *c, const struct cli_approve *a)
{
	struct err e;
	OWN_JSON n = cli_get(c, OBJECT_NODE_CLAIM, a->adopt, &e);
	const char *of = json_str_at(n, "spec", "machineRef", "name");

	if (!n && e.kind == ERR_NOT_FOUND)
		return cli_failed(
			c,
			"there is no NodeClaim %s; nothing was changed. Create it first, with the "
			"name of the tenant's Node and with spec.machineRef.name %s "
			"(docs/operations.md, Taking over a running server)",
			a->adopt, a->machine);
	if (!n)
		return cli_failed(c, "NodeClaim %s: %s", a->adopt, e.text);
	if (!str_eq(of, a->machine))
		return cli_failed(
			c,
			"NodeClaim %s: spec.machineRef.name is %s, not %s; nothing was changed. "
			"Give --adopt the NodeClaim of this machine",
			a->adopt, str_or(of, "empty"), a->machine);
	if (json_at(n, "metadata", "deletionTimestamp"))
		return cli_failed(
			c,
			"NodeClaim %s is being deleted; nothing was changed. Wait until it is "
			"gone, create it again, then repeat this command",
			a->adopt);
	return 0;
}

/* Returns a copy of the identity that the BMC reported, owned by the caller. Empty members are left
 * out, because an empty text is not a UUID. */
static json_t *identity_of(const json_t *seen)
{
	static const char *const members[] = {"systemUUID", "serialNumber"};
	json_t *o = json_object();

	for (size_t i = 0; i < 2; i++)
		if (!str_empty(json_str_at(seen, members[i])))
			json_object_set(o, members[i], json_object_get(seen, members[i]));
	return o;
}

/* Prints one line about a BMC, with sign before it: address, how drover verifies its certificate,
 * and login. login: name of the Secret with the password; NULL: unknown. */
static void show_bmc(struct cli_client *c, const json_t *bmc, const char *login, char sign)
{
	const json_t *tls = json_object_get(bmc, "tls");
	const char *pin = json_str_at(tls, "fingerprint"),
		   *ca = json_str_at(tls, "caSecretRef", "name");

	fprintf(c->json ? stderr : c->out, "%c %s %s%s%s%s\n", sign,
		str_or(json_str_at(bmc, "address"), "(none)"),
		pin  ? pin
		: ca ? "caSecretRef "
		     : (json_true_at(tls, "trustOnFirstUse") ? "trustOnFirstUse" : "(no tls)"),
		!pin && ca ? ca : "", login ? ", password of Secret " : "", str_or(login, ""));
}

/* Returns the name of the Secret with the BMC password: the machine's own Secret, else that of
 * its Provider, as the controller does. NULL with *e: neither is set, or the Provider cannot be
 * read. */
static const char *login_of(struct cli_client *c, const json_t *m, struct arena *a, struct err *e)
{
	const char *own = json_str_at(m, "spec", "bmc", "credentialsSecretRef", "name"),
		   *provider = json_str_at(m, "spec", "providerRef", "name"), *name;
	OWN_JSON p = own ? NULL : cli_get(c, OBJECT_PROVIDER, str_or(provider, ""), e);

	name = own ? own : json_str_at(p, "spec", "credentialsSecretRef", "name");
	if (!own && p && !name)
		err_note(e, ERR_INVALID, 0,
			 "no Secret with the BMC's password is named: set "
			 "spec.bmc.credentialsSecretRef of the machine, or "
			 "spec.credentialsSecretRef of provider %s",
			 provider);
	return name ? arena_strdup(a, name) : NULL;
}

/* Returns spec.bmc.tls as a merge patch, owned by the caller. Absent members are null, so that the
 * patch removes those of an earlier approval. */
static json_t *tls_of(const json_t *bmc)
{
	static const char *const members[] = {"fingerprint", "caSecretRef", "trustOnFirstUse"};
	const json_t *tls = json_object_get(bmc, "tls");
	json_t *o = json_object(), *v;

	for (size_t i = 0; i < 3; i++) {
		v = json_object_get(tls, members[i]);
		json_object_set_new(o, members[i], v ? json_deep_copy(v) : json_null());
	}
	v = json_object_get(o, "caSecretRef");
	if (json_is_object(v) && !json_object_get(v, "key"))
		json_object_set_new(v, "key", json_null());
	return o;
}

/* Approves that drover may send the password to the BMC in spec.bmc, and to no other. Writes
 * exactly the values that it printed for the operator. Returns the exit status. */
static int approve_bmc(struct cli_client *c, const struct cli_approve *a, const json_t *m)
{
	OWN(arena) mem = arena_new();
	const json_t *bmc = json_at(m, "spec", "bmc"),
		     *trusted = json_at(m, "status", "trustedBMC");
	const char *address = json_str_at(bmc, "address"), *login;
	struct err e;
	json_t *given;

	if (!address)
		return cli_failed(c, "machine %s has no BMC to approve: set its spec.bmc first",
				  a->machine);
	login = login_of(c, m, mem, &e);
	if (!login)
		return cli_failed(c, "machine %s: %s", a->machine, e.text);
	if (trusted)
		show_bmc(c, trusted, json_str_at(trusted, "credentials"), '-');
	show_bmc(c, bmc, login, '+');
	given = approval(c, "TrustBMC", NULL);
	json_object_set_new(given, "bmc",
			    json_pack("{s:s, s:o, s:s, s:n}", "address", address, "tls",
				      tls_of(bmc), "credentials", login, "caDigest"));
	return cli_write(c, OBJECT_MACHINE, a->machine,
			 json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
				   str_or(json_str_at(m, "metadata", "resourceVersion"), ""),
				   "spec", "approval", given),
			 arena_printf(mem,
				      "machine %s: drover may send the password of Secret %s to %s",
				      a->machine, login, address));
}

/* Reports that the machine has no usable identity, and why. If status has a lastError, a controller
 * runs and could not read the BMC. Always returns 1. */
static int no_identity(struct cli_client *c, const char *machine, const json_t *m)
{
	const json_t *why = json_at(m, "status", "operation", "lastError");

	if (json_at(m, "status", "identity"))
		return cli_failed(
			c,
			"machine %s: its BMC reports neither a unique system UUID nor a serial "
			"number; set one of them in the machine's firmware",
			machine);
	if (json_str_at(why, "reason"))
		return cli_failed(c, "machine %s: drover has not read its BMC yet: %s: %s", machine,
				  json_str_at(why, "reason"),
				  str_or(json_str_at(why, "message"), ""));
	return cli_failed(
		c,
		"machine %s: drover has not read its BMC yet; check that the controller is running "
		"(drover check)",
		machine);
}

int cli_do_approve(struct cli_client *c, const struct cli_approve *a)
{
	struct err e;
	OWN(arena) mem = arena_new();
	OWN_JSON m = cli_get(c, OBJECT_MACHINE, a->machine, &e);
	json_t *spec, *controllers = json_at(m, "status", "inventory", "controllers");
	OWN_JSON seen = identity_of(json_at(m, "status", "identity"));
	const enum machine_state state =
		machine_state_find(str_or(json_str_at(m, "status", "state"), "known"));
	struct waive waive;
	bool again, quarantined = state == MACHINE_QUARANTINED,
		    begins = state == MACHINE_KNOWN || state == MACHINE_RETIRED;

	if (!m)
		return cli_report_unreadable(c, OBJECT_MACHINE, a->machine, &e);
	if (a->bmc)
		return approve_bmc(c, a, m);
	if (!json_at(m, "spec", "identity") && !json_object_size(seen))
		return no_identity(c, a->machine, m);
	if (a->adopt && check_claim(c, a))
		return 1;
	waive = (struct waive){.c = c,
			       .a = mem,
			       .machine = m,
			       .reason = a->reason,
			       /* An adoption begins a tenancy. */
			       .tenancy =
				       json_int_at(m, "status", "tenancy") + (a->adopt && begins)};
	spec = json_pack("{s:s}", "managementPolicy", "Manage");
	if (!json_at(m, "spec", "identity"))
		json_object_set(spec, "identity", seen);
	if ((a->drives && drives(c, a, m, spec, &waive)) ||
	    (a->adopt && begins && waive_all(&waive, WAIVED_ADOPTION))) {
		json_decref(waive.list);
		json_decref(spec);
		return 1;
	}
	waive_put(&waive, spec);
	if (a->drives) {
		if (json_array_size(controllers))
			json_object_set(spec, "controllers", controllers);
		show_dark(c, controllers);
	}
	/* A quarantined machine whose drives are approved gets a wipe approval as well, so that it
	 * is inspected and wiped with the new list. */
	again = a->drives && quarantined;
	if (a->wipe || again)
		json_object_set_new(spec, "approval", approval(c, "Wipe", NULL));
	else if (a->adopt)
		json_object_set_new(spec, "approval", approval(c, "Adopt", a->adopt));
	return cli_write(
		c, OBJECT_MACHINE, a->machine,
		json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
			  str_or(json_str_at(m, "metadata", "resourceVersion"), ""), "spec", spec),
		arena_printf(
			mem, "machine %s: managed, system UUID %s%s%s%s%s", a->machine,
			str_or(json_str_at(json_at(m, "spec", "identity") ? json_at(m, "spec")
									  : json_at(m, "status"),
					   "identity", "systemUUID"),
			       "(none)"),
			a->drives ? ", spec.drives set to the drives found at the last inspection"
				  : "",
			a->wipe || again ? ", wipe approved" : "",
			a->adopt ? arena_printf(mem, ", serves claim %s", a->adopt) : "",
			begins && !a->wipe && !a->adopt
				? arena_printf(mem,
					       "; drover now wipes the machine; if the machine is "
					       "on or may serve a tenant, drover first waits for "
					       "`drover approve %s --wipe`",
					       a->machine)
				: ""));
}
