#include "engine/commands/output_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "engine/core/fd.h"

namespace belljar::commands {
namespace {

// What is written to it can be read from it, without blocking.
class Source {
 public:
  Source() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read_ = core::UniqueFd(ends[0]);
    write_ = core::UniqueFd(ends[1]);
  }
  int fd() const { return read_.get(); }
  void Write(const std::string& bytes) { EXPECT_TRUE(core::WriteBytes(write_.get(), bytes)); }
  void Close() { write_.Reset(); }

 private:
  core::UniqueFd read_, write_;
};

TEST(OutputBufferTest, HasAddresses) {
  Source source;
  OutputBuffer buffer(100, false);
  EXPECT_FALSE(buffer.HasFrom(0));
  source.Write("hello");
  EXPECT_TRUE(buffer.ReadFrom(source.fd()));
  EXPECT_TRUE(buffer.ReadFrom(source.fd()));  // nothing more, yet
  EXPECT_TRUE(buffer.HasFrom(4));
  EXPECT_FALSE(buffer.HasFrom(5));
  const Piece piece = buffer.From(1, 3);
  EXPECT_EQ(piece.bytes, "ell");
  EXPECT_EQ(piece.begin, 1u);
  EXPECT_EQ(piece.end, 4u);
  EXPECT_FALSE(piece.is_end);
  source.Close();
  EXPECT_FALSE(buffer.ReadFrom(source.fd()));
  buffer.Close();
  EXPECT_TRUE(buffer.HasFrom(5));
  EXPECT_TRUE(buffer.From(5, 10).is_end);
  EXPECT_TRUE(buffer.From(~uint64_t{0}, 10).is_end);  // beyond its end
}

TEST(OutputBufferTest, DropsTheOldest) {
  Source source;
  OutputBuffer buffer(10, false);
  for (int i = 0; i < 1000; ++i) {
    source.Write("0123456");
    EXPECT_TRUE(buffer.ReadFrom(source.fd()));
    EXPECT_FALSE(buffer.IsFull());
  }
  EXPECT_EQ(buffer.extent().begin, 6990u);
  EXPECT_EQ(buffer.extent().end, 7000u);
  const Piece piece = buffer.From(0, 100);
  EXPECT_EQ(piece.bytes, "4560123456");
  EXPECT_EQ(piece.begin, 6990u);
}

TEST(OutputBufferTest, WaitsForItsReader) {
  Source source;
  OutputBuffer buffer(10, true);
  source.Write("0123456789abc");
  EXPECT_TRUE(buffer.ReadFrom(source.fd()));
  EXPECT_TRUE(buffer.IsFull());
  buffer.DropBefore(2);
  EXPECT_TRUE(buffer.IsFull());
  buffer.DropBefore(4);
  EXPECT_FALSE(buffer.IsFull());
  EXPECT_EQ(buffer.From(0, 100).bytes, "456789abc");
  buffer.DropBefore(1000);  // what has not come yet cannot be dropped
  EXPECT_EQ(buffer.extent().begin, 13u);
  EXPECT_EQ(buffer.extent().end, 13u);
}

}  // namespace
}  // namespace belljar::commands
