// SPDX-License-Identifier: MIT OR Apache-2.0
// The version of the library. The build reads it from here.
#pragma once

#define ANDIRON_VERSION "0.1.0"
