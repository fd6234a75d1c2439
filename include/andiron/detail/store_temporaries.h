// SPDX-License-Identifier: MIT OR Apache-2.0
// The builders of store_builder.h for temporaries. They return by value, so that `auto& store =
// SafetensorsStore::from_file(path).zero_copy();` does not compile instead of dangling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/store_builder.h"

namespace andiron::inline v1::detail {

// Adds the && overload of every builder.
template <class Self>
class StoreTemporaries : public StoreBuilder<Self> {
  using Builder = StoreBuilder<Self>;

 public:
  using Builder::allow_partial;
  using Builder::allow_unused;
  using Builder::apply;
  using Builder::auto_extension;
  using Builder::based_on;
  using Builder::choose_variants;
  using Builder::clear_metadata;
  using Builder::dtype_policy;
  using Builder::edit_tensors;
  using Builder::exclude_full_path;
  using Builder::exclude_glob;
  using Builder::exclude_predicate;
  using Builder::exclude_regex;
  using Builder::filter;
  using Builder::fold_weight_norm;
  using Builder::in_place;
  using Builder::io;
  using Builder::join_tensors;
  using Builder::limits;
  using Builder::map_indices_contiguous;
  using Builder::map_indices_contiguous_except;
  using Builder::match_all;
  using Builder::max_shard_bytes;
  using Builder::metadata;
  using Builder::overwrite;
  using Builder::progress;
  using Builder::remap;
  using Builder::search_proposals;
  using Builder::skip_enum_variants;
  using Builder::split_tensors;
  using Builder::strictness;
  using Builder::sync;
  using Builder::transpose_tensors;
  using Builder::validate;
  using Builder::verify;
  using Builder::with_from_adapter;
  using Builder::with_full_path;
  using Builder::with_full_paths;
  using Builder::with_glob;
  using Builder::with_key_remapping;
  using Builder::with_predicate;
  using Builder::with_predicates;
  using Builder::with_regex;
  using Builder::with_regexes;
  using Builder::with_to_adapter;
  using Builder::with_top_level_key;
  using Builder::write_ties_once;
  using Builder::zero_copy;

  Self filter(const PathFilter& value) && { return std::move(filter(value)); }
  Self with_regex(std::string_view pattern) && { return std::move(with_regex(pattern)); }
  Self with_regexes(const std::vector<std::string>& all) && { return std::move(with_regexes(all)); }
  Self with_glob(std::string_view pattern) && { return std::move(with_glob(pattern)); }
  Self with_full_path(const std::string& path) && { return std::move(with_full_path(path)); }
  Self with_full_paths(const std::vector<std::string>& all) && {
    return std::move(with_full_paths(all));
  }
  Self with_predicate(const PathFilter::Predicate& one) && {
    return std::move(with_predicate(one));
  }
  Self with_predicates(const std::vector<PathFilter::Predicate>& all) && {
    return std::move(with_predicates(all));
  }
  Self match_all() && { return std::move(match_all()); }
  Self exclude_regex(std::string_view pattern) && { return std::move(exclude_regex(pattern)); }
  Self exclude_full_path(const std::string& path) && { return std::move(exclude_full_path(path)); }
  Self exclude_predicate(const PathFilter::Predicate& one) && {
    return std::move(exclude_predicate(one));
  }
  Self exclude_glob(std::string_view pattern) && { return std::move(exclude_glob(pattern)); }
  Self with_key_remapping(std::string_view from, std::string to) && {
    return std::move(with_key_remapping(from, std::move(to)));
  }
  Self remap(KeyRemapper remapper) && { return std::move(remap(std::move(remapper))); }
  Self with_top_level_key(std::string key) && {
    return std::move(with_top_level_key(std::move(key)));
  }
  Self split_tensors(std::string pattern, std::vector<std::string> parts, std::size_t dim = 0,
                     std::vector<std::uint64_t> shares = {}) && {
    return std::move(split_tensors(std::move(pattern), std::move(parts), dim, std::move(shares)));
  }
  Self join_tensors(std::string pattern, std::vector<std::string> others, std::string whole,
                    std::size_t dim = 0) && {
    return std::move(join_tensors(std::move(pattern), std::move(others), std::move(whole), dim));
  }
  Self transpose_tensors(std::string pattern) && {
    return std::move(transpose_tensors(std::move(pattern)));
  }
  Self edit_tensors(TensorEdit edit) && { return std::move(edit_tensors(std::move(edit))); }
  Self apply(const Proposal& proposal) && { return std::move(apply(proposal)); }
  Self search_proposals(bool search = true) && { return std::move(search_proposals(search)); }
  Self fold_weight_norm(bool fold = true) && { return std::move(fold_weight_norm(fold)); }
  Self map_indices_contiguous(bool map = true) && { return std::move(map_indices_contiguous(map)); }
  Self map_indices_contiguous_except(std::string text) && {
    return std::move(map_indices_contiguous_except(std::move(text)));
  }
  Self skip_enum_variants(bool skip = true) && { return std::move(skip_enum_variants(skip)); }
  Self choose_variants(bool choose) && { return std::move(choose_variants(choose)); }
  Self with_from_adapter(AnyAdapter adapter) && {
    return std::move(with_from_adapter(std::move(adapter)));
  }
  Self with_to_adapter(AnyAdapter adapter) && {
    return std::move(with_to_adapter(std::move(adapter)));
  }
  Self dtype_policy(DTypePolicy policy) && { return std::move(dtype_policy(policy)); }
  Self zero_copy(bool borrow = true) && { return std::move(zero_copy(borrow)); }
  Self allow_partial(bool allow = true) && { return std::move(allow_partial(allow)); }
  Self validate(bool value) && { return std::move(validate(value)); }
  Self allow_unused(bool allow) && { return std::move(allow_unused(allow)); }
  Self in_place(bool value = true) && { return std::move(in_place(value)); }
  Self based_on(const Store& loaded) && { return std::move(based_on(loaded)); }
  Self metadata(std::string key, std::string value) && {
    return std::move(metadata(std::move(key), std::move(value)));
  }
  Self clear_metadata() && { return std::move(clear_metadata()); }
  Self overwrite(bool value = true) && { return std::move(overwrite(value)); }
  Self auto_extension(bool add = true) && { return std::move(auto_extension(add)); }
  Self sync(bool value) && { return std::move(sync(value)); }
  Self write_ties_once(bool once = true) && { return std::move(write_ties_once(once)); }
  Self max_shard_bytes(std::uint64_t bytes) && { return std::move(max_shard_bytes(bytes)); }
  Self progress(const Progress& value) && { return std::move(progress(value)); }
  Self limits(const Limits& value) && { return std::move(limits(value)); }
  Self io(IoMode mode) && { return std::move(io(mode)); }
  Self strictness(Strictness value) && { return std::move(strictness(value)); }
  Self verify(bool value = true) && { return std::move(verify(value)); }

 protected:
  using Builder::Builder;
};

}  // namespace andiron::inline v1::detail
