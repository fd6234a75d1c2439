# andiron_embed_weights runs this script when a program is built. It writes the header and the source
# that give the program the bytes of a file.
#
# cmake -DFILE=path -DNAME=identifier -DNAMESPACE=name -DWAY=assembler|portable
#       -DSOURCE=path.cpp -DHEADER=path.h -P AndironEmbedBytes.cmake
cmake_minimum_required(VERSION 3.22)

file(SIZE "${FILE}" size)
if(size EQUAL 0)
  message(FATAL_ERROR "andiron_embed_weights: ${FILE} is empty; a weight file is never empty")
endif()
get_filename_component(file_name "${FILE}" NAME)
get_filename_component(header_name "${HEADER}" NAME)
set(made_by "Made by andiron_embed_weights; do not edit.")
set(accessor "std::span<const std::byte, ${size}> ${NAME}() noexcept")

set(header "// ${made_by}
#pragma once

#include <cstddef>
#include <span>

namespace ${NAMESPACE} {

/// The bytes of ${file_name}: read-only, aligned to 256, valid as long as the program runs.
${accessor};

}  // namespace ${NAMESPACE}
")
set(written "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" written)
endif()
if(NOT written STREQUAL header)
  file(WRITE "${HEADER}" "${header}")
endif()

if(WAY STREQUAL "assembler")
  # Compiler caches do not see the file. The hash makes the source change when the bytes change.
  file(SHA256 "${FILE}" hash)
  string(SUBSTRING "${hash}" 0 16 hash)
  set(symbol "andiron_embedded_${NAME}_${hash}")
  string(REGEX REPLACE "([\\\\\"])" "\\\\\\1" quoted_file "${FILE}")
  file(WRITE "${SOURCE}" "// ${made_by}
#include \"${header_name}\"

__asm__(
#ifdef __ELF__
    \".pushsection .rodata.${symbol}, \\\"a\\\"\\n\"
    \".type ${symbol}, %object\\n\"
    \".size ${symbol}, ${size}\\n\"
#else
    \".pushsection __TEXT, __const\\n\"
#endif
    \".balign 256\\n\"
    \"${symbol}:\\n\"
    R\"andiron(.incbin \"${quoted_file}\")andiron\" \"\\n\"
    \".popsection\\n\");

extern \"C\" __attribute__((visibility(\"hidden\"))) const std::byte
    ${symbol}[${size}] __asm__(\"${symbol}\");

namespace ${NAMESPACE} {

${accessor} { return ${symbol}; }

}  // namespace ${NAMESPACE}
")
  return()
endif()

# Words instead of bytes: the compiler spends time and memory on each number.
file(WRITE "${SOURCE}" "// ${made_by}
#include \"${header_name}\"

#include <bit>
#include <cstdint>

static_assert(std::endian::native == std::endian::little, \"the words below are little-endian\");

namespace ${NAMESPACE} {
namespace {

alignas(256) constexpr std::uint64_t words[] = {
")
math(EXPR padding "(8 - ${size} % 8) % 8")
string(REPEAT "00" ${padding} padding)
set(chunk 65536)
set(offset 0)
while(offset LESS size)
  file(READ "${FILE}" digits OFFSET ${offset} LIMIT ${chunk} HEX)
  math(EXPR offset "${offset} + ${chunk}")
  if(NOT offset LESS size)
    string(APPEND digits "${padding}")
  endif()
  string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)" "0x\\8\\7\\6\\5\\4\\3\\2\\1,\n"
         words "${digits}")
  file(APPEND "${SOURCE}" "${words}")
endwhile()
file(APPEND "${SOURCE}" "};

}  // namespace

${accessor} { return std::as_bytes(std::span(words)).first<${size}>(); }

}  // namespace ${NAMESPACE}
")
