// SPDX-License-Identifier: Apache-2.0
// Checkpoints: sections with lengths and checksums, written next to the name and renamed.
#include "checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>

#include "apps/common/text.hpp"

namespace newel::transient {
namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = {'N', 'E', 'W', 'E', 'L', '_', 'C', 'P'};
constexpr std::uint32_t version = 1;
constexpr std::size_t alignment = 8;
constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;

enum Kind : std::uint32_t { header_kind = 1, doubles_kind = 2, integers_kind = 3, bytes_kind = 4 };

// FNV-1a over words of eight bytes: a byte at a time would take as long as the disk. The rest is taken bytewise.
std::uint64_t checksum(const char* data, std::size_t size, std::uint64_t sum) {
  constexpr std::uint64_t prime = 0x100000001b3u;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= size; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, sizeof word);
    sum = (sum ^ word) * prime;
    sum ^= sum >> 32;  // the product alone never carries high bits down
  }
  for (; i < size; ++i) sum = (sum ^ static_cast<unsigned char>(data[i])) * prime;
  return sum;
}

std::uint64_t section_checksum(std::uint32_t kind, const std::string& name, const char* data, std::size_t size) {
  std::uint64_t sum = checksum(reinterpret_cast<const char*>(&kind), sizeof kind, fnv_start);
  sum = checksum(name.data(), name.size(), sum);
  return checksum(data, size, sum);
}

std::size_t padded(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

// ---- writing

class Output {
 public:
  explicit Output(const std::string& file) : file_(file) {
    if (!temporary_.open(file)) fail();
  }

  void put(const void* data, std::size_t size) {
    if (!temporary_.write(data, size)) fail();
  }
  template <class T>
  void put_number(T number) {
    put(&number, sizeof number);
  }
  void put_padded(const void* data, std::size_t size) {
    constexpr char zeros[alignment] = {};
    put(data, size);
    put(zeros, padded(size) - size);
  }

  void commit() {
    if (!temporary_.synchronize() || !temporary_.commit()) fail();
    // The new name is on the disk once its folder is. Where that cannot be asked for, nothing is lost but a
    // guarantee.
    const fs::path folder = fs::path(file_).parent_path();
    const int directory = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    ::fsync(directory);
    ::close(directory);
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(file_ + ": the checkpoint cannot be written: " + std::strerror(errno));
  }

  std::string file_;
  TemporaryFile temporary_;
};

void put_section(Output& out, std::uint32_t kind, const std::string& name, const void* data, std::size_t size) {
  out.put_number(kind);
  out.put_number(static_cast<std::uint32_t>(name.size()));
  out.put_number(static_cast<std::uint64_t>(size));
  out.put_number(section_checksum(kind, name, static_cast<const char*>(data), size));
  out.put_padded(name.data(), name.size());
  out.put_padded(data, size);
}

// ---- reading

class Input {
 public:
  Input(const std::string& file, const std::string& content) : file_(file), content_(content) {}

  const char* take(std::size_t size) {
    if (size > content_.size() - at_) fail("it ends early");
    const char* found = content_.data() + at_;
    at_ += size;
    return found;
  }
  template <class T>
  T number() {
    T result{};
    std::memcpy(&result, take(sizeof result), sizeof result);
    return result;
  }
  const char* take_padded(std::size_t size) {
    if (size > content_.size()) fail("it ends early");
    return take(padded(size));
  }
  bool finished() const { return at_ == content_.size(); }

  [[noreturn]] void fail(const std::string& why) const { throw InputError(file_ + ": no valid checkpoint: " + why); }

 private:
  const std::string& file_;
  const std::string& content_;
  std::size_t at_ = 0;
};

template <class T>
std::vector<T> as_numbers(const Input& in, const std::string& name, const char* data, std::size_t size) {
  if (size % sizeof(T) != 0) in.fail("array '" + name + "' does not hold a whole number of values");
  std::vector<T> result(size / sizeof(T));
  if (size > 0) std::memcpy(result.data(), data, size);
  return result;
}

void read_section(Input& in, Checkpoint& checkpoint) {
  const auto kind = in.number<std::uint32_t>();
  const auto name_size = in.number<std::uint32_t>();
  const auto size = static_cast<std::size_t>(in.number<std::uint64_t>());
  const auto sum = in.number<std::uint64_t>();
  const std::string name(in.take_padded(name_size), name_size);
  const char* data = in.take_padded(size);
  if (section_checksum(kind, name, data, size) != sum) in.fail("the checksum of a section is wrong");
  switch (kind) {
    case header_kind:
      checkpoint.header = cli::Json::parse(data, data + size, nullptr, false);
      if (!checkpoint.header.is_object()) in.fail("its header is not a JSON object");
      return;
    case doubles_kind:
      checkpoint.doubles[name] = as_numbers<double>(in, name, data, size);
      return;
    case integers_kind:
      checkpoint.integers[name] = as_numbers<std::int64_t>(in, name, data, size);
      return;
    case bytes_kind:
      checkpoint.bytes[name].assign(data, size);
      return;
    default:
      in.fail("a section of unknown kind");
  }
}

// The count of sections, behind magic and version.
std::uint32_t take_opening(Input& in, const std::string& content) {
  if (content.size() < sizeof magic || std::memcmp(in.take(sizeof magic), magic, sizeof magic) != 0) {
    in.fail("it does not begin like a checkpoint");
  }
  const auto found = in.number<std::uint32_t>();
  if (found != version) in.fail(cli::text("it is of version %u, this program reads version %u", found, version));
  return in.number<std::uint32_t>();
}

template <class T>
const std::vector<T>& array_of(const std::map<std::string, std::vector<T>>& arrays, const std::string& name,
                               std::int64_t size, const std::string& file) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) throw InputError(file + ": expected an array '" + name + "', found none");
  if (size >= 0 && static_cast<std::int64_t>(found->second.size()) != size) {
    throw InputError(file + cli::text(": expected %lld values in '%s', found %zu", static_cast<long long>(size),
                                      name.c_str(), found->second.size()));
  }
  return found->second;
}

}  // namespace

const std::vector<double>& Checkpoint::doubles_of(const std::string& name, std::int64_t size) const {
  return array_of(doubles, name, size, file);
}

const std::vector<std::int64_t>& Checkpoint::integers_of(const std::string& name, std::int64_t size) const {
  return array_of(integers, name, size, file);
}

void write_checkpoint(const std::string& file, const Checkpoint& checkpoint) {
  Output out(file);
  out.put(magic, sizeof magic);
  out.put_number(version);
  out.put_number(static_cast<std::uint32_t>(1 + checkpoint.doubles.size() + checkpoint.integers.size() +
                                            checkpoint.bytes.size()));
  const std::string header = checkpoint.header.dump(-1, ' ', false, cli::Json::error_handler_t::replace);
  put_section(out, header_kind, "", header.data(), header.size());
  for (const auto& [name, values] : checkpoint.doubles) {
    put_section(out, doubles_kind, name, values.data(), values.size() * sizeof(double));
  }
  for (const auto& [name, values] : checkpoint.integers) {
    put_section(out, integers_kind, name, values.data(), values.size() * sizeof(std::int64_t));
  }
  for (const auto& [name, values] : checkpoint.bytes) {
    put_section(out, bytes_kind, name, values.data(), values.size());
  }
  out.put(magic, sizeof magic);
  out.commit();
}

Checkpoint read_checkpoint(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file)) throw InputError(file + ": the checkpoint cannot be read");
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Input in(file, content);
  const std::uint32_t sections = take_opening(in, content);
  Checkpoint checkpoint;
  checkpoint.file = file;
  for (std::uint32_t i = 0; i < sections; ++i) read_section(in, checkpoint);
  if (std::memcmp(in.take(sizeof magic), magic, sizeof magic) != 0 || !in.finished()) in.fail("its end is missing");
  if (!checkpoint.header.is_object()) in.fail("its header is missing");
  return checkpoint;
}

cli::Json read_checkpoint_header(const std::string& file) {
  constexpr std::size_t most = std::size_t{1} << 20;  // a header is a few kilobytes, an array may be gigabytes
  std::ifstream stream(file, std::ios::binary);
  std::string content(most, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(most));
  content.resize(static_cast<std::size_t>(stream.gcount()));
  Checkpoint checkpoint;
  try {
    Input in(file, content);
    if (take_opening(in, content) > 0) read_section(in, checkpoint);
  } catch (const InputError&) {
    return {};
  }
  return checkpoint.header;
}

std::string fingerprint(const char* data, std::size_t size) {
  return cli::text("%016llx", static_cast<unsigned long long>(checksum(data, size, fnv_start)));
}

}  // namespace newel::transient
