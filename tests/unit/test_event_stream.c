/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/test.h"

#include "bench/channel.h"
#include "bench/machine/event_stream.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/digest.h"

#define TRUSTED "{\"event\":\"trusted\",\"boot_id\":\"b1\",\"release\":\"6.1.0\"}\n"
#define RUNNING "{\"event\":\"running\",\"step\":1,\"iteration\":-2}\n"

static void feed(struct event_stream *stream, const char *text)
{
	event_stream_feed(stream, text, strlen(text));
}

static void assert_nothing(struct event_stream *stream)
{
	struct event event;
	if (event_stream_next(stream, &event))
		fail_msg("unexpected event of kind %d", event.kind);
}

static struct event expect(struct event_stream *stream, enum event_kind kind)
{
	struct event event = {0};
	if (!event_stream_next(stream, &event))
		fail_msg("no event, expected kind %d", kind);
	assert_int_equal(event.kind, kind);
	return event;
}

static void announce(struct event_stream *stream, const char *payload, size_t length)
{
	struct digest digest;
	auto_text struct text line = {0};
	digest_bytes(payload, length, &digest);
	text_printf(&line, "\n{\"event\":\"sealed\",\"length\":%zu,\"sha256\":\"%s\"}\n", length,
		    digest.hex);
	feed(stream, line.data);
}

static void test_events_are_read_whatever_the_pieces_they_come_in(void **state)
{
	(void)state;
	static const char all[] =
		TRUSTED "{\"event\":\"jumping\"}\n" RUNNING
			"{\"event\":\"arrived\",\"boot_id\":\"b2\",\"release\":\"6.1.192\","
			"\"version\":\"#1\",\"token\":\"cafe\"}\n"
			"{\"event\":\"refused\",\"reason\":\"no\"}\n";
	static const enum event_kind kinds[] = {EVENT_TRUSTED, EVENT_JUMPING, EVENT_RUNNING,
						EVENT_ARRIVED, EVENT_REFUSED};
	for (size_t piece = 1; piece < sizeof(all); piece++) {
		auto_event_stream struct event_stream stream = {0};
		size_t seen = 0;
		for (size_t at = 0; at < sizeof(all) - 1; at += piece) {
			size_t left = sizeof(all) - 1 - at;
			event_stream_feed(&stream, all + at, left < piece ? left : piece);
			auto_event struct event event = {0};
			while (event_stream_next(&stream, &event)) {
				assert_true(seen < array_length(kinds));
				assert_int_equal(event.kind, kinds[seen++]);
				if (event.kind == EVENT_ARRIVED)
					assert_string_equal(event.token, "cafe");
				if (event.kind == EVENT_RUNNING)
					assert_int_equal(event.iteration, -2);
				event_free(&event);
			}
		}
		assert_int_equal(seen, array_length(kinds));
	}
}

static void test_noise_between_events_is_skipped(void **state)
{
	(void)state;
	static const char *const noise[] = {
		"\n\n\n",
		"{\"command\":\"jump\",\"arguments\":\"echo of ourselves\"}\n",
		"{\"event\":\"trus\n",
		"{\"event\":\"trusted\",\"boot_id\":7,\"release\":\"6.1.0\"}\n",
		"{\"event\":\"trusted\",\"boot_id\":\"b1\"}\n",
		"{\"event\":\"promoted\"}\n",
		"{\"event\":{}}\n",
		"[\"event\",\"trusted\"]\n",
		"{\"event\":\"running\",\"step\":1e300,\"iteration\":0}\n",
		"{\"event\":\"running\",\"step\":9999999999999,\"iteration\":0}\n",
		"{\"event\":\"sealed\",\"length\":10,\"sha256\":\"short\"}\n",
		"\xff\xfe\x80{\"event\":\"jumping\"}\n",
		"{\"event\":\"jumping\"} {\"event\":\"jumping\"}\n",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
	};
	auto_event_stream struct event_stream stream = {0};
	for (size_t i = 0; i < array_length(noise); i++) {
		feed(&stream, noise[i]);
		assert_nothing(&stream);
	}
	static const char zeros[] = "{\"event\":\"jum\0ping\"}\n\0\0\n";
	event_stream_feed(&stream, zeros, sizeof(zeros) - 1);
	assert_nothing(&stream);
	feed(&stream, TRUSTED);
	auto_event struct event event = expect(&stream, EVENT_TRUSTED);
	assert_string_equal(event.boot_id, "b1");
}

static void test_an_endless_line_costs_no_memory_and_ends_with_itself(void **state)
{
	(void)state;
	char block[4096];
	auto_event_stream struct event_stream stream = {0};
	memset(block, '{', sizeof(block));
	for (int i = 0; i < 4096; i++) {
		event_stream_feed(&stream, block, sizeof(block));
		assert_nothing(&stream);
		assert_true(stream.line.capacity <= 2 * CHANNEL_LINE_LIMIT_BYTES);
		assert_true(stream.pending.capacity <= 2 * sizeof(block));
	}
	feed(&stream, "{\"event\":\"jumping\"}\n");
	assert_nothing(&stream);
	feed(&stream, "{\"event\":\"jumping\"}\n");
	expect(&stream, EVENT_JUMPING);
}

static void test_a_whole_payload_is_handed_over_once(void **state)
{
	(void)state;
	static const char payload[] = "{\"runs\":[],\"note\":\"{\\\"event\\\":\\\"trusted\\\"}\"}";
	for (size_t piece = 1; piece <= sizeof(payload); piece++) {
		auto_event_stream struct event_stream stream = {0};
		announce(&stream, payload, strlen(payload));
		expect(&stream, EVENT_SEALING);
		for (size_t at = 0; at < strlen(payload); at += piece) {
			assert_nothing(&stream);
			size_t left = strlen(payload) - at;
			event_stream_feed(&stream, payload + at, left < piece ? left : piece);
		}
		auto_event struct event event = expect(&stream, EVENT_SEALED);
		assert_int_equal(event.length, strlen(payload));
		assert_string_equal(event.payload, payload);
		feed(&stream, "\n" TRUSTED);
		auto_event struct event next = expect(&stream, EVENT_TRUSTED);
		assert_string_equal(next.release, "6.1.0");
	}
}

static void test_a_payload_cut_by_a_reboot_is_damaged_and_the_reboot_is_heard(void **state)
{
	(void)state;
	auto_event_stream struct event_stream stream = {0};
	announce(&stream, "{\"runs\":[1,2,3,4,5,6,7,8,9]}", 28);
	expect(&stream, EVENT_SEALING);
	feed(&stream, "{\"runs\":[1,2");
	assert_nothing(&stream);
	feed(&stream, "\n" TRUSTED);
	auto_event struct event damaged = expect(&stream, EVENT_SEAL_DAMAGED);
	assert_contains(damaged.reason, "12 of 28 bytes");
	auto_event struct event trusted = expect(&stream, EVENT_TRUSTED);
	assert_string_equal(trusted.boot_id, "b1");
}

static void test_a_payload_with_one_wrong_byte_is_damaged(void **state)
{
	(void)state;
	auto_event_stream struct event_stream stream = {0};
	announce(&stream, "{\"value\":1}", 11);
	expect(&stream, EVENT_SEALING);
	feed(&stream, "{\"value\":2}");
	auto_event struct event event = expect(&stream, EVENT_SEAL_DAMAGED);
	assert_contains(event.reason, "wrong");
	assert_null(event.payload);
}

static void test_an_impossible_length_is_refused_before_any_byte_is_kept(void **state)
{
	(void)state;
	static const char *const lengths[] = {"0", "-1", "67108865", "2147483647"};
	for (size_t i = 0; i < array_length(lengths); i++) {
		auto_event_stream struct event_stream stream = {0};
		auto_text struct text line = {0};
		text_printf(&line, "{\"event\":\"sealed\",\"length\":%s,\"sha256\":\"%064d\"}\n",
			    lengths[i], 0);
		feed(&stream, line.data);
		auto_event struct event event = expect(&stream, EVENT_SEAL_DAMAGED);
		assert_contains(event.reason, lengths[i]);
		feed(&stream, "{\"event\":\"jumping\"}\n");
		expect(&stream, EVENT_JUMPING);
	}
}

static void test_a_restart_forgets_the_half_said(void **state)
{
	(void)state;
	auto_event_stream struct event_stream stream = {0};
	announce(&stream, "{\"runs\":[]}", 11);
	expect(&stream, EVENT_SEALING);
	feed(&stream, "{\"ru");
	event_stream_restart(&stream);
	feed(&stream, TRUSTED);
	auto_event struct event event = expect(&stream, EVENT_TRUSTED);
	assert_string_equal(event.boot_id, "b1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_read_whatever_the_pieces_they_come_in),
		cmocka_unit_test(test_noise_between_events_is_skipped),
		cmocka_unit_test(test_an_endless_line_costs_no_memory_and_ends_with_itself),
		cmocka_unit_test(test_a_whole_payload_is_handed_over_once),
		cmocka_unit_test(test_a_payload_cut_by_a_reboot_is_damaged_and_the_reboot_is_heard),
		cmocka_unit_test(test_a_payload_with_one_wrong_byte_is_damaged),
		cmocka_unit_test(test_an_impossible_length_is_refused_before_any_byte_is_kept),
		cmocka_unit_test(test_a_restart_forgets_the_half_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
