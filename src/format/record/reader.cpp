// SPDX-License-Identifier: MIT OR Apache-2.0
// Records to Archive. The tree is read once, forward; a tensor is a dict {bytes, shape, dtype}, or
// {value, shape} as Burn wrote before 0.14, and a parameter a dict {id, param} around one.
// Tested by tests/format/record_reader_test.cpp
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "andiron/display_text.h"
#include "src/codec/gzip.h"
#include "src/codec/msgpack_reader.h"
#include "src/core/try.h"
#include "src/format/header_findings.h"
#include "src/format/record/bincode.h"
#include "src/format/record/cursor.h"
#include "src/format/record/numbers.h"
#include "src/format/record/record.h"
#include "src/format/record/structure.h"
#include "src/format/record/tensors.h"

namespace andiron {
inline namespace v1 {
namespace detail {
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
  bool are_bytes = false;  // by the key
  std::uint64_t offset = 0;
  std::uint64_t byte_size = 0;
  std::optional<Bytes> in_memory = {};
  DType dtype = DType::u8;       // as elements of a tensor
  DType list_dtype = DType::u8;  // as a list
};

// What is set aside while a dict is read.
struct Parts {
  std::optional<Elements> elements = {};
  std::optional<RecordTensor> param = {};  // under the key "param"
};

const std::string* repeated_key(const ValueDict& dict) {
  std::vector<const std::string*> keys;
  keys.reserve(dict.size());
  for (const auto& entry : dict) keys.push_back(&entry.first);
  std::sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) { return *a < *b; });
  const auto twice = std::adjacent_find(keys.begin(), keys.end(),
                                        [](const auto* a, const auto* b) { return *a == *b; });
  return twice == keys.end() ? nullptr : *twice;
}

// A list of sizes, or {"dims": list}.
std::optional<Shape> shape_of(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const Value* dims = value->find("dims")) value = dims;
  const ValueList* list = value->get<ValueList>();
  if (list == nullptr || list->size() > max_rank) return std::nullopt;
  std::array<std::uint64_t, max_rank> dims;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::uint64_t* dim = (*list)[i].get<std::uint64_t>();
    if (dim == nullptr) return std::nullopt;
    dims[i] = *dim;
  }
  return Shape(std::span(dims).first(list->size()));
}

// The metadata of a record: a dict of texts.
std::optional<Metadata> metadata_of(const Value* value) {
  const ValueDict* dict = value == nullptr ? nullptr : value->get<ValueDict>();
  if (dict == nullptr) return std::nullopt;
  Metadata metadata;
  for (const auto& [key, item] : *dict) {
    const std::string* text = item.get<std::string>();
    if (text == nullptr) return std::nullopt;
    metadata.emplace(key, *text);
  }
  return metadata;
}

class Reader {
 public:
  Reader(const ByteSourcePtr& file, const ByteSourcePtr& source, RecordCursor& cursor,
         const OpenOptions& options, std::string container)
      : source_(source),
        cursor_(cursor),
        options_(options),
        tensors_(file, source, options, std::move(container)) {}

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
    notes.push_back(error.description());
    return {};
  }

  // Counts what the tree takes in memory.
  Status charge(std::uint64_t bytes) {
    tree_bytes_ += bytes;
    if (tree_bytes_ <= options_.limits.metadata_bytes) return {};
    return over_limit(source_->name(), "too much that is no tensor", "",
                      options_.limits.metadata_bytes);
  }

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
      if (key.size() > options_.limits.name_bytes) {
        return over_limit(source_->name(), "a name that is too long", long_name(key),
                          options_.limits.name_bytes);
      }
      dict.emplace_back(key, Value());
      // The key around the whole record is no part of names.
      const bool is_record = depth == 0 && key == "item";
      const std::size_t parent = is_record ? path_.size() : enter(key);
      ANDIRON_TRY(read_entry(dict.back(), depth, parts));
      if (!is_record) leave(parent);
    }
    if (const std::string* twice = repeated_key(dict)) {
      Error error = cursor_.error(ErrorCode::duplicate_key, "a key given twice");
      error.found = "'" + display_text(*twice) + "'";
      return error;
    }
    return finish_dict(std::move(dict), std::move(parts), out);
  }

  Status read_entry(ValueDict::value_type& entry, unsigned depth, Parts& parts) {
    auto& [key, value] = entry;
    Node child;
    const bool are_bytes = key == "bytes";
    if ((are_bytes || key == "value") && !parts.elements) {
      ANDIRON_TRY(read_elements(are_bytes, depth + 1, parts.elements, child));
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
    const auto type_of = [&](const char* key, DType usual) {
      const auto entry = known->find(key);
      return entry == known->end() ? usual : dtype_of_rust_name(entry->second, usual);
    };
    float_type_ = type_of("float", DType::f32);
    int_type_ = type_of("int", DType::i32);
  }

  // Bytes and lists of numbers are kept apart until the whole dict is known.
  Status read_elements(bool are_bytes, unsigned depth, std::optional<Elements>& elements,
                       Node& out) {
    RecordItem item;
    ANDIRON_TRY(cursor_.next(item));
    if (item.kind == Kind::bytes) {
      elements = {.are_bytes = are_bytes, .offset = item.offset, .byte_size = item.size};
      return {};
    }
    if (item.kind != Kind::list) return read_item(item, depth, out);
    RecordLevel level = item.level;
    ANDIRON_ASSIGN(const bool any, cursor_.more(level));
    if (any) ANDIRON_TRY(cursor_.next(item));
    if (any && !item.is_number()) {
      ValueList list;
      ANDIRON_TRY(read_list_item(item, depth, list));
      ANDIRON_TRY(read_list(level, depth, list));
      out.value = Value(std::move(list));
      return {};
    }
    return are_bytes ? read_byte_list(any ? &item : nullptr, level, elements)
                     : read_number_list(any ? &item : nullptr, level, elements);
  }

  Status read_byte_list(const RecordItem* first, RecordLevel level,
                        std::optional<Elements>& elements) {
    MemorySink bytes;
    if (first != nullptr) {
      if (first->kind != Kind::unsigned_integer || first->number > 0xff) {
        return cursor_.error(ErrorCode::bad_header, "a number that is no byte");
      }
      const auto byte = static_cast<std::byte>(first->number);
      ANDIRON_TRY(bytes.write({&byte, 1}));
      ANDIRON_TRY(cursor_.byte_list(level, bytes));
    }
    elements = {.are_bytes = true, .in_memory = bytes.take()};
    elements->byte_size = elements->in_memory->size();
    return {};
  }

  Status read_number_list(const RecordItem* first, RecordLevel level,
                          std::optional<Elements>& elements) {
    const auto numbers = std::make_unique<NumberList>(float_type_, int_type_);
    RecordItem item;
    for (bool another = first != nullptr; another;) {
      if (Status added = numbers->add(first == nullptr ? item : *first); !added) {
        return cursor_.error(added.error().code, added.error().message);
      }
      first = nullptr;
      ANDIRON_ASSIGN(another, cursor_.more(level));
      if (another) ANDIRON_TRY(cursor_.next(item));
    }
    ANDIRON_ASSIGN(Bytes packed, numbers->take());
    elements = {
        .byte_size = packed.size(), .dtype = numbers->dtype(), .list_dtype = numbers->list_dtype()};
    elements->in_memory = std::move(packed);
    return {};
  }

  // What a dict is, now that all of it is known.
  Status finish_dict(ValueDict dict, Parts parts, Node& out) {
    out.value = Value(std::move(dict));
    if (parts.elements) {
      ANDIRON_ASSIGN(out.tensor, tensor_of(out.value, *parts.elements));
      if (out.tensor) {
        out.value = Value();
        return {};
      }
      ANDIRON_TRY(put_back(*parts.elements, out.value));
    }
    if (parts.param) return name_param(*std::move(parts.param), out.value);
    return {};
  }

  Result<std::optional<RecordTensor>> tensor_of(const Value& dict, Elements& elements) {
    const Value* dtype = dict.find("dtype");
    const std::size_t keys = dict.get<ValueDict>()->size();
    const bool is_list = !elements.are_bytes && elements.in_memory && keys == 2;
    if (!is_list && (!elements.are_bytes || dtype == nullptr || keys != 3)) {
      return std::optional<RecordTensor>();
    }
    auto shape = shape_of(dict.find("shape"));
    if (!shape) {
      if (is_list || dict.find("shape") == nullptr) return std::optional<RecordTensor>();
      return cursor_.error(ErrorCode::bad_header, "a shape that is no list of at most " +
                                                      std::to_string(max_rank) + " sizes");
    }
    RecordTensor tensor;
    tensor.dtype = is_list ? RecordDType{elements.dtype, ""} : record_dtype(*dtype);
    tensor.shape = *std::move(shape);
    tensor.offset = elements.offset;
    tensor.byte_size = elements.byte_size;
    tensor.elements = std::move(elements.in_memory);
    return std::optional(std::move(tensor));
  }

  // Elements that no tensor has.
  Status put_back(const Elements& elements, Value& dict) {
    Value value;
    if (elements.in_memory) {
      ANDIRON_TRY(charge(elements.byte_size * 8 / bit_width(elements.list_dtype) * node_bytes));
      value = unpacked(elements.list_dtype, *elements.in_memory);
    } else {
      ANDIRON_ASSIGN(value, read_bytes(elements.offset, elements.byte_size));
    }
    ValueDict entries = *dict.get<ValueDict>();
    for (auto& [key, item] : entries) {
      if (key == (elements.are_bytes ? "bytes" : "value")) item = std::move(value);
    }
    dict = Value(std::move(entries));
    return {};
  }

  // The tensor under "param": of a parameter when the dict has an id and nothing else.
  Status name_param(RecordTensor tensor, Value& dict) {
    const ValueDict& entries = *dict.get<ValueDict>();
    const Value* id_value = dict.find("id");
    const std::string* id_text = id_value == nullptr ? nullptr : id_value->get<std::string>();
    if (entries.size() != 2 || id_text == nullptr) {
      const std::size_t parent = enter("param");
      ANDIRON_ASSIGN(const TensorIndex index, add(std::move(tensor), std::nullopt));
      leave(parent);
      dict = with_param(entries, index);
      return {};
    }
    const Result<ParamId> id = ParamId::from_text(*id_text);
    if (!id) foreign_ids_.add(path_);
    ANDIRON_ASSIGN(const TensorIndex index,
                   add(std::move(tensor), id ? std::optional(*id) : std::nullopt));
    const bool is_usual = id && id->to_text() == *id_text && entries[0].first == "id";
    dict = is_usual ? Value(index) : with_param(entries, index);
    return {};
  }

  static Value with_param(ValueDict entries, TensorIndex index) {
    for (auto& [key, value] : entries) {
      if (key == "param") value = Value(index);
    }
    return Value(std::move(entries));
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
  DType float_type_ = DType::f32;
  DType int_type_ = DType::i32;
  Oddity foreign_ids_;
};

bool is_json(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \n\r\t");
  return start != std::string_view::npos && head[start] == '{';
}

Result<std::string> head_of(const ByteSource& source) {
  constexpr std::uint64_t looked_at = 512;
  std::string head(static_cast<std::size_t>(std::min(looked_at, source.size())), '\0');
  ANDIRON_TRY(source.read_at(0, std::as_writable_bytes(std::span(head))));
  return head;
}

}  // namespace

bool is_msgpack_record(std::string_view head) {
  MsgpackReader reader(head);
  MsgpackItem item;
  std::string_view key;
  return reader.next(item) && item.kind == MsgpackKind::map && item.size != 0 && reader.text(key) &&
         (key == "metadata" || key == "item");
}

Result<Archive> read_record(const ByteSourcePtr& source, const OpenOptions& options) {
  ByteSourcePtr content = source;
  ANDIRON_ASSIGN(std::string head, head_of(*source));
  const bool compressed = is_gzip(head);
  if (compressed) {
    ANDIRON_ASSIGN(Bytes inflated, inflate_gzip(*source, options.limits));
    content = memory_source(std::move(inflated), source->name());
    ANDIRON_ASSIGN(head, head_of(*content));
  }
  if (is_bincode_record(head)) return needs_module(source->name());
  const bool json = is_json(head);
  const std::string container = std::string(json ? "json" : "msgpack") + (compressed ? ".gz" : "");
  if (!json) {
    const auto cursor = msgpack_cursor(content, options.limits);
    return Reader(source, content, *cursor, options, container).read();
  }
  ANDIRON_ASSIGN(const auto cursor, json_cursor(content));
  return Reader(source, content, *cursor, options, container).read();
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
