// error: 'input'
#include "andiron/transfer.h"

struct Net {
  andiron::Param input, output;
  ANDIRON_MODULE(input, output)
};
