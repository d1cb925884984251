# Compiler, warnings, hardening and sanitizers: every target of this project gets them.
include(CTest)

option(COFFERDAM_FUZZ "Build the libFuzzer targets instead of the tests" OFF)
option(COFFERDAM_BENCH "Build the benchmark helpers" OFF)
set(COFFERDAM_SANITIZE "" CACHE STRING "Value of -fsanitize=, empty for none")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

add_library(cofferdam_flags INTERFACE)
target_compile_options(cofferdam_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wthread-safety -Wswitch-enum -Wundef -Wunused-result -Werror
  # Members left out of a designated initialiser take the default that their type names.
  -Wno-missing-designated-field-initializers)
target_compile_definitions(cofferdam_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE _GLIBCXX_ASSERTIONS)

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Sections let the linker drop what a program does not use: start-up time is a feature of `run`.
  target_compile_options(cofferdam_flags INTERFACE
    -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -ftrivial-auto-var-init=zero -ffunction-sections -fdata-sections -fvisibility=hidden)
  add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,--gc-sections)
endif()
if(COFFERDAM_SANITIZE)
  # vptr: its run time opens a pipe to see whether memory can be read, and calls a sound object broken when there is no
  # descriptor left, which is what some tests are about.
  add_compile_options(-fsanitize=${COFFERDAM_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${COFFERDAM_SANITIZE})
endif()
if(COFFERDAM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
