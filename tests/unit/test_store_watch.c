/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store_fixture.h"

#include "sentinel/store_watch.h"

static const char hostile[] = HOSTILE_TEXT;
static char series[] = "b/one/time";
static char other_series[] = "b/two/time";

static int64_t add_night(struct fixture *fixture)
{
	struct store_night night = {.kind = text_copy("nightly"),
				    .tree_name = text_copy("demo"),
				    .machine = text_copy("qemu"),
				    .head = COMMIT_B,
				    .layouts = 1,
				    .started_seconds = 1};
	assert_ok(store_add_night(fixture->store, &night, &fixture->err), &fixture->err);
	store_night_free(&night);
	return night.id;
}

static int64_t first_night(struct fixture *fixture)
{
	struct store_night *nights;
	size_t count;
	add_night(fixture);
	add_night(fixture);
	assert_ok(
		store_list_nights(fixture->store, NULL, false, 10, &nights, &count, &fixture->err),
		&fixture->err);
	int64_t id = nights[count - 1].id;
	store_nights_free(nights, count);
	return id;
}

static void test_who_accepted_what_and_why_is_kept(void **state)
{
	struct fixture *fixture = *state;
	struct store_acknowledgement *list;
	size_t count;
	char person[] = "ada";
	char reason[sizeof(hostile)];
	memcpy(reason, hostile, sizeof(hostile));
	struct store_acknowledgement one = {.night = first_night(fixture),
					    .series = series,
					    .person = person,
					    .reason = reason,
					    .seconds = 5};
	struct store_acknowledgement other = one;
	other.series = other_series;
	other.reason = NULL;
	assert_ok(store_add_acknowledgement(fixture->store, &one, &fixture->err), &fixture->err);
	assert_ok(store_add_acknowledgement(fixture->store, &other, &fixture->err), &fixture->err);
	reopen(fixture);
	assert_ok(store_list_acknowledgements(fixture->store, NULL, &list, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(list[0].series, series);
	assert_string_equal(list[0].person, "ada");
	assert_string_equal(list[0].reason, hostile);
	assert_null(list[1].reason);
	store_acknowledgements_free(list, count);
	assert_ok(store_list_acknowledgements(fixture->store, other_series, &list, &count,
					      &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 1);
	store_acknowledgements_free(list, count);
	one.night = 99;
	assert_int_equal(store_add_acknowledgement(fixture->store, &one, &fixture->err), -1);
	assert_int_equal(fixture->err.kind, ERROR_STATE);
}

static void test_a_step_is_dated_once(void **state)
{
	struct fixture *fixture = *state;
	struct store_change_point *points;
	size_t count;
	int64_t night = first_night(fixture);
	struct store_change_point point = {.series = series,
					   .night = night,
					   .found_in = night,
					   .change = 0.05,
					   .p_value = 1e-5};
	assert_ok(store_add_change_point(fixture->store, &point, &fixture->err), &fixture->err);
	point.found_in = night + 1;
	point.change = 0.07;
	assert_ok(store_add_change_point(fixture->store, &point, &fixture->err), &fixture->err);
	assert_ok(
		store_list_change_points(fixture->store, series, 0, &points, &count, &fixture->err),
		&fixture->err);
	assert_int_equal(count, 1);
	assert_int_equal(points[0].found_in, night);
	assert_close(points[0].change, 0.05, 0);
	store_change_points_free(points, count);
	assert_ok(store_list_change_points(fixture->store, NULL, night + 1, &points, &count,
					   &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 0);
	store_change_points_free(points, count);
}

static void test_noise_is_stored_whole_and_once(void **state)
{
	struct fixture *fixture = *state;
	struct store_characterisation made = {.tree_name = text_copy("demo"),
					      .machine = text_copy("qemu"),
					      .commit = COMMIT_A,
					      .boots = 10,
					      .layouts = 5,
					      .started_seconds = 3};
	struct store_characterisation found;
	struct store_noise noise[] = {
		{series, {5, 0.01, 40, 0.005, 5, 0.003, 0.002, 4}, 0.0005},
		{series, {5, 0.01, 40, 0.005, 5, 0.003, 0.002, 4}, 0.0005},
	};
	struct store_noise *list;
	size_t count;
	assert_ok(store_add_characterisation(fixture->store, &made, &fixture->err), &fixture->err);
	/* The second is of the same series, so nothing of all this may stay. */
	assert_int_equal(store_complete_characterisation(fixture->store, made.id, "identity", noise,
							 2, &fixture->err),
			 -1);
	assert_ok(store_get_characterisation(fixture->store, "demo", "qemu", true, &found,
					     &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, 0);
	noise[1].series = other_series;
	assert_ok(store_complete_characterisation(fixture->store, made.id, "identity", noise, 2,
						  &fixture->err),
		  &fixture->err);
	assert_int_equal(store_complete_characterisation(fixture->store, made.id, "identity", noise,
							 0, &fixture->err),
			 -1);
	reopen(fixture);
	assert_ok(store_get_characterisation(fixture->store, "demo", "qemu", true, &found,
					     &fixture->err),
		  &fixture->err);
	assert_int_equal(found.id, made.id);
	assert_string_equal(found.identity, "identity");
	assert_int_equal(found.layouts, 5);
	store_characterisation_free(&found);
	assert_ok(store_get_noise(fixture->store, made.id, &list, &count, &fixture->err),
		  &fixture->err);
	assert_int_equal(count, 2);
	assert_string_equal(list[1].series, other_series);
	assert_close(list[1].components.within, 0.01, 0);
	assert_close(list[1].components.group, 0.002, 0);
	assert_close(list[1].components.group_degrees, 4, 0);
	store_noise_free(list, count);
	store_characterisation_free(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_who_accepted_what_and_why_is_kept),
		store_test(test_a_step_is_dated_once),
		store_test(test_noise_is_stored_whole_and_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
