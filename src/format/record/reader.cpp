// SPDX-License-Identifier: MIT OR Apache-2.0
// Records to Archive. The tree is read once, forward; a tensor is a dict {bytes, shape, dtype}, or
// {value, shape} as Burn wrote before 0.14, and a parameter a dict {id, param} around one.
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include "src/format/record/reader.h"

#include <utility>
#include <vector>

#include "src/core/limit.h"
#include "src/core/quoted.h"
#include "src/core/try.h"
#include "src/format/header_findings.h"
#include "src/format/record/dict.h"
#include "src/format/record/numbers.h"
#include "src/format/record/structure.h"
#include "src/format/record/tensors.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = RecordItem::Kind;

// What a node of the tree takes beside its text.
constexpr std::uint64_t node_bytes = sizeof(ValueDict::value_type);

// A value, or a tensor that still needs its name.
struct Node {
  Value value;
  std::optional<RecordTensor> tensor = {};
};

// What may turn out to be the elements of a tensor, under the keys "bytes" and "value".
struct Elements {
  std::string_view key;
  // A run of the source, or one of the two lists.
  std::uint64_t offset = 0;
  std::uint64_t byte_size = 0;
  std::optional<Bytes> byte_list = {};
  std::optional<Bytes> numbers = {};
};

// What is set aside while a dict is read.
struct Parts {
  std::optional<Elements> elements = {};
  bool has_mixed_list = false;             // under the key "value": numbers, then others
  std::optional<RecordTensor> param = {};  // under the key "param"
};

class Reader {
 public:
  Reader(const RecordOrigin& origin, RecordCursor& cursor, const OpenOptions& options)
      : source_(origin.content),
        cursor_(cursor),
        options_(options),
        tensors_(origin.file, origin.content, options, origin.container),
        held_bytes_(origin.held_bytes) {}

  Result<Archive> read() {
    Node root;
    ANDIRON_TRY(read_value(0, root));
    ANDIRON_TRY(add_bare(root));
    std::vector<std::string> notes;
    ANDIRON_TRY(check_end(notes));
    std::optional<Metadata> metadata = metadata_of(root.value.find("metadata"));
    if (tensors_.size() == 0 && (!metadata || !item_)) {
      Error error = cursor_.error(ErrorCode::not_a_weight_file, "there is no tensor in it");
      error.found = "no record of Burn";
      return error;
    }
    foreign_ids_.note(notes, "tensor", "its id is none that Burn would read");
    ANDIRON_ASSIGN(Archive archive, tensors_.finish());
    if (metadata) archive.set_metadata(*std::move(metadata));
    archive.set_value(item_ ? *std::move(item_) : std::move(root.value));
    for (std::string& note : notes) archive.add_note(std::move(note));
    return archive;
  }

 private:
  Status check_end(std::vector<std::string>& notes) {
    if (cursor_.at_end()) return {};
    Error error = cursor_.error(ErrorCode::size_mismatch, "bytes after the end of the record");
    error.hint = "lenient reading ignores them";
    if (options_.strictness != Strictness::lenient) return error;
    error.hint = "ignored";
    notes.push_back(sentence_of(error));
    return {};
  }

  // Counts what the tree takes in memory.
  Status charge(std::uint64_t bytes) {
    tree_bytes_ += bytes;
    return check_limit(tree_bytes_, options_.limits.metadata_bytes,
                       {"too much that is no tensor", "metadata_bytes", "bytes", source_->name()});
  }

  // Counts elements that are held in memory.
  Status hold(std::uint64_t bytes) {
    held_bytes_ += bytes;
    return check_limit(
        held_bytes_, options_.limits.inflated_bytes,
        {"too many elements to hold in memory", "inflated_bytes", "bytes", source_->name()});
  }

  void let_go(std::uint64_t bytes) { held_bytes_ -= bytes; }

  Status read_value(unsigned depth, Node& out) {
    RecordItem item;
    ANDIRON_TRY(cursor_.next(item));
    return read_item(item, depth, out);
  }

  Status read_item(const RecordItem& item, unsigned depth, Node& out) {
    const std::uint64_t before = tree_bytes_;
    ANDIRON_TRY(charge(node_bytes));
    switch (item.kind) {
      case Kind::null:
        return {};
      case Kind::boolean:
        out.value = Value(item.boolean);
        return {};
      case Kind::integer:
        out.value = Value(item.integer);
        return {};
      case Kind::unsigned_integer:
        out.value = Value(item.number);
        return {};
      case Kind::floating:
        out.value = Value(item.floating);
        return {};
      case Kind::text:
        ANDIRON_TRY(charge(item.text.size()));
        out.value = Value(std::string(item.text));
        return {};
      case Kind::bytes: {
        ANDIRON_ASSIGN(out.value, read_bytes(item.offset, item.size));
        return {};
      }
      case Kind::list:
      case Kind::dict:
        break;
    }
    if (depth >= max_msgpack_depth) {
      return cursor_.error(ErrorCode::limit_exceeded, "nesting that is too deep");
    }
    if (item.kind == Kind::list) {
      ValueList list;
      ANDIRON_TRY(read_list(item.level, depth, list));
      out.value = Value(std::move(list));
      return {};
    }
    ANDIRON_TRY(read_dict(item.level, depth, out));
    // What describes a tensor is not kept.
    if (out.tensor || out.value.get<TensorIndex>() != nullptr) tree_bytes_ = before;
    return {};
  }

  Result<Value> read_bytes(std::uint64_t offset, std::uint64_t size) {
    ANDIRON_TRY(charge(size));
    ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(size));
    ANDIRON_TRY(source_->read_at(offset, bytes.writable()));
    return Value(std::move(bytes));
  }

  // Appends the items that are left.
  Status read_list(RecordLevel level, unsigned depth, ValueList& list) {
    for (;;) {
      ANDIRON_ASSIGN(const bool another, cursor_.more(level));
      if (!another) return {};
      RecordItem item;
      ANDIRON_TRY(cursor_.next(item));
      ANDIRON_TRY(read_list_item(item, depth, list));
    }
  }

  Status read_list_item(const RecordItem& item, unsigned depth, ValueList& list) {
    const std::size_t parent = enter(std::to_string(list.size()));
    Node child;
    ANDIRON_TRY(read_item(item, depth + 1, child));
    ANDIRON_TRY(add_bare(child));
    leave(parent);
    list.push_back(std::move(child.value));
    return {};
  }

  Status read_dict(RecordLevel level, unsigned depth, Node& out) {
    ValueDict dict;
    Parts parts;
    for (;;) {
      ANDIRON_ASSIGN(const bool another, cursor_.more(level));
      if (!another) break;
      std::string_view key;
      ANDIRON_TRY(cursor_.key(key));
      ANDIRON_TRY(charge(key.size()));
      ANDIRON_TRY(check_name_length(key, options_.limits, source_->name()));
      dict.emplace_back(key, Value());
      // The key around the whole record is no part of names.
      const bool is_record = depth == 0 && key == "item";
      const std::size_t parent = is_record ? path_.size() : enter(key);
      ANDIRON_TRY(read_entry(dict.back(), depth, parts));
      if (!is_record) leave(parent);
    }
    if (const std::string* twice = repeated_key(dict)) {
      Error error = cursor_.error(ErrorCode::duplicate_key, "a key given twice");
      error.found = quoted(*twice);
      return error;
    }
    return finish_dict(std::move(dict), std::move(parts), out);
  }

  Status read_entry(ValueDict::value_type& entry, unsigned depth, Parts& parts) {
    auto& [key, value] = entry;
    Node child;
    if ((key == "bytes" || key == "value") && !parts.elements) {
      ANDIRON_TRY(read_elements(key == "bytes", depth + 1, parts, child));
    } else {
      ANDIRON_TRY(read_value(depth + 1, child));
    }
    if (key == "param" && child.tensor) {
      parts.param = std::move(child.tensor);
    } else {
      ANDIRON_TRY(add_bare(child));
    }
    if (depth == 0 && key == "item") {
      item_ = std::move(child.value);
      return {};
    }
    value = std::move(child.value);
    if (depth == 0 && key == "metadata") take_number_types(value);
    return {};
  }

  void take_number_types(const Value& metadata) {
    const auto known = metadata_of(&metadata);
    if (!known) return;
    const auto entry_of = [&](const char* key) {
      const auto entry = known->find(key);
      return entry == known->end() ? std::string_view() : entry->second;
    };
    float_type_ = record_float_type(entry_of("float"));
    int_type_ = record_int_type(entry_of("int"));
  }

  // Bytes and lists of numbers are kept apart until the whole dict is known.
  Status read_elements(bool are_bytes, unsigned depth, Parts& parts, Node& out) {
    RecordItem item;
    ANDIRON_TRY(cursor_.next(item));
    if (item.kind == Kind::bytes) {
      parts.elements = {
          .key = are_bytes ? "bytes" : "value", .offset = item.offset, .byte_size = item.size};
      return {};
    }
    if (item.kind != Kind::list) return read_item(item, depth, out);
    RecordLevel level = item.level;
    ANDIRON_ASSIGN(const bool any, cursor_.more(level));
    if (any) ANDIRON_TRY(cursor_.next(item));
    if (any && !item.is_number()) return read_plain_list({}, item, level, depth, out);
    if (are_bytes) return read_byte_list(any ? &item : nullptr, level, parts.elements);
    return read_number_list(any ? &item : nullptr, level, depth, parts, out);
  }

  // From `item` on, which follows what is in the list.
  Status read_plain_list(ValueList list, const RecordItem& item, RecordLevel level, unsigned depth,
                         Node& out) {
    ANDIRON_TRY(read_list_item(item, depth, list));
    ANDIRON_TRY(read_list(level, depth, list));
    out.value = Value(std::move(list));
    return {};
  }

  Status read_byte_list(const RecordItem* first, RecordLevel level,
                        std::optional<Elements>& elements) {
    // Counts what it takes.
    struct HeldBytes : MemorySink {
      explicit HeldBytes(Reader& owner) : reader(owner) {}
      Status write(std::span<const std::byte> data) override {
        ANDIRON_TRY(reader.hold(data.size()));
        return MemorySink::write(data);
      }
      Reader& reader;
    };
    HeldBytes bytes(*this);
    if (first != nullptr) {
      if (first->kind != Kind::unsigned_integer || first->number > 0xff) {
        return cursor_.error(ErrorCode::bad_header, "a number that is no byte");
      }
      const auto byte = static_cast<std::byte>(first->number);
      ANDIRON_TRY(bytes.write({&byte, 1}));
      ANDIRON_TRY(cursor_.byte_list(level, bytes));
    }
    elements = {.key = "bytes", .byte_list = bytes.take()};
    elements->byte_size = elements->byte_list->size();
    return {};
  }

  Status read_number_list(const RecordItem* first, RecordLevel level, unsigned depth, Parts& parts,
                          Node& out) {
    const auto numbers = std::make_unique<NumberList>();
    RecordItem item;
    for (bool another = first != nullptr; another;) {
      if (first != nullptr) item = *first;
      first = nullptr;
      if (!item.is_number()) {
        parts.has_mixed_list = true;
        ANDIRON_ASSIGN(const Bytes collected, numbers->take());
        ANDIRON_ASSIGN(ValueList list, as_plain_list(collected));
        return read_plain_list(std::move(list), item, level, depth, out);
      }
      ANDIRON_TRY(hold(sizeof(RecordNumber)));
      ANDIRON_TRY(numbers->add(item));
      ANDIRON_ASSIGN(another, cursor_.more(level));
      if (another) ANDIRON_TRY(cursor_.next(item));
    }
    ANDIRON_ASSIGN(Bytes collected, numbers->take());
    parts.elements = {.key = "value", .numbers = std::move(collected)};
    return {};
  }

  // Numbers that become a part of the tree.
  Result<ValueList> as_plain_list(const Bytes& numbers) {
    ANDIRON_TRY(charge(numbers.size() / sizeof(RecordNumber) * node_bytes));
    let_go(numbers.size());
    return plain_numbers(numbers);
  }

  // What a dict is, now that all of it is known.
  Status finish_dict(ValueDict dict, Parts parts, Node& out) {
    if (parts.elements) {
      ANDIRON_ASSIGN(out.tensor, tensor_of(dict, *parts.elements));
      if (out.tensor) return {};
      ANDIRON_TRY(put_back(*parts.elements, dict));
    }
    if (parts.has_mixed_list && dict.size() == 2 && shape_of(find(dict, "shape"))) {
      return cursor_.error(ErrorCode::bad_header, "a tensor with an element that is no number");
    }
    if (parts.param) return name_param(*std::move(parts.param), std::move(dict), out.value);
    out.value = Value(std::move(dict));
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
      return cursor_.error(ErrorCode::bad_header, "a shape that is no list of at most " +
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
  Status put_back(const Elements& elements, ValueDict& dict) {
    Value value;
    if (elements.numbers) {
      ANDIRON_ASSIGN(value, as_plain_list(*elements.numbers));
    } else if (elements.byte_list) {
      ANDIRON_TRY(charge(elements.byte_size * node_bytes));
      let_go(elements.byte_size);
      ValueList list;
      for (const std::byte byte : elements.byte_list->span()) {
        list.emplace_back(std::to_integer<std::uint64_t>(byte));
      }
      value = Value(std::move(list));
    } else {
      ANDIRON_ASSIGN(value, read_bytes(elements.offset, elements.byte_size));
    }
    set(dict, elements.key, std::move(value));
    return {};
  }

  // The tensor under "param": of a parameter when the dict has an id and nothing else.
  Status name_param(RecordTensor tensor, ValueDict dict, Value& out) {
    const Value* id_value = find(dict, "id");
    const std::string* id_text = id_value == nullptr ? nullptr : id_value->get<std::string>();
    const bool is_parameter = dict.size() == 2 && id_text != nullptr;
    bool is_usual = false;
    TensorIndex index;
    if (is_parameter) {
      const Result<ParamId> id = ParamId::from_text(*id_text);
      if (!id) foreign_ids_.add(path_);
      is_usual = id && id->to_text() == *id_text && dict[0].first == "id";
      ANDIRON_ASSIGN(index, add(std::move(tensor), id ? std::optional(*id) : std::nullopt));
    } else {
      const std::size_t parent = enter("param");
      ANDIRON_ASSIGN(index, add(std::move(tensor), std::nullopt));
      leave(parent);
    }
    if (is_usual) {
      out = Value(index);
      return {};
    }
    set(dict, "param", Value(index));
    out = Value(std::move(dict));
    return {};
  }

  Status add_bare(Node& node) {
    if (!node.tensor) return {};
    ANDIRON_ASSIGN(node.value, add(*std::move(node.tensor), std::nullopt));
    node.tensor.reset();
    return {};
  }

  // Under the name of this place.
  Result<TensorIndex> add(RecordTensor tensor, std::optional<ParamId> id) {
    return tensors_.add(levels_ == 0 ? name_of_root_tensor : path_, std::move(tensor), id);
  }

  // One level down; returns where the path ended before.
  std::size_t enter(std::string_view key) {
    const std::size_t parent = path_.size();
    if (levels_++ != 0) path_ += '.';
    path_ += key;
    return parent;
  }

  void leave(std::size_t parent) {
    path_.resize(parent);
    --levels_;
  }

  const ByteSourcePtr& source_;
  RecordCursor& cursor_;
  const OpenOptions& options_;
  RecordTensors tensors_;
  std::optional<Value> item_;  // the tree below the record's own keys
  std::string path_;
  unsigned levels_ = 0;  // names in the path
  std::uint64_t tree_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
  DType float_type_ = DType::f32;
  DType int_type_ = DType::i32;
  Oddity foreign_ids_;
};

}  // namespace

Result<Archive> read_tree(const RecordOrigin& origin, RecordCursor& cursor,
                          const OpenOptions& options) {
  return Reader(origin, cursor, options).read();
}

}  // namespace andiron::inline v1::detail
