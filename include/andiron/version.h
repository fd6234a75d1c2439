// SPDX-License-Identifier: MIT OR Apache-2.0
// The release. The build reads the number from here.
#pragma once

#define ANDIRON_VERSION "0.1.0"
