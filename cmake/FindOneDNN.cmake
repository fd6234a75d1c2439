# Finds oneDNN by its header and library. The project's own CMake files ask for OpenCL's headers,
# which nothing here needs.
#   OneDNN::OneDNN   the library
find_path(OneDNN_INCLUDE_DIR dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)
if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES
                        IMPORTED_LOCATION "${OneDNN_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
