// SPDX-License-Identifier: MIT OR Apache-2.0
// Walks over the content of a PyTorch file, and gives its tensors their names and order.
//
// Keys of dicts and indices of lists are joined with dots. A module gives the names of its
// state_dict(): parameters, saved buffers, submodules. Its other tensors are skipped. Any other
// object is walked by its attributes, and by index through the arguments that would have created
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/name_path.h"
#include "src/format/pytorch/pickle_document.h"
#include "src/format/pytorch/script_classes.h"
#include "src/format/pytorch/tensor_resolver.h"

namespace andiron::inline v1::detail {

// A note on a tensor, or the reason why something was skipped.
struct Remark {
  bool is_skip;  // it was not taken; else a note on one that was
  Message text;
};

// One step of the walk; valid until the next one.
struct WalkEvent {
  enum class Kind : std::uint8_t {
    nothing,  // but remarks
    tensor,
    leaf,
    enter_list,  // the values until `leave` belong to a list
    enter_dict,
    leave,
    again,  // a plain container that was left before, whole
  };
  Kind kind = Kind::nothing;
  std::string_view name;
  std::string_view key;  // the last step of the name
  Resolution resolved;   // of Kind::tensor: a tensor, or its parts
  PickleValue value;     // of Kind::leaf; none where a value was left out
  // Of Kind::leave and Kind::again: the container, if it is plain: with no tensors in it, and the
  // same wherever it is.
  std::optional<std::size_t> plain;
  std::vector<Remark> remarks;

  // Not defaulted: `WalkEvent()` would clear the kilobyte that a tensor leaves unset.
  WalkEvent() noexcept {}
};

// Whether an error ends even a lenient read. After other errors, the other tensors are still read.
bool stops_reading(ErrorCode code) noexcept;

// Walks from the root, one value at a time.
class PickleWalk {
 public:
  // `classes` are those of TorchScript. Python never writes a dict with a key twice; with
  // `check_all_keys` the last one counts then. Without, which takes less time, such a dict gives
  // NameCollision, or two tensors of one name.
  // All keys together may have `most_key_bytes`.
  PickleWalk(const PickleDocument& content, TensorResolver resolver, const ScriptClasses& classes,
             const OpenOptions& options, std::uint64_t most_key_bytes, bool check_all_keys);

  bool is_done() const noexcept { return frames_.empty(); }
  // Produces the next event. REQUIRES: !is_done().
  Status next();
  // REQUIRES: next() was called.
  WalkEvent& event() noexcept { return *event_; }
  // Rejects the tensor of the event. In a lenient read this becomes a remark, and the walk
  // continues. Otherwise returns the error, with the name.
  Status refuse(Error error);

 private:
  // What is left of a container. Several frames in a row may belong to one container.
  struct Frame {
    PickleItems::Iterator at;
    enum class Kind : std::uint8_t { root, items, pairs, pair_items } kind = Kind::items;
    std::uint32_t next = 0;        // number of the next item or pair
    std::size_t path = 0;          // length of the container's own name
    const char* skip = nullptr;    // why tensors here are not taken
    PickleItems pairs;             // all that there were
    bool has_others = false;       // values that are no tensors
    std::vector<bool> superseded;  // pairs that do not count
    bool is_module_rest = false;   // a module's attributes besides its tables
    const std::vector<std::string_view>* unsaved = nullptr;  // names that are skipped, sorted
    const ScriptClass* script = nullptr;
    // The frame that was there first ends the container.
    bool ends = false;
    std::size_t container = 0;
    std::uint64_t special_before = 0;  // special_ when it was entered
    std::size_t deepest_before = 0;
  };

  static constexpr char not_in_state_dict[] =
      "an attribute of a module, not part of its state_dict";

  // In pickle_walk.cpp: the current place, stored in `event_`. `skip` is why tensors are not taken
  // here, or nullptr.
  void set_place(std::size_t key_begin);
  Status visit(PickleValue value, const char* skip);
  Status visit_tensor(PickleValue value, const char* skip, unsigned wrapped = 0);
  Status visit_shell(PickleValue value, unsigned wrapped);
  bool is_script_state(const ScriptClass& script, PickleValue key, PickleValue value) const;
  const ScriptClass* script_class(PickleValue object) const;
  void set_leaf(PickleValue value, const char* skip);
  void remark_skip(Message reason) { remark({true, std::move(reason)}); }
  void remark_note(Message text) { remark({false, std::move(text)}); }
  void remark(Remark remark) {
    ++special_;
    event_->remarks.push_back(std::move(remark));
  }
  // What is not walked has its place all the same.
  void leave_out(const char* skip) {
    ++special_;
    set_leaf({}, skip);
  }
  // Whether a container is plain and was walked before: then it need not be walked again.
  bool is_again(PickleValue value);
  // Enters a container, unless it lies within itself, too deep, or was seen too often.
  bool begin(PickleValue value, bool is_list, const char* skip);
  // Leaves the container that the frame ends.
  void end(const Frame& frame);
  // Whether the content of a container is looked into. What several names share is walked for each
  // of them, up to a number of steps in all; what is not taken anyway is walked once.
  bool may_share(PickleValue value, const char* skip);

  // In pickle_walk_frames.cpp: the content of containers.
  Status open_object(PickleValue value, const char* skip);
  Status open_state(PickleValue value, PickleValue state, const char* skip);
  bool may_look_into(PickleValue object, const char* skip);
  Frame& add_frame(PickleItems items, const char* skip);
  void add_items(PickleItems items, const char* skip, bool leave_out_first = false);
  Status add_pairs(PickleItems pairs, const char* skip);
  Status add_content(PickleValue value, const char* skip);
  Status add_dict_argument(PickleValue value, const char* skip);
  Status add_states(PickleValue object, const char* skip);
  Status add_state(PickleValue state, const char* skip);
  Status add_module(PickleValue state, const char* skip);
  const std::vector<std::string_view>& unsaved_names(PickleValue set);

  const PickleDocument& content_;
  const PickleGraph& graph_;
  TensorResolver resolver_;
  const ScriptClasses& classes_;
  Strictness strictness_;
  bool check_all_keys_;
  std::optional<WalkEvent> event_;
  NamePath path_;
  std::uint64_t key_text_left_;  // for comparing the keys of dicts
  std::vector<Frame> frames_;
  std::size_t depth_ = 0;
  std::vector<bool> seen_;
  std::vector<bool> on_path_;
  // Counts tensors, remarks and what was left out: a container in which there was none is plain.
  std::uint64_t special_ = 0;
  // How many levels plain containers have that were walked; 0 for others. Empty before the first.
  std::vector<std::uint16_t> levels_;
  std::size_t deepest_ = 0;  // that the walk was since the innermost container was entered
  std::map<std::size_t, std::vector<std::string_view>> unsaved_sets_;  // by container
  std::uint64_t repeats_left_;
};

}  // namespace andiron::inline v1::detail
