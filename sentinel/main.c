/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sentinel/base/cleanup.h"
#include "sentinel/base/clock.h"
#include "sentinel/base/interrupt.h"
#include "sentinel/base/log.h"
#include "sentinel/base/text.h"
#include "sentinel/command.h"

static const struct command_option exit_code_options[] = {
	{"--exit-code", NULL, "exit with 1 on a regression or a head that fails", false},
	{0},
};

static const struct command_option compare_options[] = {
	{"--exit-code", NULL, "exit with 1 when there is a regression", false},
	{0},
};

static const struct command_option bisect_options[] = {
	{"--good", "REV", "a revision known to be fast", true},
	{"--bad", "REV", "a later revision known to be slow", true},
	{"--series", "BENCH/CASE/METRIC", "the series to follow, as \"compare\" prints it", true},
	{0},
};

static const struct command_option log_options[] = {
	{"--limit", "N", "how many trials to show (default 50)", false},
	{0},
};

static const struct command_option init_options[] = {
	{"--force", NULL, "replace an existing file", false},
	{"--list", NULL, "write nothing; print every key with type, default and meaning", false},
	{0},
};

static const struct command_option accept_options[] = {
	{"--all", NULL, "accept everything that is open", false},
	{"--night", "N", "the night whose level is the right one from now on", false},
	{"--reason", "TEXT", "why, for those who read the list later", false},
	{"--list", NULL, "accept nothing; print what is open and what was accepted", false},
	{0},
};

static const struct command_option characterise_options[] = {
	{"--boots", "N", "boots in all (default 10)", false},
	{"--rebuilds", "N", "builds with their functions placed differently (default 5)", false},
	{"--show", NULL, "measure nothing; print what was found last", false},
	{0},
};

static const struct command commands[] = {
	{"init", "", 0, 0, "write a commented sentinel.conf",
	 "Writes the file that -c names (sentinel.conf by default), with every section and key "
	 "and\n"
	 "its default, ready to be edited.",
	 init_options, cmd_init},
	{"doctor", "", 0, 0, "say what is missing here, and how to get it",
	 "Checks programs, the configuration, the state folder, the tree, the trusted kernel and "
	 "the\n"
	 "mail server, one line each. Exits with 3 when something that is needed is missing.",
	 NULL, cmd_doctor},
	{"build", "REV", 1, 1, "build and pack one revision",
	 "Checks REV out, configures and builds it, verifies its modules and publishes the "
	 "artifact.\n"
	 "A finished artifact of the same sources, configuration and compiler is taken as it is. "
	 "A\n"
	 "kernel that does not build exits with 1 and shows where its log lies.",
	 NULL, cmd_build},
	{"measure", "REV", 1, 1, "build one revision, boot it once and store its samples",
	 "One trial with the benchmarks of [night]: each call measures one more boot. A kernel "
	 "that\n"
	 "does not build, boot or finish exits with 1.",
	 NULL, cmd_measure},
	{"baseline", "set REV | remeasure | show", 1, 2, "measure or show the pinned kernel",
	 "\"baseline set REV\" measures REV in as many boots as night.baseline-boots says and "
	 "makes\n"
	 "it the baseline of the tree and machine: the first nights are compared with it, and "
	 "later\n"
	 "ones are watched for creeping away from it. Called again it continues what is "
	 "unfinished,\n"
	 "and measures anew when machine, configuration, compiler or benchmarks have changed.\n"
	 "\"baseline remeasure\" adds night.pinned-boots boots of the same kernel; once a month "
	 "is\n"
	 "enough.",
	 NULL, cmd_baseline},
	{"characterise", "[REV]", 0, 1, "measure this machine's noise, and say what it can see",
	 "Boots one kernel (the head of the branch by default) over several builds with their\n"
	 "functions placed differently, and says of each series how much it scatters within a "
	 "boot,\n"
	 "between boots and between builds, which step one night can see, and what it would take "
	 "to\n"
	 "see 1, 2 and 5 %. Nights and hunts use the result while they know little themselves.",
	 characterise_options, cmd_characterise},
	{"judge", "REV", 1, 1, "compare one revision with the baseline, in both stages",
	 "Measures REV, compares it with the baseline, and measures what moved again in fresh\n"
	 "interleaved boots. Exits with 1 on a regression, and when REV does not build, boot or\n"
	 "finish. Hunts nothing, mails nothing.",
	 NULL, cmd_judge},
	{"bisect", "", 0, 0, "find the commit that made a series slower",
	 "Measures both ends anew, searches the history between them, confirms the culprit "
	 "against\n"
	 "its parents, and reverts it on top of the bad end. Called again with the same arguments "
	 "it\n"
	 "continues.",
	 bisect_options, cmd_bisect},
	{"nightly", "", 0, 0, "one whole night: head, verdict, hunt, mail",
	 "Finishes an unfinished night, then fetches the tree, measures its head, judges it "
	 "against\n"
	 "the accepted nights, hunts every new regression and mails the culprits. A head that was\n"
	 "judged already is not measured again. Exits with 4 when mail could not be delivered; "
	 "it\n"
	 "waits.",
	 exit_code_options, cmd_nightly},
	{"accept", "[SERIES]", 0, 1, "accept a step: compare with the new level from now on",
	 "Ends an open regression, or a creep, that is to stay: the level of the night in which "
	 "it\n"
	 "had its present size becomes the one that later nights are compared with.",
	 accept_options, cmd_accept},
	{"history", "[SERIES]", 0, 1, "show what the nights measured, and when a series changed",
	 "All series in short; or every night of one, with what it concluded. Steps are dated by "
	 "a\n"
	 "look at the whole history, afterwards, and so may show what no single night could see.",
	 NULL, cmd_history},
	{"resume", "", 0, 0, "finish what an interruption left behind",
	 "Continues the unfinished baseline, characterisation, nights and hunts, and sends mail "
	 "that\n"
	 "is waiting.",
	 NULL, cmd_resume},
	{"status", "", 0, 0, "show what is going on and what is waiting", "", NULL, cmd_status},
	{"log", "", 0, 0, "list trials, newest first, with the reason of each failure", "",
	 log_options, cmd_log},
	{"compare", "REV REV", 2, 2, "table of two measured revisions",
	 "Change is (1 - c/b) x 100 where lower is better and (c/b - 1) x 100 where higher is "
	 "better:\n"
	 "plus always means better. The deviation is that of boots, in percent of their mean.",
	 compare_options, cmd_compare},
	{"simulate", "hunt | night | creep | power", 1, 1,
	 "see how often Sentinel is right, in worlds made for it",
	 "\"hunt\" plants a step in a history and hunts it on a noisy machine, many times over. "
	 "LIST has\n"
	 "commas; every combination is a cell. Methods: \"sentinel\"; \"a\", git bisect with one "
	 "boot "
	 "a\n"
	 "commit; \"b5\", with five; \"c\", with a sequential test. \"night\" counts false alarms "
	 "where\n"
	 "nothing changes, \"creep\" the nights until a slow change is seen, \"power\" how often a "
	 "step "
	 "is\n"
	 "seen. Needs no configuration.",
	 simulate_options, cmd_simulate},
	{"mail", "test | flush | show [ID]", 1, 2, "try, send or show mail",
	 "\"test\" sends a message to the recipients of [mail], \"flush\" tries what is waiting,\n"
	 "\"show\" lists the queue or prints one message.",
	 NULL, cmd_mail},
};

static const char global_usage[] =
	"usage: sentinel [-c FILE] [--state DIR] [--json] [-v | -q] COMMAND [ARGUMENTS]\n";

static void print_help(void)
{
	printf("%s\nWatches a kernel tree for performance regressions and names the commit.\n\n",
	       global_usage);
	for (size_t i = 0; i < array_length(commands); i++)
		printf("  %-12s %s\n", commands[i].name, commands[i].summary);
	printf("\n  -c FILE      configuration (default: $SENTINEL_CONFIG or ./sentinel.conf)\n"
	       "  --state DIR  where everything learned is kept (default: $SENTINEL_STATE, or the\n"
	       "               folder \"state\" beside the configuration)\n"
	       "  --json       print results as JSON\n"
	       "  -v, -q       say more, say only errors\n"
	       "  --version    print the version\n\n"
	       "Exit codes: 0 done, 1 regression, 2 usage, 3 this host, 4 a peer, 5 stored state,\n"
	       "130 interrupted. \"sentinel COMMAND --help\" explains one command.\n");
}

static void print_command_help(const struct command *command)
{
	printf("usage: sentinel %s%s%s%s\n\n%s\n", command->name, command->operands[0] ? " " : "",
	       command->operands, command->options ? " [OPTIONS]" : "",
	       command->help[0] ? command->help : command->summary);
	for (const struct command_option *option = command->options; option && option->name;
	     option++) {
		auto_free char *form =
			text_format("%s%s%s", option->name, option->argument ? " " : "",
				    option->argument ? option->argument : "");
		printf("%s  %-28s %s%s\n", option == command->options ? "\n" : "", form,
		       option->help, option->required ? " (required)" : "");
	}
}

const char *argument_value(const struct arguments *arguments, const char *name)
{
	for (size_t i = 0; arguments->command->options && arguments->command->options[i].name; i++)
		if (strcmp(arguments->command->options[i].name, name) == 0)
			return arguments->values[i];
	return NULL;
}

int argument_number(const char *name, const char *text, int64_t minimum, int64_t maximum,
		    int64_t *ret_value, struct error *err)
{
	char *end;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	if (errno || *end || end == text || value < minimum || value > maximum)
		return error_set(err, ERROR_USAGE, "%s wants a number from %lld to %lld", name,
				 (long long)minimum, (long long)maximum);
	*ret_value = value;
	return 0;
}

static int unknown_word(const char *what, const char *word, const char *const *known,
			struct error *err)
{
	auto_free char *safe = text_one_line(word, 100);
	const char *nearest = text_nearest(word, known);
	if (nearest)
		return error_set(err, ERROR_USAGE, "unknown %s '%s'; did you mean '%s'?", what,
				 safe, nearest);
	return error_set(err, ERROR_USAGE, "unknown %s '%s'; see sentinel --help", what, safe);
}

static int find_command(const char *name, const struct command **ret_command, struct error *err)
{
	const char *names[array_length(commands) + 1];
	for (size_t i = 0; i < array_length(commands); i++) {
		names[i] = commands[i].name;
		if (strcmp(commands[i].name, name) == 0) {
			*ret_command = &commands[i];
			return 0;
		}
	}
	names[array_length(commands)] = NULL;
	return unknown_word("command", name, names, err);
}

static int unknown_option(const struct command *command, const char *word, struct error *err)
{
	const char *names[array_length(((struct arguments *)0)->values) + 2] = {"--help"};
	for (size_t i = 0; command->options && command->options[i].name; i++)
		names[i + 1] = command->options[i].name;
	return unknown_word("option", word, names, err);
}

/* Reads one option at WORDS[0]; *ret_used says how many words it took. */
static int parse_option(const struct command *command, char **words, struct arguments *arguments,
			int *ret_used, struct error *err)
{
	for (size_t i = 0; command->options && command->options[i].name; i++) {
		const struct command_option *option = &command->options[i];
		size_t length = strlen(option->name);
		if (strncmp(words[0], option->name, length) != 0 ||
		    (words[0][length] != '\0' && words[0][length] != '='))
			continue;
		bool joined = words[0][length] == '=';
		if (!option->argument && joined)
			return error_set(err, ERROR_USAGE, "option %s takes no value",
					 option->name);
		if (option->argument && !joined && !words[1])
			return error_set(err, ERROR_USAGE, "option %s needs a value: %s",
					 option->name, option->argument);
		arguments->values[i] = !option->argument ? ""
				       : joined          ? words[0] + length + 1
							 : words[1];
		*ret_used = option->argument && !joined ? 2 : 1;
		return 0;
	}
	return unknown_option(command, words[0], err);
}

static int check_arguments(const struct arguments *arguments, struct error *err)
{
	const struct command *command = arguments->command;
	if (arguments->operand_count < command->minimum_operands)
		return error_set(err, ERROR_USAGE, "sentinel %s needs %s; see sentinel %s --help",
				 command->name, command->operands, command->name);
	for (size_t i = 0; command->options && command->options[i].name; i++)
		if (command->options[i].required && !arguments->values[i])
			return error_set(err, ERROR_USAGE, "sentinel %s needs %s %s", command->name,
					 command->options[i].name, command->options[i].argument);
	return 0;
}

static int parse_arguments(const struct command *command, char **words,
			   struct arguments *ret_arguments, bool *ret_help, struct error *err)
{
	struct arguments arguments = {.command = command};
	while (*words) {
		int used = 1;
		if (strcmp(*words, "--help") == 0 || strcmp(*words, "-h") == 0) {
			*ret_help = true;
			return 0;
		}
		if (words[0][0] == '-' && words[0][1]) {
			if (parse_option(command, words, &arguments, &used, err) < 0)
				return -1;
		} else if (arguments.operand_count == command->maximum_operands) {
			auto_free char *safe = text_one_line(*words, 100);
			return error_set(err, ERROR_USAGE, "sentinel %s: unexpected argument '%s'",
					 command->name, safe);
		} else {
			arguments.operands[arguments.operand_count++] = *words;
		}
		words += used;
	}
	*ret_arguments = arguments;
	return check_arguments(ret_arguments, err);
}

struct globals {
	bool help;
	bool version;
};

/* Reads the options before the command; *ret_words is left at the command. */
static int parse_globals(char **words, struct context *context, struct globals *globals,
			 char ***ret_words, struct error *err)
{
	static const char *const known[] = {"-c", "--state", "--json",    "-v",
					    "-q", "--help",  "--version", NULL};
	for (; *words && (*words)[0] == '-'; words++) {
		const char *word = *words;
		bool takes_value = strcmp(word, "-c") == 0 || strcmp(word, "--state") == 0;
		if (takes_value && !words[1])
			return error_set(err, ERROR_USAGE, "option %s needs a value", word);
		if (strcmp(word, "-c") == 0)
			context->config_path = *++words;
		else if (strcmp(word, "--state") == 0)
			context->state_option = *++words;
		else if (strcmp(word, "--json") == 0)
			context->json = true;
		else if (strcmp(word, "-v") == 0)
			log_set_level(LOG_DEBUG);
		else if (strcmp(word, "-q") == 0)
			log_set_level(LOG_ERROR);
		else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
			globals->help = true;
		else if (strcmp(word, "--version") == 0)
			globals->version = true;
		else
			return unknown_word("option", word, known, err);
	}
	*ret_words = words;
	return 0;
}

static int run(char **words, struct context *context, int *ret_exit_code, struct error *err)
{
	struct globals globals = {0};
	if (parse_globals(words, context, &globals, &words, err) < 0)
		return -1;
	if (globals.version) {
		printf("sentinel %s\n", SENTINEL_VERSION);
		return 0;
	}
	if (globals.help) {
		print_help();
		return 0;
	}
	if (!*words)
		return error_set(err, ERROR_USAGE, "no command given; see sentinel --help");
	const struct command *command = NULL;
	struct arguments arguments = {0};
	bool help = false;
	if (find_command(*words, &command, err) < 0 ||
	    parse_arguments(command, words + 1, &arguments, &help, err) < 0)
		return -1;
	if (help) {
		print_command_help(command);
		return 0;
	}
	return command->run(context, &arguments, ret_exit_code, err);
}

int main(int argc, char **argv)
{
	(void)argc;
	const char *configured = getenv("SENTINEL_CONFIG");
	struct context context = {.config_path = configured ? configured : "sentinel.conf",
				  .lock = -1,
				  .started_seconds = clock_monotonic_seconds()};
	struct error err = {0};
	int exit_code = 0;
	interrupt_install();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (run(argv + 1, &context, &exit_code, &err) < 0) {
		log_error(&err);
		exit_code = error_exit_code(err.kind);
	}
	context_close(&context);
	return exit_code;
}
