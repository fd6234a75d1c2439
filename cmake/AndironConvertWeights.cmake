# Converts weight files when a project is built.
#
#   andiron_convert_weights(INPUT model.pt OUTPUT model.bpk ARGS --top-level-key state_dict)
#
# This runs "andiron convert". Names and layouts stay as they are in the file, unless ARGS has
# --to-layout and --layers with a file of rules, which DEPENDS should name. To load into a typed model
# first, with an adapter and any other setting of a store, name a program of your own:
#
#   add_executable(import_model import_model.cpp)
#   andiron_convert_weights(INPUT model.pt OUTPUT model.bpk PROGRAM import_model)
#
# andiron_convert_weights(INPUT file OUTPUT file
#                         [PROGRAM target] [ARGS argument...] [DEPENDS file|target...] [TARGET name]
#                         [EMBED target [NAME identifier] [NAMESPACE name[::name...]] [PORTABLE]])
#
# The file is converted again when INPUT, the arguments, the program or the tool change. If the
# conversion fails, OUTPUT stays as it was, and the next build tries again.
#
#   INPUT       a weight file, an index of shards or a folder, relative to the current source folder; or
#               to the current binary folder, if a custom command makes it.
#   OUTPUT      relative to the current binary folder. Its extension chooses the format.
#   PROGRAM     an executable target. It is run as "program ARGS... INPUT OUTPUT", and must write one
#               file. It gets a temporary path for OUTPUT, where no file exists.
#   ARGS        options of "andiron convert", such as --include, --sub and --cast; or arguments of
#               PROGRAM. Both run in the current source folder. The result is one file, so
#               --max-shard-size is refused.
#   DEPENDS     what else the conversion reads: the shards of an index, the files of a folder, files
#               in ARGS. Found as INPUT is.
#   TARGET      the name of the target that converts, for add_dependencies. It is part of "all"
#               unless EMBED is there.
#   EMBED       embeds OUTPUT in a target; andiron_embed_weights explains this and the rest. To embed
#               it in more targets, call andiron_embed_weights and add_dependencies for each.
#
# The tool is the target andiron::tool, which find_package(andiron) provides if the tool is installed.
# In a subfolder or with FetchContent, set ANDIRON_CLI to ON first. When you compile for another
# machine, set ANDIRON_TOOL to the path of a tool that runs on this one, or have it in the PATH.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/AndironEmbedWeights.cmake")

set(ANDIRON_TOOL "" CACHE FILEPATH "andiron_convert_weights: the andiron tool to use")
mark_as_advanced(ANDIRON_TOOL)

function(andiron_convert_weights)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PORTABLE"
                        "INPUT;OUTPUT;PROGRAM;TARGET;EMBED;NAME;NAMESPACE" "ARGS;DEPENDS")
  set(call "andiron_convert_weights(INPUT ${arg_INPUT} OUTPUT ${arg_OUTPUT}):")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call} unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(without_value "${arg_KEYWORDS_MISSING_VALUES}")
  list(REMOVE_ITEM without_value ARGS DEPENDS)  # lists may be empty
  if(without_value)
    message(FATAL_ERROR "${call} no value after ${without_value}")
  endif()
  foreach(keyword INPUT OUTPUT)
    if(NOT DEFINED arg_${keyword})
      message(FATAL_ERROR "${call} ${keyword} is missing")
    endif()
  endforeach()
  if(NOT DEFINED arg_EMBED AND (DEFINED arg_NAME OR DEFINED arg_NAMESPACE OR arg_PORTABLE))
    message(FATAL_ERROR "${call} NAME, NAMESPACE and PORTABLE need EMBED")
  endif()

  get_filename_component(input "${arg_INPUT}" ABSOLUTE)
  if(NOT IS_DIRECTORY "${input}")
    _andiron_find_file("${call}" "${arg_INPUT}" input)
  endif()
  get_filename_component(output "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  _andiron_convert_check_output("${call}" "${input}" "${output}")
  get_filename_component(output_folder "${output}" DIRECTORY)
  get_filename_component(output_name "${output}" NAME)

  # CMake drops empty elements of lists, and splits elements at semicolons. It does neither to what
  # generator expressions become later. --sub takes "" to remove a prefix.
  set(arguments "")
  foreach(argument IN LISTS arg_ARGS)
    string(REPLACE ";" "$<SEMICOLON>" argument "${argument}")
    if(argument STREQUAL "")
      set(argument "$<1:>")
    endif()
    list(APPEND arguments "${argument}")
  endforeach()
  if(DEFINED arg_PROGRAM)
    _andiron_convert_check_program("${call}" ${arg_PROGRAM})
    set(converter ${arg_PROGRAM})
    # Whatever the program does, OUTPUT is whole. Its name stays: a program may look at the extension.
    set(draft_folder "${output_folder}/${output_name}.draft")
    set(draft "${draft_folder}/${output_name}")
    set(commands
        COMMAND "${CMAKE_COMMAND}" -E rm -rf "${draft_folder}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${draft_folder}"
        COMMAND ${converter} ${arguments} "${input}" "${draft}"
        COMMAND "${CMAKE_COMMAND}" -E rename "${draft}" "${output}"
        COMMAND "${CMAKE_COMMAND}" -E rm -rf "${draft_folder}")
  else()
    _andiron_convert_check_options("${call}" "${arguments}")
    _andiron_convert_find_tool("${call}" converter)
    set(commands
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${output_folder}"
        COMMAND ${converter} convert ${arguments} "${input}" -o "${output}" --force)
  endif()

  set(dependencies "${input}" ${converter})
  foreach(dependency IN LISTS arg_DEPENDS)
    if(NOT TARGET "${dependency}")
      _andiron_find_file("${call}" "${dependency}" dependency)
    endif()
    list(APPEND dependencies "${dependency}")
  endforeach()

  if(NOT DEFINED arg_TARGET)
    string(MAKE_C_IDENTIFIER "${output_name}" word)
    string(SHA256 hash "${output}")
    string(SUBSTRING "${hash}" 0 8 hash)
    set(arg_TARGET "andiron_convert_${word}_${hash}")
  elseif(TARGET ${arg_TARGET})
    message(FATAL_ERROR "${call} there is a target ${arg_TARGET} already; choose another TARGET")
  endif()

  # Not every build tool runs a command again when its arguments change.
  set(arguments_file "${CMAKE_CURRENT_BINARY_DIR}/andiron_converted/${arg_TARGET}.arguments")
  file(GENERATE OUTPUT "${arguments_file}" CONTENT "${converter};${arguments}\n")

  add_custom_command(
    OUTPUT "${output}" ${commands}
    DEPENDS ${dependencies} "${arguments_file}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "Converting ${arg_INPUT} to ${arg_OUTPUT}" VERBATIM)
  set(all ALL)
  if(DEFINED arg_EMBED)
    set(all "")
  endif()
  add_custom_target(${arg_TARGET} ${all} DEPENDS "${output}")

  if(DEFINED arg_EMBED)
    set(options "")
    foreach(keyword NAME NAMESPACE)
      if(DEFINED arg_${keyword})
        list(APPEND options ${keyword} "${arg_${keyword}}")
      endif()
    endforeach()
    if(arg_PORTABLE)
      list(APPEND options PORTABLE)
    endif()
    andiron_embed_weights(${arg_EMBED} "${output}" ${options})
    # With makefiles, each target has its own rule for the output. Only one may run at a time.
    add_dependencies(${arg_EMBED} ${arg_TARGET})
  endif()
endfunction()

function(_andiron_convert_check_output call input output)
  if(input MATCHES ";" OR output MATCHES ";")
    message(FATAL_ERROR "${call} CMake cannot handle a path with a semicolon")
  endif()
  if(output STREQUAL input)
    message(FATAL_ERROR "${call} OUTPUT is INPUT; choose another OUTPUT")
  endif()
  if(IS_DIRECTORY "${output}")
    message(FATAL_ERROR "${call} OUTPUT is a folder; name a file")
  endif()
  get_property(outputs GLOBAL PROPERTY ANDIRON_CONVERTED)
  if("${output}" IN_LIST outputs)
    message(FATAL_ERROR "${call} another call makes ${output}; choose another OUTPUT")
  endif()
  set_property(GLOBAL APPEND PROPERTY ANDIRON_CONVERTED "${output}")
endfunction()

function(_andiron_convert_check_program call program)
  if(NOT TARGET ${program})
    message(FATAL_ERROR "${call} there is no target ${program}; call this after add_executable")
  endif()
  get_target_property(type ${program} TYPE)
  if(NOT type STREQUAL "EXECUTABLE")
    message(FATAL_ERROR "${call} ${program} is not a program; name a target of add_executable")
  endif()
endfunction()

# The function says where the output goes, and a build waits for one file of that name.
function(_andiron_convert_check_options call arguments)
  foreach(argument IN LISTS arguments)
    if(argument MATCHES "^(-o|--output|--dry-run|--max-shard-size)($|=)")
      message(FATAL_ERROR "${call} ARGS cannot have ${CMAKE_MATCH_1}")
    elseif(argument MATCHES "^-o")
      message(FATAL_ERROR "${call} ARGS cannot have -o")
    endif()
  endforeach()
endfunction()

function(_andiron_convert_find_tool call result)
  set(target_runs_here TRUE)
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(target_runs_here FALSE)
  endif()
  if(ANDIRON_TOOL)
    if(NOT EXISTS "${ANDIRON_TOOL}")
      message(FATAL_ERROR "${call} ANDIRON_TOOL is ${ANDIRON_TOOL}, which does not exist")
    endif()
    set(${result} "${ANDIRON_TOOL}" PARENT_SCOPE)
  elseif(TARGET andiron::tool AND target_runs_here)
    set(${result} andiron::tool PARENT_SCOPE)
  else()
    find_program(tool andiron NO_CACHE)
    if(NOT tool)
      message(FATAL_ERROR "${call} there is no andiron tool; set ANDIRON_CLI to ON before you add "
                          "Andiron, install the tool, or set ANDIRON_TOOL to its path")
    endif()
    set(${result} "${tool}" PARENT_SCOPE)
  endif()
endfunction()
