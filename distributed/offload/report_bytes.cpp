// SPDX-License-Identifier: Apache-2.0
// Reports to bytes and back: one list of fields for each struct serves both directions.
#include "distributed/offload/report_bytes.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace newel::detail {
namespace {

class Writer {
 public:
  template <class... Fields>
  void operator()(const Fields&... fields) {
    (add(fields), ...);
  }
  std::string bytes;

 private:
  template <class Value>
  void add(const Value& value);
  void add(const std::string& text) {
    add(text.size());
    bytes += text;
  }
  void add(const LocatedText& text) { add(text.text()); }
  template <class First, class Second>
  void add(const std::pair<First, Second>& pair) {
    add(pair.first);
    add(pair.second);
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    add(values.size());
    for (const Value& value : values) add(value);
  }
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <class... Fields>
  void operator()(Fields&... fields) {
    (take(fields), ...);
  }

 private:
  template <class Value>
  void take(Value& value);
  void take(std::string& text) {
    std::size_t size = 0;
    take(size);
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  void take(LocatedText& text) {
    std::string plain;
    take(plain);
    text = LocatedText(plain);
  }
  template <class First, class Second>
  void take(std::pair<First, Second>& pair) {
    take(pair.first);
    take(pair.second);
  }
  template <class Value>
  void take(std::vector<Value>& values) {
    std::size_t size = 0;
    take(size);
    values.resize(size);
    for (Value& value : values) take(value);
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
};

struct Anything {
  template <class Value>
  operator Value() const;
};
template <class Struct, class Sequence, class = void>
struct Takes : std::false_type {};
template <class Struct, std::size_t... I>
struct Takes<Struct, std::index_sequence<I...>, std::void_t<decltype(Struct{(static_cast<void>(I), Anything{})...})>>
    : std::true_type {};

// How many members a struct has, of `most` at most: as many as it can be made of.
template <class Struct, std::size_t most = 40>
constexpr std::size_t members() {
  if constexpr (Takes<Struct, std::make_index_sequence<most>>::value) {
    return most;
  } else {
    return members<Struct, most - 1>();
  }
}

// Archives all members of a struct: a new one that is not named does not compile.
template <class Struct, class Archive, class... Fields>
void whole(Archive& archive, Fields&... all) {
  static_assert(sizeof...(Fields) == members<Struct>(), "a member of the struct is not archived");
  archive(all...);
}

// The part of a struct that a base class has.
template <class Base>
Base& base(Base& of) {
  return of;
}
template <class Base>
const Base& base(const Base& of) {
  return of;
}

// What all structs below have in common: archive(fields...) writes or reads them in this order.
template <class Archive, class Of>
void fields(Archive& archive, Of& of) {
  using Struct = std::remove_const_t<Of>;
  if constexpr (std::is_same_v<Struct, Untried>) {
    whole<Struct>(archive, of.solver, of.error);
  } else if constexpr (std::is_same_v<Struct, Failure>) {
    whole<Struct>(archive, of.cause, of.subject, of.level, of.iterations, of.asymmetric, of.in_single_precision,
                  of.untried, of.structural_rank, of.unmatched_row, of.unmatched_column, of.condition);
  } else if constexpr (std::is_same_v<Struct, Attempt>) {
    whole<Struct>(archive, of.solver, of.status, of.iterations, of.true_residual, of.seconds, of.reason,
                  of.attainable_residual, of.method, of.failure, of.preconditioner);
  } else if constexpr (std::is_same_v<Struct, SolveReport>) {
    whole<Struct>(archive, base<SolveResiduals>(of), base<SolveWork>(of), of.status, of.solver, of.method, of.failure,
                  of.reason, of.warning, of.history, of.attempts, of.guess, of.recycle, of.changed);
  } else if constexpr (std::is_same_v<Struct, GuessReport>) {
    whole<Struct>(archive, of.from, of.vectors, of.residual, of.given_residual, of.iterations_saved, of.seconds);
  } else if constexpr (std::is_same_v<Struct, OperatorInfo>) {
    archive(of.name, of.detail, of.rows, of.cols, of.nonzeros, of.stored_slots, of.cached_share, of.bytes_per_product,
            of.figures, of.levels, of.bytes, of.setup_seconds);
  } else if constexpr (std::is_same_v<Struct, ScalingInfo>) {
    whole<Struct>(archive, of.scaled, of.matched, of.reason, of.least_power, of.most_power);
  } else if constexpr (std::is_same_v<Struct, FormatChoice>) {
    archive(of.format, of.reason, of.measured);
  } else if constexpr (std::is_same_v<Struct, OrderReport>) {
    archive(of.method, of.remark, of.figures, of.seconds);
  } else {
    static_assert(std::is_same_v<Struct, SystemInfo>);
    archive(of.matrix, of.preconditioner, of.preconditioner_reason, of.mixed, of.precision_reason, of.residual_matrix,
            of.solver, of.method, of.solver_reason, of.scaling, of.fixing_rows, of.format, of.order, of.reordered,
            of.free_unknowns, of.setup_seconds, of.bytes);
  }
}

template <class Value>
void Writer::add(const Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  } else {
    fields(*this, value);
  }
}

template <class Value>
void Reader::take(Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
  } else {
    fields(*this, value);
  }
}

template <class Struct>
std::string written(const Struct& of) {
  Writer writer;
  writer(of);
  return writer.bytes;
}

template <class Struct>
Struct read(const std::string& bytes) {
  Struct of;
  Reader reader(bytes);
  reader(of);
  return of;
}

}  // namespace

std::string bytes_of(const std::vector<SolveReport>& reports) { return written(reports); }
std::vector<SolveReport> reports_of(const std::string& bytes) { return read<std::vector<SolveReport>>(bytes); }
std::string bytes_of(const SystemInfo& info) { return written(info); }
SystemInfo system_info_of(const std::string& bytes) { return read<SystemInfo>(bytes); }

}  // namespace newel::detail
