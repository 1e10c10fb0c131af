#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "tests/simulated/loop_sim.h"
#include "base/str.h"
#include "tests/unit/redfish/bmc_rig.h"

/* Makes two writes. Checks the number of requests of each, and that the second write uses the form
 * learned by the first. */
static void two_writes(struct bmc_rig *f, unsigned first, unsigned second, const char *last_tag)
{
	f->bmc.etags = true;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.boot_target, "Cd");
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), first);
	assert_done(bmc_boot(f, REDFISH_BOOT_HDD, NULL));
	assert_string_equal(f->bmc.boot_target, "Hdd");
	assert_int_equal(fake_bmc_count(&f->bmc, "PATCH"), first + second);
	assert_string_equal(f->bmc.if_match, last_tag);
}

static void a_tag_is_sent_as_it_was_given(void **state)
{
	two_writes(*state, 1, 1, "\"8\"");
}

static void a_bmc_that_wants_the_weak_form_gets_it(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_want = "W/";
	two_writes(f, 2, 1, "W/\"8\"");
}

static void a_tag_that_changed_meanwhile_is_read_again(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_move = 2; /* The ETag changes at each of the first two writes. */
	two_writes(f, 3, 1, "\"10\"");
}

static void a_bmc_that_wants_any_gets_a_star(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_want = "*";
	two_writes(f, 3, 1, "*");
}

static void a_bmc_that_accepts_no_tag_gets_none(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_lie = true;
	two_writes(f, 4, 1, "");
}

static void a_tag_that_is_required_and_not_given_is_a_star(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_hidden = true;
	f->bmc.etags_want = "*";
	two_writes(f, 2, 1, "*");
}

static void a_form_that_works_no_longer_is_given_up(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags_want = "*";
	two_writes(f, 3, 1, "*");
	/* The BMC accepts its own ETags again, for example after a firmware update. */
	f->bmc.etags_want = NULL;
	assert_done(bmc_boot(f, REDFISH_BOOT_CD, NULL));
	assert_string_equal(f->bmc.if_match, "\"9\"");
}

static void a_bmc_that_accepts_nothing_is_an_error_and_the_ladder_ends(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags = true;
	f->bmc.etags_want = "nothing";
	assert_int_not_equal(bmc_boot(f, REDFISH_BOOT_CD, NULL), ERR_NONE);
	assert_string_equal(f->bmc.boot_target, "None");
	assert_true(fake_bmc_count(&f->bmc, "PATCH") <= 6);
}

static void media_slots_have_a_ladder_of_their_own(void **state)
{
	struct bmc_rig *f = *state;

	f->bmc.etags = f->bmc.patch_media = true;
	f->bmc.etags_want = "*";
	assert_done(bmc_insert(f, MEDIA));
	assert_string_equal(f->bmc.image, MEDIA);
	assert_string_equal(f->bmc.if_match, "*");
	assert_done(bmc_eject(f));
	assert_null(f->bmc.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		bmc_test(a_tag_is_sent_as_it_was_given),
		bmc_test(a_bmc_that_wants_the_weak_form_gets_it),
		bmc_test(a_tag_that_changed_meanwhile_is_read_again),
		bmc_test(a_bmc_that_wants_any_gets_a_star),
		bmc_test(a_bmc_that_accepts_no_tag_gets_none),
		bmc_test(a_tag_that_is_required_and_not_given_is_a_star),
		bmc_test(a_form_that_works_no_longer_is_given_up),
		bmc_test(a_bmc_that_accepts_nothing_is_an_error_and_the_ladder_ends),
		bmc_test(media_slots_have_a_ladder_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
