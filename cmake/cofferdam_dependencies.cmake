# Third-party libraries, all from Debian 12. Where a static archive exists it is used: each shared library
# costs `cofferdam run` part of a millisecond at every start.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS json)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
# Shared: only the programs that keep snapshots have them.
find_package(SQLite3 3.37 REQUIRED)
find_package(CURL 7.88 REQUIRED)
find_package(PostgreSQL REQUIRED)

function(cofferdam_static_library target)
  add_library(${target} INTERFACE)
  foreach(name IN LISTS ARGN)
    find_library(${target}_${name} NAMES lib${name}.a REQUIRED)
    target_link_libraries(${target} INTERFACE ${${target}_${name}})
  endforeach()
endfunction()

cofferdam_static_library(idn2_static idn2 unistring)
cofferdam_static_library(psl_static psl idn2 unistring)
cofferdam_static_library(seccomp_static seccomp)
cofferdam_static_library(yaml-cpp yaml-cpp)
