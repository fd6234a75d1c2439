// SPDX-License-Identifier: MIT OR Apache-2.0
// Configs: structs that are filled from the values of a checkpoint, and kept as JSON.
//
//   struct NetConfig {
//     std::int64_t classes;             // files must have it
//     double lr = 0.001;                // the default where a file lacks it
//     std::vector<std::string> labels;
//     ANDIRON_CONFIG(NetConfig, classes, lr, labels)
//   };
//
//   NetConfig config = config_from_file<NetConfig>("model.pt", "my_config").value();
//   save_config(config, "config.json").value();
//   NetConfig same = load_config<NetConfig>("config.json").value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/detail/no_throw.h"
#include "andiron/detail/value_reader.h"
#include "andiron/detail/value_writer.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "andiron/store.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// Lists the fields of a config. Put it anywhere inside the struct; the struct stays an aggregate.
/// A field is anything that Value::as() converts to, other configs included.
///
/// For names that differ from the members', write a static function instead:
///
///   static void fields(auto& self, auto&& field) { field("n_head", self.heads); }
#define ANDIRON_CONFIG(Type, ...)                                                     \
  friend struct ::andiron::detail::ConfigAccess;                                      \
  static Type* andiron_config_type();                                                 \
  static constexpr ::std::string_view andiron_config_names() { return #__VA_ARGS__; } \
  auto andiron_config_fields() {                                                      \
    return [&](auto& take) { take(__VA_ARGS__); };                                    \
  }

/// Lists the enumerators of an enum that files contain by name. Put it after the enum, in the same
/// namespace.
///
///   enum class Activation { relu, gelu };
///   ANDIRON_CONFIG_ENUM(Activation, relu, gelu)
#define ANDIRON_CONFIG_ENUM(Type, ...)                                               \
  inline auto andiron_enum(const Type*) {                                            \
    using enum Type;                                                                 \
    return ::std::pair(::std::string_view(#__VA_ARGS__), ::std::array{__VA_ARGS__}); \
  }

/// Names of an enum that are not those of its enumerators. The first name of a value is written.
///
///   template <>
///   struct andiron::EnumNames<Activation> {
///     static constexpr std::pair<std::string_view, Activation> all[] = {
///         {"gelu_new", Activation::gelu}, {"relu", Activation::relu}};
///   };
template <class Enum>
struct EnumNames;

/// How a config is filled.
struct ConfigOptions {
  /// If false, a field of the file that the struct does not list is a ValueMismatch.
  bool allow_unknown = true;
  /// If set, gets a sentence for each field that the struct does not list, and for each member that
  /// keeps its default because the file lacks it.
  std::vector<std::string>* notes = nullptr;
  /// How weight files are opened.
  OpenOptions open = {};
};

namespace detail {
// The part of a file that a key leads to, and what may be made of it.
struct ConfigSource {
  Value value;
  std::string key;
  std::string file;
  ValueReading reading = {};

  static Result<ConfigSource> of_path(const std::string& path, std::string_view key,
                                      const OpenOptions& options);
  static Result<ConfigSource> of_archive(const Archive& archive, std::string_view key);
  static Result<ConfigSource> of_json(const std::string& path);
};
// Tells what was noted, or refuses it.
Status report_notes(const ConfigSource& source, const ConfigOptions& options);
Status save_config_value(const Value& value, const std::string& path);

template <class C>
Result<C> config_of(Result<ConfigSource> source, const ConfigOptions& options) {
  if (!source) return std::move(source).error();
  Result<C> config = convert<C>(source->value, source->key, source->reading);
  Status told = config ? report_notes(*source, options) : Status(std::move(config).error());
  if (told) return config;
  Error error = std::move(told).error();
  error.file = source->file;
  return error;
}
}  // namespace detail

/// Fills a config from the values of a weight file: those below `key`, a path as in Value::at(), or
/// all of them. In formats that keep text alone (SafeTensors), the metadata are the values, and
/// JSON text in them is parsed.
///
/// A member without a value in the file keeps its default. A number, bool or enum without an
/// initializer has none: it must be in the file. Strings, containers and optionals are empty by
/// default.
///
/// Fails with MissingValue or ValueMismatch, which name the place, what was found and what was
/// expected, with LimitExceeded for values that repeat by reference until they take too much
/// memory, and with the errors of open().
template <class C>
Result<C> config_from_file(const std::string& path, std::string_view key = {},
                           const ConfigOptions& options = {}) ANDIRON_NO_THROW {
  return detail::config_of<C>(detail::ConfigSource::of_path(path, key, options.open), options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// The same from a file that is open.
template <class C>
Result<C> config_from(const Archive& archive, std::string_view key = {},
                      const ConfigOptions& options = {}) ANDIRON_NO_THROW {
  return detail::config_of<C>(detail::ConfigSource::of_archive(archive, key), options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// The same from a store. Its top-level key and remapping do not apply: `key` begins at the top of
/// the file.
template <class C>
Result<C> config_from(const Store& store, std::string_view key = {},
                      const ConfigOptions& options = {}) ANDIRON_NO_THROW {
  Result<Archive> file = store.file();
  if (!file) return std::move(file).error();
  return config_from<C>(*file, key, options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// Fills a config from a JSON file. Fails with the errors of parse_json(), of reading the file, and
/// of config_from_file().
template <class C>
Result<C> load_config(const std::string& path, const ConfigOptions& options = {}) ANDIRON_NO_THROW {
  return detail::config_of<C>(detail::ConfigSource::of_json(path), options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// Writes a config as indented JSON. Replaces an existing file; the file appears whole or not at
/// all. Fails with InvalidArgument for NaN and infinity, which JSON lacks, with LimitExceeded for
/// values below max_json_depth levels, and with the errors of AtomicFile.
template <class C>
Status save_config(const C& config, const std::string& path) ANDIRON_NO_THROW {
  return detail::save_config_value(detail::value_of(config), path);
}
ANDIRON_OR_OUT_OF_MEMORY

/// The config as a value tree; to_json() makes text of it.
template <class C>
Value config_to_value(const C& config) {
  return detail::value_of(config);
}

}  // namespace andiron::inline v1
