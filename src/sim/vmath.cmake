# Flags of the vector-math files: each instruction set is one file compiled from the same sources. No FMA anywhere, so
# that results do not depend on the set. -O3, no errno and no observable FP flags are what the compiler needs to make
# vectors of the conversion loops; none of them changes a value.
set(VMATH_COMMON -ffp-contract=off -fno-math-errno -fno-trapping-math $<$<CONFIG:Release>:-O3>)
set(VMATH_DIR ${CMAKE_CURRENT_LIST_DIR})
set(VMATH_SOURCES ${VMATH_DIR}/vmath.c ${VMATH_DIR}/vmath_scan.c ${VMATH_DIR}/convert.c ${VMATH_DIR}/gemm.c
    ${VMATH_DIR}/vmath_generic.c ${VMATH_DIR}/vmath_avx2.c ${VMATH_DIR}/vmath_avx512.c)
set_source_files_properties(${VMATH_SOURCES} PROPERTIES COMPILE_OPTIONS "${VMATH_COMMON}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set_source_files_properties(${VMATH_DIR}/vmath_avx2.c PROPERTIES COMPILE_OPTIONS "${VMATH_COMMON};-mavx2;-mno-fma")
  set_source_files_properties(${VMATH_DIR}/vmath_avx512.c PROPERTIES COMPILE_OPTIONS
      "${VMATH_COMMON};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
endif()
# To link: SLEEF, libm, and dlopen for oneDNN.
set(VMATH_LIBS nk::sleef m ${CMAKE_DL_LIBS})
