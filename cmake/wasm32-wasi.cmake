# WebAssembly with WASI: the distribution's clang, wasi-libc and libc++ (scripts/setup wasm).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(CMAKE_CXX_COMPILER NAMES clang++-19 clang++-22 clang++-21 clang++-20 clang++-18
                                      clang++-17 clang++-16 clang++)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
# What every browser and node know since 2021.
set(CMAKE_CXX_FLAGS_INIT "-mbulk-memory -msign-ext -mnontrapping-fptoint -fno-threadsafe-statics")
# Where the linker is told to optimize, clang runs wasm-opt, also on tests; web/ runs it by itself.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-O0")
# What lies in the host's folders is for the host.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE NEVER)
