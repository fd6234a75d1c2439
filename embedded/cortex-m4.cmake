# SPDX-License-Identifier: MIT OR Apache-2.0
# A Cortex-M4 with a floating-point unit, by GNU's compiler for bare ARM.
#   cmake -S embedded -B build/embedded --toolchain embedded/cortex-m4.cmake
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
# There is no system to link a trial program for.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Sections of their own let the linker leave out what is not called. GCC's note on how arguments were
# passed before version 7 concerns no one here.
set(CMAKE_CXX_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 \
-ffunction-sections -fdata-sections -fno-exceptions -fno-rtti -fno-threadsafe-statics -Wno-psabi")
