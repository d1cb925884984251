# Some compilers build coroutines wrongly without a warning (g++ 12.2 destroys temporaries twice or skips
# a switch). We never guess from version numbers: the patterns are run once at configure time.
if(COFFERDAM_FUZZ)
  return()
endif()
try_run(COFFERDAM_COROUTINES_RUN COFFERDAM_COROUTINES_COMPILE
  ${CMAKE_BINARY_DIR}/compiler_probe ${CMAKE_SOURCE_DIR}/tests/unit/async/compiler_coroutine_patterns.cc
  CMAKE_FLAGS -DCMAKE_CXX_STANDARD=23 -DCMAKE_CXX_STANDARD_REQUIRED=ON
  COMPILE_DEFINITIONS -DCOFFERDAM_COMPILER_PROBE_MAIN
  COMPILE_OUTPUT_VARIABLE probe_output)
if(NOT COFFERDAM_COROUTINES_COMPILE OR NOT COFFERDAM_COROUTINES_RUN EQUAL 0)
  message(FATAL_ERROR
    "${CMAKE_CXX_COMPILER} fails the coroutine patterns of tests/unit/async/compiler_coroutine_patterns.cc "
    "(${COFFERDAM_COROUTINES_RUN}). Use clang-19: ./dev setup installs it.\n${probe_output}")
endif()
