/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_TESTS_SUPPORT_STORE_FIXTURE_H
#define SENTINEL_TESTS_SUPPORT_STORE_FIXTURE_H

/* A fresh store in a scratch folder for each test, and records to put into it. */

#include "tests/support/test.h"

#include "sentinel/base/cleanup.h"
#include "sentinel/base/file.h"
#include "sentinel/base/text.h"
#include "sentinel/store.h"

#define COMMIT_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define COMMIT_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HOSTILE_TEXT "it's \"x\"; -- \xc3\xa4\xe2\x82\xac \x1b[31m\n'); DROP TABLE trial;--"

struct fixture {
	char *folder;
	char *path;
	struct store *store;
	struct error err;
};

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	fixture->folder = make_scratch();
	fixture->path = text_format("%s/store.db", fixture->folder);
	assert_ok(store_open(fixture->path, &fixture->store, &fixture->err), &fixture->err);
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;
	store_close(&fixture->store);
	file_remove_tree(fixture->folder, NULL);
	free(fixture->folder);
	free(fixture->path);
	free(fixture);
	return 0;
}

static inline void reopen(struct fixture *fixture)
{
	store_close(&fixture->store);
	assert_ok(store_open(fixture->path, &fixture->store, &fixture->err), &fixture->err);
}

static inline struct store_trial queue(struct fixture *fixture, int64_t sequence,
				       const char *commit)
{
	struct store_trial trial;
	assert_ok(store_queue_trial(fixture->store, PURPOSE_NIGHT, 7, sequence, commit, 0, "qemu",
				    "{\"steps\":[]}", &trial, &fixture->err),
		  &fixture->err);
	return trial;
}

#define store_test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
