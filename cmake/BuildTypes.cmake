# Compiler settings that hold for every target, and the build types: Release, Debug, Sanitize, Thread.
option(NK_FUZZ "build the fuzzers of fuzz/ (clang only)" OFF)

get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, Sanitize or Thread" FORCE)
endif()
set_property(CACHE CMAKE_BUILD_TYPE PROPERTY STRINGS Release Debug Sanitize Thread)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(nk_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
list(JOIN nk_sanitizers " " nk_sanitizer_flags)

# Without NDEBUG an NK_BUG aborts; with it, it is an ordinary error.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g ${nk_sanitizer_flags}")
set(CMAKE_C_FLAGS_THREAD "-O1 -g -DNDEBUG -fsanitize=thread")
foreach(kind IN ITEMS EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_THREAD -fsanitize=thread)
  set(CMAKE_${kind}_LINKER_FLAGS_SANITIZE "${nk_sanitizer_flags}")
endforeach()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror)
# gcc sees uninitialised variables that are not there once the sanitizers have rewritten the code.
add_compile_options($<$<AND:$<CONFIG:Sanitize,Thread>,$<C_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
# One rounding per operation on every machine: results must not depend on where the compiler finds an FMA.
add_compile_options(-ffp-contract=off)
# POSIX.1-2008 and mmap flags, which -std=c11 hides, and 64-bit file offsets.
add_compile_definitions(_DEFAULT_SOURCE= _FILE_OFFSET_BITS=64)

if(NK_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NK_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link ${nk_sanitizers})
  add_link_options(${nk_sanitizers})
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
