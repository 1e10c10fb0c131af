#include "base/list.h"

#include "tests/unit/testing.h"

struct item {
	struct list link;
	char name;
};

static struct item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};

static int setup(void **state)
{
	(void)state;
	list_init(&a.link);
	list_init(&b.link);
	list_init(&c.link);
	return 0;
}

static void assert_is(struct list *head, const char *want)
{
	char forward[8] = "", back[8] = "";
	size_t n = 0;

	list_for_each (i, head, struct item, link)
		forward[n++] = i->name;
	for (struct list *l = head->prev; l != head; l = l->prev)
		back[--n] = list_entry(l, struct item, link)->name;
	assert_string_equal(forward, want);
	assert_string_equal(back, want);
}

static void things_come_in_the_order_in_which_they_were_put(void **state)
{
	struct list head = LIST_INIT(head);

	(void)state;
	assert_true(list_empty(&head));
	assert_null(list_first(&head, struct item, link));
	list_push_back(&head, &b.link);
	list_push_back(&head, &c.link);
	list_push_front(&head, &a.link);
	assert_is(&head, "abc");
	assert_ptr_equal(list_first(&head, struct item, link), &a);
	list_remove(&b.link);
	list_add_before(&a.link, &b.link);
	assert_is(&head, "bac");
	assert_false(list_empty(&head));
}

static void what_is_removed_knows_it_and_may_be_removed_again(void **state)
{
	struct list head = LIST_INIT(head);

	(void)state;
	assert_false(list_linked(&a.link));
	list_push_back(&head, &a.link);
	list_push_back(&head, &b.link);
	assert_true(list_linked(&a.link));
	list_remove(&a.link);
	assert_false(list_linked(&a.link));
	list_remove(&a.link);
	assert_is(&head, "b");
	list_remove(&b.link);
	assert_true(list_empty(&head));
}

static void the_current_element_may_go_while_walking(void **state)
{
	struct list head = LIST_INIT(head);
	size_t seen = 0;

	(void)state;
	list_push_back(&head, &a.link);
	list_push_back(&head, &b.link);
	list_push_back(&head, &c.link);
	list_for_each (i, &head, struct item, link) {
		seen++;
		if (i != &b)
			list_remove(&i->link);
	}
	assert_int_equal(seen, 3);
	assert_is(&head, "b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(things_come_in_the_order_in_which_they_were_put, setup),
		cmocka_unit_test_setup(what_is_removed_knows_it_and_may_be_removed_again, setup),
		cmocka_unit_test_setup(the_current_element_may_go_while_walking, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
