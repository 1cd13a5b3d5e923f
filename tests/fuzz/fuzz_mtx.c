#include "harness.h"

const char fuzzed_format[] = "mtx";
