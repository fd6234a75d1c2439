// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_pickle_walk_test.cpp
#include "src/format/pytorch/pickle_walk.h"

#include <algorithm>
#include <utility>

#include "src/core/try.h"
#include "src/format/pytorch/dict_keys.h"
#include "src/format/pytorch/python_objects.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = WalkEvent::Kind;

constexpr char attribute_of_tensor[] = "an attribute of a tensor";
constexpr unsigned deepest_wrapping = 16;

bool is_among(const std::vector<std::string_view>& texts, std::optional<std::string_view> text) {
  return text && std::binary_search(texts.begin(), texts.end(), *text);
}

}  // namespace

bool stops_reading(ErrorCode code) noexcept {
  return code == ErrorCode::limit_exceeded || code == ErrorCode::io ||
         code == ErrorCode::out_of_memory || code == ErrorCode::name_collision;
}

PickleWalk::PickleWalk(const PickleDocument& content, TensorResolver resolver,
                       const ScriptClasses& classes, const OpenOptions& options,
                       std::uint64_t most_key_bytes, bool check_all_keys)
    : content_(content),
      graph_(content.graph()),
      resolver_(std::move(resolver)),
      classes_(classes),
      strictness_(options.strictness),
      check_all_keys_(check_all_keys),
      path_(content, options.limits, most_key_bytes),
      key_text_left_(most_key_bytes / 8),
      seen_(graph_.container_count()),
      on_path_(graph_.container_count()),
      repeats_left_(options.limits.pickle_repeats) {
  frames_.emplace_back().kind = Frame::Kind::root;
}

Status PickleWalk::next() {
  event_.emplace();
  Frame& frame = frames_.back();
  if (frame.kind == Frame::Kind::root) {
    frames_.pop_back();
    return visit(graph_.root(), nullptr);
  }
  if (frame.at == PickleItems::Iterator()) {
    if (frame.has_others && !check_all_keys_) {
      // A key that is given twice is a name that is, if both are tensors; this finds the others.
      ANDIRON_ASSIGN(const std::vector<bool> superseded,
                     superseded_pairs(content_, frame.pairs, key_text_left_));
      if (!superseded.empty()) {
        return Error{.code = ErrorCode::name_collision, .message = "a dict has a duplicate key"};
      }
    }
    if (frame.ends) end(frame);
    frames_.pop_back();
    return {};
  }
  path_.cut(frame.path);
  const std::uint32_t number = frame.next++;
  if (frame.kind == Frame::Kind::items) {
    const PickleValue value = *frame.at++;
    set_place(path_.append_index(number, depth_ == 1));
    return visit(value, frame.skip);
  }
  PickleValue key;
  PickleValue value;
  if (frame.kind == Frame::Kind::pairs) {
    key = *frame.at++;
    value = *frame.at++;
  } else {
    const PickleItems pair = graph_.items(*frame.at++);
    key = *pair.begin();
    value = *++pair.begin();
  }
  if (!frame.superseded.empty() && frame.superseded[number]) return {};
  if (frame.is_module_rest && is_module_table(content_, key)) return {};
  const char* skip = frame.skip;
  if (frame.unsaved != nullptr && is_among(*frame.unsaved, content_.text(key))) {
    skip = "a buffer that its module does not save";
  }
  if (frame.script != nullptr && !is_script_state(*frame.script, key, value)) {
    skip = not_in_state_dict;
  }
  const bool is_tensor = resolver_.is_tensor(value);
  frame.has_others |= !is_tensor || key.kind != PickleKind::text;
  ANDIRON_ASSIGN(const std::size_t key_begin, path_.append_key(key, number, depth_ == 1));
  set_place(key_begin);
  return is_tensor ? visit_tensor(value, skip) : visit(value, skip);
}

Status PickleWalk::refuse(Error error) {
  if (error.tensor.empty()) error.tensor = event_->name;
  if (strictness_ != Strictness::lenient || stops_reading(error.code)) return error;
  error.tensor.clear();
  remark_skip(sentence_of(error));
  return {};
}

void PickleWalk::set_place(std::size_t key_begin) {
  event_->name = path_.text();
  event_->key = path_.last(key_begin);
}

Status PickleWalk::visit(PickleValue value, const char* skip) {
  value = without_config_nodes(content_, without_type_tag(content_, value));
  if (resolver_.is_tensor(value)) return visit_tensor(value, skip);
  if (skip == nullptr && is_again(value)) return {};
  if (value.kind == PickleKind::object) return open_object(value, skip);
  if (is_container(value)) {
    const bool is_list = value.kind != PickleKind::dict;
    return begin(value, is_list, skip) ? add_content(value, skip) : Status();
  }
  set_leaf(value, skip);
  return {};
}

Status PickleWalk::visit_tensor(PickleValue value, const char* skip, unsigned wrapped) {
  if (skip != nullptr) {
    // A class by persistent id is no tensor, and no loss.
    if (value.kind == PickleKind::object) remark_skip(skip);
    return {};
  }
  Resolution& resolved = event_->resolved;
  if (Status status = resolver_.resolve(value, resolved); !status) {
    leave_out(skip);
    return refuse(std::move(status).error());
  }
  switch (resolved.kind) {
    case Resolution::Kind::no_tensor:
      set_leaf(value, skip);
      break;
    case Resolution::Kind::skipped:
      remark_skip(std::move(resolved.text));
      leave_out(skip);
      break;
    case Resolution::Kind::taken:
      event_->kind = Kind::tensor;
      ++special_;
      if (!resolved.text.empty()) remark_note(std::move(resolved.text));
      if (!resolved.has_state() || !may_share(resolved.state, attribute_of_tensor)) break;
      return open_state(value, resolved.state, attribute_of_tensor);
    case Resolution::Kind::shell:
      if (resolved.has_state() && may_share(resolved.state, skip)) {
        return visit_shell(value, wrapped);
      }
      leave_out(skip);
      break;
  }
  return {};
}

Status PickleWalk::visit_shell(PickleValue value, unsigned wrapped) {
  const PickleValue state = event_->resolved.state;
  if (event_->resolved.text == "DTensor" && wrapped < deepest_wrapping) {
    if (const auto local = attribute(content_, state, "_local_tensor")) {
      remark_note("this rank's part of a distributed tensor");
      event_->resolved = {};
      return visit_tensor(*local, nullptr, wrapped + 1);
    }
  }
  return open_state(value, state, nullptr);
}

void PickleWalk::set_leaf(PickleValue value, const char* skip) {
  if (skip != nullptr) return;
  event_->kind = Kind::leaf;
  event_->value = value;
}

const ScriptClass* PickleWalk::script_class(PickleValue object) const {
  const PickleValue made_by = graph_.object(object).callable;
  if (made_by.kind != PickleKind::global) return nullptr;
  return classes_.find(graph_.global(made_by));
}

// Tensors of the class's lists, and submodules.
bool PickleWalk::is_script_state(const ScriptClass& script, PickleValue key,
                                 PickleValue value) const {
  value = without_type_tag(content_, value);
  if (resolver_.is_tensor(value)) {
    const auto text = content_.text(key);
    return !script.lists_tensors || (text && script.tensors.contains(*text));
  }
  if (value.kind != PickleKind::object) return !is_container(value);
  const ScriptClass* inner = script_class(value);
  return inner == nullptr || inner->is_module;
}

bool PickleWalk::begin(PickleValue value, bool is_list, const char* skip) {
  const std::size_t number = graph_.container_number(value);
  const bool is_too_deep = depth_ >= max_pickle_depth;
  if (!on_path_[number] && is_too_deep) {
    remark_skip("nested deeper than " + std::to_string(max_pickle_depth) + " levels");
  }
  if (on_path_[number] || is_too_deep || !may_share(value, skip)) {
    leave_out(skip);
    return false;
  }
  on_path_[number] = true;
  ++depth_;
  if (skip == nullptr) event_->kind = is_list ? Kind::enter_list : Kind::enter_dict;
  Frame& frame = add_frame({}, skip);
  frame.ends = true;
  frame.container = number;
  frame.special_before = special_;
  frame.deepest_before = std::exchange(deepest_, depth_);
  return true;
}

void PickleWalk::end(const Frame& frame) {
  const std::size_t levels = deepest_ - depth_ + 1;
  deepest_ = std::max(deepest_, frame.deepest_before);
  on_path_[frame.container] = false;
  --depth_;
  if (frame.skip != nullptr) return;
  event_->kind = Kind::leave;
  if (special_ != frame.special_before) return;
  event_->plain = frame.container;
  if (levels_.empty()) levels_.resize(graph_.container_count());
  levels_[frame.container] = static_cast<std::uint16_t>(levels);
}

bool PickleWalk::is_again(PickleValue value) {
  if (levels_.empty() || (!is_container(value) && value.kind != PickleKind::object)) return false;
  const std::size_t number = graph_.container_number(value);
  const std::size_t levels = levels_[number];
  // Deeper down, it is cut off elsewhere.
  if (levels == 0 || depth_ + levels > max_pickle_depth) return false;
  deepest_ = std::max(deepest_, depth_ + levels);
  event_->kind = Kind::again;
  event_->plain = number;
  return true;
}

bool PickleWalk::may_share(PickleValue value, const char* skip) {
  if (!is_container(value) && value.kind != PickleKind::object) return true;
  const std::size_t number = graph_.container_number(value);
  if (!seen_[number]) {
    seen_[number] = true;
    return true;
  }
  if (skip != nullptr) return false;
  const bool is_keyed = value.kind == PickleKind::dict || value.kind == PickleKind::object;
  const std::uint64_t cost =
      1 + std::uint64_t{graph_.items(value).size()} + (is_keyed ? graph_.pairs(value).size() : 0);
  if (cost <= repeats_left_) {
    repeats_left_ -= cost;
    return true;
  }
  remark_skip("shared by too many names; " +
              Message(Advice::raise_limit, limit_name(&Limits::pickle_repeats)));
  return false;
}

}  // namespace andiron::inline v1::detail
