#ifndef BASE_OWN_H
#define BASE_OWN_H

/*
 * own: frees a variable at the end of its scope.
 *
 *   OWN(pool) p = pool_new(name);   freed at the end of the scope ...
 *   return give(p);                 ... unless ownership is transferred
 *
 * For OWN(type), a module must have DEFINE_OWN(type) behind its declaration of type_free().
 */
#define OWN(type) __attribute__((cleanup(type##_own_free_))) struct type *
#define DEFINE_OWN(type)                                                                           \
	static inline void type##_own_free_(struct type **p)                                       \
	{                                                                                          \
		type##_free(*p);                                                                   \
	}
#define give(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) give_p_ = (p);                                                       \
		(p) = NULL;                                                                        \
		give_p_;                                                                           \
	})

#endif
