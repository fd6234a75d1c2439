// SPDX-License-Identifier: MIT OR Apache-2.0
// Records to Archive. The tree is read once, forward; a tensor is a dict {bytes, shape, dtype}, or
// {value, shape} as Burn wrote before 0.14, and a parameter a dict {id, param} around one.
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include "src/format/record/tree_reader.h"

#include <utility>
#include <vector>

#include "src/core/check_limit.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/header_diagnostics.h"
#include "src/format/record/dict.h"
#include "src/format/record/name_tree.h"
#include "src/format/record/numbers.h"
#include "src/format/record/tensors.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = RecordItem::Kind;

// What a tensor takes that is no run of the file.
constexpr std::uint64_t snapshot_bytes = 2048;

// A value, or a tensor that still needs its name.
struct Node {
  Value value;
  std::optional<RecordTensor> tensor = {};
};

// What may turn out to be the elements of a tensor, under the keys "bytes" and "value".
struct Elements {
  std::string key;
  // A run of the source, or one of the two lists.
  std::uint64_t offset = 0;
  std::uint64_t byte_size = 0;
  std::optional<Bytes> byte_list = {};
  std::optional<Bytes> numbers = {};
};

// A list or dict that is not yet taken to its end.
struct OpenNode {
  RecordLevel level;
  std::uint64_t tree_bytes = 0;  // before it
  // Its own place in the tree.
  std::size_t path_size = 0;
  unsigned names = 0;
  ValueList list = {};
  ValueDict dict = {};
  // Set aside until all of a dict is known; of a list, as long as it has nothing but numbers.
  std::optional<Elements> elements = {};
  bool has_mixed_list = false;             // under the key "value": numbers, then others
  std::optional<RecordTensor> param = {};  // under the key "param"
};

// Memory of the tree that waits for a run of the source.
struct Unread {
  std::uint64_t offset = 0;
  std::span<std::byte> memory;
};

// Takes what a cursor gives, piece by piece. Reads nothing itself.
class RecordTree {
 public:
  RecordTree(const RecordOrigin& origin, const RecordCursor& cursor, const OpenOptions& options,
             MemoryBudget& budget)
      : file_(origin.content->name()),
        cursor_(cursor),
        options_(options),
        budget_(budget),
        tensors_(origin.file, origin.content, options, origin.packaging),
        is_compressed_(origin.content != origin.file),
        held_bytes_(origin.held_bytes) {}

  // The innermost list or dict that is open, or nullptr.
  RecordLevel* level() { return open_.empty() ? nullptr : &open_.back().level; }

  Status take_key(std::string_view key) {
    ANDIRON_TRY(charge(0, key.size()));
    ANDIRON_TRY(check_name_length(key, options_.limits, file_));
    open_.back().dict.emplace_back(key, Value());
    // The key around the whole record is no part of names.
    if (!is_at_root_key("item")) enter(key);
    return {};
  }

  Status take(const RecordItem& item) {
    if (may_be_elements(item)) return set_aside(item);
    if (!open_.empty() && !is_in_dict()) {
      if (open_.back().elements && item.is_number()) return collect(item);
      if (open_.back().elements) ANDIRON_TRY(stop_collecting());
      enter(std::to_string(open_.back().list.size()));
    }
    return take_value(item);
  }

  // Where the bytes after the first of a list belong; nullptr unless it was just taken.
  Sink* byte_list() { return byte_list_ ? &*byte_list_ : nullptr; }

  // Ends the innermost list or dict.
  Status close() {
    OpenNode closed = std::move(open_.back());
    open_.pop_back();
    Node node;
    if (closed.level.is_dict) {
      ANDIRON_TRY(finish_dict(closed, node));
      // What describes a tensor is not kept.
      if (node.tensor || node.value.get<TensorIndex>() != nullptr) tree_bytes_ = closed.tree_bytes;
    } else if (closed.elements) {
      ANDIRON_TRY(take_collected(*closed.elements));
      open_.back().elements = std::move(closed.elements);
    } else {
      node.value = Value(std::move(closed.list));
    }
    return place(std::move(node));
  }

  // What to read before anything else is taken.
  Unread take_unread() { return std::exchange(unread_, {}); }

  Result<Archive> finish(bool is_at_end) {
    std::vector<Message> notes;
    if (!is_at_end) ANDIRON_TRY(allow_more_bytes(notes));
    std::optional<Metadata> metadata = metadata_of(root_.find("metadata"));
    if (tensors_.size() == 0 && (!metadata || !item_)) {
      Error error = cursor_.error(ErrorCode::not_a_weight_file, "the file has no tensors");
      error.found = "not a Burn record";
      return error;
    }
    foreign_ids_.note(notes, "tensor", "Burn would not read its parameter id");
    ANDIRON_ASSIGN(Archive archive, tensors_.finish());
    if (metadata) archive.set_metadata(*std::move(metadata));
    archive.set_value(item_ ? *std::move(item_) : std::move(root_));
    for (Message& note : notes) archive.add_note(std::move(note));
    return archive;
  }

 private:
  // Counts what it takes.
  struct HeldBytes : MemorySink {
    explicit HeldBytes(RecordTree& owner) : tree(owner) {}
    Status write(std::span<const std::byte> data) override {
      ANDIRON_TRY(tree.hold(data.size()));
      return MemorySink::write(data);
    }
    RecordTree& tree;
  };

  bool is_in_dict() const { return !open_.empty() && open_.back().level.is_dict; }
  // REQUIRES of both: is_in_dict().
  const std::string& last_key() const { return open_.back().dict.back().first; }
  bool is_at_root_key(std::string_view key) const { return open_.size() == 1 && last_key() == key; }

  Status allow_more_bytes(std::vector<Message>& notes) {
    Error error = cursor_.error(ErrorCode::size_mismatch, "bytes after the end of the record");
    error.hint = Advice::lenient + Message(" ignores them");
    if (options_.strictness != Strictness::lenient) return error;
    error.hint = "ignored";
    notes.push_back(sentence_of(error));
    return {};
  }

  // Counts what the tree takes in memory. The budget is charged for the most that it took.
  Status charge(std::uint64_t values, std::uint64_t text_bytes) {
    tree_bytes_ += MemoryBudget::cost_of(MemoryBudget::value_bytes, values, text_bytes);
    if (tree_bytes_ <= charged_bytes_) return {};
    return budget_.charge(tree_bytes_ - std::exchange(charged_bytes_, tree_bytes_), "values");
  }

  // Counts elements that are held in memory.
  Status hold(std::uint64_t bytes) {
    held_bytes_ += bytes;
    return check_limit(
        held_bytes_, options_.limits.inflated_bytes,
        {"too many elements to hold in memory", &Limits::inflated_bytes, "bytes", file_});
  }

  void let_go(std::uint64_t bytes) { held_bytes_ -= bytes; }

  Status take_value(const RecordItem& item) {
    const std::uint64_t before = tree_bytes_;
    ANDIRON_TRY(charge(item.kind == Kind::list || item.kind == Kind::dict ? 2 : 1, 0));
    switch (item.kind) {
      case Kind::null:
        return place({});
      case Kind::boolean:
        return place({item.boolean});
      case Kind::integer:
        return place({item.integer});
      case Kind::unsigned_integer:
        return place({item.number});
      case Kind::floating:
        return place({item.floating});
      case Kind::text:
        ANDIRON_TRY(charge(1, item.text.size()));
        return place({std::string(item.text)});
      case Kind::bytes: {
        ANDIRON_ASSIGN(Value bytes, unread_bytes(item.offset, item.size));
        return place({std::move(bytes)});
      }
      case Kind::list:
      case Kind::dict:
        break;
    }
    if (open_.size() >= max_msgpack_depth) {
      return cursor_.error(ErrorCode::limit_exceeded, "nested too deeply");
    }
    open(item.level, before);
    return {};
  }

  void open(const RecordLevel& level, std::uint64_t tree_bytes) {
    open_.push_back({level, tree_bytes, path_.size(), names_});
  }

  Result<Value> unread_bytes(std::uint64_t offset, std::uint64_t size) {
    ANDIRON_TRY(charge(1, size));
    ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(size));
    unread_ = {offset, bytes.writable()};
    return Value(std::move(bytes));
  }

  // In the innermost list or dict.
  Status place(Node node) {
    if (node.tensor && is_in_dict() && last_key() == "param") {
      open_.back().param = std::move(node.tensor);
    } else if (node.tensor) {
      ANDIRON_ASSIGN(node.value, add(*std::move(node.tensor), std::nullopt));
    }
    if (open_.empty()) {
      root_ = std::move(node.value);
      return {};
    }
    OpenNode& parent = open_.back();
    leave_to(parent);
    if (!parent.level.is_dict) {
      parent.list.push_back(std::move(node.value));
    } else if (is_at_root_key("item")) {
      item_ = std::move(node.value);
    } else {
      if (is_at_root_key("metadata")) take_number_types(node.value);
      parent.dict.back().second = std::move(node.value);
    }
    return {};
  }

  void take_number_types(const Value& metadata) {
    std::optional<Metadata> known = metadata_of(&metadata);
    if (!known) return;
    float_type_ = record_float_type((*known)["float"]);
    int_type_ = record_int_type((*known)["int"]);
  }

  // Bytes and lists of numbers are kept apart until the whole dict is known.
  bool may_be_elements(const RecordItem& item) const {
    return is_in_dict() && !open_.back().elements &&
           (last_key() == "bytes" || last_key() == "value") &&
           (item.kind == Kind::bytes || item.kind == Kind::list);
  }

  Status set_aside(const RecordItem& item) {
    Elements elements{.key = last_key(), .offset = item.offset, .byte_size = item.size};
    if (item.kind == Kind::list) open(item.level, tree_bytes_);
    open_.back().elements = std::move(elements);
    return item.kind == Kind::list ? Status() : place({});
  }

  Status collect(const RecordItem& number) {
    if (open_.back().elements->key == "value") {
      ANDIRON_TRY(hold(sizeof(RecordNumber)));
      return numbers_.add(number);
    }
    if (number.kind != Kind::unsigned_integer || number.number > 0xff) {
      return cursor_.error(ErrorCode::bad_header, "a number does not fit in a byte");
    }
    const auto byte = static_cast<std::byte>(number.number);
    return byte_list_.emplace(*this).write({&byte, 1});
  }

  // The list is none of elements: the numbers so far are its first values.
  Status stop_collecting() {
    OpenNode& list = open_.back();
    ANDIRON_ASSIGN(const Bytes collected, numbers_.take());
    ANDIRON_ASSIGN(list.list, as_plain_list(collected));
    list.elements.reset();
    if (!collected.empty()) open_[open_.size() - 2].has_mixed_list = true;
    return {};
  }

  Status take_collected(Elements& elements) {
    if (elements.key == "value") {
      ANDIRON_ASSIGN(elements.numbers, numbers_.take());
      return {};
    }
    elements.byte_list = byte_list_ ? byte_list_->take() : Bytes();
    elements.byte_size = elements.byte_list->size();
    byte_list_.reset();
    return {};
  }

  // Numbers that become a part of the tree.
  Result<ValueList> as_plain_list(const Bytes& numbers) {
    ANDIRON_TRY(charge(numbers.size() / sizeof(RecordNumber), 0));
    let_go(numbers.size());
    return plain_numbers(numbers);
  }

  // What a dict is, now that all of it is known.
  Status finish_dict(OpenNode& closed, Node& out) {
    ValueDict& dict = closed.dict;
    if (const std::string* twice = repeated_key(dict)) {
      Error error = cursor_.error(ErrorCode::duplicate_key, "duplicate key");
      error.found = in_quotes(*twice);
      return error;
    }
    if (closed.elements) {
      ANDIRON_ASSIGN(out.tensor, tensor_of(dict, *closed.elements));
      if (out.tensor) return {};
      ANDIRON_ASSIGN(Value value, as_value(*closed.elements));
      set(dict, closed.elements->key, std::move(value));
    }
    if (closed.has_mixed_list && dict.size() == 2 && shape_of(find(dict, "shape"))) {
      return cursor_.error(ErrorCode::bad_header, "a tensor has an element that is not a number");
    }
    ANDIRON_ASSIGN(out.value, closed.param ? named_param(closed) : Value(std::move(dict)));
    return {};
  }

  Result<std::optional<RecordTensor>> tensor_of(const ValueDict& dict, Elements& elements) {
    std::optional<RecordTensor> tensor;
    const Value* dtype = find(dict, "dtype");
    const bool is_usual = elements.key == "bytes" && dtype != nullptr && dict.size() == 3;
    const bool is_list = elements.numbers && dict.size() == 2;
    const Value* shape = find(dict, "shape");
    if ((!is_usual && !is_list) || shape == nullptr) return tensor;
    auto sizes = shape_of(shape);
    if (!sizes && is_list) return tensor;
    if (!sizes) {
      return cursor_.error(ErrorCode::bad_header, "a shape is not a list of at most " +
                                                      std::to_string(max_rank) + " sizes");
    }
    tensor.emplace();
    tensor->shape = *std::move(sizes);
    if (is_list) {
      ANDIRON_TRY(take_numbers(*elements.numbers, *tensor));
      return tensor;
    }
    tensor->dtype = record_dtype(*dtype);
    tensor->offset = elements.offset;
    tensor->byte_size = elements.byte_size;
    tensor->elements = std::move(elements.byte_list);
    return tensor;
  }

  Status take_numbers(Bytes& numbers, RecordTensor& tensor) {
    Result<PackedNumbers> packed = pack_numbers(numbers, float_type_, int_type_);
    if (!packed) return cursor_.error(packed.error().code, packed.error().message);
    let_go(numbers.size());
    numbers = Bytes();
    ANDIRON_TRY(hold(packed->elements.size()));
    tensor.dtype.dtype = packed->dtype;
    tensor.byte_size = packed->elements.size();
    tensor.elements = std::move(packed->elements);
    return {};
  }

  // Elements that no tensor has.
  Result<Value> as_value(const Elements& elements) {
    if (elements.numbers) {
      ANDIRON_ASSIGN(ValueList list, as_plain_list(*elements.numbers));
      return Value(std::move(list));
    }
    if (!elements.byte_list) return unread_bytes(elements.offset, elements.byte_size);
    ANDIRON_TRY(charge(elements.byte_size, 0));
    let_go(elements.byte_size);
    ValueList list;
    for (const std::byte byte : elements.byte_list->span()) {
      list.emplace_back(std::to_integer<std::uint64_t>(byte));
    }
    return Value(std::move(list));
  }

  // The tensor under "param": of a parameter when the dict has an id and nothing else.
  Result<Value> named_param(OpenNode& closed) {
    ValueDict& dict = closed.dict;
    const Value* value = dict.size() == 2 ? find(dict, "id") : nullptr;
    const std::string* text = value == nullptr ? nullptr : value->get<std::string>();
    std::optional<ParamId> id;
    if (text == nullptr) {
      enter("param");
    } else if (const Result<ParamId> known = ParamId::from_text(*text)) {
      id = *known;
    } else {
      foreign_ids_.add(path_);
    }
    ANDIRON_ASSIGN(const TensorIndex index, add(*std::move(closed.param), id));
    leave_to(closed);
    const bool is_usual = id && id->to_text() == *text && dict[0].first == "id";
    if (is_usual) return Value(index);
    set(dict, "param", Value(index));
    return Value(std::move(dict));
  }

  // Under the name of this place.
  Result<TensorIndex> add(RecordTensor tensor, std::optional<ParamId> id) {
    const std::string_view name = names_ == 0 ? name_of_root_tensor : std::string_view(path_);
    ANDIRON_TRY(budget_.charge_entries(1, name.size()));
    // Elements in memory, and compressed ones, are no runs of the file.
    if (tensor.elements || is_compressed_) {
      ANDIRON_TRY(budget_.charge(snapshot_bytes, "tensors in memory"));
    }
    return tensors_.add(name, std::move(tensor), id);
  }

  // One level down.
  void enter(std::string_view key) {
    if (names_++ != 0) path_ += '.';
    path_ += key;
  }

  void leave_to(const OpenNode& node) {
    path_.resize(node.path_size);
    names_ = node.names;
  }

  const std::string& file_;
  const RecordCursor& cursor_;
  const OpenOptions& options_;
  MemoryBudget& budget_;
  RecordTensors tensors_;
  const bool is_compressed_;
  std::vector<OpenNode> open_;  // the innermost last
  NumberList numbers_;          // of the innermost list
  std::optional<HeldBytes> byte_list_;
  Unread unread_;
  Value root_;
  std::optional<Value> item_;  // the tree below the record's own keys
  std::string path_;
  unsigned names_ = 0;  // in the path
  std::uint64_t tree_bytes_ = 0;
  std::uint64_t charged_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
  DType float_type_ = DType::f32;
  DType int_type_ = DType::i32;
  Oddity foreign_ids_;
};

}  // namespace

Result<Archive> read_tree(const RecordOrigin& origin, RecordCursor& cursor,
                          const OpenOptions& options, MemoryBudget& budget) {
  RecordTree tree(origin, cursor, options, budget);
  RecordItem item;
  ANDIRON_TRY(cursor.next(item));
  ANDIRON_TRY(tree.take(item));
  for (;;) {
    if (const Unread unread = tree.take_unread(); !unread.memory.empty()) {
      ANDIRON_TRY(origin.content->read_at(unread.offset, unread.memory));
    }
    RecordLevel* const level = tree.level();
    if (level == nullptr) return tree.finish(cursor.at_end());
    ANDIRON_ASSIGN(const bool another, cursor.more(*level));
    if (!another) {
      ANDIRON_TRY(tree.close());
      continue;
    }
    if (level->is_dict) {
      std::string_view key;
      ANDIRON_TRY(cursor.key(key));
      ANDIRON_TRY(tree.take_key(key));
    }
    ANDIRON_TRY(cursor.next(item));
    ANDIRON_TRY(tree.take(item));
    if (Sink* bytes = tree.byte_list()) {
      ANDIRON_TRY(cursor.byte_list(*tree.level(), *bytes));
      ANDIRON_TRY(tree.close());
    }
  }
}

}  // namespace andiron::inline v1::detail
