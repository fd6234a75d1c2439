# Install rules, CMake and pkg-config files for users, and the Debian package.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/andiron)
get_target_property(libraries andiron LINK_LIBRARIES)
get_target_property(nn_libraries andiron_nn LINK_LIBRARIES)
foreach(name re2:RE2::RE2 zlib:ZLIB::ZLIB openssl:OpenSSL::Crypto onednn:OneDNN::OneDNN openmp:OpenMP::OpenMP_CXX)
  string(REGEX MATCH "^([a-z0-9]+):(.*)$" _ ${name})
  set(uses_${CMAKE_MATCH_1} OFF)
  if("${CMAKE_MATCH_2}" IN_LIST libraries OR "${CMAKE_MATCH_2}" IN_LIST nn_libraries)
    set(uses_${CMAKE_MATCH_1} ON)
  endif()
endforeach()

# --- Files

install(TARGETS andiron andiron_view andiron_nn EXPORT andironTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/andiron DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
file(GLOB licences LICENSE*)
install(FILES ${licences} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# --- find_package(andiron)

install(EXPORT andironTargets NAMESPACE andiron:: DESTINATION ${package_dir})
configure_package_config_file(cmake/andironConfig.cmake.in andironConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(andironConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/andironConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/andironConfigVersion.cmake cmake/FindRE2.cmake
              cmake/FindOneDNN.cmake
              cmake/AndironEmbedWeights.cmake cmake/AndironEmbedBytes.cmake
              cmake/AndironConvertWeights.cmake
        DESTINATION ${package_dir})

# --- pkg-config andiron

# The prefix is relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
set(library_flags "")
if(uses_re2)
  string(APPEND library_flags " -lre2")
endif()
if(uses_zlib)
  string(APPEND library_flags " -lz")
endif()
if(uses_openssl)
  string(APPEND library_flags " -lcrypto")
endif()
configure_file(cmake/andiron.pc.in andiron.pc @ONLY)
set(nn_flags "")
if(uses_onednn)
  string(APPEND nn_flags " -ldnnl")
endif()
if(uses_openmp)
  string(APPEND nn_flags " -fopenmp")
endif()
configure_file(cmake/andiron-nn.pc.in andiron-nn.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/andiron.pc ${CMAKE_CURRENT_BINARY_DIR}/andiron-nn.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# --- cpack -G DEB

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME andiron)
set(CPACK_PACKAGE_CONTACT "The Andiron authors <andiron@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Programs link these besides the static library. No tool detects them.
set(needed_packages "")
foreach(name re2:libre2-dev zlib:zlib1g-dev openssl:libssl-dev)
  string(REGEX MATCH "^([a-z0-9]+):(.*)$" _ ${name})
  if(uses_${CMAKE_MATCH_1})
    list(APPEND needed_packages ${CMAKE_MATCH_2})
  endif()
endforeach()
list(JOIN needed_packages ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
# Only programs that link andiron::nn need this.
if(uses_onednn)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdnnl-dev")
endif()
# Detects the shared libraries of the tool.
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPKG_SHLIBDEPS)
if(DPKG_SHLIBDEPS AND TARGET andiron_cli)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
