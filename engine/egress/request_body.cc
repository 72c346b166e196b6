#include "engine/egress/request_body.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace belljar::egress {
namespace {

void AppendChunk(std::string_view data, std::string& out) {
  char size[20];
  snprintf(size, sizeof size, "%zx\r\n", data.size());
  out.append(size).append(data).append("\r\n");
}

}  // namespace

RequestBody::RequestBody(uint64_t length)
    : state_(length == 0 ? State::kDone : State::kMore), left_(length) {}

RequestBody::RequestBody(std::unique_ptr<http1::RequestReader> reader)
    : chunks_(std::move(reader)) {
  // The budget limits its size.
  chunks_->ReadBody(std::numeric_limits<uint64_t>::max());
}

size_t RequestBody::Take(std::string_view input, std::string& out) {
  if (state_ != State::kMore) return 0;
  if (chunks_) return TakeChunks(input, out);
  const size_t size = static_cast<size_t>(std::min<uint64_t>(left_, input.size()));
  out.append(input.substr(0, size));
  left_ -= size;
  if (left_ == 0) state_ = State::kDone;
  return size;
}

size_t RequestBody::TakeChunks(std::string_view input, std::string& out) {
  size_t used = 0;
  while (chunks_->stage() == http1::RequestReader::Stage::kBody) {
    const size_t step = chunks_->Take(input.substr(used));
    used += step;
    if (step == 0) break;
  }
  if (chunks_->stage() == http1::RequestReader::Stage::kFailed) {
    state_ = State::kMalformed;
    return used;
  }
  std::string& body = chunks_->body();
  if (!body.empty()) AppendChunk(body, out);
  body.clear();
  if (chunks_->stage() == http1::RequestReader::Stage::kDone) {
    out += "0\r\n\r\n";
    state_ = State::kDone;
  }
  return used;
}

}  // namespace belljar::egress
