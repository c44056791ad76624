/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_STORE_WATCH_H
#define SENTINEL_STORE_WATCH_H

/* The store's records about the history of series; the rules of store.h hold. */

#include "bench/stats/components.h"
#include "sentinel/store.h"

/* Somebody said that the level of SERIES in NIGHT is the one that is right. */
struct store_acknowledgement {
	int64_t id;
	int64_t night;
	char *series;
	char *person;
	char *reason; /* NULL: none given */
	int64_t seconds;
};
int store_add_acknowledgement(struct store *store, struct store_acknowledgement *acknowledgement,
			      struct error *err);
/* The oldest first; SERIES NULL: all. */
int store_list_acknowledgements(struct store *store, const char *series,
				struct store_acknowledgement **ret_list, size_t *ret_count,
				struct error *err);
void store_acknowledgements_free(struct store_acknowledgement *list, size_t count);

/* A step that the history shows, dated afterwards. */
struct store_change_point {
	char *series;
	int64_t night;    /* the first one of the new level */
	int64_t found_in; /* the night that looked */
	double change;    /* log scale, > 0 is worse */
	double p_value;
};
/* A point that is there already stays as it is. */
int store_add_change_point(struct store *store, const struct store_change_point *point,
			   struct error *err);
/* By series and night; SERIES NULL: all; FOUND_IN 0: any. */
int store_list_change_points(struct store *store, const char *series, int64_t found_in,
			     struct store_change_point **ret_points, size_t *ret_count,
			     struct error *err);
void store_change_points_free(struct store_change_point *points, size_t count);

/* What was measured of a machine's own noise. */
struct store_characterisation {
	int64_t id; /* 0: none */
	char *tree_name;
	char *machine;
	char commit[OBJECT_ID_SIZE];
	int64_t boots;
	int64_t layouts;
	char *identity; /* of its trials; NULL until complete */
	int64_t started_seconds;
	bool complete;
};
struct store_noise {
	char *series;
	struct components components; /* groups are layouts */
	double deviation_floor;
};
int store_add_characterisation(struct store *store, struct store_characterisation *characterisation,
			       struct error *err);
/* Its identity and all its noise go in, and it is complete, in one transaction. */
int store_complete_characterisation(struct store *store, int64_t id, const char *identity,
				    const struct store_noise *noise, size_t count,
				    struct error *err);
/* The newest of this tree and machine; id 0 when there is none. */
int store_get_characterisation(struct store *store, const char *tree_name, const char *machine,
			       bool complete_only,
			       struct store_characterisation *ret_characterisation,
			       struct error *err);
int store_get_noise(struct store *store, int64_t characterisation, struct store_noise **ret_noise,
		    size_t *ret_count, struct error *err);
void store_characterisation_free(struct store_characterisation *characterisation);
void store_noise_free(struct store_noise *noise, size_t count);

#endif
