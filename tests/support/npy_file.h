// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's files: put together by hand, right or wrong, and as NumPy 2.4 wrote them.
//
//   const std::string array = npy_file("<f4", "(2,)", memory_of<float>({1, 2}));
//   const std::string file = zip_file({{.name = "w.npy", .content = array}});
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/open.h"
#include "src/format/numpy/numpy.h"
#include "tests/support/burnpack_file.h"
#include "tests/support/torch_file.h"
#include "tests/support/zip_writing.h"

namespace andiron::test {

/// An array with any header, in the frame of a version.
inline std::string npy_of_header(std::string_view header, std::string_view data = {},
                                 unsigned major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  file += major == 1 ? little_endian(static_cast<std::uint16_t>(header.size()))
                     : little_endian(static_cast<std::uint32_t>(header.size()));
  file += header;
  file += data;
  return file;
}

/// A header of these values, padded as NumPy 1.0 did.
inline std::string npy_header_of(std::string_view descr, std::string_view shape,
                                 std::string_view fortran_order = "False") {
  std::string header = "{'descr': " + std::string(descr) +
                       ", 'fortran_order': " + std::string(fortran_order) +
                       ", 'shape': " + std::string(shape) + ", }";
  header.append(15 - (10 + header.size()) % 16, ' ');
  return header + '\n';
}

inline std::string npy_file(std::string_view descr, std::string_view shape,
                            std::string_view data = {}, std::string_view fortran_order = "False") {
  return npy_of_header(npy_header_of("'" + std::string(descr) + "'", shape, fortran_order), data);
}

/// Empty arrays, each with a header of 60 KB that deflates to next to nothing.
inline std::string npz_of_long_headers(int arrays) {
  const std::string array =
      npy_of_header(npy_header_of("'<f4'", "(0,)") + std::string(60'000, ' '));
  const std::string stored = deflated(array);
  const ZipLies truth{.crc = crc_of_text(array)};
  ZipWriting npz;
  for (int i = 0; i < arrays; ++i) {
    npz.add({.name = std::to_string(i) + ".npy",
             .content = array,
             .deflate = true,
             .stored = stored,
             .local = truth,
             .directory = truth});
  }
  return npz.finish();
}

inline Result<Archive> open_numpy(std::string_view file, const OpenOptions& options = {}) {
  return detail::read_numpy({source_of(file, "test.npz"), options});
}

inline ErrorCode numpy_error(std::string_view file, const OpenOptions& options = {}) {
  const Result<Archive> archive = open_numpy(file, options);
  EXPECT_FALSE(archive);
  if (archive) return ErrorCode::io;
  EXPECT_EQ(archive.error().file, "test.npz");
  return archive.error().code;
}

/// np.save of np.arange(1, 7, dtype='<f4').reshape(2, 3)
inline std::string np_save_matrix() {
  return from_hex(
      "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a"
      "2046616c73652c20277368617065273a2028322c2033292c207d2020202020202020202020202020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020200a00"
      "00803f0000004000004040000080400000a0400000c040");
}

/// np.save of the same, np.asfortranarray, as big-endian '>i2'
inline std::string np_save_fortran() {
  return from_hex(
      "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f72646572273a"
      "20547275652c20277368617065273a2028322c2033292c207d202020202020202020202020202020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020200a00"
      "0100040002000500030006");
}

/// np.save of np.float64(0.5)
inline std::string np_save_scalar() {
  return from_hex(
      "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f72646572273a"
      "2046616c73652c20277368617065273a2028292c207d202020202020202020202020202020202020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020200a00"
      "0000000000e03f");
}

/// np.savez with w, the first matrix, and W, the booleans True and False
inline std::string np_savez() {
  return from_hex(
      "504b03042d0000000000000021007c9cdea2ffffffffffffffff05001400772e6e70790100100098000000"
      "000000009800000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f72"
      "7472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c2033292c207d2020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
      "202020202020202020200a0000803f0000004000004040000080400000a0400000c040504b03042d000000"
      "000000002100ee19bb5dffffffffffffffff05001400572e6e707901001000820000000000000082000000"
      "00000000934e554d5059010076007b276465736372273a20277c6231272c2027666f727472616e5f6f7264"
      "6572273a2046616c73652c20277368617065273a2028322c292c207d202020202020202020202020202020"
      "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
      "20200a0100504b01022d032d0000000000000021007c9cdea2980000009800000005000000000000000000"
      "0000800100000000772e6e7079504b01022d032d000000000000002100ee19bb5d82000000820000000500"
      "000000000000000000008001cf000000572e6e7079504b0506000000000200020066000000880100000000");
}

/// np.savez_compressed with w, the first matrix, and z, np.zeros((50, 20))
inline std::string np_savez_compressed() {
  return from_hex(
      "504b03042d0000000800000021007c9cdea2ffffffffffffffff05001400772e6e70790100100098000000"
      "0000000058000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f"
      "54529498179f5f94920a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e0686067b06"
      "0606072002e206205e00c4071c00504b03042d000000080000002100624a7fc0ffffffffffffffff050014"
      "007a2e6e707901001000c01f0000000000006b00000000000000edc8310a83401400d1b5f514bffb11b690"
      "8020923a9dc1c6c24a165db10831ec8634e229bcb0e60aa9e77533fba3ad9b2e315fb3eae8e310b412bd4d"
      "a55ad169099fe05efd1246fffb77f78cfefc71766f7ff6a5c8ad5cf3ccca267f4a0d000000000000000000"
      "00003007504b01022d032d0000000800000021007c9cdea258000000980000000500000000000000000000"
      "00800100000000772e6e7079504b01022d032d000000080000002100624a7fc06b000000c01f0000050000"
      "00000000000000000080018f0000007a2e6e7079504b0506000000000200020066000000310100000000");
}

}  // namespace andiron::test
