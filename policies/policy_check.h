/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SENTINEL_POLICIES_POLICY_CHECK_H
#define SENTINEL_POLICIES_POLICY_CHECK_H

#include "policies/policy.h"

/*
 * What one value alone cannot show: names that must exist elsewhere in the policy, placeholders
 * that need a parameter, mail that would leave the host in clear. ERROR_USAGE names section, key
 * and value; the caller adds the file.
 */
int policy_check(const struct policy *policy, struct error *err);

#endif
