# The programs: `cofferdam` (what users call, quick to start), `cofferdam-engine` (the same command line with the store's
# libraries), `cofferdam-egress` (one proxy per run) and `cofferdam-init`
# (first process inside a sandbox; static, because nothing of the host may be needed to start it).
set(COFFERDAM_LIBEXEC libexec/cofferdam)

add_executable(cofferdam src/apps/cofferdam_main.cc)
target_link_libraries(cofferdam PRIVATE cofferdam_cli cofferdam_flags)
target_compile_definitions(cofferdam PRIVATE COFFERDAM_VERSION="${PROJECT_VERSION}")

# What the quick program does not use must not be loaded with it.
target_link_options(cofferdam PRIVATE -Wl,--as-needed)

add_executable(cofferdam-engine src/apps/engine_main.cc)
target_link_libraries(cofferdam-engine PRIVATE cofferdam_cli cofferdam_flags)
target_compile_definitions(cofferdam-engine PRIVATE COFFERDAM_VERSION="${PROJECT_VERSION}")

add_executable(cofferdam-egress src/apps/egress_main.cc)
target_link_libraries(cofferdam-egress PRIVATE cofferdam_egress cofferdam_flags Threads::Threads)

if(NOT COFFERDAM_SANITIZE)
  target_link_options(cofferdam PRIVATE -static-libstdc++ -static-libgcc)
  target_link_options(cofferdam-engine PRIVATE -static-libstdc++ -static-libgcc)
  target_link_options(cofferdam-egress PRIVATE -static-libstdc++ -static-libgcc)
endif()

add_subdirectory(src/apps/init)

install(TARGETS cofferdam RUNTIME DESTINATION bin)
install(TARGETS cofferdam-engine cofferdam-egress cofferdam-init RUNTIME DESTINATION ${COFFERDAM_LIBEXEC})
