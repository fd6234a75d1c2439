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
    object.text("text", error.to_string(Wording::javascript));
    const std::string hint = error.hint.to_string(Wording::javascript);
    for (const auto& [name, part] :
         {std::pair("file", &error.file), std::pair("tensor", &error.tensor),
          std::pair("found", &error.found), std::pair("expected", &error.expected),
          std::pair("hint", &hint)}) {
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

Answer* answer(Result<Made> result) {
  if (!result) return failed(result.error());
  auto* const made = new (std::nothrow)
      Answer{.bytes = std::move(result->bytes), .about = std::move(result->about)};
  if (made == nullptr) return nullptr;
  made->data = made->bytes.data();
  made->size = static_cast<std::uint32_t>(made->bytes.size());
  made->about_data = made->about.data();
  made->about_size = static_cast<std::uint32_t>(made->about.size());
  return made;
}

}  // namespace andiron::web
