# Embeds weight files in programs.
#
#   add_executable(app main.cpp)
#   andiron_embed_weights(app model.bpk)
#
# main.cpp can then use the file, which is in read-only memory:
#
#   #include "embedded/model.h"
#   auto store = andiron::BurnpackStore::from_static(embedded::model());
#
# andiron_embed_weights(TARGET FILE [NAME identifier] [NAMESPACE name[::name...]] [PORTABLE])
#
# The sources of TARGET can include NAMESPACE/NAME.h. This header includes only <cstddef> and <span>,
# and declares
#
#   namespace NAMESPACE { std::span<const std::byte, SIZE> NAME() noexcept; }
#
# The function returns the bytes of FILE, aligned to 256. Burnpack aligns its tensors to 256 too, so
# loaded tensors borrow from these bytes. The name is not visible outside the program or shared library.
#
#   FILE        any file, relative to the current source folder; or to the current binary folder, if a
#               custom command makes it. It is embedded again when it changes.
#   NAME        default: FILE without its folder and last extension, with an underscore for each
#               character that an identifier cannot have (tiny-v1.2.bpk is tiny_v1_2).
#   NAMESPACE   default: embedded.
#   PORTABLE    write the bytes as C++ even if the assembler can include the file. The option
#               ANDIRON_EMBED_PORTABLE does this for all files. Compilers and systems without a
#               suitable assembler always do.
#
# You can call it several times for a target, in the folder that made the target.
#
# With the assembler, size does not matter, but x86-64 programs of 2 GB and more do not link. The
# portable way costs a second or two and 45 MB of compiler memory per megabyte: keep such files to some
# tens of megabytes.

include_guard(GLOBAL)
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)

option(ANDIRON_EMBED_PORTABLE "andiron_embed_weights: never use the assembler" OFF)
mark_as_advanced(ANDIRON_EMBED_PORTABLE)

function(andiron_embed_weights target file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "PORTABLE" "NAME;NAMESPACE" "")
  set(call "andiron_embed_weights(${target} ${file}):")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call} unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call} no value after ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  _andiron_embed_check_target("${call}" ${target})
  _andiron_find_file("${call}" "${file}" path)

  if(NOT DEFINED arg_NAME)
    get_filename_component(stem "${path}" NAME_WLE)
    string(MAKE_C_IDENTIFIER "${stem}" arg_NAME)
  endif()
  if(NOT DEFINED arg_NAMESPACE)
    set(arg_NAMESPACE embedded)
  endif()
  set(full_name "${arg_NAMESPACE}::${arg_NAME}")
  string(REPLACE "::" ";" parts "${full_name}")
  foreach(part IN LISTS parts)
    _andiron_embed_check_identifier("${call}" "${part}")
  endforeach()

  get_target_property(taken ${target} ANDIRON_EMBEDDED)
  if("${full_name}" IN_LIST taken)
    message(FATAL_ERROR "${call} the target already has ${full_name}; choose another NAME")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY ANDIRON_EMBEDDED "${full_name}")

  set(way portable)
  if(NOT arg_PORTABLE AND NOT ANDIRON_EMBED_PORTABLE)
    _andiron_embed_check_assembler()
    if(ANDIRON_EMBED_ASSEMBLER_WORKS)
      set(way assembler)
    endif()
  endif()

  # The header is a byproduct and written only when the size changes. Sources that include it are not
  # compiled again for each change of the bytes.
  set(include_dir "${CMAKE_CURRENT_BINARY_DIR}/andiron_embedded/${target}")
  string(REPLACE "::" "/" name_path "${full_name}")
  set(source "${include_dir}/${name_path}.cpp")
  set(header "${include_dir}/${name_path}.h")
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AndironEmbedBytes.cmake")
  add_custom_command(
    OUTPUT "${source}" BYPRODUCTS "${header}"
    COMMAND "${CMAKE_COMMAND}" "-DFILE=${path}" "-DNAME=${arg_NAME}" "-DNAMESPACE=${arg_NAMESPACE}"
            "-DWAY=${way}" "-DSOURCE=${source}" "-DHEADER=${header}" -P "${script}"
    DEPENDS "${path}" "${script}"
    COMMENT "Embedding ${file} as ${full_name}" VERBATIM)

  target_sources(${target} PRIVATE "${source}" "${header}")
  target_include_directories(${target} PRIVATE "${include_dir}")
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_source_files_properties("${source}" PROPERTIES SKIP_AUTOGEN ON SKIP_LINTING ON
                              SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties("${header}" PROPERTIES SKIP_AUTOGEN ON)
  # Two libraries of a program may each have their own model.
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT MSVC)
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -fvisibility=hidden)
  endif()
  # Link-time optimization does not see the symbols of assembler code.
  if(way STREQUAL "assembler")
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS -fno-lto)
  endif()
endfunction()

# Sources and their properties belong to a folder, so the call must be in that folder.
function(_andiron_embed_check_target call target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${call} there is no target ${target}; call this after add_executable or "
                        "add_library")
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(imported OR aliased OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "${call} ${target} has no sources of its own; name a program or "
                        "library that is built here")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "${call} the target was created in ${folder}; call this there")
  endif()
endfunction()

function(_andiron_find_file call file result)
  get_filename_component(in_source "${file}" ABSOLUTE)
  get_filename_component(in_binary "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  if(in_source MATCHES ";")
    message(FATAL_ERROR "${call} CMake cannot handle a path with a semicolon")
  endif()
  foreach(path IN ITEMS "${in_source}" "${in_binary}")
    get_source_file_property(generated "${path}" GENERATED)
    if(generated OR (EXISTS "${path}" AND NOT IS_DIRECTORY "${path}"))
      set(${result} "${path}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${call} there is no file ${in_source}, and no custom command before this "
                      "call makes ${in_binary}")
endfunction()

function(_andiron_embed_check_identifier call word)
  set(keywords
      alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
      char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
      constinit continue decltype default delete do double dynamic_cast else enum explicit export
      extern false float for friend goto if inline int long mutable namespace new noexcept not
      not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
      return short signed sizeof static static_assert static_cast struct switch template this
      thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
      wchar_t while xor xor_eq)
  if(NOT word MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${call} '${word}' is not a C++ identifier; choose another NAME or "
                        "NAMESPACE")
  endif()
  if(word IN_LIST keywords)
    message(FATAL_ERROR "${call} '${word}' is a C++ keyword; choose another NAME or NAMESPACE")
  endif()
endfunction()

# Works for compilers with GNU assembler syntax, for ELF and Mach-O.
function(_andiron_embed_check_assembler)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  cmake_push_check_state(RESET)
  check_cxx_source_compiles("
#if !defined(__GNUC__) || !(defined(__ELF__) || defined(__MACH__))
#error
#endif
__asm__(\".balign 256\");
" ANDIRON_EMBED_ASSEMBLER_WORKS)
  cmake_pop_check_state()
endfunction()
