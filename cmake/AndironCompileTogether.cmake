# Compiles a target in few, large units where CMAKE_UNITY_BUILD is on, as it is in most presets: a third of the
# time. A unit is a folder, or the files of a large folder whose names begin alike, so that a new file joins a
# unit and changes no other. Names in anonymous namespaces must differ within a unit.

# andiron_compile_together(TARGET [FOLDER ...]): units by the first word of the name in these folders.
function(andiron_compile_together target)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(GET path PARENT_PATH folder)
    string(REPLACE "/" "_" unit "${folder}")
    if(folder IN_LIST ARGN AND path MATCHES "/([a-z]+)_[^/]*$")
      string(APPEND unit "_${CMAKE_MATCH_1}")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
endfunction()
