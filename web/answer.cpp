// SPDX-License-Identifier: MIT OR Apache-2.0
#include "web/answer.h"

#include <new>
#include <utility>

#include "web/json.h"

namespace andiron::web {
namespace {

Answer* failed(const Error& error) {
  std::string text = json_object([&](JsonObject& object) {
    object.text("code", code_name(error.code));
    object.text("text", error.to_string());
    for (const auto& [name, part] :
         {std::pair("file", &error.file), std::pair("tensor", &error.tensor),
          std::pair("found", &error.found), std::pair("expected", &error.expected),
          std::pair("hint", &error.hint)}) {
      if (!part->empty()) object.text(name, *part);
    }
  });
  Answer* const made = answer(Result<std::string>(std::move(text)));
  if (made != nullptr) made->failed = 1;
  return made;
}

}  // namespace

Answer* answer(Result<std::string> text) {
  if (!text) return failed(text.error());
  auto* const made = new (std::nothrow) Answer{.text = *std::move(text)};
  if (made == nullptr) return nullptr;
  made->data = made->text.data();
  made->size = static_cast<std::uint32_t>(made->text.size());
  return made;
}

Answer* answer(Result<Bytes> bytes) {
  if (!bytes) return failed(bytes.error());
  auto* const made = new (std::nothrow) Answer{.bytes = *std::move(bytes)};
  if (made == nullptr) return nullptr;
  made->data = made->bytes.data();
  made->size = static_cast<std::uint32_t>(made->bytes.size());
  return made;
}

Answer* answer(Result<Converted> converted) {
  if (!converted) return failed(converted.error());
  Answer* const made = answer(Result<Bytes>(std::move(converted->bytes)));
  if (made == nullptr) return nullptr;
  append_json_texts(made->notes, converted->notes);
  made->notes_data = made->notes.data();
  made->notes_size = static_cast<std::uint32_t>(made->notes.size());
  return made;
}

}  // namespace andiron::web
