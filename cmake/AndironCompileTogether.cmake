# Compiles a target in few, large units where CMAKE_UNITY_BUILD is on, as it is in most presets: a third of the
# time. A unit is a folder, or the files of a large folder whose names begin alike, so that a new file joins a
# unit and changes no other. Names in anonymous namespaces must differ within a unit.
#
# Units name their sources from the root of the project, where CMake's own name them from the root of the machine:
# so a compiler cache serves every clone. A source with options of its own is compiled alone.

# andiron_compile_together(TARGET [FOLDER ...]): units by the first word of the name in these folders.
function(andiron_compile_together target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  get_target_property(sources ${target} SOURCES)
  set(compiled "")
  set(units "")
  foreach(source IN LISTS sources)
    set(is_alone OFF)
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES GENERATED)
      get_source_file_property(value ${source} ${property})
      if(value)
        set(is_alone ON)
      endif()
    endforeach()
    if(is_alone)
      list(APPEND compiled ${source})
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    string(REPLACE "/" "_" unit "${folder}")
    if(folder IN_LIST ARGN AND path MATCHES "/([a-z0-9]+)_[^/]*$")
      string(APPEND unit "_${CMAKE_MATCH_1}")
    endif()
    string(APPEND ${unit}_includes "#include \"${path}\"\n")
    list(APPEND units ${unit})
    # Changes of it are seen through the unit; it stays in the target for editors and code generators.
    set_source_files_properties(${source} PROPERTIES HEADER_FILE_ONLY ON)
    list(APPEND compiled ${source})
  endforeach()
  list(REMOVE_DUPLICATES units)
  foreach(unit IN LISTS units)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_units/${unit}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${${unit}_includes}" @ONLY)
    list(APPEND compiled ${file})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${compiled})
endfunction()
