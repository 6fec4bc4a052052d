// SPDX-License-Identifier: Apache-2.0
// Plans as files: little-endian words with a version in front and a checksum behind.
#include "spmv/plan/plan_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace newel::detail {
namespace {

constexpr char magic[8] = {'N', 'e', 'w', 'e', 'l', 'P', 'L', '1'};
constexpr std::uint64_t file_version = 1;

std::uint64_t checksum_of(const char* data, std::size_t size) {
  std::uint64_t sum = mixed_bits(size + 1);
  for (std::size_t i = 0; i < size; ++i) sum = mixed_bits(sum ^ static_cast<unsigned char>(data[i])) + i;
  return sum;
}

// Bytes of a file, appended.
class Writer {
 public:
  void number(std::uint64_t value) { raw(&value, sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void real(double value) { raw(&value, sizeof value); }
  void indices(const std::vector<Index>& values) {
    number(values.size());
    raw(values.data(), values.size() * sizeof(Index));
  }
  void raw(const void* data, std::size_t size) {
    if (size > 0) bytes.append(static_cast<const char*>(data), size);
  }
  std::string bytes;
};

// The same read back; `sound` is false once something did not fit.
class Reader {
 public:
  explicit Reader(const std::string& bytes) : at_(bytes.data()), left_(bytes.size()) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    raw(&value, sizeof value);
    return value;
  }
  double real() {
    double value = 0;
    raw(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(checked(number(), 1), '\0');
    raw(value.data(), value.size());
    return value;
  }
  std::vector<Index> indices() {
    std::vector<Index> values(checked(number(), sizeof(Index)));
    raw(values.data(), values.size() * sizeof(Index));
    return values;
  }
  bool finished() const { return sound && left_ == 0; }
  bool sound = true;

 private:
  // A count that the rest of the file can hold.
  std::size_t checked(std::uint64_t count, std::size_t size) {
    if (count <= left_ / size) return static_cast<std::size_t>(count);
    sound = false;
    return 0;
  }
  void raw(void* to, std::size_t size) {
    if (size > left_) {
      sound = false;
      return;
    }
    if (size > 0) std::memcpy(to, at_, size);
    at_ += size;
    left_ -= size;
  }

  const char* at_;
  std::size_t left_;
};

}  // namespace

std::string encoded_plan(const PlanKey& key, const CachedPlan& plan) {
  Writer file;
  file.raw(magic, sizeof magic);
  file.number(file_version);
  for (const std::uint64_t word : key.words()) file.number(word);
  file.text(plan.choice);
  file.text(plan.reason);
  file.indices(plan.old_of_new);
  file.indices(plan.part_begin);
  file.text(plan.method);
  file.number(plan.figures.size());
  for (const auto& [name, value] : plan.figures) {
    file.text(name);
    file.real(value);
  }
  file.number(checksum_of(file.bytes.data(), file.bytes.size()));
  return std::move(file.bytes);
}

std::string decode_plan(std::string bytes, const PlanKey& key, CachedPlan& plan) {
  constexpr std::size_t head = sizeof magic + sizeof(std::uint64_t);
  if (bytes.size() < head + sizeof(std::uint64_t) || std::memcmp(bytes.data(), magic, sizeof magic) != 0) {
    return "is not a plan file";
  }
  std::uint64_t version = 0, checksum = 0;
  std::memcpy(&version, bytes.data() + sizeof magic, sizeof version);
  if (version != file_version) return "was written by another version";
  std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof checksum, sizeof checksum);
  bytes.resize(bytes.size() - sizeof checksum);
  if (checksum != checksum_of(bytes.data(), bytes.size())) return "is damaged";
  bytes.erase(0, head);
  Reader file(bytes);
  for (const std::uint64_t word : key.words()) {
    if (file.number() != word) return "belongs to another system";
  }
  plan.choice = file.text();
  plan.reason = file.text();
  plan.old_of_new = file.indices();
  plan.part_begin = file.indices();
  plan.method = file.text();
  for (std::uint64_t count = file.number(); count > 0 && file.sound; --count) {
    std::string name = file.text();
    plan.figures.emplace_back(std::move(name), file.real());
  }
  return file.finished() ? "" : "is damaged";
}

std::string read_plan_file(const std::string& name, std::optional<std::string>& bytes) {
  constexpr const char* unreadable = "cannot be read";
  const int file = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || errno == ENOTDIR ? "" : unreadable;
  struct stat status = {};
  std::string fault = ::fstat(file, &status) != 0 ? unreadable
                      : S_ISREG(status.st_mode)   ? ""
                                                  : "is not a regular file";
  if (fault.empty()) {
    bytes.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t size = 0;
    for (ssize_t part = 1; part > 0 && size < bytes->size();
         size += static_cast<std::size_t>(std::max<ssize_t>(part, 0))) {
      part = ::read(file, bytes->data() + size, bytes->size() - size);
    }
    if (size < bytes->size()) fault = unreadable;
  }
  ::close(file);
  return fault;
}

}  // namespace newel::detail
