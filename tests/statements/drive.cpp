// SPDX-License-Identifier: Apache-2.0
// Solves the cases of scripts/statements/drivers.py through LinearSystem: with a matrix, or with an operator of its
// own.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;

namespace {

constexpr Space host = Space::host;

// Ends the program at the end of its input.
template <class T>
std::vector<T> taken(std::size_t count) {
  std::vector<T> values(count);
  if (std::fread(values.data(), sizeof(T), count, stdin) < count) std::exit(0);
  return values;
}

template <class T>
std::vector<T> numbers(std::size_t count) {
  const auto given = taken<double>(count);
  return std::vector<T>(given.begin(), given.end());
}

using Texts = std::map<std::string, std::string>;

struct Head {
  int n, entries, columns, rounds, single, form, guess;
  std::size_t unknowns() const { return static_cast<std::size_t>(n) * static_cast<std::size_t>(columns); }
};

void answer(int code, const std::string& text) {
  const int head[2] = {code, static_cast<int>(text.size())};
  std::fwrite(head, sizeof head, 1, stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string line(int column, const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "%d.%s=%.17g\n", column, name, value);
  return text;
}

std::string line(int column, const char* name, const std::string& value) {
  return std::to_string(column) + "." + name + "=" + value + "\n";
}

// Fields that a library may not have yet.
template <class Report>
auto bounds_of(int c, const Report& r, int) -> decltype(r.residual_error_bound, std::string()) {
  return line(c, "residual_error_bound", r.residual_error_bound) + line(c, "row_residual", r.row_residual);
}
template <class Report>
std::string bounds_of(int, const Report&, long) {
  return {};
}

std::string text_of(int c, const SolveReport& r, bool with_operator) {
  std::string reasons;
  for (const Attempt& a : r.attempts) reasons += a.preconditioner + ": " + a.reason + "; ";
  return line(c, "converged", r.converged()) + line(c, "iterations", r.iterations) +
         line(c, "true_residual", r.true_residual) + line(c, "initial_residual", r.initial_residual) +
         line(c, "rhs_norm", r.rhs_norm) + line(c, "tolerance", r.tolerance) +
         line(c, "history_length", static_cast<double>(r.history.size())) +
         line(c, "attainable_residual", r.attainable_residual) + line(c, "status", std::string(name_of(r.status))) +
         line(c, "cause", std::string(name_of(r.failure.cause))) + line(c, "reason", r.reason) +
         line(c, "solver", r.solver) + line(c, "attempt_reasons", reasons) +
         line(c, "way", std::string(with_operator ? "operator" : "matrix")) + bounds_of(c, r, 0);
}

SystemOptions options_of(const Texts& given, const Head& head) {
  SystemOptions o;
  const int way = std::stoi(given.at("way"));
  o.solver.name = given.at("solver");
  o.precond.name = given.at("preconditioner");
  o.spmv.format = given.at("format");
  o.mixed = given.at("precision") == "mixed";
  o.null_space = given.at("null_space") == "constant" ? NullSpace::constant : NullSpace::none;
  o.stop.rel_tol = std::strtod(given.at("rtol").c_str(), nullptr);
  o.stop.abs_tol = std::strtod(given.at("atol").c_str(), nullptr);
  o.stop.max_iterations = std::stoi(given.at("max_iterations"));
  o.stop.time_limit_seconds = std::strtod(given.at("time_limit").c_str(), nullptr);
  o.stop.check_every = way % 13 == 0 ? 7 : 0;
  o.solver.of<GmresOptions>().restart = std::stoi(given.at("restart"));
  o.solver.of<GmresOptions>().left = way % 4 == 0;
  o.columns = head.columns;
  o.canonicalise = true;
  return o;
}

template <class T>
MatrixInput<T, host> input_of(const Head& head, const std::vector<int>& first, const std::vector<int>& second,
                              const std::vector<T>& values) {
  using Input = MatrixInput<T, host>;
  if (head.form == 0) return Input::csr(head.n, head.n, first, second, values);
  if (head.form == 1) return Input::csc(head.n, head.n, first, second, values);
  return Input::coo(head.n, head.n, first, second, values);
}

// A product with the entries as they are stored, in double.
template <class T>
auto operator_of(const Head& head, const std::vector<int>& first, const std::vector<int>& second,
                 const std::vector<T>& values) {
  return [&head, &first, &second, &values](const Context<host>&, T alpha, Span<const T, host> x, T beta,
                                           Span<T, host> y) {
    std::vector<double> sums(static_cast<std::size_t>(head.n));
    std::size_t major = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (head.form != 2) {
        while (first[major + 1] <= static_cast<int>(k)) ++major;
      } else {
        major = static_cast<std::size_t>(first[k]);
      }
      const auto minor = static_cast<std::size_t>(second[k]);
      const std::size_t row = head.form == 1 ? minor : major, column = head.form == 1 ? major : minor;
      sums[row] += double(values[k]) * double(x[static_cast<Index>(column)]);
    }
    for (Index i = 0; i < head.n; ++i) {
      const T sum = static_cast<T>(sums[static_cast<std::size_t>(i)]);
      y[i] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[i];
    }
  };
}

template <class T>
void solve_case(const Head& head, const Texts& given, const std::vector<int>& first, const std::vector<int>& second) {
  SystemOptions options = options_of(given, head);
  const bool with_operator = !options.mixed && std::stoi(given.at("way")) % 9 == 0;
  if (with_operator) {
    options.spmv.format = "auto";
    if (options.precond.name != "auto") options.precond.name = "none";
  }
  const Context<host> ctx(1);
  std::optional<LinearSystem<T, host>> system;
  std::vector<T> values;
  bool refused = false;
  for (int k = 0; k < head.rounds; ++k) {
    values = numbers<T>(static_cast<std::size_t>(head.entries));
    const auto b = numbers<T>(head.unknowns());
    auto x = numbers<T>(head.unknowns());
    if (refused) continue;
    try {
      if (k > 0) {
        with_operator ? system->in_place().operator_changed() : system->refresh(values);
      } else if (with_operator) {
        system.emplace(
            ctx,
            std::make_shared<FunctionOperator<T, host>>(head.n, head.n, operator_of(head, first, second, values)),
            options);
      } else {
        system.emplace(ctx, input_of(head, first, second, values), options);
      }
      const InitialGuess guess = head.guess ? InitialGuess::in_x : InitialGuess::zero;
      const auto reports = head.columns == 1 ? std::vector<SolveReport>{system->solve(b, x, {}, guess)}
                                             : system->solve_columns(b, x, head.columns, {}, guess);
      std::string text;
      for (int c = 0; c < head.columns; ++c) text += text_of(c, reports[static_cast<std::size_t>(c)], with_operator);
      answer(9, text);
      const std::vector<double> wide(x.begin(), x.end());
      std::fwrite(wide.data(), sizeof(double), wide.size(), stdout);
    } catch (const InputError& error) {
      answer(2, std::string("error=") + error.what() + "\n");
      refused = true;
    }
  }
}

}  // namespace

int main() {
  for (;;) {
    const int size = taken<int>(1)[0];
    const auto bytes = taken<char>(static_cast<std::size_t>(size));
    Texts options;
    std::string text(bytes.begin(), bytes.end());
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::size_t equals = text.find('=', at);
      options[text.substr(at, equals - at)] = text.substr(equals + 1, end - equals - 1);
    }
    const auto h = taken<int>(7);
    const Head head{h[0], h[1], h[2], h[3], h[4], h[5], h[6]};
    const auto first = taken<int>(static_cast<std::size_t>(head.form == 2 ? head.entries : head.n + 1));
    const auto second = taken<int>(static_cast<std::size_t>(head.entries));
    head.single ? solve_case<float>(head, options, first, second) : solve_case<double>(head, options, first, second);
    std::fflush(stdout);
  }
}
