// SPDX-License-Identifier: Apache-2.0
// The files of the plan cache: little-endian words with a version in front and a checksum behind.
#include <purlin/spmv/plan_cache.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <purlin/config.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/parallel.hpp>

namespace purlin::detail {
namespace {

constexpr char magic[8] = {'P', 'u', 'r', 'l', 'i', 'n', 'P', '1'};
constexpr std::uint64_t file_version = 1;

std::uint64_t mixed(std::uint64_t z) {  // the finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t checksum_of(const char* data, std::size_t size) {
  std::uint64_t sum = mixed(size + 1);
  for (std::size_t i = 0; i < size; ++i) sum = mixed(sum ^ static_cast<unsigned char>(data[i])) + i;
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

std::string encoded(const PlanKey& key, const CachedPlan& plan) {
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

// What is wrong with the file; empty where nothing is.
std::string decode(std::string bytes, const PlanKey& key, CachedPlan& plan) {
  constexpr std::size_t head = sizeof magic + sizeof(std::uint64_t);
  if (bytes.size() < head + sizeof(std::uint64_t) || std::memcmp(bytes.data(), magic, sizeof magic) != 0) {
    return "is no plan";
  }
  std::uint64_t version = 0, checksum = 0;
  std::memcpy(&version, bytes.data() + sizeof magic, sizeof version);
  if (version != file_version) return "is of another version";
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

template <class RowPtr>
std::uint64_t hash_range(const RowPtr* values, std::int64_t begin, std::int64_t end, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (std::int64_t i = begin; i < end; ++i) hash = mixed(hash ^ static_cast<std::uint64_t>(values[i]));
  return hash;
}

// Chunks of fixed length, hashed side by side and folded in order.
template <class V>
void add_values(const Context<Space::host>& ctx, Span<const V, Space::host> values, PlanKey& key) {
  constexpr std::int64_t chunk = 1 << 16;
  const std::int64_t chunks = (values.size + chunk - 1) / chunk;
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(chunks));
  parallel_for(
      ctx, chunks,
      [&](std::int64_t c) {
        const std::int64_t end = values.size < (c + 1) * chunk ? values.size : (c + 1) * chunk;
        hashes[static_cast<std::size_t>(c)] =
            hash_range(values.data, c * chunk, end, static_cast<std::uint64_t>(c) + 1);
      },
      chunks > 1 ? 1 : chunks);
  key.add(static_cast<std::uint64_t>(values.size));
  for (const std::uint64_t hash : hashes) key.add(hash);
}

}  // namespace

void PlanKey::add(std::uint64_t number) {
  words_[0] = mixed(words_[0] ^ number);
  words_[1] = mixed(words_[1] + 0x9e3779b97f4a7c15u * number + 1);
}

void PlanKey::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
}

void PlanKey::add(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern) {
  add(static_cast<std::uint64_t>(pattern.rows));
  add(static_cast<std::uint64_t>(pattern.cols));
  with_row_ptr(pattern, [&](auto row_ptr) { add_values(ctx, row_ptr, *this); });
  add_values(ctx, pattern.col, *this);
}

std::string PlanKey::name() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(words_[0]),
                static_cast<unsigned long long>(words_[1]));
  return text;
}

std::string PlanCache::path(const PlanKey& key) const { return folder_ + "/" + key.name() + ".plan"; }

std::optional<CachedPlan> PlanCache::find(const PlanKey& key) {
  std::ifstream in(path(key), std::ios::binary);
  if (!in) return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  CachedPlan plan;
  const std::string fault = decode(std::move(bytes), key, plan);
  if (fault.empty()) return plan;
  remark_ = path(key) + " " + fault + ": it is ignored";
  return std::nullopt;
}

void PlanCache::keep(const PlanKey& key, const CachedPlan& plan) {
  const std::string bytes = encoded(key, plan);
  static std::atomic<int> files{0};  // systems of several threads may keep the same key
  const std::string temporary = path(key) + "." + std::to_string(getpid()) + "-" + std::to_string(++files);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  std::ofstream out(temporary, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (out) std::filesystem::rename(temporary, path(key), error);
  if (!out || error) {
    std::filesystem::remove(temporary, error);
    remark_ += (remark_.empty() ? "" : "; ") + ("the plan could not be stored in " + folder_);
  }
}

PlanKey request_key(const FormatRequest& request) {
  PlanKey key;
  key.add(PURLIN_VERSION);
  key.add(static_cast<std::uint64_t>(request.machine.space));
  key.add(request.machine.name);
  key.add(static_cast<std::uint64_t>(request.machine.processors));
  key.add(static_cast<std::uint64_t>(request.machine.cache_bytes));
  key.add(static_cast<std::uint64_t>(request.value_bytes));
  key.add(static_cast<std::uint64_t>(request.options.partitioner));
  key.add(static_cast<std::uint64_t>(request.options.parts));
  key.add(static_cast<std::uint64_t>(request.options.ell_warp_window));
  if (request.options.partitioner == Partitioner::coordinates && request.options.coordinates != nullptr) {
    const std::vector<double>& xyz = request.options.coordinates->xyz;
    std::vector<std::uint64_t> bits(xyz.size());
    if (!xyz.empty()) std::memcpy(bits.data(), xyz.data(), xyz.size() * sizeof(double));
    add_values(Context<Space::host>(1), Span<const std::uint64_t, Space::host>(bits), key);
    key.add(static_cast<std::uint64_t>(request.options.coordinates->dimension));
  }
  return key;
}

PlanKey plan_key(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern, const FormatRequest& request) {
  PlanKey key = request_key(request);
  key.add(ctx, pattern);
  return key;
}

namespace {

// A file with a sound checksum may still come from a program that erred.
bool fits(const CachedPlan& plan, Index rows) {
  const auto& bounds = plan.part_begin;
  const bool natural = plan.old_of_new.empty();
  if (!natural && static_cast<Index>(plan.old_of_new.size()) != rows) return false;
  if (!bounds.empty() && (bounds.front() != 0 || bounds.back() != rows)) return false;
  return std::is_sorted(bounds.begin(), bounds.end());
}

}  // namespace

template <Space S>
RowOrder<S> plan_through_cache(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvFormat& format,
                               const FormatRequest& request, const std::function<RowOrder<S>()>& make) {
  PlanKey key = plan_key(ctx, pattern, request);
  key.add(format.name);
  key.add(request.variant);
  PlanCache cache(request.options.plan_cache);
  const auto found = cache.find(key);
  if (found && fits(*found, pattern.rows)) {
    RowOrder<S> order = found->old_of_new.empty() ? RowOrder<S>{} : make_row_order(ctx, found->old_of_new);
    order.part_begin = found->part_begin;
    order.report.method = found->method + ", from the plan cache";
    order.report.figures = found->figures;
    return order;
  }
  RowOrder<S> order = make();
  cache.keep(key, {"", "", to_vector(ctx, order.old_of_new.cspan()), order.part_begin, order.report.method,
                   order.report.figures});
  order.report.remark = cache.remark();
  return order;
}

#define X(S)                                                                                       \
  template RowOrder<S> plan_through_cache(const Context<S>&, const Pattern<S>&, const SpmvFormat&, \
                                          const FormatRequest&, const std::function<RowOrder<S>()>&);
PURLIN_FOR_SPACES(X)
#undef X

}  // namespace purlin::detail
