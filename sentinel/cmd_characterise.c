/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/stats/power.h"
#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/log.h"
#include "sentinel/base/robust.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"
#include "sentinel/conductor.h"
#include "sentinel/judge.h"

enum { DEFAULT_BOOTS = 10, DEFAULT_REBUILDS = 5, LARGEST_BOOTS = 1000 };

/* Steps that people ask about, in percent. */
static const double wanted_percent[] = {1, 2, 5};

/* Retest pairs and boots that see a step of so many percent. */
struct need {
	size_t boots; /* 0: not reachable */
	size_t pairs;
};

struct ability {
	double smallest_percent; /* in one night, with 95 % power */
	struct need needs[array_length(wanted_percent)];
};

static struct power_plan plan_of(const struct policy *policy, size_t series_count, double minimum)
{
	const struct policy_night *night = &policy->night;
	double alpha = night->needless_retests_percent / 100;
	return (struct power_plan){
		.boots = (double)night->boots,
		.pairs = (double)night->retest_pairs,
		.layouts = (double)night->layout_builds,
		.nights = (double)night->window,
		.stage1_alpha = alpha,
		.stage2_alpha =
			verdict_stage2_alpha(night->false_alarms_per_month, series_count, alpha),
		.minimum_effect = minimum,
	};
}

/* What history will know of the series once the window is full. */
static struct power_noise noise_of(const struct policy *policy, const struct store_noise *noise)
{
	double degrees = (double)(policy->night.window * (policy->night.boots - 1));
	return (struct power_noise){
		.deviation = fmax(noise->components.boot, noise->deviation_floor),
		.night = noise->components.group,
		.layout = noise->components.group,
		.degrees = fmax(degrees, noise->components.boot_degrees),
	};
}

static void find_ability(const struct policy *policy, size_t series_count,
			 const struct store_noise *noise, struct ability *ret_ability)
{
	double minimum = judge_minimum_step(policy, noise->series);
	struct power_plan plan = plan_of(policy, series_count, minimum);
	struct power_noise power = noise_of(policy, noise);
	ret_ability->smallest_percent = stats_percent(power_smallest_step(&plan, &power));
	for (size_t i = 0; i < array_length(wanted_percent); i++) {
		double step = log1p(wanted_percent[i] / 100);
		/* A rule that ignores what is below the step itself never sees it. */
		plan.minimum_effect = fmin(minimum, step / 2);
		struct need *need = &ret_ability->needs[i];
		need->boots = power_boots_for(&plan, &power, step, &need->pairs);
	}
}

static void print_component(const char *what, double deviation, double degrees)
{
	if (degrees > 0)
		printf("  %-30s %6.2f %%  (%.0f degrees of freedom)\n", what, 100 * deviation,
		       degrees);
	else
		printf("  %-30s not known: one is too few\n", what);
}

static void print_needs(const struct policy *policy, const struct store_noise *noise,
			const struct ability *ability)
{
	double minimum = judge_minimum_effect_percent(policy, noise->series);
	for (size_t i = 0; i < array_length(wanted_percent); i++) {
		const struct need *need = &ability->needs[i];
		if (!need->boots) {
			printf("  to see %g %% in one night: not reachable: %s\n",
			       wanted_percent[i],
			       noise->components.group > 0 ? "layout noise is in the way"
							   : "boots scatter too much");
			continue;
		}
		printf("  to see %g %% in one night: %zu boots a night, %zu retest pairs",
		       wanted_percent[i], need->boots, need->pairs);
		if (minimum > wanted_percent[i] / 2)
			printf(", and minimum-effect = %g %%", wanted_percent[i] / 2);
		putchar('\n');
	}
}

static void print_series(const struct policy *policy, const struct store_noise *noise,
			 const struct ability *ability)
{
	const struct components *components = &noise->components;
	printf("%s\n", noise->series);
	print_component("within a boot", components->within, components->within_degrees);
	print_component("between boots, as a boot value", components->boot,
			components->boot_degrees);
	print_component("between builds (layout)", components->group, components->group_degrees);
	printf("  one night (%lld boots, %lld retest pairs) sees a step of %.2f %% in 95 of 100 "
	       "cases\n",
	       (long long)policy->night.boots, (long long)policy->night.retest_pairs,
	       ability->smallest_percent);
	print_needs(policy, noise, ability);
}

static json_t *series_json(const struct store_noise *noise, const struct ability *ability)
{
	const struct components *components = &noise->components;
	json_t *needs = json_array();
	for (size_t i = 0; i < array_length(wanted_percent); i++)
		json_array_append_new(needs, json_pack("{s:f, s:b, s:I, s:I}", "step_percent",
						       wanted_percent[i], "reachable",
						       ability->needs[i].boots > 0, "boots",
						       (json_int_t)ability->needs[i].boots, "pairs",
						       (json_int_t)ability->needs[i].pairs));
	return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "series",
			 noise->series, "iterations", components->iterations, "within",
			 components->within, "within_degrees", components->within_degrees, "boot",
			 components->boot, "boot_degrees", components->boot_degrees, "layout",
			 components->group, "layout_degrees", components->group_degrees,
			 "smallest_step_percent", ability->smallest_percent, "needs", needs);
}

/* The series with the middle noise stands for the machine. */
static const struct store_noise *middle(const struct store_noise *noise, size_t count)
{
	auto_free double *boots = memory_array(count, sizeof(*boots));
	for (size_t i = 0; i < count; i++)
		boots[i] = noise[i].components.boot;
	double median = stats_median(boots, count);
	const struct store_noise *nearest = noise;
	for (size_t i = 1; i < count; i++)
		if (fabs(noise[i].components.boot - median) <
		    fabs(nearest->components.boot - median))
			nearest = &noise[i];
	return nearest;
}

/* Command lines with this machine's deviations, at least what the printed number resolves. */
struct simulations {
	char *hunt;
	char *night;
};

static void simulations_free(struct simulations *simulations)
{
	free(simulations->hunt);
	free(simulations->night);
}

static struct simulations simulations_for(const struct policy *policy,
					  const struct store_noise *noise, size_t count)
{
	const struct store_noise *typical = middle(noise, count);
	const struct components *components = &typical->components;
	double within = fmax(components->within, typical->deviation_floor);
	double between = fmax(components->between, typical->deviation_floor);
	return (struct simulations){
		.hunt = text_format("sentinel simulate hunt --within-percent %.3g "
				    "--between-percent %.3g --layout-percent %.3g "
				    "--step-percent %.3g",
				    100 * within, 100 * between, 100 * components->group,
				    fmax(1, judge_minimum_effect_percent(policy, typical->series))),
		.night = text_format("sentinel simulate night --layout-share %.3g",
				     components->group / within),
	};
}

static int print_all(struct context *context, const struct store_characterisation *characterisation,
		     struct error *err)
{
	struct store_noise *noise;
	size_t count;
	if (store_get_noise(context->store, characterisation->id, &noise, &count, err) < 0)
		return -1;
	json_t *array = json_array();
	if (!context->json)
		printf("noise of %s on %s, %lld boots over %lld builds of %s\n",
		       characterisation->tree_name, characterisation->machine,
		       (long long)characterisation->boots, (long long)characterisation->layouts,
		       short_id(characterisation->commit));
	for (size_t i = 0; i < count; i++) {
		struct ability ability;
		find_ability(&context->policy, count, &noise[i], &ability);
		json_array_append_new(array, series_json(&noise[i], &ability));
		if (!context->json)
			print_series(&context->policy, &noise[i], &ability);
	}
	auto_cleanup(simulations_free) struct simulations simulations =
		simulations_for(&context->policy, noise, count);
	store_noise_free(noise, count);
	if (context->json) {
		context_print_json(json_pack("{s:s, s:I, s:I, s:o, s:[s, s]}", "commit",
					     characterisation->commit, "boots",
					     (json_int_t)characterisation->boots, "rebuilds",
					     (json_int_t)characterisation->layouts, "series", array,
					     "simulate", simulations.hunt, simulations.night));
		return 0;
	}
	json_decref(array);
	printf("\nWhat such a machine can promise, by the series with the middle noise:\n  %s\n  "
	       "%s\n",
	       simulations.hunt, simulations.night);
	return 0;
}

static int default_or_revision(struct context *context, const struct arguments *arguments,
			       char ret_commit[static OBJECT_ID_SIZE], struct error *err)
{
	if (arguments->operand_count)
		return context_resolve(context, arguments->operands[0], ret_commit, err);
	if (source_tree_fetch(context->source, err) < 0)
		return -1;
	return source_tree_head(context->source, ret_commit, err);
}

static int number(const struct arguments *arguments, const char *name, int64_t fallback,
		  int64_t most, int64_t *ret_value, struct error *err)
{
	const char *given = argument_value(arguments, name);
	*ret_value = fallback;
	return given ? argument_number(name, given, 1, most, ret_value, err) : 0;
}

/* The unfinished one that asked for the same, or a new one. */
static int begin(struct context *context, const struct store_characterisation *wanted,
		 struct store_characterisation *ret_characterisation, struct error *err)
{
	struct store_characterisation found = {0};
	if (store_get_characterisation(context->store, context->tree->name,
				       context->machine_policy->name, false, &found, err) < 0)
		return -1;
	if (found.id && !found.complete && strcmp(found.commit, wanted->commit) == 0 &&
	    found.boots == wanted->boots && found.layouts == wanted->layouts) {
		*ret_characterisation = found;
		return 0;
	}
	store_characterisation_free(&found);
	*ret_characterisation = *wanted;
	ret_characterisation->tree_name = text_copy(context->tree->name);
	ret_characterisation->machine = text_copy(context->machine_policy->name);
	ret_characterisation->started_seconds = clock_utc_seconds();
	return store_add_characterisation(context->store, ret_characterisation, err);
}

static int show(struct context *context, struct error *err)
{
	auto_cleanup(store_characterisation_free) struct store_characterisation found = {0};
	if (context_open_store(context, err) < 0 ||
	    store_get_characterisation(context->store, context->tree->name,
				       context->machine_policy->name, true, &found, err) < 0)
		return -1;
	if (!found.id)
		return error_set(err, ERROR_USAGE,
				 "tree %s was never characterised on %s; run \"sentinel "
				 "characterise\"",
				 context->tree->name, context->machine_policy->name);
	return print_all(context, &found, err);
}

int cmd_characterise(struct context *context, const struct arguments *arguments, int *ret_exit_code,
		     struct error *err)
{
	(void)ret_exit_code;
	if (argument_value(arguments, "--show"))
		return show(context, err);
	struct store_characterisation wanted = {0};
	auto_cleanup(store_characterisation_free) struct store_characterisation characterisation = {
		0};
	if (number(arguments, "--boots", DEFAULT_BOOTS, LARGEST_BOOTS, &wanted.boots, err) < 0 ||
	    number(arguments, "--rebuilds", DEFAULT_REBUILDS, VERDICT_LAYOUTS_LIMIT,
		   &wanted.layouts, err) < 0)
		return -1;
	if (wanted.layouts > wanted.boots)
		return error_set(err, ERROR_USAGE, "--rebuilds wants no more than --boots");
	if (context_open_for_work(context, err) < 0 || context_open_bench(context, err) < 0 ||
	    default_or_revision(context, arguments, wanted.commit, err) < 0 ||
	    begin(context, &wanted, &characterisation, err) < 0 ||
	    conductor_characterise(context, &characterisation, err) < 0)
		return -1;
	context_tell_time(context);
	return print_all(context, &characterisation, err);
}
