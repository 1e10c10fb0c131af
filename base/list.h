#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * list: doubly linked, circular, intrusive list. A removed or initialised link points at itself, so
 * removing it twice is harmless and list_linked() reports whether it is in a list.
 */
struct list {
	struct list *prev, *next;
};

#define LIST_INIT(name)                                                                            \
	{                                                                                          \
		&(name), &(name)                                                                   \
	}
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

static inline void list_init(struct list *l)
{
	l->prev = l->next = l;
}

static inline void list_add_before(struct list *pos, struct list *l)
{
	l->prev = pos->prev;
	l->next = pos;
	pos->prev->next = l;
	pos->prev = l;
}

static inline void list_push_back(struct list *head, struct list *l)
{
	list_add_before(head, l);
}

static inline void list_push_front(struct list *head, struct list *l)
{
	list_add_before(head->next, l);
}

static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline bool list_linked(const struct list *l)
{
	return l->next != l;
}

#define list_entry(p, type, member) container_of(p, type, member)
#define list_first(head, type, member)                                                             \
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))

/* Iterates over the elements of a list. The loop body may remove the current element, but no
 * other. */
#define list_for_each(it, head, type, member)                                                      \
	for (type *it = list_entry((head)->next, type, member),                                    \
		  *it##_next_ = list_entry(it->member.next, type, member);                         \
	     &it->member != (head);                                                                \
	     it = it##_next_, it##_next_ = list_entry(it->member.next, type, member))

#endif
