// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_structure_test.cpp
#include "src/format/pytorch/structure.h"

#include <algorithm>
#include <span>

#include "src/core/try.h"
#include "src/format/pytorch/dict_keys.h"
#include "src/format/pytorch/name_path.h"
#include "src/format/pytorch/python_objects.h"

namespace andiron::inline v1::detail {
namespace {

constexpr char not_in_state_dict[] = "an attribute of a module, not part of its state_dict";
constexpr char attribute_of_tensor[] = "an attribute of a tensor";
constexpr unsigned deepest_wrapping = 16;

// What a container still has to show. Several frames in a row may belong to one container.
struct Frame {
  PickleItems::Iterator at;
  enum class Kind : std::uint8_t { items, pairs, pair_items } kind = Kind::items;
  std::uint32_t next = 0;                 // number of the next item or pair
  std::size_t path = 0;                   // length of the container's own name
  const char* skip = nullptr;             // why tensors here are not taken
  PickleItems pairs;                      // all that there were
  bool has_others = false;                // values that are no tensors
  std::vector<bool> superseded;           // pairs that do not count
  bool is_module_rest = false;            // a module's attributes besides its tables
  std::vector<std::string_view> unsaved;  // names that are skipped, sorted
  const ScriptClass* script = nullptr;
  // The frame that was there first ends the container.
  bool ends = false;
  std::size_t container = 0;
};

class Walk {
 public:
  Walk(const PickleContent& content, TensorResolver& resolver, ScriptClasses* classes,
       const OpenOptions& options, bool check_all_keys, StructureVisitor& visitor)
      : content_(content),
        graph_(content.graph()),
        resolver_(resolver),
        classes_(classes),
        lenient_(options.strictness == Strictness::lenient),
        check_all_keys_(check_all_keys),
        visitor_(visitor),
        path_(content, options.limits),
        seen_(graph_.container_count()),
        on_path_(graph_.container_count()),
        repeats_left_(options.limits.pickle_repeats) {}

  Status run() {
    ANDIRON_TRY(visit(graph_.root(), 0, nullptr));
    while (!frames_.empty()) ANDIRON_TRY(step());
    return {};
  }

 private:
  Status step() {
    Frame& frame = frames_.back();
    if (frame.at == PickleItems::Iterator()) {
      if (frame.has_others && !check_all_keys_) ANDIRON_TRY(check_keys(frame.pairs));
      if (frame.ends) end(frame);
      frames_.pop_back();
      return {};
    }
    path_.cut(frame.path);
    const std::uint32_t number = frame.next++;
    if (frame.kind == Frame::Kind::items) {
      const PickleValue value = *frame.at++;
      return visit(value, path_.append_index(number, depth_ == 1), frame.skip);
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
    if (!frame.unsaved.empty() && is_among(frame.unsaved, key)) {
      skip = "a buffer that its module does not save";
    }
    if (frame.script != nullptr && !is_script_state(*frame.script, key, value)) {
      skip = not_in_state_dict;
    }
    const bool is_tensor = resolver_.is_tensor(value);
    frame.has_others |= !is_tensor || key.kind != PickleKind::text;
    ANDIRON_ASSIGN(const std::size_t name, path_.append_key(key, number, depth_ == 1));
    return is_tensor ? visit_tensor(value, name, skip) : visit(value, name, skip);
  }

  // A key that is given twice is a name that is, if both are tensors; this finds the others.
  Status check_keys(PickleItems pairs) const {
    ANDIRON_ASSIGN(const std::vector<bool> superseded, superseded_pairs(content_, pairs));
    if (superseded.empty()) return {};
    return Error{.code = ErrorCode::name_collision, .message = "a dict has a key twice"};
  }

  // `key` is where the last step of the name begins in path_.
  Status visit(PickleValue value, std::size_t key, const char* skip) {
    value = without_type_tag(content_, value);
    if (resolver_.is_tensor(value)) return visit_tensor(value, key, skip);
    if (value.kind == PickleKind::object) return visit_object(value, key, skip);
    if (is_container(value)) return open_container(value, key, skip);
    return skip == nullptr ? visitor_.leaf(path_.last(key), value) : Status();
  }

  Status visit_tensor(PickleValue value, std::size_t key, const char* skip, unsigned wrapped = 0) {
    if (skip != nullptr) {
      // A class by persistent id is no tensor, and no loss.
      if (value.kind == PickleKind::object) visitor_.skip(path_.text(), skip);
      return {};
    }
    class Sink : public PartSink {
     public:
      Sink(Walk& walk, std::string_view key) : walk_(walk), key_(key) {}
      Status take(std::string_view part, const TorchTensor& tensor) override {
        return walk_.visitor_.tensor(walk_.path_.text(), key_, part, tensor);
      }

     private:
      Walk& walk_;
      std::string_view key_;
    } sink(*this, path_.last(key));
    Result<Resolution> resolved = resolver_.resolve(value, sink);
    if (!resolved) return refused(std::move(resolved).error(), key);
    if (resolved->note) visitor_.note(path_.text(), *resolved->note);
    switch (resolved->kind) {
      case Resolution::Kind::no_tensor:
        return visitor_.leaf(path_.last(key), value);
      case Resolution::Kind::skipped:
        visitor_.skip(path_.text(), *resolved->text);
        return leave_out(key, skip);
      case Resolution::Kind::taken:
        if (!resolved->has_state() || !may_share(resolved->state, attribute_of_tensor)) return {};
        return open_state(value, resolved->state, key, attribute_of_tensor);
      case Resolution::Kind::shell:
        if (!resolved->has_state() || !may_share(resolved->state, skip))
          return leave_out(key, skip);
        return visit_shell(value, *resolved, key, wrapped);
    }
    return {};
  }

  // A tensor that cannot be: in a lenient reading the others still count.
  Status refused(Error error, std::size_t key) {
    if (error.tensor.empty()) error.tensor = path_.text();
    if (!lenient_ || stops_reading(error.code)) return error;
    error.tensor.clear();
    visitor_.skip(path_.text(), error.description());
    return leave_out(key, nullptr);
  }

  Status visit_shell(PickleValue value, const Resolution& shell, std::size_t key,
                     unsigned wrapped) {
    if (shell.text && *shell.text == "DTensor" && wrapped < deepest_wrapping) {
      if (const auto local = attribute(content_, shell.state, "_local_tensor")) {
        visitor_.note(path_.text(), "this rank's part of a distributed tensor");
        return visit_tensor(*local, key, nullptr, wrapped + 1);
      }
    }
    return open_state(value, shell.state, key, nullptr);
  }

  Status visit_object(PickleValue value, std::size_t key, const char* skip) {
    const PickleObject& object = graph_.object(value);
    const std::span<const PickleValue> args = content_.args(value);
    if (!may_look_into(value, skip)) return leave_out(key, skip);
    if (const auto state = module_state(content_, value)) {
      // A part of the state, or of the arguments, others may have as well.
      const bool is_part = content_.state(value) != state;
      if (is_part && !may_share(*state, skip)) return leave_out(key, skip);
      return begin(value, key, skip, false) ? add_module(*state, skip) : Status();
    }
    switch (content_.callable_of(value)) {
      case Callable::sequence_class:
        if (!begin(value, key, skip, true)) return {};
        add_items(graph_.items(value), skip);
        if (!args.empty() && is_container(args[0]) && may_share(args[0], skip)) {
          add_items(graph_.items(args[0]), skip);
        }
        return {};
      case Callable::dict_class:
        if (!begin(value, key, skip, false)) return {};
        ANDIRON_TRY(add_states(value, skip != nullptr ? skip : "an attribute of a dict"));
        ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
        return args.empty() ? Status() : add_dict_argument(args[0], skip);
      case Callable::reconstructor:
        if (!begin(value, key, skip, false)) return {};
        ANDIRON_TRY(add_states(value, skip));
        ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
        add_items(graph_.items(value), skip);
        if (args.size() < 3 || !may_share(args[2], skip)) return {};
        return add_content(args[2], skip);
      default:
        break;
    }
    if (is_plain_call(content_, value)) {
      return skip == nullptr ? visitor_.leaf(path_.last(key), value) : Status();
    }
    if (!begin(value, key, skip, false)) return {};
    if (const ScriptClass* script = script_class(object)) {
      if (const auto state = content_.state(value); state && state->kind == PickleKind::dict) {
        if (script->is_module) return add_script_module(*state, *script, skip);
      }
    }
    ANDIRON_TRY(add_states(value, skip));
    ANDIRON_TRY(add_pairs(graph_.pairs(value), skip));
    add_items(graph_.items(value), skip);
    if (object.kwargs.kind == PickleKind::dict && may_share(object.kwargs, skip)) {
      ANDIRON_TRY(add_pairs(graph_.pairs(object.kwargs), skip));
    }
    if (object.args.kind != PickleKind::tuple) return {};
    const bool has_class = content_.callable_of(value) == Callable::new_object;
    add_items(graph_.items(object.args), skip, has_class);
    return {};
  }

  const ScriptClass* script_class(const PickleObject& object) const {
    if (classes_ == nullptr || object.callable.kind != PickleKind::global) return nullptr;
    return classes_->find(graph_.global(object.callable));
  }

  // Tensors of the class's lists, and submodules.
  bool is_script_state(const ScriptClass& script, PickleValue key, PickleValue value) const {
    value = without_type_tag(content_, value);
    if (resolver_.is_tensor(value)) {
      const auto text = content_.text(key);
      return !script.lists_tensors || (text && script.tensors.contains(*text));
    }
    if (value.kind != PickleKind::object) return !is_container(value);
    const ScriptClass* inner = script_class(graph_.object(value));
    return inner == nullptr || inner->is_module;
  }

  bool is_among(const std::vector<std::string_view>& texts, PickleValue value) const {
    const auto text = content_.text(value);
    return text && std::binary_search(texts.begin(), texts.end(), *text);
  }

  // Enters a container, unless it lies within itself, too deep, or was seen too often.
  bool begin(PickleValue value, std::size_t key, const char* skip, bool is_list) {
    const std::size_t number = graph_.container_number(value);
    if (!may_begin(value, skip)) {
      static_cast<void>(leave_out(key, skip));
      return false;
    }
    on_path_[number] = true;
    ++depth_;
    if (skip == nullptr) visitor_.enter(path_.last(key), is_list);
    Frame frame;
    frame.path = path_.size();
    frame.skip = skip;
    frame.ends = true;
    frame.container = number;
    frames_.push_back(std::move(frame));
    return true;
  }

  bool may_begin(PickleValue value, const char* skip) {
    if (on_path_[graph_.container_number(value)]) return false;
    if (depth_ >= max_pickle_depth) {
      visitor_.skip(path_.text(),
                    "nested deeper than " + std::to_string(max_pickle_depth) + " levels");
      return false;
    }
    return may_share(value, skip);
  }

  // What is not walked has its place all the same.
  Status leave_out(std::size_t key, const char* skip) {
    return skip == nullptr ? visitor_.leaf(path_.last(key), PickleValue()) : Status();
  }

  void end(const Frame& frame) {
    on_path_[frame.container] = false;
    --depth_;
    if (frame.skip == nullptr) visitor_.leave();
  }

  // Whether the content of a container is looked into. What several names share is walked for each
  // of them, up to a number of steps in all; what is not taken anyway is walked once.
  bool may_share(PickleValue value, const char* skip) {
    if (!is_container(value) && value.kind != PickleKind::object) return true;
    const std::size_t number = graph_.container_number(value);
    if (!seen_[number]) {
      seen_[number] = true;
      return true;
    }
    if (skip != nullptr) return false;
    const std::uint64_t cost = 1 + std::uint64_t{graph_.items(value).size()} +
                               (is_keyed(value) ? graph_.pairs(value).size() : 0);
    if (cost <= repeats_left_) {
      repeats_left_ -= cost;
      return true;
    }
    visitor_.skip(path_.text(), "shared by more names than are followed (Limits::pickle_repeats)");
    return false;
  }

  // The arguments and states of an object, which others may have as well.
  bool may_look_into(PickleValue object, const char* skip) {
    if (on_path_[graph_.container_number(object)]) return false;
    if (!content_.args(object).empty() && !may_share(graph_.object(object).args, skip))
      return false;
    const PickleItems states = graph_.states(object);
    return std::all_of(states.begin(), states.end(),
                       [&](PickleValue state) { return may_share(state, skip); });
  }

  static bool is_keyed(PickleValue value) {
    return value.kind == PickleKind::dict || value.kind == PickleKind::object;
  }

  Frame frame_here(PickleItems items, const char* skip) const {
    Frame frame;
    frame.at = items.begin();
    frame.path = path_.size();
    frame.skip = skip;
    return frame;
  }

  // Frames are worked off from the last one on.
  void add_items(PickleItems items, const char* skip, bool leave_out_first = false) {
    if (items.empty()) return;
    Frame frame = frame_here(items, skip);
    if (leave_out_first) ++frame.at;
    frames_.push_back(std::move(frame));
  }

  Status add_pairs(PickleItems pairs, const char* skip) {
    if (pairs.empty()) return {};
    Frame frame = frame_here(pairs, skip);
    frame.kind = Frame::Kind::pairs;
    frame.pairs = pairs;
    if (check_all_keys_) {
      ANDIRON_ASSIGN(frame.superseded, superseded_pairs(content_, pairs));
    }
    frames_.push_back(std::move(frame));
    return {};
  }

  // What a container was made of: a dict's pairs, or a list's items.
  Status add_content(PickleValue value, const char* skip) {
    if (value.kind == PickleKind::dict) return add_pairs(graph_.pairs(value), skip);
    if (is_container(value)) add_items(graph_.items(value), skip);
    return {};
  }

  // What a dict is made of: another one, or, in Python 2, a list of pairs.
  Status add_dict_argument(PickleValue value, const char* skip) {
    if (!may_share(value, skip)) return {};
    if (value.kind == PickleKind::dict) return add_pairs(graph_.pairs(value), skip);
    if (!is_container(value)) return {};
    const PickleItems items = graph_.items(value);
    const bool are_pairs = std::all_of(items.begin(), items.end(), [&](PickleValue item) {
      return is_container(item) && item.kind != PickleKind::dict && graph_.items(item).size() == 2;
    });
    if (!are_pairs || items.empty()) return {};
    frames_.push_back(frame_here(items, skip));
    frames_.back().kind = Frame::Kind::pair_items;
    return {};
  }

  Status add_states(PickleValue object, const char* skip) {
    for (const PickleValue state : graph_.states(object)) ANDIRON_TRY(add_state(state, skip));
    return {};
  }

  // Attributes: a dict, or (dict or None, dict of slots); anything else by index.
  Status add_state(PickleValue state, const char* skip) {
    if (!is_state_with_slots(content_, state)) return add_content(state, skip);
    const auto parts = graph_.tuple(state);
    if (may_share(parts[1], skip)) ANDIRON_TRY(add_content(parts[1], skip));
    return may_share(parts[0], skip) ? add_content(parts[0], skip) : Status();
  }

  Status open_state(PickleValue value, PickleValue state, std::size_t key, const char* skip) {
    if (!begin(value, key, skip, false)) return {};
    return add_state(state, skip);
  }

  Status open_container(PickleValue value, std::size_t key, const char* skip) {
    const bool is_dict = value.kind == PickleKind::dict;
    if (!begin(value, key, skip, !is_dict)) return {};
    return add_content(value, skip);
  }

  Status add_module(PickleValue state, const char* skip) {
    ANDIRON_TRY(add_pairs(graph_.pairs(state), skip != nullptr ? skip : not_in_state_dict));
    frames_.back().is_module_rest = true;
    const auto add_table = [&](std::string_view name) -> Status {
      const PickleValue table = *content_.entry(state, name);
      if (!may_share(table, skip)) return {};
      if (table.kind == PickleKind::object && !content_.args(table).empty()) {
        ANDIRON_TRY(add_dict_argument(content_.args(table)[0], skip));
      }
      return add_pairs(graph_.pairs(table), skip);
    };
    ANDIRON_TRY(add_table("_modules"));
    const std::size_t before = frames_.size();
    ANDIRON_TRY(add_table("_buffers"));
    const auto unsaved = content_.entry(state, "_non_persistent_buffers_set");
    if (unsaved && may_share(items_of_set(content_, *unsaved), skip)) {
      const std::vector<std::string_view> names =
          texts_in(content_, items_of_set(content_, *unsaved));
      for (std::size_t i = before; i < frames_.size(); ++i) frames_[i].unsaved = names;
    }
    return add_table("_parameters");
  }

  Status add_script_module(PickleValue state, const ScriptClass& script, const char* skip) {
    ANDIRON_TRY(add_pairs(graph_.pairs(state), skip));
    if (!graph_.pairs(state).empty()) frames_.back().script = &script;
    return {};
  }

  const PickleContent& content_;
  const PickleGraph& graph_;
  TensorResolver& resolver_;
  ScriptClasses* classes_;
  bool lenient_;
  bool check_all_keys_;
  StructureVisitor& visitor_;
  NamePath path_;
  std::vector<Frame> frames_;
  std::size_t depth_ = 0;
  std::vector<bool> seen_;
  std::vector<bool> on_path_;
  std::uint64_t repeats_left_;
};

}  // namespace

bool stops_reading(ErrorCode code) noexcept {
  return code == ErrorCode::limit_exceeded || code == ErrorCode::io ||
         code == ErrorCode::out_of_memory || code == ErrorCode::name_collision;
}

Status walk_structure(const PickleContent& content, TensorResolver& resolver,
                      ScriptClasses* classes, const OpenOptions& options, bool check_all_keys,
                      StructureVisitor& visitor) {
  return Walk(content, resolver, classes, options, check_all_keys, visitor).run();
}

}  // namespace andiron::inline v1::detail
