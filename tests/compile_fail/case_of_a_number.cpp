// error: a Case names a struct
#include "andiron/module.h"

andiron::Case<"Scale", float> scale;
