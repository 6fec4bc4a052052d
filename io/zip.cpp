// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive, its members, and a writer that stores.
#include "io/zip.hpp"

#include <algorithm>
#include <array>

#include "core/text/gzip.hpp"
#include "io/byte_reader.hpp"

namespace newel::detail {
namespace {

constexpr auto little = ByteOrder::little;
constexpr std::uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50,
                        end64_mark = 0x06064b50, locator_mark = 0x07064b50;
constexpr std::size_t end_bytes = 22, locator_bytes = 20;
constexpr std::uint32_t in_extra = 0xffffffff;  // the size stands in the extra field, with 64 bits
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint16_t version = 45;  // the first that knows sizes of 64 bits

// The record at the end, which a comment may follow.
std::size_t find_end(std::string_view bytes, const std::string& name) {
  constexpr std::size_t longest_comment = 0xffff;
  std::string mark;
  append_bytes(mark, end_mark, little);
  const std::size_t at =
      bytes.size() < end_bytes ? std::string_view::npos : bytes.rfind(mark, bytes.size() - end_bytes);
  if (at == std::string_view::npos || bytes.size() - at > end_bytes + longest_comment) {
    throw InputError(name +
                     ": expected a complete zip archive, found no directory at its end: the file is cut short");
  }
  return at;
}

}  // namespace

bool begins_as_zip(std::string_view bytes) {
  return bytes.size() >= 4 && (load<std::uint32_t>(bytes.data(), little) == local_mark ||
                               load<std::uint32_t>(bytes.data(), little) == end_mark);
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < t.size(); ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] >> 1 ^ ((t[i] & 1) != 0 ? 0xedb88320u : 0);
    }
    return t;
  }();
  std::uint32_t crc = ~before;
  for (const char c : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

ZipArchive::ZipArchive(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
  const std::size_t end = find_end(bytes, name);
  ByteReader record(bytes, name, end + 8);
  record.number<std::uint16_t>(little, "a count");
  std::uint64_t count = record.number<std::uint16_t>(little, "a count");
  record.number<std::uint32_t>(little, "a size");
  std::uint64_t start = record.number<std::uint32_t>(little, "an offset");
  if (end >= locator_bytes && load<std::uint32_t>(bytes.data() + end - locator_bytes, little) == locator_mark) {
    const auto at = load<std::uint64_t>(bytes.data() + end - locator_bytes + 8, little);
    if (at > end) record.fail("an offset inside the file", std::to_string(at));
    ByteReader wide(bytes, name, static_cast<std::size_t>(at));
    if (wide.number<std::uint32_t>(little, "a directory's end") != end64_mark)
      wide.fail("a directory's end", "other bytes");
    wide.take(28, "a directory's end");
    count = wide.number<std::uint64_t>(little, "a count");
    wide.take(8, "a size");
    start = wide.number<std::uint64_t>(little, "an offset");
  }
  if (start > bytes.size()) record.fail("a directory inside the file", "offset " + std::to_string(start));
  constexpr std::uint64_t most_members = 1000;
  if (count > most_members) record.fail("at most 1000 members", std::to_string(count));
  auto at = static_cast<std::size_t>(start);
  for (std::uint64_t k = 0; k < count; ++k) read_entry(at);
}

void ZipArchive::read_entry(std::size_t& at) {
  ByteReader reader(bytes_, name_, at);
  if (reader.number<std::uint32_t>(little, "a directory's entry") != entry_mark) {
    reader.fail("an entry of the archive's directory", "other bytes");
  }
  reader.take(4, "versions");
  Entry entry;
  entry.flags = reader.number<std::uint16_t>(little, "flags");
  entry.method = reader.number<std::uint16_t>(little, "a method");
  reader.take(4, "a time");
  entry.crc = reader.number<std::uint32_t>(little, "a checksum");
  entry.packed = reader.number<std::uint32_t>(little, "a size");
  entry.size = reader.number<std::uint32_t>(little, "a size");
  const auto name_bytes = reader.number<std::uint16_t>(little, "a length");
  const auto extra_bytes = reader.number<std::uint16_t>(little, "a length");
  const auto comment_bytes = reader.number<std::uint16_t>(little, "a length");
  reader.take(8, "attributes");
  entry.offset = reader.number<std::uint32_t>(little, "an offset");
  entry.name = std::string(reader.take(name_bytes, "a name"));
  ByteReader extra(reader.take(extra_bytes, "an extra field"), name_);
  while (extra.left() >= 4) {
    const auto kind = extra.number<std::uint16_t>(little, "a kind");
    ByteReader field(extra.take(extra.number<std::uint16_t>(little, "a length"), "an extra field"), name_);
    if (kind != 1) continue;
    for (std::uint64_t* wide : {&entry.size, &entry.packed, &entry.offset}) {
      if (*wide == in_extra) *wide = field.number<std::uint64_t>(little, "a size of 64 bits");
    }
  }
  reader.take(comment_bytes, "a comment");
  at = reader.at();
  entries_.push_back(std::move(entry));
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

std::string_view ZipArchive::packed_bytes(const Entry& entry) const {
  ByteReader reader(bytes_, name_, static_cast<std::size_t>(std::min<std::uint64_t>(entry.offset, bytes_.size())));
  if (reader.number<std::uint32_t>(little, "a member") != local_mark) {
    reader.fail("the member '" + entry.name + "'", "other bytes");
  }
  reader.take(22, "a member");
  const auto name_bytes = reader.number<std::uint16_t>(little, "a length");
  const auto extra_bytes = reader.number<std::uint16_t>(little, "a length");
  reader.take(std::uint64_t{name_bytes} + extra_bytes, "a member");
  return reader.take(entry.packed, "a member");
}

std::string_view ZipArchive::member(const Context<Space::host>& ctx, const std::string& name) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  const auto fail = [&](const std::string& what) { throw InputError(name_ + ": member '" + name + "': " + what); };
  if (entry == entries_.end()) fail("missing from this archive");
  if ((entry->flags & 1) != 0) fail("expected plain data, found encrypted data");
  const std::string_view packed = packed_bytes(*entry);
  std::string_view data = packed;
  if (entry->method == deflated) {
    constexpr std::uint64_t most_ratio = 1032;  // of deflate
    if (entry->size / most_ratio > packed.size()) fail("expected more compressed bytes for its size");
    unpacked_.emplace_back(ctx, static_cast<std::int64_t>(entry->size));
    Array<char, Space::host>& room = unpacked_.back();
    if (!inflate_raw(packed, room.data(), static_cast<std::size_t>(room.size()), name_)) {
      fail("expected intact compressed data, found damaged data");
    }
    data = {room.data(), static_cast<std::size_t>(room.size())};
  } else if (entry->method != stored) {
    fail("expected the compression method stored or deflate, found method " + std::to_string(entry->method));
  }
  if (data.size() != entry->size)
    fail("expected " + std::to_string(entry->size) + " bytes, found " + std::to_string(data.size()));
  if (crc32_of(data) != entry->crc) fail("expected intact data, found a wrong checksum");
  return data;
}

void ZipWriter::write(const std::string& bytes) {
  file_.write(bytes);
  offset_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view head, std::string_view data) {
  const std::uint64_t size = head.size() + data.size();
  const std::uint32_t crc = crc32_of(data, crc32_of(head));
  constexpr std::uint32_t first_of_1980 = 0x00210000;  // no time, so that the same matrix gives the same bytes
  // What an entry and its member have in common, with sizes in the extra field.
  std::string common;
  append_bytes(common, version, little);
  append_bytes(common, std::uint16_t{0}, little);
  append_bytes(common, stored, little);
  append_bytes(common, first_of_1980, little);
  append_bytes(common, crc, little);
  append_bytes(common, in_extra, little);
  append_bytes(common, in_extra, little);
  append_bytes(common, static_cast<std::uint16_t>(name.size()), little);
  std::string sizes;
  append_bytes(sizes, size, little);
  append_bytes(sizes, size, little);

  append_bytes(directory_, entry_mark, little);
  append_bytes(directory_, version, little);
  directory_ += common;
  append_bytes(directory_, static_cast<std::uint16_t>(28), little);  // of the extra field
  directory_.append(10, '\0');                                       // comment, disk, attributes
  append_bytes(directory_, in_extra, little);
  directory_ += name;
  append_bytes(directory_, std::uint16_t{1}, little);
  append_bytes(directory_, std::uint16_t{24}, little);
  directory_ += sizes;
  append_bytes(directory_, offset_, little);

  std::string local;
  append_bytes(local, local_mark, little);
  local += common;
  append_bytes(local, static_cast<std::uint16_t>(20), little);
  local += name;
  append_bytes(local, std::uint16_t{1}, little);
  append_bytes(local, std::uint16_t{16}, little);
  local += sizes;
  write(local);
  file_.write(head);
  file_.write(data);
  offset_ += size;
  ++members_;
}

void ZipWriter::finish() {
  const std::uint64_t start = offset_, size = directory_.size();
  write(directory_);
  std::string end;
  append_bytes(end, end64_mark, little);
  append_bytes(end, std::uint64_t{44}, little);  // what follows of this record
  append_bytes(end, version, little);
  append_bytes(end, version, little);
  end.append(8, '\0');  // disks
  append_bytes(end, members_, little);
  append_bytes(end, members_, little);
  append_bytes(end, size, little);
  append_bytes(end, start, little);
  append_bytes(end, locator_mark, little);
  append_bytes(end, std::uint32_t{0}, little);
  append_bytes(end, start + size, little);
  append_bytes(end, std::uint32_t{1}, little);
  append_bytes(end, end_mark, little);
  append_bytes(end, std::uint32_t{0}, little);
  append_bytes(end, static_cast<std::uint16_t>(members_), little);
  append_bytes(end, static_cast<std::uint16_t>(members_), little);
  append_bytes(end, in_extra, little);
  append_bytes(end, in_extra, little);
  append_bytes(end, std::uint16_t{0}, little);
  write(end);
}

}  // namespace newel::detail
